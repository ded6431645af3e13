"""vgf-convert-torch-comparisons: comparisons, logic, choices and tests for NaN and infinity become TOSA.

    %0 = torch.aten.lt.Tensor %x, %y : !torch.vtensor<[3],f32>, !torch.vtensor<[3],si64> -> !torch.vtensor<[3],i1>
becomes, between casts from and to the torch type,
    %2 = tosa.cast %1 : (tensor<3xi32>) -> tensor<3xf32>
    %3 = tosa.greater %2, %0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>

TOSA has greater, greater_equal and equal. x < y is y > x, and not-equal is the negation of equal: both keep NaN's meaning.
"""

import math
from dataclasses import dataclass

from torch_mlir import ir

from vgfc import build
from vgfc.ir import element_type, is_float, shape
from vgfc.passmanager import register
from vgfc.torch_conversion import (
    Call,
    Converter,
    TorchConversion,
    carried_element,
    category,
    common_dtype,
    is_tensor,
)


def pair(call: Call) -> tuple[ir.Value, ir.Value]:
    """The two operands in the type in which torch compares them."""
    if is_tensor(call.operand(1)):
        dtype = common_dtype([call.operand(0), call.operand(1)])
    else:
        number = call.number(1)
        dtype = call.dtype(0)
        own = 0 if isinstance(number, bool) else 2 if isinstance(number, float) else 1
        if own > category(dtype):
            dtype = "f32" if own == 2 else "si64"
    element = carried_element(dtype)
    if not is_float(element):
        element = build.i32()
    left = call.tensor_as(0, element)
    if is_tensor(call.operand(1)):
        return left, call.tensor_as(1, element)
    number = call.number(1)
    if not is_float(element) and not -(2**31) <= number < 2**31:
        raise call.error(f"compares with the integer {number}, expected one that 32 bits can carry")
    return left, build.scalar_like(number, left)


def comparison(name: str, swapped: bool = False, negated: bool = False) -> Converter:
    """A converter to a TOSA comparison of the operands, swapped, its result negated."""

    def converter(call: Call) -> ir.Value:
        left, right = pair(call)
        result = build.binary(name, right, left) if swapped else build.binary(name, left, right)
        return build.logical_not(result) if negated else result

    return converter


def truth(call: Call, index: int) -> ir.Value:
    """A tensor operand as booleans."""
    return call.tensor_as(index, build.i1())


def logical(name: str) -> Converter:
    """A converter to a logical operator on the operands' truth."""
    return lambda call: build.binary(name, truth(call, 0), truth(call, 1))


def convert_where(call: Call) -> ir.Value:
    chosen, other = (
        call.tensor_as(index, call.element)
        if is_tensor(call.operand(index))
        else build.scalar(call.number(index), call.element)
        for index in (1, 2)
    )
    return whole(call, build.select(truth(call, 0), chosen, other))


def convert_masked_fill(call: Call) -> ir.Value:
    value = call.tensor_as(0, call.element)
    fill = call.tensor_as(2, call.element) if is_tensor(call.operand(2)) else build.scalar_like(call.number(2), value)
    return whole(call, build.select(truth(call, 1), fill, value))


def whole(call: Call, value: ir.Value) -> ir.Value:
    """The value in the result's shape: operands of extent 1 alone do not give it."""
    return build.broadcast_to(value, call.result_shape or (1,))


def convert_isnan(call: Call) -> ir.Value:
    value = call.tensor(0)
    if not is_float(element_type(value)):
        return build.filled(False, shape(value), build.i1())
    return build.logical_not(build.binary("tosa.equal", value, value))


def convert_isinf(call: Call) -> ir.Value:
    value = call.tensor(0)
    if not is_float(element_type(value)):
        return build.filled(False, shape(value), build.i1())
    return build.binary("tosa.equal", build.unary("tosa.abs", value), build.scalar_like(math.inf, value))


