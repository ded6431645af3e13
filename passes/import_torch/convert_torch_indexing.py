"""vgf-convert-torch-indexing: reading and writing at indices in torch becomes tosa.gather, scatter, slices and selects.

    %0 = torch.aten.embedding %weight, %i, ... : !torch.vtensor<[10,4],f32>, !torch.vtensor<[3],si64>, ...
becomes, between casts from and to the torch type,
    %1 = tosa.reshape %weight, %shape : (tensor<10x4xf32>, !tosa.shape<3>) -> tensor<1x10x4xf32>
    %2 = tosa.gather %1, %indices : (tensor<1x10x4xf32>, tensor<1x3xi32>) -> tensor<1x3x4xf32>

Indices that are known now become slices where a few do. Indices that are computed may count from the end in PyTorch's
subscripts, where the extent is added to negative ones; gather, index_select and embedding take none. tosa.scatter is not
defined when an index comes twice: known indices are checked, and adding at computed indices is refused.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.ir import Array, constant, element_type, is_float, shape
from vgfc.passmanager import register
from vgfc.torch_conversion import (
    Call,
    Converter,
    TorchConversion,
    carried,
    is_none,
    is_tensor,
    is_unconverted,
    known_integers,
    torch_dtype,
    torch_shape,
)


def i8() -> ir.Type:
    """The 8-bit integer type, as which booleans are gathered."""
    return ir.IntegerType.get_signless(8)


def known_indices(value: ir.Value) -> Array | None:
    """Indices that are known now, as int64."""
    found = known_integers(value)
    return None if found is None else found.astype(np.int64)


def row_of(indices: ir.Value) -> ir.Value:
    """Indices as one row, 1xW."""
    return build.reshape(indices, (1, math.prod(shape(indices))))


def taken(value: ir.Value, indices: ir.Value, axis: int) -> ir.Value:
    """value.take along an axis at a vector of indices that are all at least 0."""
    found = known_indices(indices)
    if found is not None:
        return build.take(value, found.reshape(-1), axis)
    return build.take_dynamic(value, row_of(indices), axis)


def from_front(indices: ir.Value, extent: int) -> ir.Value:
    """Indices with the extent added to those that count from the end."""
    found = known_integers(indices)
    if found is not None:
        return constant(np.where(found < 0, found + extent, found).astype(np.int32), build.i32())
    negative = build.binary("tosa.greater", build.scalar_like(0, indices), indices)
    return build.select(negative, build.add(indices, build.scalar_like(extent, indices)), indices)


def convert_index_select(call: Call) -> ir.Value | None:
    if call.waits(2):
        return None
    value = call.tensor()
    axis = call.axis(1, len(shape(value)))
    return build.reshape(taken(value, call.tensor(2), axis), call.result_shape or (1,))


def convert_embedding(call: Call) -> ir.Value | None:
    if call.waits(1):
        return None
    return build.reshape(taken(call.tensor(0), call.tensor(1), 0), call.result_shape)


def convert_gather(call: Call) -> ir.Value:
    """Element by element along an axis; the other axes may be shorter in the index than in the value."""
    value, indices = call.tensor(0), call.tensor(2)
    axis = call.axis(1, len(shape(value)))
    sizes = [
        extent if at == axis else size
        for at, (extent, size) in enumerate(zip(shape(value), shape(indices), strict=True))
    ]
    value = build.slice_(value, [0] * len(sizes), sizes)
    order = [*(other for other in range(len(sizes)) if other != axis), axis]
    moved, picks = build.transpose(value, order), build.transpose(indices, order)
    count = math.prod(shape(moved)[:-1])
    rows = build.reshape(moved, (count, sizes[axis], 1))
    found = build.gather(rows, build.reshape(picks, (count, shape(picks)[-1])))
    return build.transpose(build.reshape(found, shape(picks)), np.argsort(order).tolist())


# Subscripts


@dataclass(frozen=True)
class Subscript:
    """x[i, :, j]: the indexed axes, their indices broadcast and made one number each, and where the result puts them."""

    order: list[int]  # the axes, indexed ones first
    indices: ir.Value  # of the broadcast shape
    dimensions: tuple[int, ...]  # the broadcast shape
    indexed: tuple[int, ...]  # the extents of the indexed axes
    rest: tuple[int, ...]  # the extents of the others
    front: int  # how many of the others stand before the indexed ones in the result


def subscript(call: Call, dimensions: Sequence[int], given: Sequence[ir.Value]) -> Subscript:
    """What a list of index tensors and Nones says."""
    at = [axis for axis, value in enumerate(given) if not is_none(value)]
    others = [axis for axis in range(len(dimensions)) if axis not in at]
    adjacent = at == list(range(at[0], at[-1] + 1))
    target = build.broadcast_shape(*(torch_shape(given[axis]) for axis in at))
    linear: ir.Value | None = None
    for axis in at:
        own = from_front(carried(given[axis]), dimensions[axis])
        linear = (
            own if linear is None else build.add(build.mul(linear, build.scalar_like(dimensions[axis], linear)), own)
        )
    assert linear is not None, "a subscript has an index"
    indexed = tuple(dimensions[axis] for axis in at)
    found = all(known_integers(carried(given[axis])) is not None for axis in at)
    if found and len(at) > 1:
        arrays = [np.asarray(known_integers(from_front(carried(given[axis]), dimensions[axis]))) for axis in at]
        shaped = [array.reshape(torch_shape(given[axis])) for array, axis in zip(arrays, at, strict=True)]
        numbers = np.ravel_multi_index(np.broadcast_arrays(*shaped), indexed).astype(np.int32)
        linear = constant(np.asarray(numbers).reshape(target or (1,)), build.i32())
    linear = build.broadcast_to(linear, target or (1,))
    rest = tuple(dimensions[axis] for axis in others)
    front = at[0] if adjacent else 0
    return Subscript([*at, *others], linear, target, indexed, rest, front)


def convert_index(call: Call) -> ir.Value | None:
    given = call.tensors(1)
    if any(is_unconverted(value) for value in given if not is_none(value)):
        return None
    if any(not is_none(value) and torch_dtype(value) == "i1" for value in given):
        raise call.error("by a boolean mask gives a shape that depends on values, which a VGF has none of")
    value = call.tensor(0)
    sub = subscript(call, shape(value), given)
    moved = build.transpose(value, sub.order)
    flat = build.reshape(moved, (math.prod(sub.indexed), *(sub.rest or (1,))))
    found = taken(flat, sub.indices, 0)
    count = len(sub.dimensions)
    found = build.reshape(found, (*sub.dimensions, *sub.rest) or (1,))
    places = list(range(count)), list(range(count, count + len(sub.rest)))
    order = [*places[1][: sub.front], *places[0], *places[1][sub.front :]]
    return build.reshape(build.transpose(found, order) if order else found, call.result_shape or (1,))


def scattered(call: Call, rows: ir.Value, indices: ir.Value, values: ir.Value, add: bool) -> ir.Value:
    """rows (NxKxC) with values (NxWxC) written at, or added at, indices (NxW)."""
    found = known_integers(indices)
    twice = found is not None and any(len(np.unique(line)) != len(line) for line in found)
    if add:
        if found is None:
            raise call.error("adds at computed indices, which TOSA 1.0 cannot do where two of them agree")
        if twice:
            return added_in_rounds(call, rows, found, values)
        values = build.add(values, build.gather(rows, indices))
    elif twice:
        raise call.error("writes to one place twice, which has no certain result")
    element = element_type(rows)
    if element == build.i1():
        return build.cast(scattered(call, build.cast(rows, i8()), indices, build.cast(values, i8()), False), element)
    return build.operation("tosa.scatter", rows.type, [rows, indices, values])


def added_in_rounds(call: Call, rows: ir.Value, indices: Array, values: ir.Value) -> ir.Value:
    """rows (1xKxC) with values added at known indices (1xW): in each round every place comes once at most."""
    if len(indices) != 1:
        raise call.error("adds to one place twice in several rows, which is not supported")
    numbers = indices[0]
    rounds = np.array([np.count_nonzero(numbers[:at] == number) for at, number in enumerate(numbers)])
    for turn in range(int(rounds.max()) + 1):
        places = np.flatnonzero(rounds == turn)
        chosen = constant(numbers[places].astype(np.int32).reshape(1, -1), build.i32())
        sums = build.add(build.take(values, places, 1), build.gather(rows, chosen))
        rows = build.operation("tosa.scatter", rows.type, [rows, chosen, sums])
    return rows


def convert_index_put(call: Call) -> ir.Value | None:
    given = call.tensors(1)
    if any(is_unconverted(value) for value in given if not is_none(value)):
        return None
    value = call.tensor(0)
    present = [item for item in given if not is_none(item)]
    if len(present) == 1 and torch_dtype(present[0]) == "i1":
        return masked_put(call, value, given)
    sub = subscript(call, shape(value), given)
    moved = build.transpose(value, sub.order)
    width, count = math.prod(sub.rest), math.prod(sub.dimensions)
    rows = build.reshape(moved, (1, math.prod(sub.indexed), width))
    target = (*sub.rest[: sub.front], *sub.dimensions, *sub.rest[sub.front :])
    source = build.broadcast_to(call.tensor_as(2, call.element), target or (1,))
    places = range(len(target))
    order = [*places[sub.front : sub.front + len(sub.dimensions)], *places[: sub.front]]
    order += places[sub.front + len(sub.dimensions) :]
    written = build.reshape(build.transpose(source, order) if order else source, (1, count, width))
    result = scattered(call, rows, row_of(sub.indices), written, call.flag(3))
    return build.transpose(build.reshape(result, shape(moved)), np.argsort(sub.order).tolist())


def masked_put(call: Call, value: ir.Value, given: Sequence[ir.Value]) -> ir.Value:
    """x[mask] = number."""
    if math.prod(call.shape(2)) != 1:
        raise call.error("by a boolean mask of several values depends on how many are chosen, expected one value")
    if call.flag(3):
        raise call.error("by a boolean mask with accumulate is not supported")
    leading = next(axis for axis, item in enumerate(given) if not is_none(item))
    mask = carried(given[leading])
    rank = len(shape(value))
    aligned = (1,) * leading + shape(mask) + (1,) * (rank - leading - len(shape(mask)))
    fill = build.reshape(call.tensor_as(2, call.element), (1,) * rank)
    return build.select(build.reshape(mask, aligned), fill, value)


def along_axis(call: Call, axis: int, indices: ir.Value, values: ir.Value, add: bool) -> ir.Value:
    """Element-wise scatter along an axis; indices may be shorter than the value in other axes only where that is none."""
    value = call.tensor(0)
    dimensions = shape(value)
    if any(
        size != extent for at, (size, extent) in enumerate(zip(shape(indices), dimensions, strict=True)) if at != axis
    ):
        raise call.error(
            f"with an index of shape {list(shape(indices))}, expected {list(dimensions)} but along axis {axis}"
        )
    order = [*(other for other in range(len(dimensions)) if other != axis), axis]
    moved, picks = build.transpose(value, order), build.transpose(indices, order)
    values = build.transpose(values, order)
    count = math.prod(shape(moved)[:-1])
    rows = build.reshape(moved, (count, dimensions[axis], 1))
    source = build.reshape(values, (count, shape(picks)[-1], 1))
    known = known_integers(indices)
    flat = build.reshape(picks, (count, shape(picks)[-1]))
    if known is not None:
        flat = constant(np.transpose(known, order).reshape(count, -1).astype(np.int32), build.i32())
    result = scattered(call, rows, flat, source, add)
    return build.transpose(build.reshape(result, shape(moved)), np.argsort(order).tolist())


def convert_scatter(call: Call) -> ir.Value | None:
    if call.waits(2):
        return None
    axis = call.axis(1, len(shape(call.tensor(0))))
    indices = call.tensor(2)
    if is_tensor(call.operand(3)):
        values = build.slice_(call.tensor_as(3, call.element), [0] * len(shape(indices)), shape(indices))
    else:
        values = build.filled(call.number(3), shape(indices), call.element)
    return along_axis(call, axis, indices, values, call.name.endswith("scatter_add"))


def convert_index_copy(call: Call) -> ir.Value | None:
    if call.waits(2):
        return None
    """Whole slices written at, or added at, indices of one axis."""
    value = call.tensor(0)
    axis = call.axis(1, len(shape(value)))
    order = [axis, *(other for other in range(len(shape(value))) if other != axis)]
    moved = build.transpose(value, order)
    width = math.prod(shape(moved)[1:])
    indices = row_of(call.tensor(2))
    source = build.reshape(build.transpose(call.tensor_as(3, call.element), order), (1, shape(indices)[1], width))
    adds = call.name.endswith("index_add")
    if adds and call.has(4) and float(call.number(4)) != 1:
        source = build.mul(source, build.scalar_like(call.number(4), source))
    result = scattered(call, build.reshape(moved, (1, shape(moved)[0], width)), indices, source, adds)
    return build.transpose(build.reshape(result, shape(moved)), np.argsort(order).tolist())


# Parts at places known now


def convert_select_scatter(call: Call) -> ir.Value:
    value = call.tensor(0)
    axis = call.axis(2, len(shape(value)))
    index = call.integer(3)
    index += shape(value)[axis] if index < 0 else 0
    dimensions = list(shape(value))
    dimensions[axis] = 1
    return with_part(value, build.reshape(call.tensor_as(1, call.element), dimensions), axis, index)


def with_part(value: ir.Value, part: ir.Value, axis: int, start: int) -> ir.Value:
    """The value with a part of an axis replaced."""
    extent, end = shape(value)[axis], start + shape(part)[axis]
    pieces = [part]
    if start:
        pieces.insert(0, build.slice_axis(value, axis, 0, start))
    if end < extent:
        pieces.append(build.slice_axis(value, axis, end, extent - end))
    return build.concat(pieces, axis)


def convert_slice_scatter(call: Call) -> ir.Value:
    value, part = call.tensor(0), call.tensor_as(1, call.element)
    axis = call.axis(2, len(shape(value))) if call.has(2) else 0
    extent = shape(value)[axis]
    start, end, step = call.integer(3, 0), call.integer(4, extent), call.integer(5, 1)
    start, end = (min(max(bound + extent if bound < 0 else bound, 0), extent) for bound in (start, end))
    places = np.arange(start, end, step)
    if not places.size:
        return value
    if step == 1:
        return with_part(value, part, axis, start)
    picks = np.arange(extent)
    picks[places] = extent + np.arange(places.size)
    return build.take(build.concat([value, part], axis), picks, axis)


def triangle(upper: bool) -> Converter:
    """A converter for tril and triu."""

    def converter(call: Call) -> ir.Value:
        value = call.tensor(0)
        rows, columns = shape(value)[-2:]
        ones = np.ones((rows, columns), np.bool_)
        offset = call.integer(1, 0)
        kept = np.triu(ones, offset) if upper else np.tril(ones, offset)
        mask = constant(kept.reshape((1,) * (len(shape(value)) - 2) + (rows, columns)), build.i1())
        return build.select(mask, value, build.scalar_like(0, value))

    return converter


def convert_one_hot(call: Call) -> ir.Value:
    count = call.result_shape[-1]
    indices = call.tensor(0)
    column = build.reshape(indices, (*call.shape(0), 1))
    classes = constant(np.arange(count, dtype=np.int32).reshape((1,) * len(call.shape(0)) + (count,)), build.i32())
    return build.cast(build.binary("tosa.equal", column, classes), build.i32())


def convert_index_fill(call: Call) -> ir.Value | None:
    if call.waits(2):
        return None
    value = call.tensor(0)
    axis = call.axis(1, len(shape(value)))
    indices = known_indices(call.tensor(2))
    if indices is None:
        raise call.error("at computed indices is not supported, expected indices known at compile time")
    hit = np.zeros(shape(value)[axis], np.bool_)
    hit[indices.reshape(-1)] = True
    mask = constant(hit.reshape([-1 if at == axis else 1 for at in range(len(shape(value)))]), build.i1())
    if is_tensor(call.operand(3)):
        fill = call.tensor_as(3, call.element)
    else:
        number = call.number(3)
        fill = build.scalar_like(number if is_float(call.element) else int(number), value)
    return build.select(mask, fill, value)


NAMED: dict[str, Converter] = {
    "index_select": convert_index_select,
    "embedding": convert_embedding,
    "gather": convert_gather,
    "index.Tensor": convert_index,
    "index.Tensor_hacked_twin": convert_index,
    "_unsafe_index.Tensor": convert_index,
    "index_put": convert_index_put,
    "index_put.hacked_twin": convert_index_put,
    "_unsafe_index_put": convert_index_put,
    "_unsafe_index_put.hacked_twin": convert_index_put,
    "scatter.src": convert_scatter,
    "scatter.value": convert_scatter,
    "scatter_add": convert_scatter,
    "index_copy": convert_index_copy,
    "index_add": convert_index_copy,
    "index_fill.int_Scalar": convert_index_fill,
    "index_fill.int_Tensor": convert_index_fill,
    "select_scatter": convert_select_scatter,
    "slice_scatter": convert_slice_scatter,
    "tril": triangle(upper=False),
    "triu": triangle(upper=True),
    "one_hot": convert_one_hot,
}
TABLE = {f"torch.aten.{name}": converter for name, converter in NAMED.items()}


@register
@dataclass(frozen=True)
class ConvertTorchIndexing(TorchConversion):
    name = "vgf-convert-torch-indexing"
    table = TABLE
