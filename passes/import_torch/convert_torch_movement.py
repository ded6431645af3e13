"""vgf-convert-torch-movement: views, permutations, slices, concatenations, padding and repetition of torch become TOSA.

    %0 = torch.aten.select.int %x, %int1, %int0 : !torch.vtensor<[2,3],f32>, !torch.int, !torch.int -> ...
becomes, between casts from and to the torch type,
    %1 = tosa.slice %x, %start, %size : (tensor<2x3xf32>, ...) -> tensor<2x1xf32>
    %2 = tosa.reshape %1, %shape : (tensor<2x1xf32>, !tosa.shape<1>) -> tensor<2xf32>

A view is a reshape: TOSA tensors have no strides. A slice with a step is a reshape that puts the elements to keep in front
of each run, and a slice. An operator that only names its operand anew (clone, contiguous, detach, dropout at rest) goes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.ir import constant, defining, is_float, shape
from vgfc.passmanager import register
from vgfc.torch_conversion import Call, Converter, TorchConversion, carried, is_tensor, torch_shape


def convert_view(call: Call) -> ir.Value:
    """Any operator that gives the operand's elements in order: the result's type says the shape."""
    return build.reshape(call.tensor(), call.result_shape or (1,))


def convert_same(call: Call) -> ir.Value:
    return call.tensor()


def convert_dropout(call: Call) -> ir.Value:
    if call.flag(2) and call.real(1) > 0:
        raise call.error("is random in training mode, expected a model in evaluation mode; call model.eval() first")
    return call.tensor()


def convert_native_dropout(call: Call) -> list[ir.Value | None]:
    return [convert_dropout(call), None]


def rank_of(call: Call) -> int:
    """The rank of the first operand in TOSA, where a scalar has one axis."""
    return max(len(call.shape()), 1)


def convert_permute(call: Call) -> ir.Value:
    return build.transpose(call.tensor(), call.axes(1, rank_of(call))) if call.shape() else call.tensor()


def convert_transpose(call: Call) -> ir.Value:
    rank = rank_of(call)
    order = list(range(rank))
    first, second = call.axis(1, rank), call.axis(2, rank)
    order[first], order[second] = order[second], order[first]
    return build.transpose(call.tensor(), order)


def convert_t(call: Call) -> ir.Value:
    return build.transpose(call.tensor(), list(range(rank_of(call)))[::-1])


def convert_movedim(call: Call) -> ir.Value:
    rank = rank_of(call)
    if str(call.operand(1).type) == "!torch.int":
        sources, targets = [call.axis(1, rank)], [call.axis(2, rank)]
    else:
        sources, targets = call.axes(1, rank), call.axes(2, rank)
    order = [axis for axis in range(rank) if axis not in sources]
    for target, source in sorted(zip(targets, sources, strict=True)):
        order.insert(target, source)
    return build.transpose(call.tensor(), order)


def convert_expand(call: Call) -> ir.Value:
    return build.broadcast_to(call.tensor(), call.result_shape or (1,))


# Slices


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
    axis = call.axis(1, rank_of(call))
    start, step, count = slice_bounds(call, 1, call.shape()[axis])
    if count == 0:
        raise call.error(f"gives an empty tensor {list(call.result_shape)}, which TOSA has none of")
    return strided(call.tensor(), axis, start, step, count)


def convert_select(call: Call) -> ir.Value:
    axis = call.axis(1, rank_of(call))
    index = call.integer(2)
    index += call.shape()[axis] if index < 0 else 0
    return build.reshape(build.slice_axis(call.tensor(), axis, index, 1), call.result_shape or (1,))


def convert_narrow(call: Call) -> ir.Value:
    axis = call.axis(1, rank_of(call))
    start = call.integer(2)
    start += call.shape()[axis] if start < 0 else 0
    return build.slice_axis(call.tensor(), axis, start, call.integer(3))


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


# Concatenation and repetition


def joined(call: Call, values: Sequence[ir.Value]) -> list[ir.Value]:
    """Torch values in the result's element type; PyTorch skips empty vectors."""
    kept = [value for value in values if 0 not in torch_shape(value)]
    return [build.cast(carried(value), call.element) for value in kept]


