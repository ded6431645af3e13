"""vgf-convert-torch-indexing: reading at indices in torch becomes tosa.gather, slices and selects.

    %0 = torch.aten.embedding %weight, %i, ... : !torch.vtensor<[10,4],f32>, !torch.vtensor<[3],si64>, ...
becomes, between casts from and to the torch type,
    %1 = tosa.reshape %weight, %shape : (tensor<10x4xf32>, !tosa.shape<3>) -> tensor<1x10x4xf32>
    %2 = tosa.gather %1, %indices : (tensor<1x10x4xf32>, tensor<1x3xi32>) -> tensor<1x3x4xf32>

Indices that are known now become slices where a few do. Indices that are computed may count from the end in PyTorch's
subscripts, where the extent is added to negative ones; gather, index_select and embedding take none. tril, triu and one_hot
choose by a mask that is known now or compared.
"""

import math
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.ir import constant, shape
from vgfc.passmanager import register
from vgfc.torch_conversion import Call, Converter, TorchConversion, is_none, is_unconverted, torch_dtype
from vgfc.torch_indices import known_indices, row_of, subscript


def taken(value: ir.Value, indices: ir.Value, axis: int) -> ir.Value:
    """value.take along an axis at a vector of indices that are all at least 0."""
    found = known_indices(indices)
    if found is not None:
        return build.take(value, found.reshape(-1), axis)
    return build.take_dynamic(value, row_of(indices), axis)


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


NAMED: dict[str, Converter] = {
    "index_select": convert_index_select,
    "embedding": convert_embedding,
    "gather": convert_gather,
    "index.Tensor": convert_index,
    "index.Tensor_hacked_twin": convert_index,
    "_unsafe_index.Tensor": convert_index,
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
