"""vgf-convert-torch-scatters: writing at indices in torch becomes tosa.scatter, concatenations and selects.

    %0 = torch.operator "torch.aten.index_copy"(%x, %int0, %i, %rows) : (!torch.vtensor<[5,2],f32>, !torch.int, ...)
becomes, between casts from and to the torch type,
    %1 = tosa.scatter %x3, %row, %rows3 : (tensor<1x5x2xf32>, tensor<1x3xi32>, tensor<1x3x2xf32>) -> tensor<1x5x2xf32>

tosa.scatter is not defined when an index comes twice: known indices are checked, added in rounds where they come twice, and
adding at computed indices is refused. A part at a place known now is put between what stands before and behind it.
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
)
from vgfc.torch_indices import known_indices, row_of, subscript


def i8() -> ir.Type:
    """The 8-bit integer type, as which booleans are gathered."""
    return ir.IntegerType.get_signless(8)


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
}
TABLE = {f"torch.aten.{name}": converter for name, converter in NAMED.items()}


@register
@dataclass(frozen=True)
class ConvertTorchScatters(TorchConversion):
    name = "vgf-convert-torch-scatters"
    table = TABLE