def convert_cat(call: Call) -> ir.Value:
    rank = max(len(call.result_shape), 1)
    return build.concat(joined(call, call.tensors(0)), call.axis(1, rank))


def convert_stack(call: Call) -> ir.Value:
    rank = len(call.result_shape)
    axis = call.axis(1, rank)
    parts = []
    for value in call.tensors(0):
        dimensions = list(torch_shape(value))
        dimensions.insert(axis, 1)
        parts.append(build.reshape(build.cast(carried(value), call.element), dimensions))
    return build.concat(parts, axis)


def convert_repeat(call: Call) -> ir.Value:
    multiples = call.ints(1)
    value = call.tensor()
    if not multiples:
        return value
    value = build.with_rank(value, len(multiples))
    return build.tile(value, [1] * (len(shape(value)) - len(multiples)) + multiples)


def convert_repeat_interleave(call: Call) -> ir.Value:
    """Each element the same number of times; other counts are not known to TOSA."""
    count = call.integer(1)
    value = call.tensor()
    if not call.has(2):
        value = build.reshape(value, (math.prod(shape(value)),))
        axis = 0
    else:
        axis = call.axis(2, rank_of(call))
    dimensions = shape(value)
    outer, inner = math.prod(dimensions[: axis + 1]), math.prod(dimensions[axis + 1 :])
    repeated = build.tile(build.reshape(value, (outer, 1, inner)), (1, count, 1))
    return build.reshape(repeated, (*dimensions[:axis], dimensions[axis] * count, *dimensions[axis + 1 :]))


def convert_flip(call: Call) -> ir.Value:
    value = call.tensor()
    for axis in call.ints(1):
        value = build.reverse(value, axis % rank_of(call))
    return value


def convert_roll(call: Call) -> ir.Value:
    value = call.tensor()
    axes = call.ints(2)
    shifts = call.ints(1)
    if not axes:
        flat = build.reshape(value, (math.prod(shape(value)),))
        return build.reshape(rolled(flat, 0, shifts[0]), shape(value))
    for axis, amount in zip(axes, shifts, strict=True):
        value = rolled(value, axis % rank_of(call), amount)
    return value


def rolled(value: ir.Value, axis: int, amount: int) -> ir.Value:
    """The value with its last `amount` elements of an axis put first."""
    extent = shape(value)[axis]
    amount %= extent
    if amount == 0:
        return value
    head = build.slice_axis(value, axis, extent - amount, amount)
    return build.concat([head, build.slice_axis(value, axis, 0, extent - amount)], axis)


# Padding


def amounts(call: Call) -> list[tuple[int, int]]:
    """(before, after) per axis from PyTorch's list, which begins with the last axis."""
    numbers = call.ints(1)
    pairs = list(zip(numbers[::2], numbers[1::2], strict=True))[::-1]
    return [(0, 0)] * (rank_of(call) - len(pairs)) + pairs


def padded(call: Call, value: ir.Value, padding: Sequence[tuple[int, int]], fill: float) -> ir.Value:
    """The value with a constant around it; negative amounts cut."""
    starts = [max(0, -before) for before, _ in padding]
    sizes = [
        extent - max(0, -before) - max(0, -after) for extent, (before, after) in zip(shape(value), padding, strict=True)
    ]
    value = build.slice_(value, starts, sizes)
    return build.pad(value, [(max(0, before), max(0, after)) for before, after in padding], fill)


def convert_constant_pad(call: Call) -> ir.Value:
    fill = call.number(2) if call.has(2) else 0
    return padded(call, call.tensor(), amounts(call), fill if is_float(call.element) else int(fill))


