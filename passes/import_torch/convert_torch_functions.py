"""vgf-convert-torch-functions: exponentials, logarithms, trigonometric functions, rounding and erf become TOSA.

    %0 = torch.aten.log2 %x : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
becomes, between casts from and to the torch type,
    %1 = tosa.log %0 : (tensor<3xf32>) -> tensor<3xf32>
    %2 = tosa.mul %1, %one_over_log_2

TOSA has exp, log, sin, cos, tanh, erf and pow; the rest is made of these. Where the textbook form cancels (expm1, log1p,
sinh, asinh, atanh near 0) a form that keeps its digits there is used; the arc functions are polynomials after reducing
their argument (Cephes, S. L. Moshier: atanf, asinf), and erfinv is M. Giles' approximation (2012).

Invalid input: none, an operand whose type TOSA does not take fails where types are converted.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from vgfc import build
from vgfc.ir import element_type, is_float
from vgfc.passmanager import register
from vgfc.torch_conversion import Call, Converter, TorchConversion, float_compute

Function = Callable[[ir.Value], ir.Value]

# Coefficients from the highest power down
ATAN = (8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1)
ASIN = (4.2163199048e-2, 2.4181311049e-2, 4.5470025998e-2, 7.4953002686e-2, 1.6666752422e-1)
EXPM1 = (1 / 5040, 1 / 720, 1 / 120, 1 / 24, 1 / 6, 1 / 2, 1.0)
ERFINV_CENTRE = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164,
    0.246640727, 1.50140941,
)  # fmt: skip
ERFINV_TAIL = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047,
    1.00167406, 2.83297682,
)  # fmt: skip


def polynomial(value: ir.Value, coefficients: Sequence[float]) -> ir.Value:
    """Horner's scheme."""
    result = build.scalar_like(coefficients[0], value)
    for coefficient in coefficients[1:]:
        result = build.add(build.mul(result, value), build.scalar_like(coefficient, value))
    return result


def number(value: float, like: ir.Value) -> ir.Value:
    """A constant that broadcasts against `like`."""
    return build.scalar_like(value, like)


def greater(left: ir.Value, right: ir.Value) -> ir.Value:
    """left > right."""
    return build.binary("tosa.greater", left, right)


def with_sign_of(size: ir.Value, value: ir.Value) -> ir.Value:
    """`size`, which is not negative, with the sign of `value`."""
    return build.select(greater(number(0.0, value), value), build.negate(size), size)


def exp(value: ir.Value) -> ir.Value:
    return build.unary("tosa.exp", value)


def log(value: ir.Value) -> ir.Value:
    return build.unary("tosa.log", value)


def scaled(function: Function, factor: float) -> Function:
    """function(x) * factor."""
    return lambda value: build.mul(function(value), number(factor, value))


def exp2(value: ir.Value) -> ir.Value:
    return build.binary("tosa.pow", number(2.0, value), value)


def expm1(value: ir.Value) -> ir.Value:
    small = build.mul(value, polynomial(value, EXPM1))
    is_small = greater(number(0.5, value), build.unary("tosa.abs", value))
    return build.select(is_small, small, build.sub(exp(value), number(1.0, value)))


def log1p(value: ir.Value) -> ir.Value:
    """log(1 + x) * x / ((1 + x) - 1), in which the rounding of 1 + x cancels (W. Kahan)."""
    one = number(1.0, value)
    moved = build.add(one, value)
    step = build.sub(moved, one)
    unmoved = build.binary("tosa.equal", step, number(0.0, value))
    quotient = build.div(value, build.select(unmoved, one, step))
    infinite = build.binary("tosa.equal", moved, number(math.inf, value))
    factor = build.select(infinite, one, quotient)
    return build.select(unmoved, value, build.mul(log(moved), factor))


def tan(value: ir.Value) -> ir.Value:
    return build.div(build.unary("tosa.sin", value), build.unary("tosa.cos", value))


def atan(value: ir.Value) -> ir.Value:
    """Cephes' atanf: |x| > tan(3 pi/8) becomes -1/x, |x| > tan(pi/8) becomes (x - 1)/(x + 1), then a polynomial."""
    size, one = build.unary("tosa.abs", value), number(1.0, value)
    large = greater(size, number(2.414213562373095, value))
    medium = greater(size, number(0.4142135623730950, value))
    upper = build.select(large, build.negate(one), build.sub(size, one))
    lower = build.select(large, size, build.add(size, one))
    reduced = build.select(medium, build.div(upper, lower), size)
    offset = build.select(large, number(math.pi / 2, value), number(math.pi / 4, value))
    offset = build.select(medium, offset, number(0.0, value))
    squared = build.mul(reduced, reduced)
    bent = build.mul(build.mul(polynomial(squared, ATAN), squared), reduced)
    return with_sign_of(build.add(offset, build.add(bent, reduced)), value)


