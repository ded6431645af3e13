"""vgf-convert-torch-pools: average and maximum pools of torch in one, two and three dimensions become TOSA's.

    %0 = torch.aten.max_pool2d %x, %kernel, %stride, %padding, %dilation, %false : ...
becomes, between casts from and to the torch type,
    %1 = tosa.transpose %x {perms = array<i32: 0, 2, 3, 1>}
    %2 = tosa.max_pool2d %1 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>}
    %3 = tosa.transpose %2 {perms = array<i32: 0, 3, 1, 2>}

TOSA's windows must cover the padded input exactly, so that padding and input are cut to what the windows read. TOSA's mean
does not count padding: padding that PyTorch counts is put around the input as zeros. An adaptive pool whose windows are
all alike is a pool; another one is a product with a matrix of means, or a maximum per window. A pool of three dimensions
is one over height and width, then one over depth.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.ir import constant, element_type, is_float, shape
from vgfc.passmanager import register
from vgfc.torch_conversion import Call, Converter, TorchConversion, carried_type, float_compute

Pool = Callable[[ir.Value, Sequence[int], Sequence[int], Sequence[int], Sequence[int]], ir.Value]


@dataclass(frozen=True)
class Axis:
    """The windows along one axis: size, step, padding, and the extent that they give."""

    kernel: int
    stride: int
    before: int
    after: int
    extent: int


def spread(numbers: Sequence[int], rank: int) -> list[int]:
    """One number per axis, from a list of one or of all."""
    return list(numbers) * rank if len(numbers) == 1 else list(numbers)


def axis_windows(extent: int, kernel: int, stride: int, padding: int, ceil_mode: bool) -> Axis:
    """PyTorch's windows along an axis, the padding after it made such that they end where it ends (it may be negative)."""
    room = extent + 2 * padding - kernel
    count = (-(-room // stride) if ceil_mode else room // stride) + 1
    if ceil_mode and (count - 1) * stride >= extent + padding:
        count -= 1  # a window must not begin in the padding at the end
    return Axis(kernel, stride, padding, (count - 1) * stride + kernel - extent - padding, count)


def windows(call: Call, rank: int, ceil_index: int, padding_index: int = 3) -> list[Axis]:
    """The windows that the operands kernel, stride, padding and ceil_mode describe."""
    kernel = spread(call.ints(1), rank)
    stride = spread(call.ints(2), rank) if call.has(2) and call.ints(2) else kernel
    padding = spread(call.ints(padding_index), rank) if call.has(padding_index) else [0] * rank
    ceil_mode = call.flag(ceil_index)
    extents = call.shape()[-rank:]
    return [axis_windows(*numbers, ceil_mode) for numbers in zip(extents, kernel, stride, padding, strict=True)]


def image_of(call: Call, value: ir.Value, rank: int) -> ir.Value:
    """An operand of any batch as N, spatial axes, C: at least one axis of each."""
    dimensions = call.shape()
    spatial, channels, batch = dimensions[-rank:], dimensions[-rank - 1], dimensions[: -rank - 1]
    whole = build.reshape(value, (math.prod(batch), channels, *spatial))
    return build.transpose(whole, [0, *range(2, rank + 2), 1])


def finished(call: Call, value: ir.Value) -> ir.Value:
    """N, spatial axes, C as the result of the operator."""
    rank = len(shape(value))
    first = build.transpose(value, [0, rank - 1, *range(1, rank - 1)])
    return build.reshape(first, shape(carried_type(call.op.results[0])))


def cut(value: ir.Value, axes: Sequence[Axis]) -> tuple[ir.Value, list[Axis]]:
    """The input without the rows at its end that no window reads, and the windows with no negative padding."""
    sizes = list(shape(value))
    for index, axis in enumerate(axes):
        sizes[index + 1] += min(axis.after, 0)
    kept = [Axis(axis.kernel, axis.stride, axis.before, max(axis.after, 0), axis.extent) for axis in axes]
    return build.slice_(value, [0] * len(sizes), sizes), kept


def pooled(pool: Pool, value: ir.Value, axes: Sequence[Axis]) -> ir.Value:
    """The pool of N, spatial axes, C; one axis as an image of height 1, three as two pools."""
    value, axes = cut(value, axes)
    batch, *extents, channels = shape(value)
    if len(axes) == 1:
        flat = build.reshape(value, (batch, 1, *extents, channels))
        result = pooled(pool, flat, [Axis(1, 1, 0, 0, 1), *axes])
        return build.reshape(result, (batch, axes[0].extent, channels))
    if len(axes) == 3:
        depth, height, width = axes
        planes = build.reshape(value, (batch * extents[0], *extents[1:], channels))
        planes = pooled(pool, planes, [height, width])
        columns = build.reshape(planes, (batch, extents[0], height.extent * width.extent, channels))
        columns = pooled(pool, columns, [depth, Axis(1, 1, 0, 0, height.extent * width.extent)])
        return build.reshape(columns, (batch, depth.extent, height.extent, width.extent, channels))
    padding = [amount for axis in axes for amount in (axis.before, axis.after)]
    dimensions = (batch, *(axis.extent for axis in axes), channels)
    kernel, stride = [axis.kernel for axis in axes], [axis.stride for axis in axes]
    return pool(value, dimensions, kernel, stride, padding)


def max_pool(rank: int) -> Converter:
    """A converter for max_pool."""

    def converter(call: Call) -> ir.Value:
        if call.has(4) and any(step != 1 for step in call.ints(4)):
            raise call.error(f"with dilation {call.ints(4)} has no form in TOSA 1.0, expected 1")
        if not is_float(call.element):
            raise call.error(f"of {call.result_dtype} is not supported, expected floating point")
        value = image_of(call, call.tensor(), rank)
        return finished(call, pooled(build.max_pool2d, value, windows(call, rank, 5)))

    return converter


def max_pool_with_places(rank: int) -> Converter:
    """A converter for max_pool with indices, which TOSA has no way to give."""
    return lambda call: [max_pool(rank)(call), None]


def avg_pool(rank: int) -> Converter:
    """A converter for avg_pool."""

    def converter(call: Call) -> ir.Value:
        value = image_of(call, call.tensor(), rank)
        axes = windows(call, rank, 4)
        divisor = call.integer(6, 0) if len(call) > 6 else 0
        if divisor or (call.flag(5, True) and any(axis.before for axis in axes)):
            value, axes = with_counted_padding(value, axes, everything=bool(divisor))
        result = pooled(build.avg_pool2d, value, axes)
        if divisor:
            factor = math.prod(axis.kernel for axis in axes) / divisor
            result = result if factor == 1 else build.mul(result, build.scalar_like(factor, result))
        return finished(call, result)

    return converter


def with_counted_padding(value: ir.Value, axes: Sequence[Axis], everything: bool) -> tuple[ir.Value, list[Axis]]:
    """The input with zeros around it where padding counts, and the windows with the padding that is left.

    Padding counts as far as PyTorch's own, which is as wide after as before; what ceil_mode adds behind it does not count,
    unless `everything` is asked for.
    """
    amounts, rest = [(0, 0)], []
    for axis in axes:
        counted = axis.after if everything else min(axis.after, axis.before)
        amounts.append((axis.before, max(counted, 0)))
        rest.append(Axis(axis.kernel, axis.stride, 0, axis.after - max(counted, 0), axis.extent))
    return build.pad(value, [*amounts, (0, 0)], 0), rest


# Adaptive pools


def adaptive_bounds(extent: int, count: int) -> tuple[list[int], list[int]]:
    """Where PyTorch's adaptive windows begin and end."""
    starts = [index * extent // count for index in range(count)]
    ends = [-(-(index + 1) * extent // count) for index in range(count)]
    return starts, ends


def uniform(extent: int, count: int) -> Axis | None:
    """The windows of an adaptive pool where all have one size and one step, else None."""
    starts, ends = adaptive_bounds(extent, count)
    sizes = {end - start for start, end in zip(starts, ends, strict=True)}
    steps = {second - first for first, second in itertools.pairwise(starts)}
    if len(sizes) != 1 or len(steps) > 1:
        return None
    size = sizes.pop()
    step = steps.pop() if steps else size
    return Axis(size, step, 0, starts[-1] + size - extent, count)


def target_extents(call: Call, rank: int) -> list[int]:
    """The output extents of an adaptive pool: the result's."""
    return list(call.result_shape[-rank:])


def adaptive_avg_pool(rank: int) -> Converter:
    """A converter for adaptive_avg_pool."""

    def converter(call: Call) -> ir.Value:
        counts, extents = target_extents(call, rank), call.shape()[-rank:]
        axes = [uniform(extent, count) for extent, count in zip(extents, counts, strict=True)]
        if all(axes):
            value = image_of(call, call.tensor(), rank)
            return finished(call, pooled(build.avg_pool2d, value, [axis for axis in axes if axis is not None]))
        element = float_compute(call.element)
        value = build.cast(call.tensor(), element)
        for index, (extent, count) in enumerate(zip(extents, counts, strict=True)):
            value = averaged(value, len(shape(value)) - rank + index, extent, count)
        return build.cast(value, call.element)

    return converter


def averaged(value: ir.Value, axis: int, extent: int, count: int) -> ir.Value:
    """The adaptive means along one axis, as a product with a matrix of them."""
    if extent == count:
        return value
    matrix = np.zeros((extent, count), np.float32)
    for column, (start, end) in enumerate(zip(*adaptive_bounds(extent, count), strict=True)):
        matrix[start:end, column] = 1 / (end - start)
    rank = len(shape(value))
    order = [*(other for other in range(rank) if other != axis), axis]
    moved = build.transpose(value, order)
    rows = build.reshape(moved, (1, math.prod(shape(moved)[:-1]), extent))
    product = build.matmul(rows, constant(matrix[None], element_type(value)))
    return build.transpose(build.reshape(product, (*shape(moved)[:-1], count)), np.argsort(order).tolist())


def adaptive_max_pool(rank: int) -> Converter:
    """A converter for adaptive_max_pool, whose second result, the places, nothing may read."""

    def converter(call: Call) -> list[ir.Value | None]:
        counts, extents = target_extents(call, rank), call.shape()[-rank:]
        axes = [uniform(extent, count) for extent, count in zip(extents, counts, strict=True)]
        if all(axes):
            value = image_of(call, call.tensor(), rank)
            result = pooled(build.max_pool2d, value, [axis for axis in axes if axis is not None])
            return [finished(call, result), None]
        value = call.tensor()
        for index, (extent, count) in enumerate(zip(extents, counts, strict=True)):
            axis = len(shape(value)) - rank + index
            bounds = zip(*adaptive_bounds(extent, count), strict=True)
            parts = [build.slice_axis(value, axis, start, end - start) for start, end in bounds]
            value = build.concat([build.reduce("tosa.reduce_max", part, axis) for part in parts], axis)
        return [value, None]

    return converter


TABLE: dict[str, Converter] = {
    **{f"torch.aten.max_pool{rank}d": max_pool(rank) for rank in (1, 2, 3)},
    **{f"torch.aten.max_pool{rank}d_with_indices": max_pool_with_places(rank) for rank in (1, 2, 3)},
    **{f"torch.aten.avg_pool{rank}d": avg_pool(rank) for rank in (1, 2, 3)},
    **{
        f"torch.aten.{stem}adaptive_avg_pool{rank}d": adaptive_avg_pool(rank)
        for rank in (1, 2, 3)
        for stem in ("", "_")
    },
    **{f"torch.aten.adaptive_max_pool{rank}d": adaptive_max_pool(rank) for rank in (1, 2, 3)},
}


@register
@dataclass(frozen=True)
class ConvertTorchPools(TorchConversion):
    name = "vgf-convert-torch-pools"
    table = TABLE
