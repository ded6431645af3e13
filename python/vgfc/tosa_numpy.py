"""TOSA operators evaluated with numpy, for folding constants: the values that the TOSA 1.0 specification asks for.

Integer operators are bit-exact. Floating-point ones are computed in f64 and rounded once to the result's type, which is
the correctly rounded result for every operator but the accumulating ones (reductions, convolutions), whose error is one
rounding. Arrays have the element types of `vgfc.ir.NUMPY_TYPES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from torch_mlir import ir

from vgfc.ir import Array, constant_value, defining, element_type, int_list, numpy_type, shape, shape_value

Evaluator = Callable[[ir.Operation, list[Array]], Array]

CONSTANTS = ("tosa.const", "tosa.const_shape", "arith.constant")
INTEGER_RANGES = {
    "i4": (-7, 7),
    "i8": (-128, 127),
    "i16": (-(1 << 15), (1 << 15) - 1),
    "i48": (-(1 << 47), (1 << 47) - 1),
}
UNSIGNED = {np.dtype(np.int8): np.uint8, np.dtype(np.int16): np.uint16, np.dtype(np.int32): np.uint32}


def evaluate(op: ir.Operation, operands: Sequence[Array]) -> Array | None:
    """The result of a one-result TOSA operator on `operands` (shape operands as 1-D int64 arrays).

    None when the operator is not one that is evaluated here, or when TOSA leaves the result undefined for these values
    (a shift or a cast out of range, an index out of bounds, an i32 overflow).
    """
    evaluator = EVALUATORS.get(op.name)
    if evaluator is None or len(op.results) != 1:
        return None
    with np.errstate(all="ignore"):
        try:
            result = evaluator(op, list(operands))
        except UndefinedResultError:
            return None
    assert result.shape == shape(op.result), f"{op.name}: {result.shape} is not the shape of {op.result.type}"
    return result


def known_operands(op: ir.Operation, known: Mapping[ir.Value, Array]) -> list[Array] | None:
    """The arrays to `evaluate` an operator on: those in `known`, and constants; None when one is neither."""
    arrays = []
    for operand in op.operands:
        owner = defining(operand)
        if operand in known:
            arrays.append(known[operand])
        elif owner is None or owner.name not in CONSTANTS:
            return None
        elif owner.name == "tosa.const_shape":
            numbers = shape_value(operand)
            assert numbers is not None
            arrays.append(np.array(numbers, np.int64))
        else:
            values = constant_value(operand)
            if values is None:
                return None
            arrays.append(values)
    return arrays


class UndefinedResultError(Exception):
    """TOSA does not define the result."""


def round_to(values: Array, wanted: Any) -> Array:
    """f64 values rounded once, half to even, to a floating-point type."""
    kind = np.dtype(wanted)
    if values.dtype == kind:
        return values
    if kind.itemsize >= 4 or kind == np.float16:
        return values.astype(kind)
    # ml_dtypes goes through f32; rounding to odd on the way there keeps the second rounding right.
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    bits = single.view(np.uint32)
    back = single.astype(np.float64)
    inexact = np.isfinite(values) & np.isfinite(single) & (back != values) & ((bits & 1) == 0)
    away = np.abs(back) > np.abs(values)
    odd = np.where(inexact, np.where(away, bits - np.uint32(1), bits + np.uint32(1)), bits).astype(np.uint32)
    return odd.view(np.float32).astype(kind)


def _result_type(op: ir.Operation) -> Any:
    return np.dtype(numpy_type(element_type(op.result)))


def _float(values: Array) -> bool:
    return values.dtype.kind not in "iub"


def _wide(values: Array) -> Array:
    return values.astype(np.float64) if _float(values) else values.astype(np.int64)


def _text(op: ir.Operation, name: str, default: str) -> str:
    """The keyword of an enumeration attribute such as #tosa.nan_mode<IGNORE>."""
    if name not in op.attributes:
        return default
    text = str(op.attributes[name])
    return text[text.index("<") + 1 : -1].strip() if "<" in text else text.strip('"')


def _axis(op: ir.Operation) -> int:
    return int(ir.IntegerAttr(op.attributes["axis"]).value)


def _in_range(op: ir.Operation, values: Array) -> Array:
    """Wide integers as the result's type; undefined where they do not fit."""
    name = str(element_type(op.result))
    wanted = _result_type(op)
    low, high = INTEGER_RANGES.get(name, (np.iinfo(wanted).min, np.iinfo(wanted).max))
    if values.size and (values.min() < low or values.max() > high):
        raise UndefinedResultError
    return values.astype(wanted)


