"""The numbers of quantised arithmetic: PyTorch's quantisation, TOSA's fixed-point scales, lookup tables.

Nothing here knows MLIR. Real numbers are f64, codes are int64 arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

RANGES = {"i4": (-7, 7), "i8": (-128, 127), "i16": (-(2**15), 2**15 - 1), "i32": (-(2**31), 2**31 - 1)}
TABLE_STEP = 128  # a 16-bit table has an entry for every 128th code; between them TOSA interpolates
TABLE_ENTRIES = 513
MIN_SHIFT, MAX_SHIFT = 2, 62


def quantize(values: Array, scale: Array, zero_point: Array, low: int, high: int) -> Array:
    """PyTorch's codes of real numbers: the f32 product with 1 / scale rounded half to even, plus the zero point, limited.

    Source: quantized_decomposed.quantize_per_tensor and quantize_per_channel.
    """
    inverse = (1.0 / np.asarray(scale, np.float64)).astype(np.float32)
    with np.errstate(over="ignore"):
        rounded = np.rint(np.asarray(values, np.float64).astype(np.float32) * inverse)
    limited = np.clip(rounded + np.asarray(zero_point, np.float32), low, high)
    codes: Array = np.nan_to_num(limited, nan=low).astype(np.int64)
    return codes


def multiplier_and_shift(ratio: float, bits: int = 31) -> tuple[int, int] | None:
    """The multiplier of `bits` bits and the shift of a tosa.rescale by a positive ratio; None where none comes near it.

    multiplier / 2^shift is within 2^-(bits - 1) of the ratio, relatively. Source: TOSA 1.0, RESCALE, apply_scale_32 (31
    bits) and apply_scale_16 (15 bits).
    """
    if not math.isfinite(ratio) or ratio <= 0:
        return None
    mantissa, exponent = math.frexp(ratio)  # ratio = mantissa * 2^exponent, mantissa in [1/2, 1)
    multiplier, shift = round(mantissa * 2**bits), bits - exponent
    if multiplier == 2**bits:
        multiplier, shift = multiplier // 2, shift - 1
    if shift > MAX_SHIFT:
        multiplier, shift = round(ratio * 2.0**MAX_SHIFT), MAX_SHIFT
    return (multiplier, shift) if shift >= MIN_SHIFT else None


def rescale(codes: Array, multiplier: int, shift: int) -> Array:
    """TOSA's apply_scale_32 with single rounding: (code * multiplier + 2^(shift - 1)) >> shift."""
    scaled: Array = (np.asarray(codes, np.int64) * multiplier + (1 << (shift - 1))) >> shift
    return scaled


def interpolate(table: Array, codes: Array) -> Array:
    """TOSA's lookup of 16-bit codes in a table of 513 entries: 7 fraction bits more than the entries have."""
    codes = np.asarray(codes, np.int64)
    index, fraction = (codes >> 7) + 256, codes & 0x7F
    base, following = table[index].astype(np.int64), table[index + 1].astype(np.int64)
    read: Array = (base << 7) + (following - base) * fraction
    return read


def table_codes() -> Array:
    """The codes that the 513 entries of a 16-bit table stand for."""
    return (np.arange(TABLE_ENTRIES, dtype=np.int64) - 256) * TABLE_STEP


def entries_of(values: Array, bits: int = 15) -> tuple[Array, float]:
    """Real numbers as table entries of `bits` bits and a sign, and the scale of an entry."""
    largest = float(np.max(np.abs(values)))
    scale = largest / (2**bits - 1) if largest > 0 else 1.0
    return np.rint(values / scale).astype(np.int64), scale


def table_error(
    function: Callable[[Array], Array], values: Array, unit: float, low: float, high: float, relative: bool
) -> float:
    """The largest error of a 16-bit table of `values` for numbers in [low, high] whose codes are number / unit.

    Relative to the function there, or to its largest value there. Codes that do not fit 16 bits saturate, as they do in a
    rescale; entries are taken as they are, unrounded.
    """
    numbers = np.linspace(low, high, 1 << 14)
    if low > 0:
        numbers = np.concatenate([numbers, np.geomspace(low, high, 1 << 12)])
    codes = np.clip(np.rint(numbers / unit), -(2**15), 2**15 - 1).astype(np.int64)
    index, fraction = (codes >> 7) + 256, (codes & 0x7F) / TABLE_STEP
    read = values[index] + (values[index + 1] - values[index]) * fraction
    exact = function(numbers)
    size = np.abs(exact) if relative else np.max(np.abs(exact))
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.abs(read - exact) / size
    return float(error.max()) if np.isfinite(error).all() else math.inf
