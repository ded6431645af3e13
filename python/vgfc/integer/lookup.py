"""Functions of one integer form by lookup: 16-bit tables with interpolation where the target has them, else gathers.

A 16-bit table (tosa.table, extension int16) has 513 entries, between which TOSA interpolates linearly, and gives 7 more
bits than an entry has. Without the extension a gather reads an entry of 32 bits for each of many codes.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import tosa

from vgfc import build
from vgfc.integer.forms import Form, NotInteger, element_of, emit_rescale, one, rescale, widened
from vgfc.integer.numerics import (
    TABLE_STEP,
    Array,
    entries_of,
    interpolate,
    table_codes,
    table_error,
)
from vgfc.ir import constant, shape, tensor

Function = Callable[[Array], Array]

TOLERANCE = 2.0**-10  # of the largest result, or of each result where it is a factor
MOST_ENTRIES = 2**13  # of a gather's table for a part of a function's range
ENTRIES_STEP = 2**9  # tables of equal functions end at the same multiple of it, so that they are one constant
MANTISSA_BITS = 12
POWER_BITS = 16  # of the entries of a power's table: the same for all scales, so that they are one constant
LEAST_BITS = 11
POWERS = {"tosa.reciprocal": -1.0, "tosa.rsqrt": -0.5}  # their exponents


def lookup(form: Form, function: Function, relative: bool, has_int16: bool, op: ir.Operation) -> Form:
    """`function` of a per-tensor form as a form in 32 bits; raises NotInteger where a table cannot follow the function.

    `relative`: whether the result is used as a factor, so that the error counts relatively to each result.
    """
    if not form.is_per_tensor:
        raise NotInteger(op, "is a function of a tensor with a scale for each channel, expected one scale")
    if form.element == "i16":
        return wide_codes(form, function, op)
    if form.high - form.low < 256 or (has_int16 and form.high - form.low < 512):
        return exact(form, function, has_int16, op)
    return interpolated(form, function, relative, has_int16, op)


def reals(form: Form, codes: Array) -> Array:
    """The real numbers of codes, kept inside what the form can hold."""
    return form.unit * (np.clip(codes, form.low, form.high) - form.zero_point).astype(np.float64)


def read_table(codes: ir.Value, values: Array, op: ir.Operation, bits: int = 15) -> Form:
    """tosa.table of i16 codes whose 513 entries are these real numbers."""
    entries, scale = entries_of(finite(values, op), bits)
    made = tosa.TableOp(tensor(shape(codes), build.i32()), codes, constant(entries, element_of("i16"))).output
    low, high = int(entries.min()) * TABLE_STEP, int(entries.max()) * TABLE_STEP
    return Form(made, one(scale / TABLE_STEP), -1, 0, low, high)


def finite(values: Array, op: ir.Operation) -> Array:
    """Values with the largest finite one in place of infinities, and 0 in place of what is no number.

    These are results for codes that calibration never saw (1/0, the square root of a negative code), for which no code of
    PyTorch's is defined either.
    """
    known = values[np.isfinite(values)]
    if known.size == 0:
        raise NotInteger(op, "has no value for any code of its operand")
    limit = float(np.abs(known).max())
    kept: Array = np.clip(np.nan_to_num(values, nan=0.0), -limit, limit)
    return kept


def read_gather(indices: ir.Value, values: Array, bits: int, op: ir.Operation) -> Form:
    """A gather of one of these real numbers for each i32 index."""
    entries, scale = entries_of(finite(values, op), bits)
    made = read_entries(indices, entries)
    return Form(made, one(scale), -1, 0, int(entries.min()), int(entries.max()))


def read_entries(indices: ir.Value, entries: Array) -> ir.Value:
    """A gather of one of these i32 entries for each i32 index."""
    table = constant(entries.reshape(1, -1, 1), build.i32())
    dimensions = shape(indices)
    rows = build.reshape(indices, (1, math.prod(dimensions)))
    return build.reshape(build.gather(table, rows), dimensions)


def exact(form: Form, function: Function, has_int16: bool, op: ir.Operation) -> Form:
    """A lookup with an entry for every code."""
    if has_int16:
        base = 0 if form.low >= -256 and form.high <= 255 else form.low + 256
        value = form.value
        if base:
            value = build.sub(value, build.scalar_like(base, value))
        codes = emit_rescale(value, "i16", [(2**30, 23)], 0, 0)
        return read_table(codes, function(reals(form, np.arange(-256, 257) + base)), op)
    if form.element == "i8":
        indices = emit_rescale(form.value, "i32", [(2**30, 30)], -128, 0)
        return read_gather(indices, function(reals(form, np.arange(-128, 128))), 22, op)
    value = form.value
    if form.low:
        value = build.sub(value, build.scalar_like(form.low, value))
    return read_gather(value, function(reals(form, np.arange(form.low, form.high + 1))), 22, op)


def wide_codes(form: Form, function: Function, op: ir.Operation) -> Form:
    """A table read with the i16 codes as they are."""
    return read_table(form.value, function(reals(form, table_codes())), op)


def trimmed(function: Function, low: float, high: float, least_cut: float) -> tuple[float, float]:
    """The part of [low, high] outside of which the function stays what it is at the ends, to 2^-17 of its largest value.

    Ends when less than `least_cut` of what is left can be cut off.
    """
    while True:
        points = np.linspace(low, high, 4097)
        values = function(points)
        limit = float(np.max(np.abs(values))) * 2.0**-17
        first = int(np.argmax(np.abs(values - values[0]) > limit))
        last = len(values) - 1 - int(np.argmax(np.abs(values[::-1] - values[-1]) > limit))
        if first == 0 and last == len(values) - 1:
            return low, high
        if last <= first:
            return low, high
        new_low, new_high = points[max(first - 1, 0)], points[min(last + 1, len(points) - 1)]
        if new_high - new_low > (1 - least_cut) * (high - low):
            return low, high
        low, high = float(new_low), float(new_high)


def inside(function: Function, points: Array, low: float, high: float) -> Array:
    """The function at the points; where it has no finite value outside [low, high], that at the nearer end."""
    with np.errstate(all="ignore"):
        values = function(points)
        return np.where(np.isfinite(values), values, function(np.clip(points, low, high)))


def interpolated(form: Form, function: Function, relative: bool, has_int16: bool, op: ir.Operation) -> Form:
    """A lookup of fewer codes than the form has; what lies outside the part where the function changes saturates."""
    low, high = form.real_range()
    with np.errstate(all="ignore"):
        values = function(np.array([low, high]))
        if not np.isfinite(values).all():
            raise NotInteger(op, f"has no finite value at the ends of its operand's range, {low:g} to {high:g}")
        # A gather's points are to be the same wherever the range that is given begins; a table's need no more than to be near.
        cut = 0.1 if has_int16 else 0.001
        start, end = (low, high) if relative else trimmed(function, low, high, cut)
    if not has_int16:
        return gathered(form, function, start, end, relative, op)
    unit = math.copysign(max(abs(start), abs(end)) / (2**15 - 1), form.unit)
    # One entry on either side may lie outside the range, so that the lines through the last ones inside are right.
    step = TABLE_STEP * abs(unit)
    values = inside(function, np.clip(table_codes() * unit, low - step, high + step), low, high)
    with np.errstate(all="ignore"):
        error = table_error(function, values, unit, low, high, relative)
    if error > TOLERANCE:
        raise NotInteger(
            op, f"changes too much over {start:g} to {end:g} for a table of 513 entries (error {error:.2g})"
        )
    codes = rescale(widened(form, op), "i16", one(unit), -1, 0, op)
    return read_table(codes.value, values, op)


def gathered(form: Form, function: Function, start: float, end: float, relative: bool, op: ir.Operation) -> Form:
    """The same without 16-bit tables: the nearest of points that lie a power of two apart, as far as TOLERANCE allows.

    Such points are the same whatever the scale of the form is. They begin at a code of 0 where that is near enough.
    """
    wide = widened(form, op)
    first_code, last_code = (round(edge / wide.unit) for edge in (start, end))
    if wide.unit < 0:
        first_code, last_code = last_code, first_code
    base = first_code if first_code < 0 or first_code > last_code // 4 else 0
    unit = abs(wide.unit)

    def values_of(step: float, count: int) -> Array:
        codes = np.maximum(np.arange(count) * (step / unit) + base, first_code)
        return inside(function, codes * wide.unit, *sorted((start, end)))

    reach = (last_code - base) * unit
    step = 2.0 ** math.ceil(math.log2(reach / (MOST_ENTRIES - 1)))
    if not is_followed(values_of(step, int(reach / step) + 2), relative, 2 * TOLERANCE):
        raise NotInteger(op, f"changes too much over {start:g} to {end:g} for a gather of {MOST_ENTRIES} entries")
    while is_followed(values_of(2 * step, int(reach / step / 2) + 2), relative, TOLERANCE):
        step *= 2
    count = -(-(int(reach / step) + 2) // ENTRIES_STEP) * ENTRIES_STEP
    value = build.sub(wide.value, build.scalar_like(base, wide.value)) if base else wide.value
    low, high = wide.low - base, wide.high - base
    if low < 0:
        value, low = build.binary("tosa.maximum", value, build.scalar_like(0, value)), 0
    span = int((count - 1) * step / unit)
    if high > span:
        value, high = build.binary("tosa.minimum", value, build.scalar_like(span, value)), span
    moved = Form(value, one(unit), -1, 0, low, high)
    indices = rescale(moved, "i32", one(step), -1, 0, op)
    return read_gather(indices.value, values_of(step, count), 22, op)


def is_followed(values: Array, relative: bool, tolerance: float) -> bool:
    """Whether the nearest of these values is within the tolerance of all that lie between them."""
    steps = np.abs(np.diff(values)) / 2
    size = np.minimum(np.abs(values[1:]), np.abs(values[:-1])) if relative else np.max(np.abs(values))
    return bool((steps <= tolerance * size).all())


def power(form: Form, exponent: float, has_int16: bool, op: ir.Operation) -> Form:
    """x^-1 or x^-1/2 of a positive form over its whole range: leading zeros are shifted out before a lookup.

    x = u * 2^-s with u in [2^31, 2^32) (reciprocal) or [2^30, 2^32) (square root, s even), so that x^e = u^e * 2^(-e s).
    The shifted codes are read as unsigned: as signed ones their upper half is negative.
    """
    wide = widened(form, op)
    if wide.low == 0:  # 0 is taken for the smallest code: what multiplies its power is 0 as well in a norm
        value = build.binary("tosa.maximum", wide.value, build.scalar_like(1, wide.value))
        wide = Form(value, wide.scale, wide.axis, 0, 1, max(wide.high, 1))
    if not wide.is_per_tensor or wide.unit <= 0 or wide.low < 1:
        raise NotInteger(op, f"needs an operand known to be positive, found codes from {wide.low}")
    halves = exponent == -0.5
    zeros = build.unary("tosa.clz", wide.value)
    most = 32 - wide.low.bit_length()
    if halves:
        amount, most = build.binary("tosa.arithmetic_right_shift", zeros, build.scalar_like(1, zeros)), most // 2
        mantissa = build.binary("tosa.logical_left_shift", wide.value, amount)
        mantissa = build.binary("tosa.logical_left_shift", mantissa, amount)
    else:
        amount = zeros
        mantissa = build.binary("tosa.logical_left_shift", wide.value, amount)
    room = 30 - most
    if room < LEAST_BITS:
        raise NotInteger(op, f"has an operand that may be {2.0**most:g} times smaller than another, expected less")
    if has_int16:
        codes = emit_rescale(mantissa, "i16", [(2**30, 46)], 0, 0)
        signed = table_codes() * 2.0**16
        unsigned = np.where((signed < 0) | (np.arange(len(signed)) == 256), signed + 2.0**32, signed)
        least = 2.0**30 if halves else 2.0**31
        values = np.maximum(unsigned, least) ** exponent
        if not halves:
            values[257:] = values[256]
        bits = min(15, room - 7)
        if bits >= LEAST_BITS:
            read = read_table(codes, values, op, bits)
        else:
            read = read_table(codes, values, op)
            read = rescale(read, "i32", read.scale * read.high / (2**room - 1), -1, 0, op)
    else:
        indices = build.binary("tosa.logical_right_shift", mantissa, build.scalar_like(32 - MANTISSA_BITS, mantissa))
        middles = (np.arange(2**MANTISSA_BITS) + 0.5) * 2.0 ** (32 - MANTISSA_BITS)
        values = np.maximum(middles, 2.0**30 if halves else 2.0**31) ** exponent
        read = read_gather(indices, values, min(room, POWER_BITS), op)
    value = build.binary("tosa.logical_left_shift", read.value, amount)
    largest = min(int(wide.low**exponent / read.unit * 1.01) + 2, read.high << most)
    least = max(0, int(wide.high**exponent / read.unit * 0.99) - 2)
    return Form(value, one(read.unit * wide.unit**exponent), -1, 0, least, largest)


__all__ = ["Function", "interpolate", "lookup", "power"]
