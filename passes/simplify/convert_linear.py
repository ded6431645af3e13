"""vgf-convert-linear: write a matmul with constant weights as a 1x1 convolution, which brings its own bias.

    %1 = tosa.matmul %x, %w                  // [1, M, K] x [1, K, N], %w constant
    %2 = tosa.conv2d %x4, %w4, %zero         // [1, M, 1, K] x [N, 1, 1, K], between two reshapes; %w4 is %w turned

An addition of one constant per column becomes the bias, also when a reshape stands before it. A pointwise convolution
works in any arrangement, so that the reshapes around it mostly go away; vgf-propagate-layouts writes a matmul again where
that is fewer operators.

Left alone: weights that are not constant, several batches (a convolution has one weight), zero points that are not
constant, and element types other than f32 and f16 with a result of the same type.

Invalid input: none, a matmul that does not fit stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.ir import (
    Array,
    constant,
    constant_value,
    element_type,
    has_one_use,
    replace,
    rewrite_each,
    shape,
    splat_value,
)
from vgfc.passmanager import Pass, register
from vgfc.weights import per_channel


def following_addition(op: ir.Operation, columns: int) -> tuple[ir.Operation, Array]:
    """The last operation that the convolution does as well, and its bias: an addition behind a matmul, or the matmul.

    Nothing else may read what lies between.
    """
    last = op
    while has_one_use(last.result):
        user = next(iter(last.result.uses)).owner.operation
        if user.name == "tosa.add":
            other = user.operands[1] if user.operands[0] == last.result else user.operands[0]
            offsets = per_channel(constant_value(other), columns, len(shape(last.result)))
            if offsets is None or shape(user.result) != shape(last.result):
                break
            return user, offsets
        if user.name != "tosa.reshape" or shape(user.result)[-1:] != (columns,):
            break
        last = user
    return op, np.zeros(columns)


def convert(op: ir.Operation) -> None:
    """Replace one matmul, if it fits."""
    left, right, *zero_points = op.operands
    element = element_type(op.result)
    if str(element) not in ("f32", "f16") or element_type(left) != element or shape(left)[0] != 1:
        return
    weights = constant_value(right)
    if weights is None or any(splat_value(zero) != 0 for zero in zero_points):
        return
    (_, rows, depth), columns = shape(left), shape(right)[2]
    last, offsets = following_addition(op, columns)
    with ir.InsertionPoint(last), op.location:
        image = build.reshape(left, (1, rows, 1, depth))
        kernel = constant(weights[0].T.reshape(columns, 1, 1, depth), element)
        convolution = build.pointwise("tosa.conv2d", image, kernel, constant(offsets, element))
        back = build.reshape(convolution, shape(last.result))
    replace(last, back)


@register
@dataclass(frozen=True)
class ConvertLinear(Pass):
    name = "vgf-convert-linear"
    changes_rounding = True

    def run(self, module: ir.Module) -> None:
        rewrite_each(module, ("tosa.matmul",), convert)
