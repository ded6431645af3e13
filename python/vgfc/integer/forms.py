"""Integer forms: a floating-point value as an integer tensor with a scale, and moving such a form to another scale.

real = scale * (code - zero point), with one scale or one for each index of an axis. A form knows the bounds of its codes,
proved from the bounds of its operands, so that no arithmetic on it can overflow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import tosa

from vgfc import build
from vgfc.integer.numerics import RANGES, Array, multiplier_and_shift
from vgfc.integer.numerics import rescale as scaled_codes
from vgfc.ir import constant, defining, element_type, shape, tensor

ROOM = 2**30  # the size that 32-bit codes are kept under, so that a sum of two still fits


class NotInteger(Exception):  # noqa: N818 - says what a value is
    """An operator has no integer form here; the message completes "<operator> ..."."""

    def __init__(self, op: ir.Operation, reason: str) -> None:
        super().__init__(reason)
        self.op = op
        self.reason = reason


@dataclass(frozen=True)
class Form:
    """An integer tensor that stands for real numbers; `scale` is f64 of one element (axis -1) or of the axis's extent."""

    value: ir.Value
    scale: Array
    axis: int
    zero_point: int
    low: int
    high: int

    @property
    def element(self) -> str:
        """The element type of the codes: i8, i16, i32 or i48."""
        return str(element_type(self.value))

    @property
    def is_per_tensor(self) -> bool:
        """Whether all elements have one scale."""
        return self.axis < 0

    @property
    def unit(self) -> float:
        """The one scale of a per-tensor form."""
        assert self.is_per_tensor, "asked only of per-tensor forms"
        return float(self.scale[0])

    @property
    def reach(self) -> int:
        """The largest distance of a code from the zero point."""
        return max(abs(self.low - self.zero_point), abs(self.high - self.zero_point))

    @property
    def real_reach(self) -> float:
        """A bound of the real numbers' size."""
        return self.reach * float(np.max(np.abs(self.scale)))

    def real_range(self) -> tuple[float, float]:
        """Bounds of the real numbers of a per-tensor form."""
        ends = [self.unit * (self.low - self.zero_point), self.unit * (self.high - self.zero_point)]
        return min(ends), max(ends)


def one(scale: float) -> Array:
    """A scale for the whole tensor."""
    return np.array([scale], np.float64)


def element_of(name: str) -> ir.Type:
    """The element type of this name."""
    return ir.IntegerType.get_signless(int(name[1:]))


def same_scale(first: Form, second: Form) -> bool:
    """Whether two forms have the same scales along the same axis."""
    return first.axis == second.axis and np.array_equal(first.scale, second.scale)


def emit_rescale(
    value: ir.Value, element: str, factors: list[tuple[int, int]], zero_point: int, output_zero_point: int
) -> ir.Value:
    """A new tosa.rescale: (multiplier, shift) for the whole tensor or for each index of the last axis."""
    source = str(element_type(value))
    wide = source != "i48"
    multipliers = np.array([factor for factor, _ in factors])
    shifts = np.array([shift for _, shift in factors])
    return tosa.RescaleOp(
        tensor(shape(value), element_of(element)),
        value,
        constant(multipliers, element_of("i32" if wide else "i16")),
        constant(shifts, element_of("i8")),
        constant(np.array([zero_point]), element_of(source)),
        constant(np.array([output_zero_point]), element_of(element)),
        wide,
        ir.Attribute.parse("#tosa.rounding_mode<SINGLE_ROUND>"),
        len(factors) > 1,
        False,
        False,
    ).output


def rescale(form: Form, element: str, scale: Array, axis: int, zero_point: int, op: ir.Operation) -> Form:
    """The form with other codes: of this element type, scale and zero point; narrower codes saturate.

    Raises NotInteger for `op` where TOSA's rescale cannot do it: scales along two axes, or codes that do not fit.
    """
    axis_of_result = axis if axis >= 0 else form.axis
    if form.axis >= 0 and axis >= 0 and form.axis != axis:
        raise NotInteger(op, f"has scales along axes {form.axis} and {axis}, expected one axis")
    ratios = form.scale / scale
    if (ratios < 0).all():
        return rescale(negated(form, op), element, scale, axis, zero_point, op)
    if np.all(ratios == ratios[0]):
        ratios = ratios[:1]
    elif axis_of_result != len(shape(form.value)) - 1:
        return rescale_moved(form, element, scale, axis, zero_point, op)
    result_axis, result_scale = (axis, scale) if axis >= 0 or len(scale) == 1 else (-1, scale)
    if (
        form.element == element
        and len(ratios) == 1
        and ratios[0] == 1.0
        and (form.zero_point == zero_point or element == "i32")
        and form.axis == result_axis
    ):
        return form if element != "i32" or form.zero_point == zero_point else shifted(form)
    factors = [multiplier_and_shift(float(ratio), 31 if form.element != "i48" else 15) for ratio in ratios]
    known = [factor for factor in factors if factor is not None]
    if len(known) != len(factors):
        raise NotInteger(op, f"needs a rescale by {float(np.max(ratios)):g}, more than TOSA's rescale can do")
    input_zero_point, output_zero_point = form.zero_point, zero_point
    if form.zero_point and form.element != "i8":
        moved = zero_point - float(ratios[0]) * form.zero_point
        low, high = RANGES["i8"]
        if element == "i8" and len(ratios) == 1 and abs(moved - round(moved)) < 1e-6 and low <= round(moved) <= high:
            input_zero_point, output_zero_point = 0, round(moved)
        else:
            return rescale(shifted(form), element, scale, axis, zero_point, op)
    ends = np.array([form.low - input_zero_point, form.high - input_zero_point])
    limit = min(2 ** (shift - 1) for _, shift in known)
    if form.element != "i48" and (ends.min() < -limit or ends.max() >= limit):
        if element != "i32":  # what is cut off saturates: limit * ratio is at least 2^29
            return rescale(
                cut(form, input_zero_point - limit, input_zero_point + limit - 1), element, scale, axis, zero_point, op
            )
        raise NotInteger(
            op,
            f"needs a rescale of codes up to {int(np.abs(ends).max())} by {float(ratios.max()):g}, which TOSA forbids",
        )
    if form.element == "i48":
        reached = [math.floor(int(end) * factor / 2**shift + 0.5) for end in ends for factor, shift in known]
        low_code, high_code = min(reached), max(reached)
    else:
        codes = [scaled_codes(ends, factor, shift) for factor, shift in known]
        low_code, high_code = int(min(item.min() for item in codes)), int(max(item.max() for item in codes))
    low_limit, high_limit = RANGES[element]
    if low_code < RANGES["i32"][0] or high_code > RANGES["i32"][1]:
        raise NotInteger(op, f"needs codes up to {max(-low_code, high_code)}, expected ones of 32 bits")
    value = emit_rescale(form.value, element, known, input_zero_point, output_zero_point)
    low_code, high_code = low_code + output_zero_point, high_code + output_zero_point
    return Form(
        value,
        result_scale,
        result_axis,
        zero_point,
        min(max(low_code, low_limit), high_limit),
        max(min(high_code, high_limit), low_limit),
    )


