"""vgf-fold-views-into-weights: reorder weights at compile time where the data would be reordered around them.

    %1 = tosa.transpose %pool {perms = array<i32: 0, 3, 1, 2>}     // 1x8x8x32 to 1x32x8x8
    %2 = tosa.reshape %1 ...                                       // to 1x1x1x2048
    %3 = tosa.conv2d %2, %w ...            // reads as a convolution of %pool with an 8x8 kernel, the same numbers reordered

A flattened image in front of a linear layer becomes a convolution whose kernel is the image. Where a transpose only changes
the order of the channels, as a channel shuffle does, before or after a pointwise convolution, that order goes into the
weights and a reshape is left, or nothing.

Left alone: weights that are not constant, convolutions that are not pointwise, results that others read, and transposes that
mix channels with other axes.

Invalid input: none, what does not fit stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.ir import (
    Array,
    attributes_of,
    constant,
    constant_value,
    element_type,
    erase_unused,
    functions,
    operations,
    replace,
)
from vgfc.passmanager import Pass, register
from vgfc.pointwise import is_pointwise, views_after, views_before
from vgfc.target import LEVELS
from vgfc.views import View

MAX_KERNEL = LEVELS["8K"].max_kernel


def channel_order(view: View, channels: int) -> Array | None:
    """Which channel of the source each channel of the target is, when a view into [..., channels] only reorders those."""
    count = int(np.prod(view.source, dtype=np.int64))
    numbers = view.apply(np.arange(count).reshape(view.source)).reshape(-1, channels)
    expected = numbers[0] + np.arange(count // channels)[:, None] * channels
    return numbers[0] if np.array_equal(numbers, expected) else None


def fold_input(op: ir.Operation) -> None:
    """Take the views before a pointwise convolution into its weights."""
    view, source = views_before(op.operands[0])
    channels = view.target[3]
    extents = view.source
    order = channel_order(view, channels) if view.cost else None
    weight = constant_value(op.operands[1])
    if order is None or weight is None:
        return
    flat = weight.reshape(-1, channels)
    reordered = np.empty_like(flat)
    reordered[:, order] = flat
    element = element_type(op.operands[1])
    whole = len(extents) == 4 and view.target[:3] == (extents[0], 1, 1) and max(extents[1:3]) <= MAX_KERNEL
    if not whole and not view.moves:
        return
    with ir.InsertionPoint(op), op.location:
        if whole:
            op.operands[0] = source
            kernel_shape = (flat.shape[0], *extents[1:])
        else:
            op.operands[0] = build.reshape(source, view.target)
            kernel_shape = (flat.shape[0], 1, 1, channels)
        op.operands[1] = constant(reordered.reshape(kernel_shape), element)


def fold_output(op: ir.Operation) -> None:
    """Take the views after a pointwise convolution into its weights."""
    view, last = views_after(op)
    if not view.moves:
        return
    channels = view.source[3]
    order = channel_order(view, channels)
    if order is None:
        return
    weight, bias = constant_value(op.operands[1]), constant_value(op.operands[2])
    assert weight is not None and bias is not None
    with ir.InsertionPoint(last), op.location:
        new_weight = constant(weight[order], element_type(op.operands[1]))
        full = np.broadcast_to(bias, (channels,))
        new_bias = constant(full[order], element_type(op.operands[2]))
        operands = [op.operands[0], new_weight, new_bias, *list(op.operands)[3:]]
        result = build.operation("tosa.conv2d", op.result.type, operands, attributes_of(op))
        result = build.reshape(result, view.target)
    replace(last, result)


@register
@dataclass(frozen=True)
class FoldViewsIntoWeights(Pass):
    name = "vgf-fold-views-into-weights"
    changes_rounding = True

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            for op in operations(function):
                if is_pointwise(op):
                    fold_input(op)
            for op in operations(function):
                if is_pointwise(op):
                    fold_output(op)
            erase_unused(function)
