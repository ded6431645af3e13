"""Indices of torch in TOSA: known ones, ones that count from the end, and subscripts of several axes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.ir import Array, constant, shape
from vgfc.torch_conversion import Call, carried, is_none, known_integers, torch_shape


def known_indices(value: ir.Value) -> Array | None:
    """Indices that are known now, as int64."""
    found = known_integers(value)
    return None if found is None else found.astype(np.int64)


def row_of(indices: ir.Value) -> ir.Value:
    """Indices as one row, 1xW."""
    return build.reshape(indices, (1, math.prod(shape(indices))))


def from_front(indices: ir.Value, extent: int) -> ir.Value:
    """Indices with the extent added to those that count from the end."""
    found = known_integers(indices)
    if found is not None:
        return constant(np.where(found < 0, found + extent, found).astype(np.int32), build.i32())
    negative = build.binary("tosa.greater", build.scalar_like(0, indices), indices)
    return build.select(negative, build.add(indices, build.scalar_like(extent, indices)), indices)


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
