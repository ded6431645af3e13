"""vgf-convert-torch-movement: views, permutations, broadcasts and blocks of pixels of torch become TOSA.

    %0 = torch.aten.view %x, %sizes : !torch.vtensor<[2,3],f32>, !torch.list<int> -> !torch.vtensor<[6],f32>
becomes, between casts from and to the torch type,
    %1 = tosa.reshape %x, %shape : (tensor<2x3xf32>, !tosa.shape<1>) -> tensor<6xf32>

A view is a reshape: TOSA tensors have no strides. An operator that only names its operand anew (clone, contiguous, detach,
dropout at rest) goes.
"""

import math
from dataclasses import dataclass

from torch_mlir import ir

from vgfc import build
from vgfc.ir import is_float
from vgfc.passmanager import register
from vgfc.torch_conversion import Call, Converter, Table, TorchConversion, is_tensor


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


def convert_permute(call: Call) -> ir.Value:
    return build.transpose(call.tensor(), call.axes(1, call.rank)) if call.shape() else call.tensor()


def convert_transpose(call: Call) -> ir.Value:
    rank = call.rank
    order = list(range(rank))
    first, second = call.axis(1, rank), call.axis(2, rank)
    order[first], order[second] = order[second], order[first]
    return build.transpose(call.tensor(), order)


def convert_t(call: Call) -> ir.Value:
    return build.transpose(call.tensor(), list(range(call.rank))[::-1])


def convert_movedim(call: Call) -> ir.Value:
    rank = call.rank
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


def convert_fill_like(call: Call) -> ir.Value:
    """copy and fill: the second operand in the first one's shape and type."""
    target = call.result_shape or (1,)
    if is_tensor(call.operand(1)):
        return build.broadcast_to(call.tensor_as(1, call.element), target)
    value = call.number(1)
    return build.filled(value if is_float(call.element) else int(value), target, call.element)


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
    "mT": lambda call: build.transpose(call.tensor(), [*range(call.rank - 2), call.rank - 1, call.rank - 2]),
    "movedim.int": convert_movedim,
    "movedim.intlist": convert_movedim,
    "expand": convert_expand,
    "expand_copy": convert_expand,
    "expand_as": convert_expand,
    "broadcast_to": convert_expand,
    "pixel_shuffle": convert_pixel_shuffle,
    "pixel_unshuffle": convert_pixel_unshuffle,
    "channel_shuffle": convert_channel_shuffle,
    "copy": convert_fill_like,
    "fill.Scalar": convert_fill_like,
    "fill.Tensor": convert_fill_like,
}
TABLE: Table = {
    **{f"torch.aten.{name}": converter for name, converter in NAMED.items()},
    **dict.fromkeys(("torch.prims.collapse", "torch.prims.split_dim", "torch.prims.view_of"), convert_view),
}


@register
@dataclass(frozen=True)
class ConvertTorchMovement(TorchConversion):
    name = "vgf-convert-torch-movement"
    table = TABLE
