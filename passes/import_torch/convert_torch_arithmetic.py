"""vgf-convert-torch-arithmetic: sums, products, signs and limits of torch become TOSA.

    %0 = torch.aten.add.Scalar %x, %float2, %int1 : !torch.vtensor<[3],f32>, ... -> !torch.vtensor<[3],f32>
becomes, between casts from and to the torch type,
    %1 = tosa.add %0, %two : (tensor<3xf32>, tensor<1xf32>) -> tensor<3xf32>

Operands are first brought to the type in which PyTorch computes, which is the result's; integers of less than 32 bits are
computed in 32 and wrap when they go back.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from torch_mlir import ir

from vgfc import build
from vgfc.ir import is_float
from vgfc.passmanager import register
from vgfc.torch_conversion import Call, Converter, Table, TorchConversion, aten, is_tensor
from vgfc.torch_operands import compute_element, operand, scaled, wrapped


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


def convert_lerp(call: Call) -> ir.Value:
    element = compute_element(call)
    start, end, weight = (operand(call, index, element) for index in range(3))
    return build.add(start, build.mul(weight, build.sub(end, start)))


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


def limits(low: int | None, high: int | None) -> Callable[[Call], ir.Value]:
    """A converter that holds a value between operands."""
    return lambda call: limited(call, low, high)


TABLE: Table = {
    **aten("add.Tensor add.Scalar", convert_add),
    **aten("sub.Tensor sub.Scalar subtract.Tensor subtract.Scalar", convert_sub),
    **aten("rsub.Tensor rsub.Scalar", convert_rsub),
    **aten("mul.Tensor mul.Scalar multiply.Tensor multiply.Scalar", convert_mul),
    **aten("addcmul", convert_addcmul),
    **aten("lerp.Tensor lerp.Scalar", convert_lerp),
    **aten("neg negative", convert_neg),
    **aten("abs absolute", convert_abs),
    **aten("sign sgn", convert_sign),
    **aten("maximum max.other", extreme("tosa.maximum")),
    **aten("minimum min.other", extreme("tosa.minimum")),
    **aten("fmax", extreme("tosa.maximum", ignore_nan=True)),
    **aten("fmin", extreme("tosa.minimum", ignore_nan=True)),
    **aten("clamp clamp.Tensor clip clip.Tensor", limits(1, 2)),
    **aten("clamp_min clamp_min.Tensor", limits(1, None)),
    **aten("clamp_max clamp_max.Tensor", limits(None, 1)),
}


@register
@dataclass(frozen=True)
class ConvertTorchArithmetic(TorchConversion):
    name = "vgf-convert-torch-arithmetic"
    table = TABLE