def asin_parts(size: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Whether |x| > 1/2, and asin of |x|, or of sqrt((1 - |x|) / 2) where so (Cephes' asinf)."""
    large = greater(size, number(0.5, size))
    halved = build.mul(build.sub(number(1.0, size), size), number(0.5, size))
    squared = build.select(large, halved, build.mul(size, size))
    base = build.select(large, build.square_root(halved), size)
    return large, build.add(build.mul(build.mul(polynomial(squared, ASIN), squared), base), base)


def asin(value: ir.Value) -> ir.Value:
    large, part = asin_parts(build.unary("tosa.abs", value))
    folded = build.sub(number(math.pi / 2, value), build.mul(part, number(2.0, value)))
    return with_sign_of(build.select(large, folded, part), value)


def acos(value: ir.Value) -> ir.Value:
    large, part = asin_parts(build.unary("tosa.abs", value))
    negative = greater(number(0.0, value), value)
    doubled = build.mul(part, number(2.0, value))
    outer = build.select(negative, build.sub(number(math.pi, value), doubled), doubled)
    inner = build.select(
        negative, build.add(number(math.pi / 2, value), part), build.sub(number(math.pi / 2, value), part)
    )
    return build.select(large, outer, inner)


def sinh(value: ir.Value) -> ir.Value:
    """(e + e / (e + 1)) / 2 with e = expm1(|x|); half of exp(x - log 2) squared's range would overflow too early."""
    size = build.unary("tosa.abs", value)
    part = expm1(size)
    near = build.add(part, build.div(part, build.add(part, number(1.0, value))))
    halved = build.mul(near, number(0.5, value))
    far = exp(build.sub(size, number(math.log(2), value)))
    return with_sign_of(build.select(greater(size, number(20.0, value)), far, halved), value)


def cosh(value: ir.Value) -> ir.Value:
    size = build.sub(build.unary("tosa.abs", value), number(math.log(2), value))
    part = exp(size)
    return build.add(part, build.div(number(0.25, value), part))


def asinh(value: ir.Value) -> ir.Value:
    """log1p(|x| + x^2 / (1 + sqrt(x^2 + 1))), and log |x| + log 2 where x^2 could overflow."""
    size, one = build.unary("tosa.abs", value), number(1.0, value)
    large = greater(size, number(1e9 if str(element_type(value)) != "f16" else 200.0, value))
    safe = build.select(large, one, size)
    squared = build.mul(safe, safe)
    inner = build.add(safe, build.div(squared, build.add(one, build.square_root(build.add(squared, one)))))
    far = build.add(log(size), number(math.log(2), value))
    return with_sign_of(build.select(large, far, log1p(inner)), value)


def acosh(value: ir.Value) -> ir.Value:
    """log1p(t + sqrt(2 t + t^2)) with t = x - 1, and log x + log 2 where t^2 could overflow."""
    one = number(1.0, value)
    large = greater(value, number(1e9, value))
    above = build.sub(build.select(large, number(2.0, value), value), one)
    inner = build.add(build.mul(above, number(2.0, value)), build.mul(above, above))
    near = log1p(build.add(above, build.square_root(inner)))
    return build.select(large, build.add(log(value), number(math.log(2), value)), near)


def atanh(value: ir.Value) -> ir.Value:
    size = build.unary("tosa.abs", value)
    doubled = build.add(size, size)
    ratio = build.div(doubled, build.sub(number(1.0, value), size))
    return with_sign_of(build.mul(log1p(ratio), number(0.5, value)), value)


def erfc(value: ir.Value) -> ir.Value:
    return build.sub(number(1.0, value), build.unary("tosa.erf", value))


def erfinv(value: ir.Value) -> ir.Value:
    """M. Giles, Approximating the erfinv function: one polynomial in w = -log(1 - x^2) near 0, one in sqrt(w) in the tails."""
    one = number(1.0, value)
    inside = build.mul(build.sub(one, value), build.add(one, value))
    depth = build.negate(log(inside))
    centre = polynomial(build.sub(depth, number(2.5, value)), ERFINV_CENTRE)
    tail = polynomial(build.sub(build.square_root(depth), number(3.0, value)), ERFINV_TAIL)
    near = build.mul(build.select(greater(number(5.0, value), depth), centre, tail), value)
    end = build.binary("tosa.equal", build.unary("tosa.abs", value), one)
    return build.select(end, build.mul(value, number(math.inf, value)), near)


def round_to_even(value: ir.Value) -> ir.Value:
    return build.round_to_integer(value)


def frac(value: ir.Value) -> ir.Value:
    return build.sub(value, build.trunc(value))


def simple(name: str) -> Function:
    """A function that TOSA has."""
    return lambda value: build.unary(name, value)


def rounding(function: Function) -> Converter:
    """A converter that leaves integers as they are."""

    def converter(call: Call) -> ir.Value:
        value = call.tensor_as(0, call.element)
        return function(value) if is_float(element_type(value)) else value

    return converter


def inside_f32(function: Function) -> Converter:
    """A converter that computes 16-bit operands in 32 bits, as PyTorch does in functions made of several steps."""

    def converter(call: Call) -> ir.Value:
        return function(call.tensor_as(0, float_compute(call.element)))

    return converter


def direct(function: Function) -> Converter:
    """A converter that computes in the result's type."""
    return lambda call: function(call.tensor_as(0, call.element))


def convert_round_decimals(call: Call) -> ir.Value:
    value = call.tensor_as(0, float_compute(call.element))
    decimals = call.integer(1, 0)
    if decimals == 0:
        return round_to_even(value)
    power = number(10.0 ** abs(decimals), value)
    if decimals > 0:
        return build.div(round_to_even(build.mul(value, power)), power)
    return build.mul(round_to_even(build.div(value, power)), power)


def logit(call: Call) -> ir.Value:
    value = call.tensor_as(0, float_compute(call.element))
    if call.has(1):
        epsilon = call.real(1)
        value = build.clamp(value, epsilon, 1.0 - epsilon)
    return log(build.div(value, build.sub(number(1.0, value), value)))


def convert_atan2(call: Call) -> ir.Value:
    element = float_compute(call.element)
    above, beside = call.tensor_as(0, element), call.tensor_as(1, element)
    zero = number(0.0, above)
    size_above, size_beside = build.unary("tosa.abs", above), build.unary("tosa.abs", beside)
    origin = build.binary("tosa.equal", build.add(size_above, size_beside), zero)
    angle = atan(build.div(size_above, build.select(origin, number(1.0, beside), size_beside)))
    angle = build.select(greater(zero, beside), build.sub(number(math.pi, angle), angle), angle)
    return build.select(greater(zero, above), build.negate(angle), angle)


NAMED: dict[str, Converter] = {
    "exp": direct(exp),
    "exp2": inside_f32(exp2),
    "expm1": inside_f32(expm1),
    "log": direct(log),
    "log2": inside_f32(scaled(log, 1 / math.log(2))),
    "log10": inside_f32(scaled(log, 1 / math.log(10))),
    "log1p": inside_f32(log1p),
    "sin": direct(simple("tosa.sin")),
    "cos": direct(simple("tosa.cos")),
    "tan": inside_f32(tan),
    "asin": inside_f32(asin),
    "acos": inside_f32(acos),
    "atan": inside_f32(atan),
    "atan2": convert_atan2,
    "sinh": inside_f32(sinh),
    "cosh": inside_f32(cosh),
    "asinh": inside_f32(asinh),
    "acosh": inside_f32(acosh),
    "atanh": inside_f32(atanh),
    "erf": direct(simple("tosa.erf")),
    "erfc": inside_f32(erfc),
    "erfinv": inside_f32(erfinv),
    "special_erfinv": inside_f32(erfinv),
    "logit": logit,
    "ceil": rounding(simple("tosa.ceil")),
    "floor": rounding(simple("tosa.floor")),
    "round": rounding(round_to_even),
    "round.decimals": convert_round_decimals,
    "trunc": rounding(build.trunc),
    "fix": rounding(build.trunc),
    "frac": direct(frac),
}
TABLE = {f"torch.aten.{name}": converter for name, converter in NAMED.items()}


@register
@dataclass(frozen=True)
class ConvertTorchFunctions(TorchConversion):
    name = "vgf-convert-torch-functions"
    table = TABLE