def convert_pad(call: Call) -> ir.Value:
    mode = call.text(2, "constant")
    if mode == "constant":
        fill = call.number(3) if call.has(3) else 0
        return padded(call, call.tensor(), amounts(call), fill if is_float(call.element) else int(fill))
    if mode not in PADDING_MODES:
        raise call.error(f"in mode '{mode}', expected one of constant, {', '.join(PADDING_MODES)}")
    return padded_by_index(call, mode)


def padded_by_index(call: Call, mode: str) -> ir.Value:
    """Padding with the value's own elements."""
    value = call.tensor()
    for axis, (before, after) in enumerate(amounts(call)):
        if before or after:
            extent = shape(value)[axis]
            places = np.arange(-before, extent + after)
            value = build.take(value, PADDING_MODES[mode](places, extent), axis)
    return value


PADDING_MODES = {
    "reflect": lambda places, extent: (extent - 1) - np.abs((extent - 1) - np.abs(places)),
    "replicate": lambda places, extent: np.clip(places, 0, extent - 1),
    "circular": lambda places, extent: places % extent,
}


# Blocks of pixels


def convert_pixel_shuffle(call: Call) -> ir.Value:
    factor = call.integer(1)
    *batch, channels, height, width = call.shape()
    parts = (math.prod(batch), channels // factor**2, factor, factor, height, width)
    blocks = build.reshape(call.tensor(), parts)
    return build.reshape(build.transpose(blocks, (0, 1, 4, 2, 5, 3)), call.result_shape)


def convert_pixel_unshuffle(call: Call) -> ir.Value:
    factor = call.integer(1)
    *batch, channels, height, width = call.shape()
    parts = (math.prod(batch), channels, height // factor, factor, width // factor, factor)
    blocks = build.reshape(call.tensor(), parts)
    return build.reshape(build.transpose(blocks, (0, 1, 3, 5, 2, 4)), call.result_shape)


def convert_channel_shuffle(call: Call) -> ir.Value:
    groups = call.integer(1)
    batch, channels, *rest = call.shape()
    parts = build.reshape(call.tensor(), (batch, groups, channels // groups, math.prod(rest)))
    return build.reshape(build.transpose(parts, (0, 2, 1, 3)), call.result_shape)


def convert_unfold(call: Call) -> ir.Value:
    """Windows along an axis, their elements as a new last axis."""
    value = call.tensor()
    if not call.shape():
        return build.reshape(value, call.result_shape)
    axis, size, step = call.axis(1, rank_of(call)), call.integer(2), call.integer(3)
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


def convert_meshgrid_like(call: Call) -> ir.Value:
    """broadcast_to and expand_as: the result's shape says all."""
    return build.broadcast_to(call.tensor(), call.result_shape or (1,))


def convert_fill_like(call: Call) -> ir.Value:
    """copy and fill: the second operand in the first one's shape and type."""
    target = call.result_shape or (1,)
    if is_tensor(call.operand(1)):
        return build.broadcast_to(call.tensor_as(1, call.element), target)
    value = call.number(1)
    return build.filled(value if is_float(call.element) else int(value), target, call.element)


def convert_diagonal(call: Call) -> ir.Value:
    rank = rank_of(call)
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


def convert_diag_embed(call: Call) -> ir.Value:
    """The last axis as a diagonal of two new ones."""
    value = call.tensor()
    rank, offset = len(call.result_shape), call.integer(1, 0)
    first, second = (
        call.axis(index, rank) if call.has(index) else rank + default for index, default in ((2, -2), (3, -1))
    )
    size, own = call.result_shape[first], shape(value)[-1]
    ahead = (max(0, -offset), size - own - max(0, -offset))
    placed = build.pad(value, [(0, 0)] * (rank - 2) + [ahead], 0)
    mask = np.eye(size, k=offset, dtype=np.bool_).reshape((1,) * (rank - 2) + (size, size))
    column = build.reshape(placed, (*shape(placed), 1))
    spread = build.select(constant(mask, build.i1()), column, build.scalar_like(0, column))
    others = [axis for axis in range(rank) if axis not in (first, second)]
    order = [0] * rank
    for source, target in enumerate([*others, first, second]):
        order[target] = source
    return build.transpose(spread, order)


VIEWS = (
    "view", "reshape", "_unsafe_view", "_reshape_alias", "view_copy", "flatten.using_ints", "unflatten.int",
    "squeeze", "squeeze.dim", "squeeze.dims", "squeeze_copy.dims", "unsqueeze", "unsqueeze_copy", "ravel",
    "view_as", "reshape_as", "expand_dims",
    "atleast_1d", "atleast_2d", "atleast_3d",
)  # fmt: skip
SAME = (
    "clone", "contiguous", "detach", "detach_copy", "alias", "alias_copy", "lift_fresh_copy", "lift_fresh", "lift",
    "positive", "conj", "resolve_conj", "resolve_neg", "_conj", "real",
)  # fmt: skip
NAMED: dict[str, Converter] = {
    **dict.fromkeys(VIEWS, convert_view),
    **dict.fromkeys(SAME, convert_same),
    "dropout": convert_dropout,
    "feature_dropout": convert_dropout,
    "alpha_dropout": convert_dropout,
    "native_dropout": convert_native_dropout,
    "permute": convert_permute,
    "permute_copy": convert_permute,
    "transpose.int": convert_transpose,
    "transpose_copy.int": convert_transpose,
    "swapaxes": convert_transpose,
    "swapdims": convert_transpose,
    "t": convert_t,
    "t_copy": convert_t,
    "numpy_T": convert_t,
    "mT": lambda call: build.transpose(
        call.tensor(), [*range(rank_of(call) - 2), rank_of(call) - 1, rank_of(call) - 2]
    ),
    "movedim.int": convert_movedim,
    "movedim.intlist": convert_movedim,
    "expand": convert_expand,
    "expand_copy": convert_expand,
    "expand_as": convert_meshgrid_like,
    "broadcast_to": convert_meshgrid_like,
    "slice.Tensor": convert_slice,
    "slice_copy.Tensor": convert_slice,
    "select.int": convert_select,
    "select_copy.int": convert_select,
    "narrow": convert_narrow,
    "cat": convert_cat,
    "concat": convert_cat,
    "stack": convert_stack,
    "repeat": convert_repeat,
    "tile": convert_repeat,
    "repeat_interleave.self_int": convert_repeat_interleave,
    "flip": convert_flip,
    "roll": convert_roll,
    "constant_pad_nd": convert_constant_pad,
    "pad": convert_pad,
    "reflection_pad1d": lambda call: padded_by_index(call, "reflect"),
    "reflection_pad2d": lambda call: padded_by_index(call, "reflect"),
    "reflection_pad3d": lambda call: padded_by_index(call, "reflect"),
    "replication_pad1d": lambda call: padded_by_index(call, "replicate"),
    "replication_pad2d": lambda call: padded_by_index(call, "replicate"),
    "replication_pad3d": lambda call: padded_by_index(call, "replicate"),
    "pixel_shuffle": convert_pixel_shuffle,
    "pixel_unshuffle": convert_pixel_unshuffle,
    "channel_shuffle": convert_channel_shuffle,
    "unfold": convert_unfold,
    "unfold_copy": convert_unfold,
    "copy": convert_fill_like,
    "fill.Scalar": convert_fill_like,
    "fill.Tensor": convert_fill_like,
    "diagonal": convert_diagonal,
    "diag_embed": convert_diag_embed,
    "diagonal_copy": convert_diagonal,
}
TABLE: dict[str, Converter] = {
    **{f"torch.aten.{name}": converter for name, converter in NAMED.items()},
    "torch.prim.ListUnpack": convert_list_unpack,
    **dict.fromkeys(AXIS_OF_PIECES, convert_later),
    **dict.fromkeys(("torch.prims.collapse", "torch.prims.split_dim", "torch.prims.view_of"), convert_view),
}


@register
@dataclass(frozen=True)
class ConvertTorchMovement(TorchConversion):
    name = "vgf-convert-torch-movement"
    table = TABLE
