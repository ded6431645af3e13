"""Pointwise convolutions in another arrangement, and as matmuls, sums and average pools."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.ir import Array, constant, element_type, shape, tensor
from vgfc.layouts.movable import Movable
from vgfc.target import LEVELS
from vgfc.views import View, axis_position, broadcast, grow_axis, reshape, resize_axis

MAX_KERNEL = LEVELS["8K"].max_kernel


class Pointwise(Movable):
    """A 1x1 convolution of stride 1 without padding: any arrangement of what precedes the channels.

    In the arrangement [1, M, channels] it is written as a matmul, and an add for a bias that is not all zeros. One whose
    weights are one number for one result is a scaled sum, in any arrangement that keeps the channels apart from the rest,
    and an average pool where they are the height and width of an image.
    """

    def __init__(self, op: ir.Operation, weight: Array | None, bias: Array | None, may_change_form: bool) -> None:
        super().__init__(op, shape(op.operands[0]), 1)
        element = element_type(op.result)
        self.weight = weight
        self.bias = bias
        is_plain = weight is not None and bias is not None and element == element_type(op.operands[0])
        self.as_matmul = is_plain and may_change_form and str(element) in ("f32", "f16")
        is_splat = weight is not None and bool((weight == weight.reshape(-1)[0]).all())
        self.as_sum = self.as_matmul and is_splat and self.result_shape[3] == 1 and self.frame[3] > 1

    @property
    def has_bias(self) -> bool:
        """Whether the bias adds anything."""
        return self.bias is None or bool(np.any(self.bias != 0))

    def _form(self, label: View) -> str | None:
        """How the operator is written under `label`."""
        rank = len(label.target)
        if rank == 4 and self._swap_channels(label, self.frame[3], self.result_shape[3]) is not None:
            return "convolution"
        if rank == 3 and label.target[0] == 1 and self.as_matmul and self._is_last(label):
            return "matmul"
        return "sum" if self.as_sum and broadcast(label, self.result_shape) is not None else None

    def _is_last(self, label: View) -> bool:
        return self._swap_channels(label, self.frame[3], self.result_shape[3]) is not None

    def result_view(self, label: View) -> View | None:
        form = self._form(label)
        if form == "sum":
            return broadcast(label, self.result_shape)
        return None if form is None else self._swap_channels(label, self.frame[3], self.result_shape[3])

    def _swap_channels(self, view: View, channels: int, wanted: int) -> View | None:
        last = len(view.target) - 1
        if channels != 1:
            return resize_axis(view, 3, wanted) if axis_position(view, 3) == (last, 1) else None
        if view.target[last] != 1:
            return None
        return view if wanted == 1 else grow_axis(view, 3, wanted, last)

    def labels_for_operand(self, index: int, view: View) -> list[View]:
        return [view, *_as_images(view)]

    def labels_for_result(self, view: View) -> list[View]:
        labels = [self._swap_channels(each, self.result_shape[3], self.frame[3]) for each in [view, *_as_images(view)]]
        return [label for label in labels if label is not None]

    def extra_operators(self, label: View) -> int:
        form = self._form(label)
        if form == "sum":
            operators = self._sum_operators(label)
            if self._is_pool(label):
                operators = self._pool_operators()
            return operators - 1 + int(self.has_bias)
        return int(form == "matmul" and self.has_bias)

    def _summed_axes(self, label: View) -> list[int]:
        """The axes that the channels are under `label`."""
        view = broadcast(label, self.result_shape)
        assert view is not None
        return [axis for axis, extent in enumerate(label.target) if extent != view.target[axis]]

    def _is_pool(self, label: View) -> bool:
        """Whether the scaled sum under `label` is best made of the mean of an image's height, width or both."""
        axes = self._summed_axes(label)
        if len(label.target) != 4 or not set(axes) <= {1, 2} or any(label.target[axis] > MAX_KERNEL for axis in axes):
            return False
        return self._pool_operators() <= self._sum_operators(label)

    def _sum_operators(self, label: View) -> int:
        return len(self._summed_axes(label)) + int(self.factor != 1)

    def _pool_operators(self) -> int:
        return 1 + int(self._factor_of_mean() != 1)

    def _factor_of_mean(self) -> float:
        """What the mean is to be multiplied with."""
        assert self.weight is not None
        count = self.frame[3]
        is_mean = self.factor == float(np.array(1 / count).astype(self.weight.dtype))
        return 1.0 if is_mean else self.factor * count

    @property
    def factor(self) -> float:
        """The number that a scaled sum is scaled with."""
        assert self.weight is not None
        return float(self.weight.reshape(-1)[0])

    def rebuild(self, operands: Sequence[ir.Value], label: View) -> ir.Value:
        form = self._form(label)
        if form == "convolution":
            return super().rebuild(operands, label)
        assert self.weight is not None and self.bias is not None
        element = element_type(self.op.result)
        with self.op.location:
            value = self._summed(operands[0], label) if form == "sum" else self._product(operands[0], label)
            if self.has_bias:
                bias = constant(self.bias.reshape([1] * (len(label.target) - 1) + [-1]), element)
                value = build.add(value, bias)
        return value

    def _product(self, operand: ir.Value, label: View) -> ir.Value:
        """The convolution as a matmul."""
        assert self.weight is not None
        element = element_type(self.op.result)
        factors = constant(self.weight.reshape(self.weight.shape[0], -1).T[None], element)
        kind = tensor([*label.target[:2], self.weight.shape[0]], element)
        return build.operation("tosa.matmul", kind, [operand, factors, self.op.operands[3], self.op.operands[4]])

    def _summed(self, operand: ir.Value, label: View) -> ir.Value:
        """The convolution as an average pool, or as sums and their factor."""
        value, factor = operand, self.factor
        if self._is_pool(label):
            value, factor = self._pooled(operand, label), self._factor_of_mean()
        else:
            for axis in self._summed_axes(label):
                value = build.reduce("tosa.reduce_sum", value, axis)
        if factor == 1:
            return value
        return build.mul(value, build.scalar_like(factor, value))

    def _pooled(self, operand: ir.Value, label: View) -> ir.Value:
        view, axes = self.result_view(label), self._summed_axes(label)
        assert view is not None
        kernel = [label.target[axis] if axis in axes else 1 for axis in (1, 2)]
        return build.avg_pool2d(operand, view.target, kernel, stride=(1, 1), pad=(0, 0, 0, 0))


def _as_images(view: View) -> list[View]:
    """The same order of elements as a tensor of rank 4 with the last axis as it is."""
    rank = len(view.target)
    if rank in (0, 4):
        return []
    lead = view.target[:-1]
    image = (*lead, 1) if rank == 3 else (1, prod(lead), 1)
    shaped = view.then(reshape(view.target, (*image, view.target[-1])))
    return [] if shaped is None else [shaped]