def rescale_moved(form: Form, element: str, scale: Array, axis: int, zero_point: int, op: ir.Operation) -> Form:
    """The rescale of a form whose scales lie along another axis than the last, where TOSA's rescale wants them."""
    last = len(shape(form.value)) - 1
    place = max(axis, form.axis)
    order = [*(index for index in range(last + 1) if index != place), place]
    back = [order.index(index) for index in range(last + 1)]
    moved = replace(form, value=build.transpose(form.value, order), axis=last if form.axis >= 0 else -1)
    made = rescale(moved, element, scale, last if axis >= 0 else -1, zero_point, op)
    return replace(made, value=build.transpose(made.value, back), axis=place if made.axis >= 0 else -1)


def cut(form: Form, low: int, high: int) -> Form:
    """A 32-bit form with its codes limited."""
    value = form.value
    if form.low < low:
        value = build.binary("tosa.maximum", value, build.scalar_like(low, value))
    if form.high > high:
        value = build.binary("tosa.minimum", value, build.scalar_like(high, value))
    return replace(form, value=value, low=max(form.low, low), high=min(form.high, high))


def shifted(form: Form) -> Form:
    """A wide form with its zero point taken off by a subtraction."""
    if form.zero_point == 0:
        return form
    value = build.sub(form.value, build.scalar_like(form.zero_point, form.value))
    return replace(form, value=value, zero_point=0, low=form.low - form.zero_point, high=form.high - form.zero_point)


def widened(form: Form, op: ir.Operation) -> Form:
    """The form in 32 bits without zero point; exact for codes of 8, 16 and 32 bits."""
    if form.element == "i32":
        return shifted(form)
    if form.element == "i48":
        scale = form.scale * max(1.0, form.reach / ROOM)
        return rescale(form, "i32", scale, form.axis, 0, op)
    owner = defining(form.value)
    if owner is not None and owner.name == "tosa.reduce_max":
        # The maximum of widened codes is the widened maximum, and the reader widens the operand as well: nothing new is left
        # of this once equal operators are merged.
        inner = replace(form, value=owner.operands[0])
        wide = widened(inner, op)
        axis = ir.IntegerAttr(owner.attributes["axis"]).value
        return replace(wide, value=build.reduce("tosa.reduce_max", wide.value, axis))
    low, high = form.low - form.zero_point, form.high - form.zero_point
    if form.zero_point == 0:
        value = build.operation("tosa.cast", tensor(shape(form.value), build.i32()), [form.value])
    else:
        value = emit_rescale(form.value, "i32", [(2**30, 30)], form.zero_point, 0)
    return Form(value, form.scale, form.axis, 0, low, high)


def per_tensor(form: Form, op: ir.Operation) -> Form:
    """A form with one scale; one with a scale for each channel is rescaled to 32 bits that leave room for a sum of two."""
    if form.is_per_tensor:
        return form
    return rescale(form, "i32", one(form.real_reach / (ROOM // 2)), -1, 0, op)


def negated(form: Form, op: ir.Operation) -> Form:
    """The form with its codes and its scale negated: the same real numbers."""
    wide = widened(form, op)
    value = build.negate(wide.value)
    return Form(value, -wide.scale, wide.axis, 0, -wide.high, -wide.low)


def positive(form: Form, op: ir.Operation) -> Form:
    """The form with positive scales."""
    return negated(form, op) if (form.scale < 0).any() else form


def replace_scale(form: Form, scale: Array) -> Form:
    """The same codes with another scale."""
    return Form(form.value, scale, form.axis, form.zero_point, form.low, form.high)


def to_32(form: Form, op: ir.Operation) -> Form:
    """A form whose codes are at most 32 bits wide."""
    return widened(form, op) if form.element == "i48" else form