# Element-wise


def _unary(function: Callable[[Array], Array]) -> Evaluator:
    return lambda op, a: round_to(function(a[0].astype(np.float64)), _result_type(op))


def _erf(values: Array) -> Array:
    from math import erf  # numpy has none

    return np.array([erf(value) for value in values.reshape(-1)], np.float64).reshape(values.shape)


def _arithmetic(function: Callable[[Array, Array], Array]) -> Evaluator:
    def run(op: ir.Operation, a: list[Array]) -> Array:
        result = function(_wide(a[0]), _wide(a[1]))
        return round_to(result, _result_type(op)) if _float(a[0]) else _in_range(op, result)

    return run


def _mul(op: ir.Operation, a: list[Array]) -> Array:
    if _float(a[0]):
        return round_to(a[0].astype(np.float64) * a[1].astype(np.float64), _result_type(op))
    product = a[0].astype(np.int64) * a[1].astype(np.int64)
    shift = int(a[2].reshape(-1)[0]) if len(a) > 2 else 0
    if shift:
        product = (product + (1 << (shift - 1))) >> shift
    return _in_range(op, product)


def _negate(op: ir.Operation, a: list[Array]) -> Array:
    if _float(a[0]):
        return -a[0]
    result = int(a[2].reshape(-1)[0]) - (a[0].astype(np.int64) - int(a[1].reshape(-1)[0]))
    wanted = np.iinfo(_result_type(op))
    return np.clip(result, wanted.min, wanted.max).astype(_result_type(op))


def _abs(op: ir.Operation, a: list[Array]) -> Array:
    return np.abs(a[0]) if _float(a[0]) else _in_range(op, np.abs(a[0].astype(np.int64)))


def _extremum(function: Any, ignoring: Any) -> Evaluator:
    def run(op: ir.Operation, a: list[Array]) -> Array:
        if not _float(a[0]):
            return cast(Array, function(a[0], a[1]))
        chosen = ignoring if _text(op, "nan_mode", "PROPAGATE") == "IGNORE" else function
        wide = [operand.astype(np.float64) for operand in a]
        result = chosen(*wide)
        # numpy does not say which of two zeros it returns; IEEE 754-2019 orders -0.0 below 0.0, and so does TOSA.
        zeros = (wide[0] == 0) & (wide[1] == 0)
        negative = [np.signbit(operand) for operand in wide]
        both = negative[0] & negative[1] if function is np.maximum else negative[0] | negative[1]
        result = np.where(zeros, np.where(both, -0.0, 0.0), result)
        return round_to(result, _result_type(op))

    return run


def attribute_number(attribute: ir.Attribute) -> float | int:
    """The number of a float or integer attribute; an integer is read with the signedness of its type."""
    if isinstance(attribute, ir.FloatAttr):
        return float(attribute.value)
    return int(ir.IntegerAttr(attribute).value)


def _clamp(op: ir.Operation, a: list[Array]) -> Array:
    low, high = (attribute_number(op.attributes[name]) for name in ("min_val", "max_val"))
    if not _float(a[0]):
        return np.clip(a[0], low, high).astype(a[0].dtype)
    wide = a[0].astype(np.float64)
    result = np.where(wide < low, low, np.where(wide > high, high, wide))
    if _text(op, "nan_mode", "PROPAGATE") == "IGNORE":
        result = np.where(np.isnan(wide), low, result)
    return round_to(result, a[0].dtype)


def _intdiv(op: ir.Operation, a: list[Array]) -> Array:
    dividend, divisor = np.broadcast_arrays(a[0].astype(np.int64), a[1].astype(np.int64))
    if (divisor == 0).any():
        raise UndefinedResultError
    quotient = np.abs(dividend) // np.abs(divisor)
    return _in_range(op, np.where((dividend < 0) != (divisor < 0), -quotient, quotient))


def _bitwise(function: Any) -> Evaluator:
    return lambda op, a: cast(Array, function(*a[:2])).astype(a[0].dtype)


def _shift_amounts(values: Array, bits: int) -> Array:
    if values.size and (values.min() < 0 or values.max() >= bits):
        raise UndefinedResultError
    return values.astype(np.int64)


def _shift(left: bool) -> Evaluator:
    def run(op: ir.Operation, a: list[Array]) -> Array:
        amounts = _shift_amounts(a[1], a[0].dtype.itemsize * 8)
        raw = a[0].view(UNSIGNED[a[0].dtype]).astype(np.uint64)
        shifted = raw << amounts.astype(np.uint64) if left else raw >> amounts.astype(np.uint64)
        return shifted.astype(UNSIGNED[a[0].dtype]).view(a[0].dtype)

    return run


