"""vgf-convert-linear: write a matmul with constant weights as a 1x1 convolution, which brings its own bias.

    %1 = tosa.matmul %x, %w                  // [1, M, K] x [1, K, N], %w constant
    %2 = tosa.conv2d %x4, %w4, %zero         // [1, M, 1, K] x [N, 1, 1, K], between two reshapes

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

from vgfc.ir import (
    Array,
    const_shape,
    constant,
    constant_value,
    create,
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
    if constant_value(right) is None or any(splat_value(zero) != 0 for zero in zero_points):
        return
    (_, rows, depth), columns = shape(left), shape(right)[2]
    last, offsets = following_addition(op, columns)
    with ir.InsertionPoint(last), op.location:
        image = tensor([1, rows, 1, depth], element)
        reshaped = create("tosa.reshape", image, [left, const_shape([1, rows, 1, depth])])
        turned = tensor([1, columns, depth], element)
        kernel = create("tosa.transpose", turned, [right], {"perms": ir.DenseI32ArrayAttr.get([0, 2, 1])})
        kernel_shape = [columns, 1, 1, depth]
        kernel = create("tosa.reshape", tensor(kernel_shape, element), [kernel, const_shape(kernel_shape)])
        bias = constant(offsets, element)
        attributes = {
            "pad": ir.DenseI64ArrayAttr.get([0, 0, 0, 0]),
            "stride": ir.DenseI64ArrayAttr.get([1, 1]),
            "dilation": ir.DenseI64ArrayAttr.get([1, 1]),
            "acc_type": ir.TypeAttr.get(ir.F32Type.get()),
        }
        result = tensor([1, rows, 1, columns], element)
        convolution = create("tosa.conv2d", result, [reshaped, kernel, bias, *zero_points], attributes)
        back = create("tosa.reshape", last.result.type, [convolution, const_shape(shape(last.result))])
    replace(last, back)


@register
@dataclass(frozen=True)
class ConvertLinear(Pass):
    name = "vgf-convert-linear"
    changes_rounding = True

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            for op in operations(function):
                if op.name == "tosa.matmul":
                    convert(op)
            erase_unused(function)
