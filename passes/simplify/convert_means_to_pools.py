"""vgf-convert-means-to-pools: one avg_pool2d for a sum over height and width and the division by their number.

    %1 = tosa.reduce_sum %x {axis = 1}             // 1x8x8x64
    %2 = tosa.reduce_sum %1 {axis = 2}
    %3 = tosa.mul %2, %c                           // c = 1/64: all read as avg_pool2d %x with an 8x8 kernel

Also for one of the two axes alone. The factor has to be the reciprocal of the number of elements, rounded to the type.

Left alone: sums that others read, tensors of other ranks, other axes, and kernels beyond the level's MAX_KERNEL.

Invalid input: none, what does not fit stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.ir import defining, element_type, has_one_use, numpy_type, replace, rewrite_each, shape, splat_value
from vgfc.passmanager import Pass, register
from vgfc.target import LEVELS

MAX_KERNEL = LEVELS["8K"].max_kernel


def summed(value: ir.Value) -> tuple[ir.Value, set[int]]:
    """What a chain of sums, that nothing else reads, is a sum of, and over which axes."""
    axes: set[int] = set()
    while has_one_use(value):
        owner = defining(value)
        if owner is None or owner.name != "tosa.reduce_sum":
            break
        axis = ir.IntegerAttr(owner.attributes["axis"]).value
        if axis not in (1, 2) or axis in axes:
            break
        axes.add(axis)
        value = owner.operands[0]
    return value, axes


def convert(op: ir.Operation) -> None:
    """Replace a multiplication by a constant that makes a mean of the sum before it."""
    element = element_type(op.result)
    if len(shape(op.result)) != 4 or str(element) not in ("f32", "f16"):
        return
    for data, factor in (tuple(op.operands)[:2], tuple(op.operands)[1::-1]):
        source, axes = summed(data)
        kernel = [shape(source)[axis] if axis in axes else 1 for axis in (1, 2)]
        count = kernel[0] * kernel[1]
        wanted = float(np.array(1 / count).astype(numpy_type(element)))
        if not axes or splat_value(factor) != wanted or max(kernel) > MAX_KERNEL or shape(data) != shape(op.result):
            continue
        with ir.InsertionPoint(op), op.location:
            pool = build.avg_pool2d(source, shape(op.result), kernel, stride=(1, 1), pad=(0, 0, 0, 0))
        replace(op, pool)
        return


@register
@dataclass(frozen=True)
class ConvertMeansToPools(Pass):
    name = "vgf-convert-means-to-pools"
    changes_rounding = True

    def run(self, module: ir.Module) -> None:
        rewrite_each(module, ("tosa.mul",), convert)