def _arithmetic_right_shift(op: ir.Operation, a: list[Array]) -> Array:
    amounts = _shift_amounts(a[1], a[0].dtype.itemsize * 8)
    wide = a[0].astype(np.int64)
    result = wide >> amounts
    if ir.BoolAttr(op.attributes["round"]).value:
        last = (wide >> np.maximum(amounts - 1, 0)) & 1
        result = result + np.where(amounts > 0, last, 0)
    return result.astype(a[0].dtype)


def _clz(op: ir.Operation, a: list[Array]) -> Array:
    raw = a[0].view(np.uint32).astype(np.float64)
    return np.where(raw == 0, 32, 31 - np.floor(np.log2(np.maximum(raw, 1)))).astype(np.int32)


def _compare(function: Any) -> Evaluator:
    return lambda op, a: np.asarray(function(_wide(a[0]), _wide(a[1])), np.bool_)


def _select(op: ir.Operation, a: list[Array]) -> Array:
    return np.where(a[0].astype(np.bool_), a[1], a[2]).astype(a[1].dtype)


def _table(op: ir.Operation, a: list[Array]) -> Array:
    table = a[1].astype(np.int64)
    if a[0].dtype == np.int8:
        return np.asarray(table[a[0].astype(np.int64) + 128], _result_type(op))
    index = a[0].astype(np.int64) + (1 << 15)
    whole, fraction = index >> 7, index & 127
    base, following = table[whole], table[whole + 1]
    return np.asarray((base << 7) + (following - base) * fraction, _result_type(op))


def _cast(op: ir.Operation, a: list[Array]) -> Array:
    values, wanted = a[0], _result_type(op)
    to_float = wanted.kind not in "iub"
    if wanted == np.bool_:
        return np.asarray(values != 0)
    if to_float:
        result = round_to(values.astype(np.float64), wanted)
        if str(element_type(op.result)) == "f8E4M3FN":
            raise UndefinedResultError  # saturation is the specification's; ml_dtypes makes NaN
        return result
    if not _float(values):
        return values.astype(np.int64).astype(wanted)
    low, high = INTEGER_RANGES.get(str(element_type(op.result)), (np.iinfo(wanted).min, np.iinfo(wanted).max))
    wide = values.astype(np.float64)
    if np.isnan(wide).any():
        raise UndefinedResultError
    rounded = np.clip(np.rint(wide), low, high)
    result = rounded.astype(np.int64)
    if high > 1 << 53:
        result = np.where(rounded >= high, high, result)
    return result.astype(wanted)


# Data movement


def _reshape(op: ir.Operation, a: list[Array]) -> Array:
    return np.asarray(a[0].reshape(shape(op.result)))


def _transpose(op: ir.Operation, a: list[Array]) -> Array:
    return np.asarray(a[0].transpose(int_list(op.attributes["perms"])))


def _slice(op: ir.Operation, a: list[Array]) -> Array:
    window = tuple(slice(int(start), int(start) + int(size)) for start, size in zip(a[1], a[2], strict=True))
    return np.asarray(a[0][window])


def _pad(op: ir.Operation, a: list[Array]) -> Array:
    widths = [(int(before), int(after)) for before, after in a[1].reshape(-1, 2)]
    result = np.full(shape(op.result), a[2].reshape(-1)[0], a[0].dtype)
    inner = tuple(slice(before, before + extent) for (before, _), extent in zip(widths, a[0].shape, strict=True))
    result[inner] = a[0]
    return result


def _gather(op: ir.Operation, a: list[Array]) -> Array:
    values, indices = a
    if indices.size and (indices.min() < 0 or indices.max() >= values.shape[1]):
        raise UndefinedResultError
    return np.take_along_axis(values, indices[:, :, None].astype(np.int64), axis=1)


def _scatter(op: ir.Operation, a: list[Array]) -> Array:
    values, indices, source = a
    if indices.size and (indices.min() < 0 or indices.max() >= values.shape[1]):
        raise UndefinedResultError
    if any(len(set(row)) != len(row) for row in indices.tolist()):
        raise UndefinedResultError
    result = values.copy()
    np.put_along_axis(result, indices[:, :, None].astype(np.int64), source, axis=1)
    return result


# Reductions


def _reduce_sum(op: ir.Operation, a: list[Array]) -> Array:
    total = _wide(a[0]).sum(axis=_axis(op), keepdims=True)
    return round_to(total, _result_type(op)) if _float(a[0]) else _in_range(op, total)


