"""Building TOSA at the current insertion point: each function makes one operator, or the fewest that do what it says.

Operands of different rank are brought to one by leading dimensions of 1, as TOSA's broadcasting wants. Element types of
floating-point composites stay what they are; integers narrower than 32 bits must be cast by the caller where TOSA takes
only i32.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from torch_mlir import ir

from vgfc.ir import (
    Array,
    const_shape,
    constant,
    constant_value,
    element_type,
    is_float,
    numpy_type,
    shape,
    splat_value,
    tensor,
)

SMALL = 4096  # elements up to which a constant is computed with here, so that indices stay known
COMPARISONS = ("tosa.equal", "tosa.greater", "tosa.greater_equal")
INTEGER_RESULTS: dict[str, Any] = {"tosa.add": np.add, "tosa.sub": np.subtract, "tosa.mul": np.multiply}


def operation(
    name: str, result: ir.Type, operands: Sequence[ir.Value], attributes: dict[str, ir.Attribute] | None = None
) -> ir.Value:
    """The one result of any operator, made at the current insertion point and location."""
    return ir.Operation.create(name, results=[result], operands=list(operands), attributes=attributes).result


def i32() -> ir.Type:
    """The 32-bit integer type."""
    return ir.IntegerType.get_signless(32)


def i1() -> ir.Type:
    """The boolean type."""
    return ir.IntegerType.get_signless(1)


def f32() -> ir.Type:
    """The 32-bit floating-point type."""
    return ir.F32Type.get()


# Constants


def scalar(value: float | int | bool, element: ir.Type, rank: int = 1) -> ir.Value:
    """A constant of one number, of shape 1x...x1 so that it broadcasts against a tensor of this rank."""
    return constant(np.full((1,) * max(rank, 1), value, dtype=numpy_type(element)), element)


def scalar_like(value: float | int | bool, like: ir.Value) -> ir.Value:
    """A constant of one number with the element type and rank of `like`."""
    return scalar(value, element_type(like), len(shape(like)))


def filled(value: float | int | bool, dimensions: Sequence[int], element: ir.Type) -> ir.Value:
    """A constant tensor of one number."""
    return constant(np.full(tuple(dimensions), value, dtype=numpy_type(element)), element)


# Element-wise


def unary(name: str, value: ir.Value) -> ir.Value:
    """An element-wise operator of one operand whose result has the operand's type: tosa.exp, tosa.abs, ..."""
    return operation(name, value.type, [value])


def with_rank(value: ir.Value, rank: int) -> ir.Value:
    """The value with leading dimensions of 1 added until it has this rank."""
    dimensions = shape(value)
    if len(dimensions) >= rank:
        return value
    return reshape(value, (1,) * (rank - len(dimensions)) + dimensions)


def small_constant(value: ir.Value) -> Array | None:
    """The array behind a constant of few elements, None for any other value."""
    return constant_value(value) if math.prod(shape(value)) <= SMALL else None


