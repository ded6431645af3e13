"""vgf-convert-means-to-convolutions: one pointwise convolution for a sum over the channels and what scales or shifts it.

    %1 = tosa.reduce_sum %x {axis = 3}             // 1x16x16x32
    %2 = tosa.mul %1, %c                           // both read as a conv2d of %x with 1x1x1x32 weights of c
    %3 = tosa.add %1, %eps                         // or with weights of 1 and a bias of eps

A layer norm has two such sums, a mean and a variance with its epsilon, so that it takes six operators and not eight or nine;
vgf-fold-affine takes what else is added. A sum over another axis, or of another rank, goes through a transpose or through
[1, M, 1, K]; vgf-propagate-layouts takes these away, or writes a matmul, an average pool or the sum again where that is
fewer operators.

Left alone: sums that others read, other types than f32 and f16, and factors that differ between elements.

Invalid input: none, what does not fit stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.ir import constant, defining, element_type, has_one_use, replace, rewrite_each, shape, splat_value
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
        axis = ir.IntegerAttr(owner.attributes["axis"]).value
        source = owner.operands[0]
        if shape(source)[axis] == 1 or not has_one_use(data) or shape(data) != shape(op.result):
            continue
        scale, shift = (float(number), 0.0) if op.name == "tosa.mul" else (1.0, float(number))
        with ir.InsertionPoint(op), op.location:
            replacement = scaled_sum(source, axis, scale, shift, op.result.type)
        replace(op, replacement)
        return


def scaled_sum(source: ir.Value, axis: int, scale: float, shift: float, kind: ir.Type) -> ir.Value:
    """The sum over an axis times `scale` plus `shift`, as a convolution at the insertion point."""
    element, extents = element_type(source), shape(source)
    order = [*(other for other in range(len(extents)) if other != axis), axis]
    turned = build.transpose(source, order)
    last = shape(turned)
    image = build.reshape(turned, last if len(last) == 4 else (1, prod(last[:-1]), 1, last[-1]))
    weight = constant(np.full((1, 1, 1, last[-1]), scale), element)
    summed = build.pointwise("tosa.conv2d", image, weight, constant(np.full(1, shift), element))
    return build.reshape(summed, shape(kind))


@register
@dataclass(frozen=True)
class ConvertMeansToConvolutions(Pass):
    name = "vgf-convert-means-to-convolutions"
    changes_rounding = True

    def run(self, module: ir.Module) -> None:
        rewrite_each(module, ("tosa.mul", "tosa.add"), convert)