def _reduce_product(op: ir.Operation, a: list[Array]) -> Array:
    return round_to(a[0].astype(np.float64).prod(axis=_axis(op), keepdims=True), _result_type(op))


def _reduce_extremum(function: Any, ignoring: Any) -> Evaluator:
    def run(op: ir.Operation, a: list[Array]) -> Array:
        chosen = ignoring if _float(a[0]) and _text(op, "nan_mode", "PROPAGATE") == "IGNORE" else function
        values = a[0].astype(np.float64) if _float(a[0]) else a[0]
        result = np.asarray(chosen.reduce(values, axis=_axis(op), keepdims=True))
        return round_to(result, a[0].dtype) if _float(a[0]) else result

    return run


def _reduce_logical(function: Any) -> Evaluator:
    return lambda op, a: np.asarray(function(a[0], axis=_axis(op), keepdims=True), np.bool_)


def _argmax(op: ir.Operation, a: list[Array]) -> Array:
    values = a[0].astype(np.float64) if _float(a[0]) else a[0]
    if _float(a[0]) and np.isnan(values).any():
        raise UndefinedResultError
    return np.asarray(values.argmax(axis=_axis(op)), _result_type(op))


# Tensor operators


def _matmul(op: ir.Operation, a: list[Array]) -> Array:
    left, right = (_wide(operand) for operand in a[:2])
    if not _float(a[0]):
        left, right = left - int(a[2].reshape(-1)[0]), right - int(a[3].reshape(-1)[0])
        return _in_range(op, left @ right)
    return round_to(left @ right, _result_type(op))


