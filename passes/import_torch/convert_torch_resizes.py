"""vgf-convert-torch-resizes: upsampling and interpolation of torch become tosa.resize wherever it can say the same.

    %0 = torch.aten.upsample_bilinear2d.vec %x, %none, %false, %scales : ...
becomes, between casts from and to the torch type,
    %1 = tosa.transpose %x {perms = array<i32: 0, 2, 3, 1>}
    %2 = tosa.resize %1, [4, 2, 4, 2], [-1, -1], [1, 1] {mode = BILINEAR}
    %3 = tosa.transpose %2 {perms = array<i32: 0, 3, 1, 2>}

tosa.resize reads at (i * d + offset) / n along an axis, with whole numbers n up to 2048, d below 16 n and offsets within
their limits (TOSA 1.0.2, RESIZE). Nearest neighbours are rounded there and cut off in PyTorch, which half a step of offset
makes up for. PyTorch computes places in 32-bit floating point: where that picks other neighbours than the exact ratio,
and where the limits are passed, neighbours are gathered, and linear interpolation is a product with a matrix of weights.
So is cubic interpolation (Keys' kernel with a = -0.75).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.ir import Array, const_shape, constant, element_type, is_float, shape, tensor
from vgfc.passmanager import register
from vgfc.torch_conversion import Call, Converter, TorchConversion, float_compute

LARGEST_NUMERATOR = 2048
LARGEST_EXTENT = 16383
LARGEST_SCALE = 256
CUBIC = -0.75


@dataclass(frozen=True)
class Axis:
    """How one axis is resampled: extents, the scale that the user gave (None: the ratio of the extents), the mode."""

    source: int
    target: int
    scale: float | None
    mode: str
    align_corners: bool

    def step(self) -> np.float32:
        """The distance between the places of neighbours in the result, as PyTorch computes it."""
        if self.align_corners:
            return np.float32(self.source - 1) / np.float32(self.target - 1) if self.target > 1 else np.float32(0)
        if self.scale is not None:
            return np.float32(1.0 / self.scale)
        return np.float32(self.source) / np.float32(self.target)

    def exact_step(self) -> Fraction:
        """The same distance as the ratio that was meant."""
        if self.align_corners:
            return Fraction(self.source - 1, self.target - 1) if self.target > 1 else Fraction(0)
        if self.scale is not None:
            return 1 / Fraction(self.scale).limit_denominator(LARGEST_NUMERATOR)
        return Fraction(self.source, self.target)

    def places(self) -> Array:
        """The place in the source that each element of the result reads, in 32-bit floating point as PyTorch has it."""
        index = np.arange(self.target, dtype=np.float32)
        half = np.float32(0.5)
        if self.mode == "nearest":
            return index * self.step()
        if self.mode == "nearest-exact":
            return (index + half) * self.step()
        if self.align_corners:
            return index * self.step()
        places = (index + half) * self.step() - half
        return np.maximum(places, np.float32(0)) if self.mode == "linear" else places

    def neighbours(self) -> Array:
        """For the nearest modes, the index that each element of the result reads."""
        return np.minimum(np.floor(self.places()).astype(np.int64), self.source - 1)

    def weights(self) -> Array:
        """The matrix, source by target, that resamples the axis linearly or cubically."""
        matrix = np.zeros((self.source, self.target), np.float32)
        places = self.places()
        base = np.floor(places).astype(np.int64)
        fraction = (places - base.astype(np.float32)).astype(np.float64)
        if self.mode == "linear":
            taps = {0: 1 - fraction, 1: fraction}
        else:
            taps = {
                -1: _cubic_outer(fraction + 1),
                0: _cubic_inner(fraction),
                1: _cubic_inner(1 - fraction),
                2: _cubic_outer(2 - fraction),
            }
        for offset, weight in taps.items():
            at = np.clip(base + offset, 0, self.source - 1)
            np.add.at(matrix, (at, np.arange(self.target)), weight.astype(np.float32))
        return matrix


def _cubic_inner(distance: Array) -> Array:
    return ((CUBIC + 2) * distance - (CUBIC + 3)) * distance**2 + 1


def _cubic_outer(distance: Array) -> Array:
    return ((CUBIC * distance - 5 * CUBIC) * distance + 8 * CUBIC) * distance - 4 * CUBIC


@dataclass(frozen=True)
class Ratio:
    """The numbers of tosa.resize for one axis."""

    numerator: int
    denominator: int
    offset: int
    border: int


def ratio(axis: Axis) -> Ratio | None:
    """The numbers with which tosa.resize does the same along this axis, None when there are none."""
    step = axis.exact_step()
    if step == 0 or axis.mode == "cubic" or abs(float(step) - float(axis.step())) > 1e-6 * float(step):
        return None
    # the place of element i is i * step + start; 2 * denominator keeps the halves whole
    scale = 2 * step.denominator
    start = Fraction(0)
    if axis.mode == "nearest":
        start = Fraction(-1, 2)
    elif axis.mode == "nearest-exact" or not axis.align_corners:
        start = step / 2 - Fraction(1, 2)
    numbers = [scale, int(step * scale), int(start * scale)]
    common = math.gcd(*numbers)
    numerator, denominator, offset = (number // common for number in numbers)
    border = (axis.target - 1) * denominator - (axis.source - 1) * numerator + offset
    fits = (
        numerator <= LARGEST_NUMERATOR
        and numerator <= LARGEST_SCALE * denominator
        and denominator < 16 * numerator
        and -numerator <= offset < 16 * numerator
        and -16 * numerator <= border < numerator
        and max(axis.source, axis.target) <= LARGEST_EXTENT
    )
    if not fits or (axis.mode != "linear" and not _same_neighbours(axis, numerator, denominator, offset)):
        return None
    return Ratio(numerator, denominator, offset, border)


def _same_neighbours(axis: Axis, numerator: int, denominator: int, offset: int) -> bool:
    """Whether TOSA's rounding of the exact places picks the neighbours that PyTorch picks."""
    places = np.arange(axis.target, dtype=np.int64) * denominator + offset
    base = places // numerator
    nearest = base + (2 * (places - base * numerator) >= numerator)
    return bool(np.array_equal(np.clip(nearest, 0, axis.source - 1), axis.neighbours()))


