"""vgf-convert-torch-arithmetic: sums, products, quotients, powers, limits and bit operations of torch become TOSA.

    %0 = torch.aten.add.Scalar %x, %float2, %int1 : !torch.vtensor<[3],f32>, ... -> !torch.vtensor<[3],f32>
becomes, between casts from and to the torch type,
    %1 = tosa.add %0, %two : (tensor<3xf32>, tensor<1xf32>) -> tensor<3xf32>

Operands are first brought to the type in which PyTorch computes, which is the result's; integers of less than 32 bits are
computed in 32 and wrap when they go back. TOSA divides integers only, and towards zero: a quotient of floating-point
numbers is a product with the reciprocal, and where it is rounded to a whole number it is put right by the remainder.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.ir import constant, constant_value, element_type, is_float, shape
from vgfc.passmanager import register
from vgfc.torch_conversion import Call, Converter, TorchConversion, float_compute, is_tensor

LARGEST_POWER_BY_PRODUCTS = 16


def compute_element(call: Call) -> ir.Type:
    """The element type to compute in: the result's, with integers of less than 32 bits widened."""
    element = call.element
    return element if is_float(element) else build.i32()


def operand(call: Call, index: int, element: ir.Type) -> ir.Value:
    """A tensor or number operand as a tensor of an element type."""
    if is_tensor(call.operand(index)):
        return call.tensor_as(index, element)
    number = call.number(index)
    if not is_float(element):
        check_integer(call, number)
        number = math.trunc(number)
    return build.scalar(number, element)


def check_integer(call: Call, number: float) -> None:
    """Raises PassFailure for a number that the 32 bits that carry integers cannot hold."""
    if not -(2**31) <= number < 2**31:
        raise call.error(f"computes with the integer {number}, expected one that 32 bits can carry")


def wrapped(call: Call, value: ir.Value) -> ir.Value:
    """An i32 result as torch's unsigned bytes wrap; other types wrap in the cast back."""
    if call.result_dtype == "ui8":
        return build.binary("tosa.bitwise_and", value, build.scalar_like(255, value))
    return value


def scaled(call: Call, value: ir.Value, index: int) -> ir.Value:
    """`value` times the number operand at `index` (alpha, beta), left out when it is 1."""
    factor = call.number(index) if call.has(index) else 1
    return value if factor == 1 else build.mul(value, operand(call, index, element_type(value)))


def convert_add(call: Call) -> ir.Value:
    element = compute_element(call)
    if call.result_dtype == "i1":
        return build.binary("tosa.logical_or", call.tensor(0), operand(call, 1, build.i1()))
    return wrapped(call, build.add(operand(call, 0, element), scaled(call, operand(call, 1, element), 2)))


def convert_sub(call: Call) -> ir.Value:
    element = compute_element(call)
    return wrapped(call, build.sub(operand(call, 0, element), scaled(call, operand(call, 1, element), 2)))


def convert_rsub(call: Call) -> ir.Value:
    element = compute_element(call)
    return wrapped(call, build.sub(operand(call, 1, element), scaled(call, operand(call, 0, element), 2)))


def convert_mul(call: Call) -> ir.Value:
    if call.result_dtype == "i1":
        return build.binary("tosa.logical_and", call.tensor(0), operand(call, 1, build.i1()))
    element = compute_element(call)
    return wrapped(call, build.mul(operand(call, 0, element), operand(call, 1, element)))


def convert_addcmul(call: Call) -> ir.Value:
    element = compute_element(call)
    product = build.mul(operand(call, 1, element), operand(call, 2, element))
    return wrapped(call, build.add(operand(call, 0, element), scaled(call, product, 3)))


def convert_addcdiv(call: Call) -> ir.Value:
    element = compute_element(call)
    quotient = build.div(operand(call, 1, element), operand(call, 2, element))
    return build.add(operand(call, 0, element), scaled(call, quotient, 3))


def convert_lerp(call: Call) -> ir.Value:
    element = compute_element(call)
    start, end, weight = (operand(call, index, element) for index in range(3))
    return build.add(start, build.mul(weight, build.sub(end, start)))


# Quotients


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


def rest_of(left: ir.Value, right: ir.Value, quotient: ir.Value) -> ir.Value:
    """left - quotient * right, for floating point without the rounding of the product."""
    if str(element_type(left)) == "f32" and not is_power_of_two(right):
        return exact_rest(left, right, quotient)
    return build.sub(left, build.mul(quotient, right))


def convert_remainder(call: Call) -> ir.Value:
    element = float_compute(compute_element(call))
    left, right = operand(call, 0, element), operand(call, 1, element)
    return wrapped(call, rest_of(left, right, floor_quotient(left, right)))


