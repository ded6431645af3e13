"""vgf-fold-affine: fold multiplications and additions of one constant per channel into a convolution's weights and bias.

    %1 = tosa.conv2d %x, %w, %b            // %w, %b constant
    %2 = tosa.sub %1, %mean                // 1x1x1xC, or a splat
    %3 = tosa.mul %2, %scale
    %4 = tosa.add %3, %shift               // all read as one conv2d with other weights and bias

A batch norm after a convolution goes this way as a whole: the chain is added up in f64 and the weights are written once,
rounded once. A chain before a convolution folds as well when convolutions are all that reads it; additions do so only where
the convolution does not pad, because what it pads with is zero after the addition and not before.

Left alone: chains that others read, constants that vary along other axes, weights that are not constant or not
floating point, and anything that would make a weight infinite or NaN. A constant matmul takes multiplications only.

Invalid input: none, what does not fit stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc.ir import (
    Array,
    constant,
    constant_value,
    defining,
    element_type,
    erase_unused,
    functions,
    has_one_use,
    int_list,
    is_float,
    operations,
    shape,
)
from vgfc.passmanager import Pass, register
from vgfc.tosa_numpy import round_to

# The axes of a weight that stand for the input's and for the output's channels.
INPUT_AXIS = {"tosa.conv2d": 3, "tosa.conv3d": 4, "tosa.depthwise_conv2d": 2, "tosa.transpose_conv2d": 3, "tosa.matmul": 1}
OUTPUT_AXES = {
    "tosa.conv2d": (0,),
    "tosa.conv3d": (0,),
    "tosa.depthwise_conv2d": (2, 3),
    "tosa.transpose_conv2d": (0,),
    "tosa.matmul": (2,),
}


@dataclass
class Affine:
    """x * scale + shift, one of each per channel, in f64."""

    scale: Array
    shift: Array

    def then(self, scale: Array | float, shift: Array | float) -> Affine:
        """This, followed by another."""
        return Affine(self.scale * scale, self.shift * scale + shift)


def per_channel(values: Array | None, channels: int, rank: int) -> Array | None:
    """A constant as one f64 number per index of the last axis; None when it varies along others."""
    if values is None or values.ndim != rank or values.size not in (1, channels) or values.size != values.shape[-1]:
        return None
    return np.broadcast_to(values.astype(np.float64).reshape(-1), (channels,))


def step(op: ir.Operation, data: ir.Value) -> tuple[Array | float, Array | float] | None:
    """What an operation does to `data`, as scale and shift per channel; None for one that is not affine."""
    if op.name not in ("tosa.mul", "tosa.add", "tosa.sub") or not is_float(element_type(op.result)):
        return None
    left, right = op.operands[0], op.operands[1]
    if left == right or shape(data) != shape(op.result):
        return None
    rank = len(shape(data))
    other = per_channel(constant_value(right if left == data else left), shape(data)[-1], rank) if rank else None
    if other is None:
        return None
    if op.name == "tosa.mul":
        return other, 0.0
    if op.name == "tosa.add":
        return 1.0, other
    return (1.0, -other) if left == data else (-1.0, other)


def is_foldable(op: ir.Operation, index: int) -> bool:
    """Whether `op` is a convolution or matmul that reads data as operand `index` and has constant weights."""
    if op.name not in INPUT_AXIS or index != 0 or not is_float(element_type(op.operands[1])):
        return False
    if constant_value(op.operands[1]) is None:
        return False
    if op.name == "tosa.matmul":
        return shape(op.operands[1])[0] == 1
    return constant_value(op.operands[2]) is not None


def write(op: ir.Operation, weight: Array, bias: Array | None) -> bool:
    """Give `op` new weights and bias, rounded to their types; False, and nothing done, when they would not be finite."""
    pairs = [(1, weight), (2, bias)] if bias is not None else [(1, weight)]
    rounded = []
    for index, values in pairs:
        old = constant_value(op.operands[index])
        assert old is not None
        new = round_to(values, old.dtype)
        if not np.isfinite(new.astype(np.float64)).all():
            return False
        rounded.append((index, new))
    for index, new in rounded:
        if len(list(op.operands[index].uses)) and not np.array_equal(new, constant_value(op.operands[index])):  # type: ignore[arg-type]
            with ir.InsertionPoint(op), op.location:
                op.operands[index] = constant(new, element_type(op.operands[index]))
    return True


def weights_of(op: ir.Operation) -> tuple[Array, Array | None]:
    """The weights and the bias in f64."""
    weight = constant_value(op.operands[1])
    bias = constant_value(op.operands[2]) if op.name != "tosa.matmul" else None
    assert weight is not None
    return weight.astype(np.float64), None if bias is None else bias.astype(np.float64)


def scaled_outputs(op: ir.Operation, weight: Array, scale: Array) -> Array:
    """The weights for a result that is `scale` times as large, one number per output channel."""
    axes = OUTPUT_AXES[op.name]
    extents = [extent if axis in axes else 1 for axis, extent in enumerate(weight.shape)]
    return weight * scale.reshape(extents)


def scaled_inputs(op: ir.Operation, weight: Array, scale: Array) -> Array:
    """The weights for an input that is divided by `scale`, one number per input channel."""
    extents = [extent if axis == INPUT_AXIS[op.name] else 1 for axis, extent in enumerate(weight.shape)]
    return weight * scale.reshape(extents)


def fold_after(op: ir.Operation) -> None:
    """Fold the chain that follows a convolution."""
    channels = shape(op.result)[-1]
    total = Affine(np.ones(channels), np.zeros(channels))
    last = op
    while has_one_use(last.result):
        user = next(iter(last.result.uses)).owner.operation
        effect = step(user, last.result)
        if effect is None or (op.name == "tosa.matmul" and user.name != "tosa.mul"):
            break
        total, last = total.then(*effect), user
    if last == op:
        return
    weight, bias = weights_of(op)
    if bias is not None:
        bias = np.broadcast_to(bias, (channels,)) * total.scale + total.shift
    if write(op, scaled_outputs(op, weight, total.scale), bias):
        last.result.replace_all_uses_with(op.result)


def fold_before(op: ir.Operation) -> None:
    """Fold the chain that leads to a convolution, from its nearest end."""
    while (inner := defining(op.operands[0])) is not None:
        data = next((operand for operand in list(inner.operands)[:2] if constant_value(operand) is None), None)
        if data is None or not all(is_foldable(use.owner.operation, use.operand_number) for use in inner.result.uses):
            return
        effect = step(inner, data)
        if effect is None:
            return
        scale, offset = (np.broadcast_to(part, (shape(data)[-1],)) for part in effect)
        weight, bias = weights_of(op)
        if offset.any():
            if op.name not in ("tosa.conv2d", "tosa.depthwise_conv2d", "tosa.conv3d") or any(int_list(op.attributes["pad"])):
                return
            assert bias is not None
            spread = scaled_inputs(op, weight, offset)
            kept = OUTPUT_AXES[op.name]
            summed = spread.sum(axis=tuple(axis for axis in range(weight.ndim) if axis not in kept)).reshape(-1)
            bias = bias + summed
        if not write(op, scaled_inputs(op, weight, scale), bias):
            return
        op.operands[0] = data


@register
@dataclass(frozen=True)
class FoldAffine(Pass):
    name = "vgf-fold-affine"

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            for op in operations(function):
                if is_foldable(op, 0):
                    fold_after(op)
            for op in operations(function):
                if is_foldable(op, 0):
                    fold_before(op)
            erase_unused(function)
