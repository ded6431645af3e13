"""Functions of one integer form by lookup: 16-bit tables with interpolation where the target has them, else gathers.

A 16-bit table (tosa.table, extension int16) has 513 entries, between which TOSA interpolates linearly, and gives 7 more
bits than an entry has. Without the extension, and for 16-bit codes that such a table cannot follow (1/x near 0, a step), a
gather reads an entry for each of many codes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import tosa

from vgfc import build
from vgfc.integer.forms import Form, NotInteger, element_of, emit_rescale, one, per_tensor, rescale, widened
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

WIDE_TOLERANCE = 2.0**-12  # of a table of 16-bit codes: 8 codes of the result
TOLERANCES = (2.0**-10,)  # of a lookup of wide codes, in the order in which they are tried
TOLERANCES_FINE = (
    2.0**-14,
    2.0**-12,
    2.0**-10,
)  # with 16-bit activations; an operator's own arithmetic follows the first
FACTOR_BITS = 30  # of a gather's entries that are factors: the smallest ones need some as well
MOST_ENTRIES = 2**13  # of a gather's table for a part of a function's range
ENTRIES_STEP = 2**9  # tables of equal functions end at the same multiple of it, so that they are one constant
MANTISSA_BITS = 12
POWER_BITS = 16  # of the entries of a power's table: the same for all scales, so that they are one constant
LEAST_BITS = 11
POWERS = {"tosa.reciprocal": -1.0, "tosa.rsqrt": -0.5}  # their exponents


@dataclass(frozen=True)
class Accuracy:
    """How near a lookup has to come: `tolerance` of the largest result, or of each result where it is a factor (`relative`)."""

    tolerance: float
    relative: bool

    def holds(self, error: Array, exact: Array) -> bool:
        """Whether errors are small enough; results that are not finite count for nothing."""
        known = np.isfinite(exact)
        if not known.any():
            return False
        size = np.abs(exact[known])
        return bool((error[known] <= self.tolerance * (size if self.relative else size.max())).all())


def lookup(form: Form, function: Function, accuracy: Accuracy, has_int16: bool, op: ir.Operation) -> Form:
    """`function` of a form as a form in 32 bits; raises NotInteger where no lookup is as near as is asked."""
    form = per_tensor(form, op)
    if form.element == "i16":
        return wide_codes(form, function, accuracy, op)
    if form.high - form.low < 256 or (has_int16 and form.high - form.low < 512):
        return exact(form, function, has_int16, op)
    return interpolated(form, function, accuracy, has_int16, op)


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


def read_entries(indices: ir.Value, entries: Array, element: ir.Type | None = None) -> ir.Value:
    """A gather of one of these entries (i32 unless told otherwise) for each i32 index."""
    table = constant(entries.reshape(1, -1, 1), element or build.i32())
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


def wide_codes(form: Form, function: Function, accuracy: Accuracy, op: ir.Operation) -> Form:
    """A table read with the i16 codes as they are, or a gather of an entry for every code where a table cannot follow."""
    if table_follows(form, function, accuracy.relative, op):
        return read_table(form.value, function(reals(form, table_codes())), op)
    bits = FACTOR_BITS if accuracy.relative else 22
    return read_gather(wide_indices(form), function(reals(form, np.arange(form.low, form.high + 1))), bits, op)


def table_follows(form: Form, function: Function, relative: bool, op: ir.Operation) -> bool:
    """Whether a table of 513 entries gives the function at each i16 code to WIDE_TOLERANCE."""
    codes = np.arange(form.low, form.high + 1)
    with np.errstate(all="ignore"):
        exact = function(reals(form, codes))
        entries, scale = entries_of(finite(function(reals(form, table_codes())), op))
    error = np.abs(interpolate(entries, codes) * (scale / TABLE_STEP) - exact)
    return Accuracy(WIDE_TOLERANCE, relative).holds(error, exact)


def wide_indices(form: Form) -> ir.Value:
    """i32 indices from 0 of an i16 form's codes."""
    value = build.operation("tosa.cast", tensor(shape(form.value), build.i32()), [form.value])
    return build.sub(value, build.scalar_like(form.low, value)) if form.low else value


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


def interpolated(form: Form, function: Function, accuracy: Accuracy, has_int16: bool, op: ir.Operation) -> Form:
    """A lookup of fewer codes than the form has; what lies outside the part where the function changes saturates."""
    low, high = form.real_range()
    with np.errstate(all="ignore"):
        values = function(np.array([low, high]))
        if not np.isfinite(values).all():
            raise NotInteger(op, f"has no finite value at the ends of its operand's range, {low:g} to {high:g}")
        # A gather's points are to be the same wherever the range that is given begins; a table's need no more than to be near.
        cut = 0.1 if has_int16 else 0.001
        start, end = (low, high) if accuracy.relative else trimmed(function, low, high, cut)
    if not has_int16:
        return gathered(form, function, start, end, accuracy, op)
    wide = widened(form, op)
    for centre in (0, round((start + end) / 2 / wide.unit)):
        found = tabled(wide, function, accuracy, (start, end), centre, op)
        if found is not None:
            return found
    return gathered(form, function, start, end, accuracy, op)


def tabled(
    wide: Form, function: Function, accuracy: Accuracy, ends: tuple[float, float], centre: int, op: ir.Operation
) -> Form | None:
    """A 16-bit table whose middle is the code `centre` of a 32-bit form; None where it is not near enough."""
    middle = centre * wide.unit
    low, high = (edge - middle for edge in wide.real_range())
    unit = math.copysign(max(abs(edge - middle) for edge in ends) / (2**15 - 1), wide.unit)
    if unit == 0:
        return None

    def moved(numbers: Array) -> Array:
        return function(numbers + middle)

    # One entry on either side may lie outside the range, so that the lines through the last ones inside are right.
    step = TABLE_STEP * abs(unit)
    values = inside(moved, np.clip(table_codes() * unit, low - step, high + step), low, high)
    with np.errstate(all="ignore"):
        error = table_error(moved, values, unit, low, high, accuracy.relative)
    if error > accuracy.tolerance or not wide.low <= centre <= wide.high:
        return None
    if centre:
        value = build.sub(wide.value, build.scalar_like(centre, wide.value))
        wide = Form(value, wide.scale, wide.axis, 0, wide.low - centre, wide.high - centre)
    return read_table(rescale(wide, "i16", one(unit), -1, 0, op).value, values, op)


def gathered(form: Form, function: Function, start: float, end: float, accuracy: Accuracy, op: ir.Operation) -> Form:
    """The same without 16-bit tables: the nearest of points that lie a power of two apart, as far as the accuracy allows.

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

    reach = max(last_code - base, 1) * unit
    step = 2.0 ** math.ceil(math.log2(reach / (MOST_ENTRIES - 1)))
    if not is_followed(values_of(step, int(reach / step) + 2), accuracy, 2):
        raise NotInteger(op, f"changes too much over {start:g} to {end:g} for a gather of {MOST_ENTRIES} entries")
    while step < reach and is_followed(values_of(2 * step, int(reach / step / 2) + 2), accuracy, 1):
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


def is_followed(values: Array, accuracy: Accuracy, slack: float) -> bool:
    """Whether the nearest of these values is near enough to all that lie between them, or `slack` times as far."""
    steps = np.abs(np.diff(values)) / 2
    size = np.minimum(np.abs(values[1:]), np.abs(values[:-1])) if accuracy.relative else np.max(np.abs(values))
    return bool((steps <= slack * accuracy.tolerance * size).all())


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


__all__ = ["Accuracy", "Function", "interpolate", "lookup", "power"]