def convert_fmod(call: Call) -> ir.Value:
    element = float_compute(compute_element(call))
    left, right = operand(call, 0, element), operand(call, 1, element)
    return wrapped(call, rest_of(left, right, trunc_quotient(left, right)))


# Powers


def square_root(value: ir.Value) -> ir.Value:
    """The square root: TOSA has only its reciprocal, and the reciprocal of that is right for 0 and infinity too."""
    return build.unary("tosa.reciprocal", build.unary("tosa.rsqrt", value))


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
        return square_root(base) if exponent_value > 0 else build.unary("tosa.rsqrt", base)
    if exponent_value == 1.5:
        return build.mul(base, square_root(base))
    return signed_power(base, build.scalar_like(exponent_value, base))


def convert_sqrt(call: Call) -> ir.Value:
    return square_root(call.tensor_as(0, call.element))


def convert_square(call: Call) -> ir.Value:
    value = call.tensor_as(0, compute_element(call))
    return wrapped(call, build.mul(value, value))


def convert_hypot(call: Call) -> ir.Value:
    left, right = (call.tensor_as(index, call.element) for index in range(2))
    return square_root(build.add(build.mul(left, left), build.mul(right, right)))


# Signs and limits


def convert_neg(call: Call) -> ir.Value:
    return wrapped(call, build.negate(call.tensor_as(0, compute_element(call))))


def convert_abs(call: Call) -> ir.Value:
    return build.unary("tosa.abs", call.tensor_as(0, compute_element(call)))


def convert_sign(call: Call) -> ir.Value:
    if call.result_dtype == "i1":
        return call.tensor(0)
    value = call.tensor_as(0, compute_element(call))
    zero, one = build.scalar_like(0, value), build.scalar_like(1, value)
    negative = build.select(build.binary("tosa.greater", zero, value), build.scalar_like(-1, value), zero)
    return build.select(build.binary("tosa.greater", value, zero), one, negative)


def extreme(name: str, ignore_nan: bool = False) -> Converter:
    """A converter to tosa.maximum or tosa.minimum."""

    def converter(call: Call) -> ir.Value:
        if call.result_dtype == "i1":
            logical = "tosa.logical_or" if name == "tosa.maximum" else "tosa.logical_and"
            return build.binary(logical, call.tensor(0), call.tensor(1))
        element = compute_element(call)
        value = build.binary(name, operand(call, 0, element), operand(call, 1, element))
        if ignore_nan and is_float(element):
            value.owner.attributes["nan_mode"] = ir.Attribute.parse("#tosa.nan_mode<IGNORE>")
        return value

    return converter


def limited(call: Call, low: int | None, high: int | None) -> ir.Value:
    """The first operand held between the operands at these places, each of which may be None or not there."""
    element = compute_element(call)
    value = call.tensor_as(0, element)
    low = low if low is not None and call.has(low) else None
    high = high if high is not None and call.has(high) else None
    numbers = [index is None or not is_tensor(call.operand(index)) for index in (low, high)]
    if all(numbers) and is_float(element):
        lower = -math.inf if low is None else call.real(low)
        upper = math.inf if high is None else call.real(high)
        if lower <= upper:
            return build.clamp(value, lower, upper)
    if low is not None:
        value = build.binary("tosa.maximum", value, operand(call, low, element))
    if high is not None:
        value = build.binary("tosa.minimum", value, operand(call, high, element))
    return value


# Bits


def bitwise(name: str) -> Converter:
    """A converter to a bitwise operator, or to the logical one for booleans."""

    def converter(call: Call) -> ir.Value:
        if call.result_dtype == "i1":
            return build.binary(f"tosa.logical_{name}", operand(call, 0, build.i1()), operand(call, 1, build.i1()))
        element = compute_element(call)
        return build.binary(f"tosa.bitwise_{name}", operand(call, 0, element), operand(call, 1, element))

    return converter


def convert_bitwise_not(call: Call) -> ir.Value:
    if call.result_dtype == "i1":
        return build.logical_not(call.tensor(0))
    return wrapped(call, build.unary("tosa.bitwise_not", call.tensor_as(0, build.i32())))


def shift(to_left: bool) -> Converter:
    """A converter for shifts; PyTorch gives 0 (or the sign) for amounts of at least the width, TOSA gives nothing certain."""

    def converter(call: Call) -> ir.Value:
        value, amount = operand(call, 0, build.i32()), operand(call, 1, build.i32())
        bits = {"si8": 8, "ui8": 8, "si16": 16, "si32": 32, "si64": 64}[call.result_dtype]
        if not is_tensor(call.operand(1)):
            number = int(call.number(1))
            if not 0 <= number < min(bits, 32):
                raise call.error(f"by {number} bits, expected 0 to {min(bits, 32) - 1}")
        else:
            # an amount that no shift can have is limited for TOSA, and its result put right below
            fits = build.binary("tosa.greater", build.scalar_like(min(bits, 32), amount), amount)
            amount = build.clamp(amount, 0, 31)
            if to_left:
                shifted = build.binary("tosa.logical_left_shift", value, amount)
                return wrapped(call, build.select(fits, shifted, build.scalar_like(0, shifted)))
        name = "tosa.logical_left_shift" if to_left else "tosa.arithmetic_right_shift"
        return wrapped(call, build.binary(name, value, amount))

    return converter