def untouched(extent: int) -> Axis:
    """An axis that stays as it is."""
    return Axis(extent, extent, None, "linear", False)


def resized(value: ir.Value, axes: tuple[Axis, Axis], ratios: tuple[Ratio, Ratio]) -> ir.Value:
    """tosa.resize of an NHWC image."""
    mode = "BILINEAR" if any(axis.mode == "linear" for axis in axes) else "NEAREST_NEIGHBOR"
    (height, width), (rows, columns) = axes, ratios
    result = tensor((shape(value)[0], height.target, width.target, shape(value)[3]), element_type(value))
    operands = [
        value,
        const_shape([rows.numerator, rows.denominator, columns.numerator, columns.denominator]),
        const_shape([rows.offset, columns.offset]),
        const_shape([rows.border, columns.border]),
    ]
    return build.operation("tosa.resize", result, operands, {"mode": ir.Attribute.parse(f"#tosa.resize_mode<{mode}>")})


def resampled(value: ir.Value, axes: Sequence[Axis]) -> ir.Value:
    """NC and spatial axes, resampled."""
    ratios = [ratio(axis) for axis in axes]
    if all(ratios):
        return by_resize(value, axes, [found for found in ratios if found is not None])
    for index, axis in enumerate(axes):
        value = by_axis(value, index + 2, axis)
    return value


def by_resize(value: ir.Value, axes: Sequence[Axis], ratios: Sequence[Ratio]) -> ir.Value:
    """The same as one resize of an image, or for three axes as two."""
    batch, channels, *extents = shape(value)
    nearest = axes[0].mode != "linear"
    still, alone = (
        (Axis(1, 1, None, "nearest", False), Ratio(1, 1, 0, 0)) if nearest else (untouched(1), Ratio(1, 1, 0, 0))
    )
    last = build.transpose(value, [0, *range(2, len(axes) + 2), 1])
    if len(axes) == 1:
        image = build.reshape(last, (batch, 1, extents[0], channels))
        image = resized(image, (still, axes[0]), (alone, ratios[0]))
        result = build.reshape(image, (batch, axes[0].target, channels))
    elif len(axes) == 2:
        result = resized(last, (axes[0], axes[1]), (ratios[0], ratios[1]))
    else:
        depth, height, width = axes
        planes = build.reshape(last, (batch * extents[0], *extents[1:], channels))
        planes = resized(planes, (height, width), (ratios[1], ratios[2]))
        count = height.target * width.target
        columns = build.reshape(planes, (batch, extents[0], count, channels))
        across = Axis(count, count, None, depth.mode, False)
        columns = resized(columns, (depth, across), (ratios[0], alone))
        result = build.reshape(columns, (batch, depth.target, height.target, width.target, channels))
    rank = len(axes) + 2
    return build.transpose(result, [0, rank - 1, *range(1, rank - 1)])


