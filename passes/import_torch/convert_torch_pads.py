"""vgf-convert-torch-pads: padding of torch becomes tosa.pad, or a gather of the value's own elements.

    %0 = torch.aten.constant_pad_nd %x, %sides, %float0 : !torch.vtensor<[2,3],f32>, ... -> !torch.vtensor<[2,5],f32>
becomes, between casts from and to the torch type,
    %1 = tosa.pad %x, %padding, %zero : (tensor<2x3xf32>, !tosa.shape<4>, tensor<1xf32>) -> tensor<2x5xf32>

Negative amounts cut. Reflecting, replicating and circular padding takes elements by their index, in runs where it can.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.ir import constant, is_float, shape
from vgfc.passmanager import register
from vgfc.torch_conversion import Call, Converter, TorchConversion


def amounts(call: Call) -> list[tuple[int, int]]:
    """(before, after) per axis from PyTorch's list, which begins with the last axis."""
    numbers = call.ints(1)
    pairs = list(zip(numbers[::2], numbers[1::2], strict=True))[::-1]
    return [(0, 0)] * (call.rank - len(pairs)) + pairs


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


PADDING_MODES = {
    "reflect": lambda places, extent: (extent - 1) - np.abs((extent - 1) - np.abs(places)),
    "replicate": lambda places, extent: np.clip(places, 0, extent - 1),
    "circular": lambda places, extent: places % extent,
}
NAMED: dict[str, Converter] = {
    "constant_pad_nd": convert_constant_pad,
    "pad": convert_pad,
    "reflection_pad1d": lambda call: padded_by_index(call, "reflect"),
    "reflection_pad2d": lambda call: padded_by_index(call, "reflect"),
    "reflection_pad3d": lambda call: padded_by_index(call, "reflect"),
    "replication_pad1d": lambda call: padded_by_index(call, "replicate"),
    "replication_pad2d": lambda call: padded_by_index(call, "replicate"),
    "replication_pad3d": lambda call: padded_by_index(call, "replicate"),
    "diag_embed": convert_diag_embed,
}
TABLE = {f"torch.aten.{name}": converter for name, converter in NAMED.items()}


@register
@dataclass(frozen=True)
class ConvertTorchPads(TorchConversion):
    name = "vgf-convert-torch-pads"
    table = TABLE
