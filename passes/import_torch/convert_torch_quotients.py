"""vgf-convert-torch-quotients: quotients and remainders of torch become products with reciprocals.

    %0 = torch.aten.floor_divide %x, %y : !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
becomes, between casts from and to the torch type,
    %1 = tosa.reciprocal %y : (tensor<3xf32>) -> tensor<3xf32>
    %2 = tosa.mul %x, %1, %shift : (tensor<3xf32>, tensor<3xf32>, tensor<1xi8>) -> tensor<3xf32>
    %3 = tosa.floor %2 : (tensor<3xf32>) -> tensor<3xf32>      // and a correction by the remainder

TOSA divides integers only, and towards zero: a quotient of floating-point numbers is a product with the reciprocal, and
where it is rounded to a whole number it is put right by the remainder.
"""

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.ir import constant, constant_value, element_type, is_float
from vgfc.passmanager import register
from vgfc.torch_conversion import Call, Table, TorchConversion, aten, float_compute
from vgfc.torch_operands import compute_element, operand, scaled, wrapped


def floor_quotient(left: ir.Value, right: ir.Value) -> ir.Value:
    """floor(left / right), the product with the reciprocal put right where it crossed a whole number."""
    if not is_float(element_type(left)):
        quotient = build.binary("tosa.intdiv", left, right)
        rest = build.sub(left, build.mul(quotient, right))
        opposite = build.binary(
            "tosa.greater", build.scalar_like(0, rest), build.binary("tosa.bitwise_xor", rest, right)
        )
        uneven = build.logical_not(build.binary("tosa.equal", rest, build.scalar_like(0, rest)))
        below = build.binary("tosa.logical_and", opposite, uneven)
        return build.sub(quotient, build.cast(below, build.i32()))
    narrow = element_type(left)
    left, right = build.cast(left, build.f32()), build.cast(right, build.f32())
    quotient = build.unary("tosa.floor", build.div(left, right))
    if not is_power_of_two(right):
        quotient = build.add(quotient, correction(left, right, quotient, exact=str(narrow) != "f32"))
    return build.cast(quotient, narrow)


def is_power_of_two(value: ir.Value) -> bool:
    """Whether a floating-point value is a constant of powers of two, whose reciprocal and products are exact."""
    known = constant_value(value)
    return known is not None and bool((np.abs(np.frexp(known)[0]) == 0.5).all())


def correction(left: ir.Value, right: ir.Value, quotient: ir.Value, exact: bool) -> ir.Value:
    """1 where the whole number `quotient` is one too small, -1 where one too large for floor(left / right), else 0."""
    rest = build.sub(left, build.mul(quotient, right)) if exact else exact_rest(left, right, quotient)
    zero = build.scalar_like(0.0, rest)
    negative = build.binary("tosa.greater", zero, right)
    size = build.unary("tosa.abs", right)
    towards = build.select(negative, build.negate(rest), rest)
    more = build.cast(build.binary("tosa.greater_equal", towards, size), element_type(rest))
    less = build.cast(build.binary("tosa.greater", zero, towards), element_type(rest))
    return build.sub(more, less)


def exact_rest(left: ir.Value, right: ir.Value, quotient: ir.Value) -> ir.Value:
    """left - quotient * right, the product in four parts of at most 24 bits each (T. J. Dekker, 1971)."""
    high, low = halves(right)
    step = build.scalar_like(4096.0, quotient)
    nearest = build.add(build.div(quotient, step), build.scalar_like(0.5, quotient))
    quotient_high = build.mul(build.unary("tosa.floor", nearest), step)
    quotient_low = build.sub(quotient, quotient_high)
    rest = left
    for first, second in ((quotient_high, high), (quotient_high, low), (quotient_low, high), (quotient_low, low)):
        rest = build.sub(rest, build.mul(first, second))
    return rest


def halves(value: ir.Value) -> tuple[ir.Value, ir.Value]:
    """A 32-bit number as the sum of two with at most 12 significant bits (G. W. Veltkamp, 1968)."""
    known = constant_value(value)
    if known is not None:
        high = (known.astype(np.float32).view(np.uint32) & np.uint32(0xFFFFF000)).view(np.float32)
        return constant(high, build.f32()), constant(known - high, build.f32())
    scaled = build.mul(value, build.scalar_like(4097.0, value))
    rounded = build.sub(scaled, build.sub(scaled, value))
    # 4097 times a number of this size would be infinite
    huge = build.binary("tosa.greater", build.unary("tosa.abs", value), build.scalar_like(1e30, value))
    high_part = build.select(huge, value, rounded)
    return high_part, build.sub(value, high_part)


def trunc_quotient(left: ir.Value, right: ir.Value) -> ir.Value:
    """left / right rounded towards zero."""
    if not is_float(element_type(left)):
        return build.binary("tosa.intdiv", left, right)
    size = floor_quotient(build.unary("tosa.abs", left), build.unary("tosa.abs", right))
    zero = build.scalar_like(0.0, left)
    opposite = build.binary(
        "tosa.logical_xor", build.binary("tosa.greater", zero, left), build.binary("tosa.greater", zero, right)
    )
    return build.select(opposite, build.negate(size), size)


def rest_of(left: ir.Value, right: ir.Value, quotient: ir.Value) -> ir.Value:
    """left - quotient * right, for floating point without the rounding of the product."""
    if str(element_type(left)) == "f32" and not is_power_of_two(right):
        return exact_rest(left, right, quotient)
    return build.sub(left, build.mul(quotient, right))


# Operators


def convert_div(call: Call) -> ir.Value:
    element = compute_element(call)
    left, right = operand(call, 0, element), operand(call, 1, element)
    mode = call.text(2) if len(call) > 2 else ""
    if mode == "floor":
        return wrapped(call, floor_quotient(left, right))
    if mode == "trunc":
        return wrapped(call, trunc_quotient(left, right))
    return build.div(left, right)


def convert_floor_divide(call: Call) -> ir.Value:
    element = compute_element(call)
    return wrapped(call, floor_quotient(operand(call, 0, element), operand(call, 1, element)))


def convert_remainder(call: Call) -> ir.Value:
    element = float_compute(compute_element(call))
    left, right = operand(call, 0, element), operand(call, 1, element)
    return wrapped(call, rest_of(left, right, floor_quotient(left, right)))


def convert_fmod(call: Call) -> ir.Value:
    element = float_compute(compute_element(call))
    left, right = operand(call, 0, element), operand(call, 1, element)
    return wrapped(call, rest_of(left, right, trunc_quotient(left, right)))


def convert_addcdiv(call: Call) -> ir.Value:
    element = compute_element(call)
    quotient = build.div(operand(call, 1, element), operand(call, 2, element))
    return build.add(operand(call, 0, element), scaled(call, quotient, 3))


TABLE: Table = {
    **aten("addcdiv", convert_addcdiv),
    **aten("div.Tensor div.Scalar div.Tensor_mode div.Scalar_mode", convert_div),
    **aten("divide.Tensor divide.Scalar true_divide.Tensor true_divide.Scalar", convert_div),
    **aten("floor_divide floor_divide.Scalar", convert_floor_divide),
    **aten("remainder.Tensor remainder.Scalar", convert_remainder),
    **aten("fmod.Tensor fmod.Scalar", convert_fmod),
}


@register
@dataclass(frozen=True)
class ConvertTorchQuotients(TorchConversion):
    name = "vgf-convert-torch-quotients"
    table = TABLE