def float_unary(name: str) -> Converter:
    """A converter to an operator on floating point; integer operands are converted first, as PyTorch does."""

    def converter(call: Call) -> ir.Value:
        return build.unary(name, call.tensor_as(0, call.element))

    return converter


def both(stem: str, converter: Converter, *variants: str) -> dict[str, Converter]:
    """The converter under the names torch.aten.STEM.VARIANT."""
    return {f"torch.aten.{stem}{'.' + variant if variant else ''}": converter for variant in variants}


def limits(low: int | None, high: int | None) -> Callable[[Call], ir.Value]:
    """A converter that holds a value between operands."""
    return lambda call: limited(call, low, high)


TABLE: dict[str, Converter] = {
    **both("add", convert_add, "Tensor", "Scalar"),
    **both("sub", convert_sub, "Tensor", "Scalar"),
    **both("subtract", convert_sub, "Tensor", "Scalar"),
    **both("rsub", convert_rsub, "Tensor", "Scalar"),
    **both("mul", convert_mul, "Tensor", "Scalar"),
    **both("multiply", convert_mul, "Tensor", "Scalar"),
    **both("addcmul", convert_addcmul, ""),
    **both("addcdiv", convert_addcdiv, ""),
    **both("lerp", convert_lerp, "Tensor", "Scalar"),
    **both("div", convert_div, "Tensor", "Scalar", "Tensor_mode", "Scalar_mode"),
    **both("divide", convert_div, "Tensor", "Scalar"),
    **both("true_divide", convert_div, "Tensor", "Scalar"),
    **both("floor_divide", convert_floor_divide, "", "Scalar"),
    **both("remainder", convert_remainder, "Tensor", "Scalar"),
    **both("fmod", convert_fmod, "Tensor", "Scalar"),
    **both("pow", convert_pow, "Tensor_Tensor", "Tensor_Scalar", "Scalar"),
    **both("sqrt", convert_sqrt, ""),
    **both("rsqrt", float_unary("tosa.rsqrt"), ""),
    **both("reciprocal", float_unary("tosa.reciprocal"), ""),
    **both("square", convert_square, ""),
    **both("hypot", convert_hypot, ""),
    **both("neg", convert_neg, ""),
    **both("negative", convert_neg, ""),
    **both("abs", convert_abs, ""),
    **both("absolute", convert_abs, ""),
    **both("sign", convert_sign, ""),
    **both("sgn", convert_sign, ""),
    **both("maximum", extreme("tosa.maximum"), ""),
    **both("minimum", extreme("tosa.minimum"), ""),
    **both("max", extreme("tosa.maximum"), "other"),
    **both("min", extreme("tosa.minimum"), "other"),
    **both("fmax", extreme("tosa.maximum", ignore_nan=True), ""),
    **both("fmin", extreme("tosa.minimum", ignore_nan=True), ""),
    **both("clamp", limits(1, 2), "", "Tensor"),
    **both("clip", limits(1, 2), "", "Tensor"),
    **both("clamp_min", limits(1, None), "", "Tensor"),
    **both("clamp_max", limits(None, 1), "", "Tensor"),
    **both("bitwise_and", bitwise("and"), "Tensor", "Scalar"),
    **both("bitwise_or", bitwise("or"), "Tensor", "Scalar"),
    **both("bitwise_xor", bitwise("xor"), "Tensor", "Scalar"),
    **both("__and__", bitwise("and"), "Tensor", "Scalar"),
    **both("__or__", bitwise("or"), "Tensor", "Scalar"),
    **both("__xor__", bitwise("xor"), "Tensor", "Scalar"),
    **both("bitwise_not", convert_bitwise_not, ""),
    **both("bitwise_left_shift", shift(to_left=True), "Tensor", "Tensor_Scalar"),
    **both("bitwise_right_shift", shift(to_left=False), "Tensor", "Tensor_Scalar"),
    **both("__lshift__", shift(to_left=True), "Tensor", "Scalar"),
    **both("__rshift__", shift(to_left=False), "Tensor", "Scalar"),
}


@register
@dataclass(frozen=True)
class ConvertTorchArithmetic(TorchConversion):
    name = "vgf-convert-torch-arithmetic"
    table = TABLE