def convert_isfinite(call: Call) -> ir.Value:
    value = call.tensor(0)
    if not is_float(element_type(value)):
        return build.filled(True, shape(value), build.i1())
    return build.binary("tosa.greater", build.scalar_like(math.inf, value), build.unary("tosa.abs", value))


def convert_isclose(call: Call) -> ir.Value:
    """|left - right| <= atol + rtol * |right|, or equal, as infinities are."""
    left, right = pair(call)
    left, right = build.cast(left, build.f32()), build.cast(right, build.f32())
    equal = build.binary("tosa.equal", left, right)
    if call.flag(4):
        nans = [build.logical_not(build.binary("tosa.equal", value, value)) for value in (left, right)]
        equal = build.binary("tosa.logical_or", equal, build.binary("tosa.logical_and", *nans))
    size = build.mul(build.unary("tosa.abs", right), build.scalar_like(call.real(2, 1e-5), right))
    allowed = build.add(size, build.scalar_like(call.real(3, 1e-8), size))
    apart = build.unary("tosa.abs", build.sub(left, right))
    near = build.binary("tosa.greater_equal", allowed, apart)
    finite = build.binary("tosa.greater", build.scalar_like(math.inf, apart), apart)
    return build.binary("tosa.logical_or", equal, build.binary("tosa.logical_and", near, finite))


def convert_nan_to_num(call: Call) -> ir.Value:
    value = call.tensor(0)
    element = element_type(value)
    if not is_float(element):
        return value
    largest = {"f32": 3.4028234663852886e38, "f16": 65504.0, "bf16": 3.3895313892515355e38}[str(element)]
    nan, high, low = call.real(1, 0.0), call.real(2, largest), call.real(3, -largest)
    kept = build.select(build.binary("tosa.equal", value, value), value, build.scalar_like(nan, value))
    infinite = build.scalar_like(math.inf, value)
    kept = build.select(build.binary("tosa.equal", value, infinite), build.scalar_like(high, value), kept)
    below = build.binary("tosa.equal", value, build.scalar_like(-math.inf, value))
    return build.select(below, build.scalar_like(low, value), kept)


NAMED: dict[str, Converter] = {
    "eq": comparison("tosa.equal"),
    "ne": comparison("tosa.equal", negated=True),
    "not_equal": comparison("tosa.equal", negated=True),
    "gt": comparison("tosa.greater"),
    "greater": comparison("tosa.greater"),
    "ge": comparison("tosa.greater_equal"),
    "greater_equal": comparison("tosa.greater_equal"),
    "lt": comparison("tosa.greater", swapped=True),
    "less": comparison("tosa.greater", swapped=True),
    "le": comparison("tosa.greater_equal", swapped=True),
    "less_equal": comparison("tosa.greater_equal", swapped=True),
}
TABLE: dict[str, Converter] = {
    **{f"torch.aten.{name}.{form}": made for name, made in NAMED.items() for form in ("Tensor", "Scalar")},
    "torch.aten.logical_and": logical("tosa.logical_and"),
    "torch.aten.logical_or": logical("tosa.logical_or"),
    "torch.aten.logical_xor": logical("tosa.logical_xor"),
    "torch.aten.logical_not": lambda call: build.logical_not(truth(call, 0)),
    "torch.aten.where.self": convert_where,
    "torch.aten.where.ScalarSelf": convert_where,
    "torch.aten.where.ScalarOther": convert_where,
    "torch.aten.where.Scalar": convert_where,
    "torch.aten.masked_fill.Scalar": convert_masked_fill,
    "torch.aten.masked_fill.Tensor": convert_masked_fill,
    "torch.aten.isnan": convert_isnan,
    "torch.aten.isinf": convert_isinf,
    "torch.aten.isfinite": convert_isfinite,
    "torch.aten.nan_to_num": convert_nan_to_num,
    "torch.aten.isclose": convert_isclose,
}


@register
@dataclass(frozen=True)
class ConvertTorchComparisons(TorchConversion):
    name = "vgf-convert-torch-comparisons"
    table = TABLE