def broadcast_shape(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape that tensors of these shapes broadcast to; the shapes are known to fit."""
    rank = max(len(dimensions) for dimensions in shapes)
    padded = [(1,) * (rank - len(dimensions)) + tuple(dimensions) for dimensions in shapes]
    # an extent of 0 wins over 1
    return tuple(next((extent for extent in column if extent != 1), 1) for column in zip(*padded, strict=True))


def binary(name: str, left: ir.Value, right: ir.Value) -> ir.Value:
    """An element-wise operator of two operands of one element type; a comparison gives i1."""
    rank = max(len(shape(left)), len(shape(right)))
    left, right = with_rank(left, rank), with_rank(right, rank)
    known = _integer_result(name, left, right)
    if known is not None:
        return constant(known, i32())
    element = i1() if name in COMPARISONS else element_type(left)
    operands = [left, right]
    if name == "tosa.mul":
        operands.append(scalar(0, ir.IntegerType.get_signless(8)))
    attributes: dict[str, ir.Attribute] = {}
    if name == "tosa.arithmetic_right_shift":
        attributes["round"] = ir.BoolAttr.get(False)
    return operation(name, tensor(broadcast_shape(shape(left), shape(right)), element), operands, attributes)


def _integer_result(name: str, left: ir.Value, right: ir.Value) -> Array | None:
    """A sum, difference or product of small i32 constants that does not leave 32 bits; None for anything else."""
    if name not in INTEGER_RESULTS or str(element_type(left)) != "i32":
        return None
    first, second = small_constant(left), small_constant(right)
    if first is None or second is None:
        return None
    result = INTEGER_RESULTS[name](first.astype(np.int64), second.astype(np.int64))
    return result if result.size and result.min() >= -(2**31) and result.max() < 2**31 else None


def add(left: ir.Value, right: ir.Value) -> ir.Value:
    """left + right."""
    return binary("tosa.add", left, right)


def sub(left: ir.Value, right: ir.Value) -> ir.Value:
    """left - right."""
    return binary("tosa.sub", left, right)


def mul(left: ir.Value, right: ir.Value) -> ir.Value:
    """left * right."""
    return binary("tosa.mul", left, right)


def div(left: ir.Value, right: ir.Value) -> ir.Value:
    """left / right in floating point: a product with the reciprocal, which is folded where `right` is constant."""
    return mul(left, reciprocal(right))


def reciprocal(value: ir.Value) -> ir.Value:
    """1 / value in floating point."""
    known = constant_value(value)
    if known is None:
        return unary("tosa.reciprocal", value)
    with np.errstate(divide="ignore", over="ignore"):
        inverse = (1.0 / known.astype(np.float64)).astype(known.dtype)
    return constant(inverse, element_type(value))


def square_root(value: ir.Value) -> ir.Value:
    """The square root: TOSA has only its reciprocal, and the reciprocal of that is right for 0 and infinity too."""
    return unary("tosa.reciprocal", unary("tosa.rsqrt", value))


def negate(value: ir.Value) -> ir.Value:
    """-value; for integers the smallest one stays itself."""
    zero_point = scalar(0, element_type(value))
    return operation("tosa.negate", value.type, [value, zero_point, zero_point])


def logical_not(value: ir.Value) -> ir.Value:
    """not value, of booleans."""
    return unary("tosa.logical_not", value)


def select(condition: ir.Value, chosen: ir.Value, other: ir.Value) -> ir.Value:
    """Element by element `chosen` where `condition` holds, else `other`."""
    rank = max(len(shape(value)) for value in (condition, chosen, other))
    operands = [with_rank(value, rank) for value in (condition, chosen, other)]
    dimensions = broadcast_shape(*(shape(value) for value in operands))
    return operation("tosa.select", tensor(dimensions, element_type(chosen)), operands)


def clamp(value: ir.Value, low: float | int, high: float | int) -> ir.Value:
    """`value` limited to [low, high]; NaN stays NaN. i32 has no clamp in TOSA and takes a maximum and a minimum."""
    element = element_type(value)
    if is_float(element):
        bounds = {"min_val": ir.FloatAttr.get(element, float(low)), "max_val": ir.FloatAttr.get(element, float(high))}
        return operation("tosa.clamp", value.type, [value], bounds)
    bits = ir.IntegerType(element).width
    lowest, highest = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    if low > lowest:
        value = binary("tosa.maximum", value, scalar_like(int(min(low, highest)), value))
    if high < highest:
        value = binary("tosa.minimum", value, scalar_like(int(max(high, lowest)), value))
    return value


def copy(value: ir.Value) -> ir.Value:
    """A value of its own with the same bits, made by an operator that no folder sees through.

    SPIR-V has no identity, and upstream's conversion folds a reshape, slice, pad, tile or transpose that changes nothing.
    """
    element = element_type(value)
    if is_float(element):
        return clamp(value, -math.inf, math.inf)
    if str(element) in ("i8", "i16"):
        limit = 1 << (ir.IntegerType(element).width - 1)
        kind = partial(ir.IntegerAttr.get, element)
        return operation("tosa.clamp", value.type, [value], {"min_val": kind(-limit), "max_val": kind(limit - 1)})
    name = {"i1": "tosa.logical_or", "i32": "tosa.bitwise_or"}.get(str(element), "tosa.identity")
    return operation(name, value.type, [value] * (1 if name == "tosa.identity" else 2))


def trunc(value: ir.Value) -> ir.Value:
    """A floating-point value rounded towards zero."""
    negative = binary("tosa.greater", scalar_like(0.0, value), value)
    return select(negative, unary("tosa.ceil", value), unary("tosa.floor", value))


def cast(value: ir.Value, element: ir.Type) -> ir.Value:
    """The value in another element type with PyTorch's meaning: to an integer towards zero, to a boolean whether not 0."""
    source = element_type(value)
    if source == element:
        return value
    dimensions = shape(value)
    boolean = i1()
    if source == boolean and is_float(element):
        return select(value, scalar(1.0, element, len(dimensions)), scalar(0.0, element, len(dimensions)))
    if element == boolean:
        wide = value if is_float(source) or str(source) == "i32" else cast(value, i32())
        return logical_not(binary("tosa.equal", wide, scalar_like(0, wide)))
    if is_float(source) and not is_float(element):
        value = trunc(value)
    if {str(source), str(element)} == {"f16", "bf16"}:
        value = operation("tosa.cast", tensor(dimensions, f32()), [value])
    return operation("tosa.cast", tensor(dimensions, element), [value])


def round_to_integer(value: ir.Value) -> ir.Value:
    """A floating-point value rounded to the nearest integer, ties to even, still in floating point.

    TOSA has no such operator but a cast to i32, which rounds so and saturates: values of 2^31 and above, whole numbers
    all, infinities and NaN go past it.
    """
    element = element_type(value)
    rounded = operation("tosa.cast", tensor(shape(value), i32()), [value])
    back = operation("tosa.cast", value.type, [rounded])
    limit = 2.0 ** {"f32": 23, "f16": 10, "bf16": 7}[str(element)]
    small = binary("tosa.greater", scalar_like(limit, value), unary("tosa.abs", value))
    return select(small, back, value)


# Shapes


def reshape(value: ir.Value, dimensions: Sequence[int]) -> ir.Value:
    """The elements in the same order under another shape; the value itself when the shape is its own."""
    if tuple(dimensions) == shape(value):
        return value
    known = small_constant(value)
    if known is not None:
        return constant(known.reshape(tuple(dimensions)), element_type(value))
    return operation("tosa.reshape", tensor(dimensions, element_type(value)), [value, const_shape(dimensions)])


def transpose(value: ir.Value, permutation: Sequence[int]) -> ir.Value:
    """Result axis i is the value's axis permutation[i]; the value itself for the identity."""
    permutation = list(permutation)
    if permutation == sorted(permutation):
        return value
    dimensions = shape(value)
    result = tensor([dimensions[axis] for axis in permutation], element_type(value))
    return operation("tosa.transpose", result, [value], {"perms": ir.DenseI32ArrayAttr.get(permutation)})


def slice_(value: ir.Value, start: Sequence[int], size: Sequence[int]) -> ir.Value:
    """The block of this size that begins at `start`."""
    if tuple(size) == shape(value):
        return value
    result = tensor(size, element_type(value))
    return operation("tosa.slice", result, [value, const_shape(start), const_shape(size)])


def slice_axis(value: ir.Value, axis: int, start: int, size: int) -> ir.Value:
    """The part [start, start + size) of one axis."""
    dimensions = list(shape(value))
    starts = [0] * len(dimensions)
    starts[axis], dimensions[axis] = start, size
    return slice_(value, starts, dimensions)


def concat(values: Sequence[ir.Value], axis: int) -> ir.Value:
    """The values one after the other along an axis."""
    if len(values) == 1:
        return values[0]
    dimensions = list(shape(values[0]))
    dimensions[axis] = sum(shape(value)[axis] for value in values)
    result = tensor(dimensions, element_type(values[0]))
    return operation("tosa.concat", result, values, {"axis": ir.IntegerAttr.get(i32(), axis)})


def pad(value: ir.Value, padding: Sequence[tuple[int, int]], fill: float | int | bool) -> ir.Value:
    """The value with (before, after) elements of `fill` around it, per axis."""
    if not any(before or after for before, after in padding):
        return value
    dimensions = [extent + sum(amounts) for extent, amounts in zip(shape(value), padding, strict=True)]
    element = element_type(value)
    amounts = const_shape([amount for pair in padding for amount in pair])
    return operation("tosa.pad", tensor(dimensions, element), [value, amounts, scalar(fill, element)])


def tile(value: ir.Value, multiples: Sequence[int]) -> ir.Value:
    """The value repeated this many times per axis."""
    if all(multiple == 1 for multiple in multiples):
        return value
    dimensions = [extent * multiple for extent, multiple in zip(shape(value), multiples, strict=True)]
    return operation("tosa.tile", tensor(dimensions, element_type(value)), [value, const_shape(multiples)])


def broadcast_to(value: ir.Value, dimensions: Sequence[int]) -> ir.Value:
    """The value repeated along its axes of extent 1 until it has this shape."""
    value = with_rank(value, len(dimensions))
    if shape(value) == tuple(dimensions):
        return value
    known = splat_value(value)
    if known is not None:
        return filled(known, dimensions, element_type(value))
    return tile(value, [new if old == 1 else 1 for old, new in zip(shape(value), dimensions, strict=True)])


def reverse(value: ir.Value, axis: int) -> ir.Value:
    """The value with one axis in the opposite order."""
    return operation("tosa.reverse", value.type, [value], {"axis": ir.IntegerAttr.get(i32(), axis)})


def gather(values: ir.Value, indices: ir.Value) -> ir.Value:
    """values[n, indices[n, w], c]; values NxKxC, indices NxW of i32, the result NxWxC. Booleans travel as i8."""
    element = element_type(values)
    (batch, _, channels), (_, count) = shape(values), shape(indices)
    if element == i1():
        return cast(gather(cast(values, ir.IntegerType.get_signless(8)), indices), element)
    return operation("tosa.gather", tensor((batch, count, channels), element), [values, indices])


def take(value: ir.Value, indices: Array, axis: int) -> ir.Value:
    """value.take(indices, axis) for indices known now: slices and a concatenation when few pieces do, else a gather."""
    axis_size = shape(value)[axis]
    if np.array_equal(indices, np.arange(axis_size)):
        return value
    runs = np.split(indices, np.flatnonzero(np.diff(indices) != 1) + 1)
    if len(runs) <= 4:
        return concat([slice_axis(value, axis, int(run[0]), len(run)) for run in runs], axis)
    return take_dynamic(value, constant(indices.astype(np.int32).reshape(1, -1), i32()), axis)


def take_dynamic(value: ir.Value, indices: ir.Value, axis: int) -> ir.Value:
    """value.take(indices, axis); indices 1xW of i32, all within the axis."""
    dimensions = shape(value)
    order = [axis, *(other for other in range(len(dimensions)) if other != axis)]
    moved = transpose(value, order)
    count = shape(indices)[1]
    rows = reshape(moved, (1, dimensions[axis], math.prod(dimensions) // dimensions[axis]))
    taken = reshape(gather(rows, indices), (count, *shape(moved)[1:]))
    return transpose(taken, np.argsort(order).tolist())


# Reductions and products


def reduce(name: str, value: ir.Value, axis: int) -> ir.Value:
    """A reduction over one axis, which stays with extent 1."""
    dimensions = list(shape(value))
    dimensions[axis] = 1
    attributes = {"axis": ir.IntegerAttr.get(i32(), axis)}
    return operation(name, tensor(dimensions, element_type(value)), [value], attributes)


def reduce_axes(name: str, value: ir.Value, axes: Sequence[int]) -> ir.Value:
    """A reduction over several axes, which stay with extent 1; neighbouring axes are reduced as one where that is shorter."""
    axes = sorted(axes)
    dimensions = shape(value)
    kept = tuple(1 if axis in axes else extent for axis, extent in enumerate(dimensions))
    live = [axis for axis in axes if dimensions[axis] != 1]
    if not live:
        return value
    first, last = live[0], live[-1]
    between = [axis for axis in range(first, last + 1) if dimensions[axis] != 1]
    whole = live == [axis for axis, extent in enumerate(dimensions) if extent != 1]
    if between == live and (len(live) > 2 or (whole and len(live) == 2)):
        merged = (*dimensions[:first], math.prod(dimensions[first : last + 1]), *dimensions[last + 1 :])
        return reshape(reduce(name, reshape(value, merged), first), kept)
    for axis in live:
        value = reduce(name, value, axis)
    return value


def argmax(value: ir.Value, axis: int) -> ir.Value:
    """The index of the first largest element along an axis, which goes away; i32. A NaN counts as largest."""
    dimensions = list(shape(value))
    if dimensions.pop(axis) == 1:
        return filled(0, dimensions, i32())
    if not is_float(element_type(value)):
        return _argmax_of_integers(value, axis)
    attributes = {"axis": ir.IntegerAttr.get(i32(), axis)}
    return operation("tosa.argmax", tensor(dimensions, i32()), [value], attributes)


def _argmax_of_integers(value: ir.Value, axis: int) -> ir.Value:
    """tosa.argmax takes no i32: the smallest index at which the maximum stands."""
    dimensions = list(shape(value))
    count = dimensions[axis]
    is_largest = binary("tosa.equal", value, reduce("tosa.reduce_max", value, axis))
    along = [count if other == axis else 1 for other in range(len(dimensions))]
    places = constant(np.arange(count, dtype=np.int32).reshape(along), i32())
    found = reduce("tosa.reduce_min", select(is_largest, places, scalar(count, i32(), len(along))), axis)
    del dimensions[axis]
    return reshape(found, dimensions)


def matmul(left: ir.Value, right: ir.Value, element: ir.Type | None = None) -> ir.Value:
    """The batched product of NxHxC and NxCxW, summed in 32 bits and given in `element`, or in the operands' type."""
    wanted = element or element_type(left)
    element = element_type(left)
    (batch, height, _), (_, _, width) = shape(left), shape(right)
    zero_point = scalar(0, element)
    wide = f32() if is_float(element) else i32()
    product = operation("tosa.matmul", tensor((batch, height, width), wide), [left, right, zero_point, zero_point])
    return cast(product, wanted)


# Windows; activations are NHWC (NDHWC), weights as TOSA lays them out


def _windows(name: str, result: ir.Type, operands: list[ir.Value], **numbers: Sequence[int]) -> ir.Value:
    attributes: dict[str, Any] = {key: ir.DenseI64ArrayAttr.get(list(value)) for key, value in numbers.items()}
    if name != "tosa.max_pool2d":
        element = element_type(operands[0])
        attributes["acc_type"] = ir.TypeAttr.get(f32() if is_float(element) else i32())
    return operation(name, result, operands, attributes)


def _zero_points(value: ir.Value, weight: ir.Value) -> list[ir.Value]:
    return [scalar(0, element_type(value)), scalar(0, element_type(weight))]


def convolution(
    name: str,
    value: ir.Value,
    weight: ir.Value,
    bias: ir.Value,
    dimensions: Sequence[int],
    pad: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int] | None = None,
) -> ir.Value:
    """tosa.conv2d, conv3d, depthwise_conv2d (pad: before and after per axis) or transpose_conv2d (pad: its out_pad)."""
    result = tensor(dimensions, element_type(value))
    operands = [value, weight, bias, *_zero_points(value, weight)]
    if dilation is None:
        return _windows(name, result, operands, out_pad=pad, stride=stride)
    return _windows(name, result, operands, pad=pad, stride=stride, dilation=dilation)


def pointwise(name: str, value: ir.Value, weight: ir.Value, bias: ir.Value) -> ir.Value:
    """tosa.conv2d or depthwise_conv2d with a 1x1 kernel, element by element of an NHWC tensor."""
    channels = shape(weight)[0] if name == "tosa.conv2d" else shape(value)[3] * shape(weight)[3]
    return convolution(name, value, weight, bias, (*shape(value)[:3], channels), (0, 0, 0, 0), (1, 1), (1, 1))


def avg_pool2d(
    value: ir.Value, dimensions: Sequence[int], kernel: Sequence[int], stride: Sequence[int], pad: Sequence[int]
) -> ir.Value:
    """The mean over windows of an NHWC tensor; padding does not count."""
    result = tensor(dimensions, element_type(value))
    operands = [value, *_zero_points(value, value)]
    return _windows("tosa.avg_pool2d", result, operands, kernel=kernel, stride=stride, pad=pad)


def max_pool2d(
    value: ir.Value, dimensions: Sequence[int], kernel: Sequence[int], stride: Sequence[int], pad: Sequence[int]
) -> ir.Value:
    """The maximum over windows of an NHWC tensor; padding does not count."""
    result = tensor(dimensions, element_type(value))
    return _windows("tosa.max_pool2d", result, [value], kernel=kernel, stride=stride, pad=pad)
