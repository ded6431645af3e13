"""vgf-convert-torch-slices: slices, selections, pieces, windows and diagonals of torch become TOSA.

    %0 = torch.aten.select.int %x, %int1, %int0 : !torch.vtensor<[2,3],f32>, !torch.int, !torch.int -> ...
becomes, between casts from and to the torch type,
    %1 = tosa.slice %x, %start, %size : (tensor<2x3xf32>, ...) -> tensor<2x1xf32>
    %2 = tosa.reshape %1, %shape : (tensor<2x1xf32>, !tosa.shape<1>) -> tensor<2xf32>

A slice with a step is a reshape that puts the elements to keep in front of each run, and a slice. The pieces that chunk,
split and unbind give are made where the list is taken apart.
"""

import math
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.ir import defining, shape
from vgfc.passmanager import register
from vgfc.torch_conversion import Call, Converter, Table, TorchConversion, carried, torch_shape


def strided(value: ir.Value, axis: int, start: int, step: int, count: int) -> ir.Value:
    """Every step-th element along an axis, `count` of them from `start`."""
    dimensions = shape(value)
    if step == 1 or count <= 1:
        return build.slice_axis(value, axis, start, count)
    needed = start + count * step
    if needed > dimensions[axis]:
        value = build.pad(
            value, [(0, needed - dimensions[axis] if at == axis else 0) for at in range(len(dimensions))], 0
        )
    value = build.slice_axis(value, axis, start, count * step)
    outer, inner = math.prod(dimensions[:axis]) * count, math.prod(dimensions[axis + 1 :])
    first = build.slice_axis(build.reshape(value, (outer, step, inner)), 1, 0, 1)
    return build.reshape(first, (*dimensions[:axis], count, *dimensions[axis + 1 :]))


def slice_bounds(call: Call, axis_index: int, extent: int) -> tuple[int, int, int]:
    """Start, step and count of a slice whose operands start after the axis; bounds count from the end when negative."""
    start = call.integer(axis_index + 1, 0)
    end = call.integer(axis_index + 2, extent)
    step = call.integer(axis_index + 3, 1)
    start, end = (bound + extent if bound < 0 else bound for bound in (start, end))
    start, end = min(max(start, 0), extent), min(max(end, 0), extent)
    return start, step, max(0, -(-(end - start) // step))


def convert_slice(call: Call) -> ir.Value:
    axis = call.axis(1, call.rank)
    start, step, count = slice_bounds(call, 1, call.shape()[axis])
    if count == 0:
        raise call.error(f"gives an empty tensor {list(call.result_shape)}, which TOSA has none of")
    return strided(call.tensor(), axis, start, step, count)


def convert_select(call: Call) -> ir.Value:
    axis = call.axis(1, call.rank)
    index = call.integer(2)
    index += call.shape()[axis] if index < 0 else 0
    return build.reshape(build.slice_axis(call.tensor(), axis, index, 1), call.result_shape or (1,))


def convert_narrow(call: Call) -> ir.Value:
    axis = call.axis(1, call.rank)
    start = call.integer(2)
    start += call.shape()[axis] if start < 0 else 0
    return build.slice_axis(call.tensor(), axis, start, call.integer(3))


def convert_unfold(call: Call) -> ir.Value:
    """Windows along an axis, their elements as a new last axis."""
    value = call.tensor()
    if not call.shape():
        return build.reshape(value, call.result_shape)
    axis, size, step = call.axis(1, call.rank), call.integer(2), call.integer(3)
    count = call.result_shape[axis]
    rank = len(shape(value))
    if step == size:
        value = build.slice_axis(value, axis, 0, count * size)
    else:
        places = (np.arange(count)[:, None] * step + np.arange(size)[None, :]).reshape(-1)
        value = build.take(value, places, axis)
    dimensions = shape(value)
    value = build.reshape(value, (*dimensions[:axis], count, size, *dimensions[axis + 1 :]))
    return build.transpose(value, [*range(axis + 1), *range(axis + 2, rank + 1), axis + 1])


def convert_diagonal(call: Call) -> ir.Value:
    rank = call.rank
    offset = call.integer(1, 0)
    first = call.axis(2, rank) if call.has(2) else 0
    second = call.axis(3, rank) if call.has(3) else 1
    others = [axis for axis in range(rank) if axis not in (first, second)]
    value = build.transpose(call.tensor(), [*others, first, second])
    *outer, _rows, columns = shape(value)
    count = call.result_shape[-1]
    start = (max(0, -offset), max(0, offset))
    flat = build.reshape(value, (*outer, math.prod(shape(value)[-2:])))
    places = (np.arange(count) + start[0]) * columns + np.arange(count) + start[1]
    return build.take(flat, places, len(outer))


def convert_list_unpack(call: Call) -> list[ir.Value] | None:
    """The pieces that chunk, split or unbind give: slices, their sizes told by the results."""
    owner = defining(call.operand(0))
    if owner is None or owner.name not in AXIS_OF_PIECES:
        return None
    source = owner.operands[0]
    rank = max(len(torch_shape(source)), 1)
    axis = Call(owner, owner.name).axis(AXIS_OF_PIECES[owner.name], rank) if AXIS_OF_PIECES[owner.name] else 0
    value, start, pieces = carried(source), 0, []
    single = owner.name == "torch.aten.unbind.int"
    for result in call.op.results:
        size = 1 if single else torch_shape(result)[axis]
        piece = build.slice_axis(value, axis, start, size)
        pieces.append(build.reshape(piece, torch_shape(result) or (1,)) if single else piece)
        start += size
    return pieces


def convert_later(call: Call) -> None:
    """A list of pieces: what takes the list apart is converted."""


AXIS_OF_PIECES = {
    "torch.aten.chunk": 2,
    "torch.aten.split.Tensor": 2,
    "torch.aten.split.sizes": 2,
    "torch.aten.split_with_sizes": 2,
    "torch.aten.unsafe_split.Tensor": 2,
    "torch.aten.tensor_split.sections": 2,
    "torch.aten.unbind.int": 1,
}
NAMED: dict[str, Converter] = {
    "slice.Tensor": convert_slice,
    "slice_copy.Tensor": convert_slice,
    "select.int": convert_select,
    "select_copy.int": convert_select,
    "narrow": convert_narrow,
    "unfold": convert_unfold,
    "unfold_copy": convert_unfold,
    "diagonal": convert_diagonal,
    "diagonal_copy": convert_diagonal,
}
TABLE: Table = {
    **{f"torch.aten.{name}": converter for name, converter in NAMED.items()},
    "torch.prim.ListUnpack": convert_list_unpack,
    **dict.fromkeys(AXIS_OF_PIECES, convert_later),
}


@register
@dataclass(frozen=True)
class ConvertTorchSlices(TorchConversion):
    name = "vgf-convert-torch-slices"
    table = TABLE