def _windows(values: Array, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> Array:
    """[N, OH, OW, KH, KW, C] windows of padded [N, H, W, C] values."""
    reach = [dilation[axis] * (kernel[axis] - 1) + 1 for axis in range(2)]
    windows = np.lib.stride_tricks.sliding_window_view(values, tuple(reach), axis=(1, 2))  # type: ignore[call-overload]
    taken = windows[:, :: stride[0], :: stride[1], :, :: dilation[0], :: dilation[1]]
    return np.asarray(taken.transpose(0, 1, 2, 4, 5, 3))


def _convolution(op: ir.Operation, a: list[Array]) -> Array:
    pad, stride, dilation = (int_list(op.attributes[name]) for name in ("pad", "stride", "dilation"))
    values, weight, bias = (_wide(operand) for operand in a[:3])
    if not _float(a[0]):
        values, weight = values - int(a[3].reshape(-1)[0]), weight - int(a[4].reshape(-1)[0])
    if any(pad) and not np.isfinite(weight).all():
        raise UndefinedResultError  # padding takes no part in the sum, and here it would as 0 * infinity
    values = np.pad(values, ((0, 0), (pad[0], pad[1]), (pad[2], pad[3]), (0, 0)))
    if op.name == "tosa.conv2d":
        windows = _windows(values, weight.shape[1:3], stride, dilation)
        result = np.einsum("nhwklc,oklc->nhwo", windows, weight)
    else:
        windows = _windows(values, weight.shape[:2], stride, dilation)
        result = np.einsum("nhwklc,klcm->nhwcm", windows, weight)
        result = result.reshape(*result.shape[:3], -1)
    result = result + bias
    return round_to(result, _result_type(op)) if _float(a[0]) else _in_range(op, result)


def scale_integers(
    values: Array, multiplier: Array, shift: Array, is_32_bit: bool, rounding: str, output_zero_point: int
) -> Array:
    """TOSA's apply_scale_32 / apply_scale_16 (specification, "Scaling operators") plus the output's zero point, as int64."""
    wide, factors, amounts = (item.astype(np.int64) for item in (values, multiplier, shift))
    if (factors < 0).any() or (amounts < 2).any() or (amounts > 62).any():
        raise UndefinedResultError
    if is_32_bit and wide.size and (wide.min() < -(1 << 31) or wide.max() >= 1 << 31):
        raise UndefinedResultError
    offset = np.left_shift(np.int64(1), amounts - 1)
    if rounding == "DOUBLE_ROUND":
        offset = offset + np.where(amounts > 31, np.where(wide >= 0, np.int64(1) << 30, -(np.int64(1) << 30)), 0)
    elif rounding == "INEXACT_ROUND":
        raise UndefinedResultError
    return np.asarray(((wide * factors + offset) >> amounts) + output_zero_point)


def _rescale(op: ir.Operation, a: list[Array]) -> Array:
    unsigned = {name: ir.BoolAttr(op.attributes[name]).value for name in ("input_unsigned", "output_unsigned")}
    values = (a[0].view(UNSIGNED[a[0].dtype]) if unsigned["input_unsigned"] else a[0]).astype(np.int64)
    zero_points = [operand.reshape(-1)[:1] for operand in a[3:5]]
    input_zp, output_zp = (
        int((zp.view(UNSIGNED[zp.dtype]) if flag else zp)[0])
        for zp, flag in zip(zero_points, unsigned.values(), strict=True)
    )
    result = scale_integers(
        values - input_zp,
        a[1],
        a[2],
        ir.BoolAttr(op.attributes["scale32"]).value,
        _text(op, "rounding_mode", "SINGLE_ROUND"),
        output_zp,
    )
    wanted = _result_type(op)
    limits = np.iinfo(UNSIGNED[wanted] if unsigned["output_unsigned"] else wanted)
    clipped = np.clip(result, limits.min, limits.max)
    return clipped.astype(limits.dtype).view(wanted) if unsigned["output_unsigned"] else clipped.astype(wanted)


EVALUATORS: dict[str, Evaluator] = {
    "tosa.abs": _abs,
    "tosa.add": _arithmetic(np.add),
    "tosa.argmax": _argmax,
    "tosa.arithmetic_right_shift": _arithmetic_right_shift,
    "tosa.bitwise_and": _bitwise(np.bitwise_and),
    "tosa.bitwise_not": lambda op, a: ~a[0],
    "tosa.bitwise_or": _bitwise(np.bitwise_or),
    "tosa.bitwise_xor": _bitwise(np.bitwise_xor),
    "tosa.cast": _cast,
    "tosa.ceil": _unary(np.ceil),
    "tosa.clamp": _clamp,
    "tosa.clz": _clz,
    "tosa.concat": lambda op, a: np.concatenate(a, axis=_axis(op)),
    "tosa.conv2d": _convolution,
    "tosa.cos": _unary(np.cos),
    "tosa.depthwise_conv2d": _convolution,
    "tosa.equal": _compare(np.equal),
    "tosa.erf": _unary(_erf),
    "tosa.exp": _unary(np.exp),
    "tosa.floor": _unary(np.floor),
    "tosa.gather": _gather,
    "tosa.greater": _compare(np.greater),
    "tosa.greater_equal": _compare(np.greater_equal),
    "tosa.identity": lambda op, a: a[0],
    "tosa.intdiv": _intdiv,
    "tosa.log": _unary(np.log),
    "tosa.logical_and": _bitwise(np.logical_and),
    "tosa.logical_left_shift": _shift(left=True),
    "tosa.logical_not": lambda op, a: ~a[0].astype(np.bool_),
    "tosa.logical_or": _bitwise(np.logical_or),
    "tosa.logical_right_shift": _shift(left=False),
    "tosa.logical_xor": _bitwise(np.logical_xor),
    "tosa.matmul": _matmul,
    "tosa.maximum": _extremum(np.maximum, np.fmax),
    "tosa.minimum": _extremum(np.minimum, np.fmin),
    "tosa.mul": _mul,
    "tosa.negate": _negate,
    "tosa.pad": _pad,
    "tosa.pow": _arithmetic(np.power),
    "tosa.reciprocal": _unary(np.reciprocal),
    "tosa.reduce_all": _reduce_logical(np.all),
    "tosa.reduce_any": _reduce_logical(np.any),
    "tosa.reduce_max": _reduce_extremum(np.maximum, np.fmax),
    "tosa.reduce_min": _reduce_extremum(np.minimum, np.fmin),
    "tosa.reduce_product": _reduce_product,
    "tosa.reduce_sum": _reduce_sum,
    "tosa.rescale": _rescale,
    "tosa.reshape": _reshape,
    "tosa.reverse": lambda op, a: np.flip(a[0], _axis(op)),
    "tosa.rsqrt": _unary(lambda values: 1 / np.sqrt(values)),
    "tosa.scatter": _scatter,
    "tosa.select": _select,
    "tosa.sigmoid": _unary(lambda values: 1 / (1 + np.exp(-values))),
    "tosa.sin": _unary(np.sin),
    "tosa.slice": _slice,
    "tosa.sub": _arithmetic(np.subtract),
    "tosa.table": _table,
    "tosa.tanh": _unary(np.tanh),
    "tosa.tile": lambda op, a: np.tile(a[0], [int(count) for count in a[1]]),
    "tosa.transpose": _transpose,
}
