"""vgf-convert-torch-powers: powers and roots of torch become products, reciprocals, tosa.rsqrt and tosa.pow.

    %0 = torch.aten.pow.Tensor_Scalar %x, %int3 : !torch.vtensor<[3],f32>, !torch.int -> !torch.vtensor<[3],f32>
becomes, between casts from and to the torch type,
    %1 = tosa.mul %x, %x, %shift : (tensor<3xf32>, tensor<3xf32>, tensor<1xi8>) -> tensor<3xf32>
    %2 = tosa.mul %x, %1, %shift : (tensor<3xf32>, tensor<3xf32>, tensor<1xi8>) -> tensor<3xf32>

Whole powers up to 16 are products. tosa.pow is defined only for a base that is not negative: the sign comes from outside.
"""

import math
from dataclasses import dataclass

from torch_mlir import ir

from vgfc import build
from vgfc.ir import is_float, shape
from vgfc.passmanager import register
from vgfc.torch_conversion import Call, Converter, Table, TorchConversion, aten, is_tensor
from vgfc.torch_operands import compute_element, operand, wrapped

LARGEST_POWER_BY_PRODUCTS = 16


def integer_power(value: ir.Value, exponent: int) -> ir.Value:
    """`value` to a whole power of 1 and above, by squaring."""
    result: ir.Value | None = None
    while True:
        if exponent & 1:
            result = value if result is None else build.mul(result, value)
        exponent >>= 1
        if not exponent:
            assert result is not None, "a positive exponent has a highest bit"
            return result
        value = build.mul(value, value)


def signed_power(base: ir.Value, exponent: ir.Value) -> ir.Value:
    """base ^ exponent with the signs that C's pow gives; tosa.pow is only defined for a base that is not negative."""
    size = build.binary("tosa.pow", build.unary("tosa.abs", base), exponent)
    zero = build.scalar_like(0.0, base)
    half = build.mul(exponent, build.scalar_like(0.5, exponent))
    even = build.binary("tosa.equal", half, build.unary("tosa.floor", half))
    whole = build.binary("tosa.equal", exponent, build.unary("tosa.floor", exponent))
    of_negative = build.select(even, size, build.negate(size))
    of_negative = build.select(whole, of_negative, build.scalar_like(math.nan, of_negative))
    return build.select(build.binary("tosa.greater", zero, base), of_negative, size)


def convert_pow(call: Call) -> ir.Value:
    element = compute_element(call)
    base = operand(call, 0, element)
    if is_tensor(call.operand(1)):
        if not is_float(element):
            raise call.error(
                "of integers with a computed exponent has no form in TOSA; convert to floating point first"
            )
        exponent = operand(call, 1, element)
        if not is_tensor(call.operand(0)) and call.number(0) >= 0:
            return build.binary("tosa.pow", base, exponent)
        return signed_power(base, exponent)
    exponent_value = float(call.number(1))
    if exponent_value == 0:
        return build.filled(1, shape(base), element)
    if exponent_value.is_integer() and 0 < exponent_value <= LARGEST_POWER_BY_PRODUCTS:
        return wrapped(call, integer_power(base, int(exponent_value)))
    if not is_float(element):
        raise call.error(f"of integers to the power {exponent_value:g}, expected 0 to {LARGEST_POWER_BY_PRODUCTS}")
    if exponent_value.is_integer() and -LARGEST_POWER_BY_PRODUCTS <= exponent_value < 0:
        return build.unary("tosa.reciprocal", integer_power(base, -int(exponent_value)))
    if abs(exponent_value) == 0.5:
        return build.square_root(base) if exponent_value > 0 else build.unary("tosa.rsqrt", base)
    if exponent_value == 1.5:
        return build.mul(base, build.square_root(base))
    return signed_power(base, build.scalar_like(exponent_value, base))


def convert_sqrt(call: Call) -> ir.Value:
    return build.square_root(call.tensor_as(0, call.element))


def convert_square(call: Call) -> ir.Value:
    value = call.tensor_as(0, compute_element(call))
    return wrapped(call, build.mul(value, value))


def convert_hypot(call: Call) -> ir.Value:
    left, right = (call.tensor_as(index, call.element) for index in range(2))
    return build.square_root(build.add(build.mul(left, left), build.mul(right, right)))


def float_unary(name: str) -> Converter:
    """A converter to an operator on floating point; integer operands are converted first, as PyTorch does."""

    def converter(call: Call) -> ir.Value:
        return build.unary(name, call.tensor_as(0, call.element))

    return converter


TABLE: Table = {
    **aten("pow.Tensor_Tensor pow.Tensor_Scalar pow.Scalar", convert_pow),
    **aten("sqrt", convert_sqrt),
    **aten("rsqrt", float_unary("tosa.rsqrt")),
    **aten("reciprocal", float_unary("tosa.reciprocal")),
    **aten("square", convert_square),
    **aten("hypot", convert_hypot),
}


@register
@dataclass(frozen=True)
class ConvertTorchPowers(TorchConversion):
    name = "vgf-convert-torch-powers"
    table = TABLE
