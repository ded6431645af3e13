"""vgf-convert-means-to-convolutions: one pointwise convolution for a sum over the channels and what scales or shifts it.

    %1 = tosa.reduce_sum %x {axis = 3}             // 1x16x16x32
    %2 = tosa.mul %1, %c                           // both read as a conv2d of %x with 1x1x1x32 weights of c
    %3 = tosa.add %1, %eps                         // or with weights of 1 and a bias of eps

A layer norm has two such sums, a mean and a variance with its epsilon, so that it takes six operators and not eight or nine;
vgf-fold-affine takes what else is added. A tensor of another rank goes through [1, M, 1, K]; vgf-propagate-layouts takes the
reshapes away, or writes a matmul or the sum again where that is fewer operators.

Left alone: sums that others read, other axes than the last, other types than f32 and f16, and factors that differ between
elements.

Invalid input: none, what does not fit stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from torch_mlir import ir

from vgfc.ir import (
    const_shape,
    constant,
    create,
    defining,
    element_type,
    erase_unused,
    functions,
    has_one_use,
    operations,
    replace,
    shape,
    splat_value,
    tensor,
)
from vgfc.passmanager import Pass, register


def convert(op: ir.Operation) -> None:
    """Replace a multiplication by, or addition of, a constant after a sum."""
    element = element_type(op.result)
    if str(element) not in ("f32", "f16"):
        return
    for data, other in (tuple(op.operands)[:2], tuple(op.operands)[1::-1]):
        owner, number = defining(data), splat_value(other)
        if owner is None or owner.name != "tosa.reduce_sum" or number is None or not np.isfinite(number):
            continue
        source = owner.operands[0]
        extents = shape(source)
        rank = len(extents)
        is_last = ir.IntegerAttr(owner.attributes["axis"]).value == rank - 1
        if not (is_last and extents[-1] > 1 and has_one_use(data) and shape(data) == shape(op.result)):
            continue
        scale, shift = (float(number), 0.0) if op.name == "tosa.mul" else (1.0, float(number))
        with ir.InsertionPoint(op), op.location:
            replacement = scaled_sum(source, scale, shift, op.result.type)
        replace(op, replacement)
        return


def scaled_sum(source: ir.Value, scale: float, shift: float, kind: ir.Type) -> ir.Value:
    """The sum over the last axis times `scale` plus `shift`, as a convolution at the insertion point."""
    element, extents = element_type(source), shape(source)
    channels = extents[-1]
    image = extents if len(extents) == 4 else (1, prod(extents[:-1]), 1, channels)
    if image != extents:
        source = create("tosa.reshape", tensor(image, element), [source, const_shape(image)])
    zero = constant(np.zeros(1), element)
    bias = constant(np.full(1, shift), element) if shift else zero
    attributes = {
        "pad": ir.DenseI64ArrayAttr.get([0, 0, 0, 0]),
        "stride": ir.DenseI64ArrayAttr.get([1, 1]),
        "dilation": ir.DenseI64ArrayAttr.get([1, 1]),
        "acc_type": ir.TypeAttr.get(ir.F32Type.get()),
    }
    weight = constant(np.full((1, 1, 1, channels), scale), element)
    summed = create("tosa.conv2d", tensor((*image[:3], 1), element), [source, weight, bias, zero, zero], attributes)
    return summed if image == extents else create("tosa.reshape", kind, [summed, const_shape(shape(kind))])


@register
@dataclass(frozen=True)
class ConvertMeansToConvolutions(Pass):
    name = "vgf-convert-means-to-convolutions"

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            for op in operations(function):
                if op.name in ("tosa.mul", "tosa.add"):
                    convert(op)
            erase_unused(function)
