"""vgf-convert-torch-activations: activation functions of torch become TOSA.

    %0 = torch.aten.relu6 %x : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
becomes, between casts from and to the torch type,
    %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<3xf32>) -> tensor<3xf32>

Each takes its shortest form: GELU is x * (0.5 * erf(x / sqrt 2) + 0.5), hard swish a clamp and two products.
NaN stays NaN and infinity stays infinity, so that relu's upper bound is infinity and not the largest number.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from torch_mlir import ir

from vgfc import build
from vgfc.ir import is_float, shape
from vgfc.passmanager import register
from vgfc.torch_conversion import Call, Converter, TorchConversion, float_compute

SELU_SCALE = 1.0507009873554804934193349852946
SELU_ALPHA = 1.6732632423543772848170429916717


def number(value: float, like: ir.Value) -> ir.Value:
    """A constant that broadcasts against `like`."""
    return build.scalar_like(value, like)


def positive(value: ir.Value) -> ir.Value:
    """Whether a value is above 0."""
    return build.binary("tosa.greater", value, number(0, value))


def clamped(low: float, high: float) -> Converter:
    """A converter to a clamp; integers of less than 32 bits are computed in 32."""

    def converter(call: Call) -> ir.Value:
        element = call.element if is_float(call.element) else build.i32()
        if not is_float(element):
            return build.clamp(call.tensor_as(0, element), max(low, -(2**31)), min(high, 2**31 - 1))
        return build.clamp(call.tensor_as(0, element), low, high)

    return converter


def convert_hardtanh(call: Call) -> ir.Value:
    return clamped(call.real(1, -1.0), call.real(2, 1.0))(call)


def sigmoid(value: ir.Value) -> ir.Value:
    return build.unary("tosa.sigmoid", value)


def tanh(value: ir.Value) -> ir.Value:
    return build.unary("tosa.tanh", value)


def gated(gate: ir.Value, value: ir.Value) -> ir.Value:
    return build.mul(value, gate)


def hard_sigmoid(value: ir.Value) -> ir.Value:
    """clamp(x / 6 + 1/2, 0, 1)."""
    return build.clamp(build.add(build.mul(value, number(1 / 6, value)), number(0.5, value)), 0.0, 1.0)


def convert_hardswish(call: Call) -> ir.Value:
    value = compute(call)
    inner = build.clamp(build.add(value, number(3.0, value)), 0.0, 6.0)
    return build.mul(build.mul(value, inner), number(1 / 6, value))


def compute(call: Call, index: int = 0) -> ir.Value:
    """An operand in the type in which PyTorch computes inside."""
    return call.tensor_as(index, float_compute(call.element))


def convert_leaky_relu(call: Call) -> ir.Value:
    value = call.tensor_as(0, call.element)
    slope = call.real(1, 0.01)
    steep = build.mul(value, number(slope, value))
    if 0 < slope <= 1:
        return build.binary("tosa.maximum", value, steep)
    return build.select(positive(value), value, steep)


def convert_prelu(call: Call) -> ir.Value:
    value, slope = call.tensor_as(0, call.element), call.tensor_as(1, call.element)
    rank = len(shape(value))
    if rank > 1:
        slope = build.reshape(slope, (1, shape(slope)[0], *(1,) * (rank - 2)))
    return build.select(positive(value), value, build.mul(value, slope))


def exponential_minus_one(value: ir.Value) -> ir.Value:
    """exp(x) - 1 for x <= 0, by a series near 0, where the difference would lose its digits."""
    terms = (1 / 5040, 1 / 720, 1 / 120, 1 / 24, 1 / 6, 1 / 2, 1.0)
    series = number(terms[0], value)
    for term in terms[1:]:
        series = build.add(build.mul(series, value), number(term, value))
    near = build.binary("tosa.greater", value, number(-0.5, value))
    far = build.sub(build.unary("tosa.exp", value), number(1.0, value))
    return build.select(near, build.mul(series, value), far)


def elu_like(value: ir.Value, alpha: float, scale: float, input_scale: float) -> ir.Value:
    """scale * x above 0, scale * alpha * (exp(x * input_scale) - 1) below."""
    below = build.binary("tosa.minimum", value, number(0.0, value))
    if input_scale != 1:
        below = build.mul(below, number(input_scale, value))
    bent = exponential_minus_one(below)
    bent = bent if alpha * scale == 1 else build.mul(bent, number(alpha * scale, value))
    straight = value if scale == 1 else build.mul(value, number(scale, value))
    return build.select(positive(value), straight, bent)


def convert_elu(call: Call) -> ir.Value:
    return elu_like(compute(call), *(float(call.number(index)) if call.has(index) else 1.0 for index in (1, 2, 3)))


def convert_celu(call: Call) -> ir.Value:
    alpha = call.real(1, 1.0)
    return elu_like(compute(call), alpha, 1.0, 1.0 / alpha)


def convert_selu(call: Call) -> ir.Value:
    return elu_like(compute(call), SELU_ALPHA, SELU_SCALE, 1.0)


def convert_gelu(call: Call) -> ir.Value:
    value = compute(call)
    approximate = call.text(1, "none")
    if approximate == "none":
        inner = build.unary("tosa.erf", build.mul(value, number(math.sqrt(0.5), value)))
    elif approximate == "tanh":
        # sqrt(2 / pi) * (x + 0.044715 x^3) as x * (a x^2 + b)
        outer = math.sqrt(2 / math.pi)
        squared = build.mul(value, value)
        factor = build.add(build.mul(squared, number(0.044715 * outer, value)), number(outer, value))
        inner = tanh(build.mul(value, factor))
    else:
        raise call.error(f"with approximate='{approximate}', expected 'none' or 'tanh'")
    half = number(0.5, value)
    return build.mul(value, build.add(build.mul(inner, half), half))


def softplus(value: ir.Value) -> ir.Value:
    """max(x, 0) + log(1 + exp(-|x|)), which cannot overflow and keeps its digits far below 0."""
    decay = build.unary("tosa.exp", build.negate(build.unary("tosa.abs", value)))
    one = number(1.0, value)
    small = build.mul(decay, build.sub(one, build.mul(decay, number(0.5, value))))
    near = build.unary("tosa.log", build.add(one, decay))
    tail = build.select(build.binary("tosa.greater", number(1e-3, value), decay), small, near)
    return build.add(build.binary("tosa.maximum", value, number(0.0, value)), tail)


def convert_softplus(call: Call) -> ir.Value:
    value = compute(call)
    beta = float(call.number(1)) if call.has(1) else 1.0
    threshold = float(call.number(2)) if call.has(2) else 20.0
    scaled = value if beta == 1 else build.mul(value, number(beta, value))
    result = softplus(scaled)
    result = result if beta == 1 else build.mul(result, number(1 / beta, value))
    return build.select(build.binary("tosa.greater", scaled, number(threshold, value)), value, result)


def convert_log_sigmoid(call: Call) -> ir.Value:
    return build.negate(softplus(build.negate(compute(call))))


def convert_mish(call: Call) -> ir.Value:
    value = compute(call)
    return build.mul(value, tanh(softplus(value)))


def convert_softsign(call: Call) -> ir.Value:
    value = compute(call)
    return build.div(value, build.add(build.unary("tosa.abs", value), number(1.0, value)))


def convert_tanhshrink(call: Call) -> ir.Value:
    value = compute(call)
    return build.sub(value, tanh(value))


def convert_threshold(call: Call) -> ir.Value:
    value = call.tensor_as(0, call.element)
    above = build.binary("tosa.greater", value, number(float(call.number(1)), value))
    return build.select(above, value, number(float(call.number(2)), value))


def convert_hardshrink(call: Call) -> ir.Value:
    value = call.tensor_as(0, call.element)
    bound = float(call.number(1)) if call.has(1) else 0.5
    inside = build.binary("tosa.greater_equal", number(bound, value), build.unary("tosa.abs", value))
    return build.select(inside, number(0.0, value), value)


def convert_softshrink(call: Call) -> ir.Value:
    value = call.tensor_as(0, call.element)
    bound = float(call.number(1)) if call.has(1) else 0.5
    return build.sub(value, build.clamp(value, -bound, bound))


def convert_glu(call: Call) -> ir.Value:
    value = call.tensor_as(0, call.element)
    axis = call.axis(1, len(shape(value))) if call.has(1) else len(shape(value)) - 1
    half = shape(value)[axis] // 2
    first, second = (build.slice_axis(value, axis, start, half) for start in (0, half))
    return gated(sigmoid(second), first)


def plain(function: Callable[[ir.Value], ir.Value]) -> Converter:
    """A converter that computes in the result's type."""
    return lambda call: function(call.tensor_as(0, call.element))


