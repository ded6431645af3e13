"""vgf-convert-torch-products: matrix products and linear layers of torch become tosa.matmul and 1x1 convolutions.

    %0 = torch.aten.linear %x, %weight, %bias : !torch.vtensor<[4,8],f32>, ... -> !torch.vtensor<[4,16],f32>
becomes, between casts from and to the torch type,
    %1 = tosa.reshape %x, %shape : (tensor<4x8xf32>, !tosa.shape<4>) -> tensor<1x4x1x8xf32>
    %2 = tosa.conv2d %1, %weight, %bias, ... -> tensor<1x4x1x16xf32>
    %3 = tosa.reshape %2, %shape_0 : (tensor<1x4x1x16xf32>, !tosa.shape<2>) -> tensor<4x16xf32>

A convolution takes the bias along and reads the weight as PyTorch stores it; a rank-4 operand needs no reshape. All other
products are tosa.matmul with three axes: a second operand without batch takes the first one's batches as rows.
"""

import math
from dataclasses import dataclass

from torch_mlir import ir

from vgfc import build
from vgfc.ir import element_type, is_float, shape
from vgfc.passmanager import register
from vgfc.torch_conversion import Call, Converter, TorchConversion


def product(left: ir.Value, right: ir.Value, element: ir.Type | None = None) -> ir.Value:
    """torch.matmul of operands of rank 2 and above, given in `element` or the operands' type."""
    left_shape, right_shape = shape(left), shape(right)
    rows, inner, columns = left_shape[-2], left_shape[-1], right_shape[-1]
    if math.prod(right_shape[:-2]) == 1 and len(right_shape) <= len(left_shape):
        flat = build.reshape(left, (1, math.prod(left_shape[:-1]), inner))
        result = build.matmul(flat, build.reshape(right, (1, inner, columns)), element)
        return build.reshape(result, (*left_shape[:-1], columns))
    batch = build.broadcast_shape(left_shape[:-2], right_shape[:-2])
    count = math.prod(batch)
    wide_left = build.reshape(build.broadcast_to(left, (*batch, rows, inner)), (count, rows, inner))
    wide_right = build.reshape(build.broadcast_to(right, (*batch, inner, columns)), (count, inner, columns))
    return build.reshape(build.matmul(wide_left, wide_right, element), (*batch, rows, columns))


def checked(call: Call) -> ir.Type:
    """The element type of a product; raises PassFailure for integers, which TOSA multiplies as matrices only in 8 bits."""
    if not is_float(call.element):
        raise call.error(f"of {call.result_dtype} has no form in TOSA 1.0, expected floating point")
    return call.element


def convert_matmul(call: Call) -> ir.Value:
    element = checked(call)
    left, right = call.tensor_as(0, element), call.tensor_as(1, element)
    if len(call.shape(0)) == 1:
        left = build.reshape(left, (1, *shape(left)))
    if len(call.shape(1)) == 1:
        right = build.reshape(right, (*shape(right), 1))
    return build.reshape(product(left, right), call.result_shape or (1,))


def scaled(call: Call, value: ir.Value, index: int) -> ir.Value:
    """`value` times a number operand."""
    factor = float(call.number(index)) if call.has(index) else 1.0
    return value if factor == 1 else build.mul(value, build.scalar_like(factor, value))


def convert_added_product(call: Call) -> ir.Value:
    """beta * operand 0 + alpha * (operand 1 @ operand 2)."""
    element = checked(call)
    left, right = call.tensor_as(1, element), call.tensor_as(2, element)
    if len(call.shape(2)) == 1:
        right = build.reshape(right, (*shape(right), 1))
    result = build.reshape(product(left, right), call.result_shape)
    result = scaled(call, result, 4)
    if call.has(3) and float(call.number(3)) == 0:
        return result
    return build.add(scaled(call, call.tensor_as(0, element), 3), result)


def convert_outer(call: Call) -> ir.Value:
    element = call.element if is_float(call.element) else build.i32()
    left, right = call.tensor_as(0, element), call.tensor_as(1, element)
    return build.mul(build.reshape(left, (shape(left)[0], 1)), build.reshape(right, (1, shape(right)[0])))


def linear(value: ir.Value, weight: ir.Value, bias: ir.Value | None) -> ir.Value:
    """value @ weight.T + bias as a 1x1 convolution."""
    dimensions, (outputs, inputs) = shape(value), shape(weight)
    element = element_type(value)
    if bias is None:
        bias = build.filled(0, (outputs,), element)
    rank = len(dimensions)
    if rank == 4:
        image = dimensions
    elif rank == 3:
        image = (dimensions[0], dimensions[1], 1, inputs)
    else:
        image = (1, math.prod(dimensions[:-1]), 1, inputs)
    kernel = build.reshape(weight, (outputs, 1, 1, inputs))
    result = build.convolution(
        "tosa.conv2d", build.reshape(value, image), kernel, bias, (*image[:3], outputs), (0, 0, 0, 0), (1, 1), (1, 1)
    )
    return build.reshape(result, (*dimensions[:-1], outputs))


def convert_linear(call: Call) -> ir.Value:
    element = checked(call)
    bias = call.tensor_as(2, element) if call.has(2) else None
    weight = call.tensor_as(1, element)
    if len(call.shape(1)) == 1:
        weight = build.reshape(weight, (1, *shape(weight)))
    if bias is not None and len(shape(bias)) != 1:
        bias = build.reshape(bias, (math.prod(shape(bias)),))
    return build.reshape(linear(call.tensor_as(0, element), weight, bias), call.result_shape or (1,))


TABLE: dict[str, Converter] = {
    "torch.aten.matmul": convert_matmul,
    "torch.aten.mm": convert_matmul,
    "torch.aten.bmm": convert_matmul,
    "torch.aten.mv": convert_matmul,
    "torch.aten.dot": convert_matmul,
    "torch.aten.addmm": convert_added_product,
    "torch.aten.addmv": convert_added_product,
    "torch.aten.baddbmm": convert_added_product,
    "torch.aten.outer": convert_outer,
    "torch.aten.ger": convert_outer,
    "torch.aten.linear": convert_linear,
}


@register
@dataclass(frozen=True)
class ConvertTorchProducts(TorchConversion):
    name = "vgf-convert-torch-products"
    table = TABLE