def by_axis(value: ir.Value, at: int, axis: Axis) -> ir.Value:
    """One axis resampled by a gather or a product with a matrix of weights."""
    if axis.mode.startswith("nearest"):
        return build.take(value, axis.neighbours(), at)
    matrix = axis.weights()
    if axis.source == axis.target and np.array_equal(matrix, np.eye(axis.source, dtype=np.float32)):
        return value
    rank = len(shape(value))
    order = [*(other for other in range(rank) if other != at), at]
    moved = build.transpose(value, order)
    rows = build.reshape(moved, (1, math.prod(shape(moved)[:-1]), axis.source))
    product = build.matmul(rows, constant(matrix[None], element_type(value)))
    back = build.reshape(product, (*shape(moved)[:-1], axis.target))
    return build.transpose(back, np.argsort(order).tolist())


def interpolation(mode: str, rank: int, aligned_index: int | None, vector: bool) -> Converter:
    """A converter for an overload of upsampling; `vector`: scales come as a list, not one operand an axis."""

    def converter(call: Call) -> ir.Value:
        aligned = call.flag(aligned_index) if aligned_index is not None else False
        first = 2 if aligned_index is None else 3
        scales: list[float | None] = [None] * rank
        if vector and call.has(first):
            scales = [float(number) for number in call.numbers(first)]
        elif not vector:
            scales = [call.real(first + index) if call.has(first + index) else None for index in range(rank)]
        return whole(call, scales, mode, aligned)

    return converter


def whole(call: Call, scales: Sequence[float | None], mode: str, aligned: bool) -> ir.Value:
    """The first operand resampled to the result's extents."""
    value = call.tensor()
    if not is_float(element_type(value)) and mode != "nearest":
        raise call.error(f"of {call.dtype()} is not supported, expected floating point")
    rank = len(scales)
    pairs = zip(call.shape()[-rank:], call.result_shape[-rank:], scales, strict=True)
    axes = [Axis(source, target, scale, mode, aligned) for source, target, scale in pairs]
    if any(ratio(axis) is None for axis in axes) and mode in ("linear", "cubic"):
        value = build.cast(value, float_compute(element_type(value)))
    if not is_float(element_type(value)):
        for index, axis in enumerate(axes):
            value = by_axis(value, index + 2, axis)
        return value
    return resampled(value, axes)


def convert_interpolate(call: Call) -> ir.Value:
    """The call as torch.nn.functional spells it: size, scale, mode, align_corners, recompute_scale, antialias."""
    if call.flag(6):
        raise call.error("with antialias is not supported")
    rank = len(call.shape()) - 2
    words = {"nearest": "nearest", "nearest-exact": "nearest-exact", "bicubic": "cubic"}
    words |= {"linear": "linear", "bilinear": "linear", "trilinear": "linear"}
    mode = call.text(3)
    if mode not in words:
        raise call.error(f"in mode '{mode}', expected one of {', '.join(words)}")
    scales: list[float | None] = [None] * rank
    if call.has(2) and not call.flag(5):
        scales = [float(number) for number in call.numbers(2)]
    return whole(call, scales, words[mode], call.flag(4))


MODES = {
    "upsample_nearest{}d": ("nearest", None),
    "_upsample_nearest_exact{}d": ("nearest-exact", None),
    "upsample_linear{}d": ("linear", 2),
    "upsample_bilinear{}d": ("linear", 2),
    "upsample_trilinear{}d": ("linear", 2),
    "upsample_bicubic{}d": ("cubic", 2),
}


def table() -> dict[str, Converter]:
    """Every overload of every mode and rank."""
    found: dict[str, Converter] = {"torch.aten.__interpolate.size_list_scale_list": convert_interpolate}
    make: Callable[[str, int, int | None, bool], Converter] = interpolation
    for pattern, (mode, aligned) in MODES.items():
        for rank in (1, 2, 3):
            name = f"torch.aten.{pattern.format(rank)}"
            found[name] = make(mode, rank, aligned, False)
            found[f"{name}.vec"] = make(mode, rank, aligned, True)
    return found


@register
@dataclass(frozen=True)
class ConvertTorchResizes(TorchConversion):
    name = "vgf-convert-torch-resizes"
    table = table()