def inside(function: Callable[[ir.Value], ir.Value]) -> Converter:
    """A converter that computes 16-bit operands in 32 bits."""
    return lambda call: function(compute(call))


def silu(value: ir.Value) -> ir.Value:
    return gated(sigmoid(value), value)


NAMED: dict[str, Converter] = {
    "relu": clamped(0.0, math.inf),
    "relu6": clamped(0.0, 6.0),
    "hardtanh": convert_hardtanh,
    "sigmoid": plain(sigmoid),
    "tanh": plain(tanh),
    "hardsigmoid": inside(hard_sigmoid),
    "hardswish": convert_hardswish,
    "leaky_relu": convert_leaky_relu,
    "prelu": convert_prelu,
    "_prelu_kernel": convert_prelu,
    "elu": convert_elu,
    "celu": convert_celu,
    "selu": convert_selu,
    "gelu": convert_gelu,
    "silu": inside(silu),
    "softplus": convert_softplus,
    "log_sigmoid": convert_log_sigmoid,
    "mish": convert_mish,
    "softsign": convert_softsign,
    "tanhshrink": convert_tanhshrink,
    "threshold": convert_threshold,
    "hardshrink": convert_hardshrink,
    "softshrink": convert_softshrink,
    "glu": convert_glu,
}
TABLE = {f"torch.aten.{name}": converter for name, converter in NAMED.items()}


@register
@dataclass(frozen=True)
class ConvertTorchActivations(TorchConversion):
    name = "vgf-convert-torch-activations"
    table = TABLE
