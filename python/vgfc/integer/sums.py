"""Sums and differences of integer forms."""

from __future__ import annotations

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.integer.alignment import aligned
from vgfc.integer.folder import Folder
from vgfc.integer.forms import ROOM, Form, NotInteger, element_of, one, replace_scale, rescale, shifted, to_32
from vgfc.integer.numerics import RANGES, Array
from vgfc.ir import attributes_of, constant, defining, shape, tensor

LARGE = 4096  # elements from which on a constant is stored in 16 bits and widened by an operator
LEAST_FINER_BITS = 8  # by which such a constant has to be finer than the codes that it is added to
NEGLIGIBLE = 2.0**-10  # of a code
SMALL_CODES = 2**8  # from which on rounding a constant to codes loses nothing that counts
MASKED = 32.0  # exp(-32) is nothing beside 1 in any of the types here


def sum_form(folder: Folder, op: ir.Operation) -> Form:
    """Addition and subtraction, exact in 32 bits up to the rounding to a common scale."""
    sign = -1 if op.name == "tosa.sub" else 1
    left, right = (folder.source(operand) for operand in op.operands)
    known = folder.constants.real(right)
    if known is not None:
        return add_constant(folder.form(left), sign * known, op)
    known = folder.constants.real(left)
    if known is not None:
        form = folder.form(right)
        return add_constant(form if sign > 0 else replace_scale(form, -form.scale), known, op)
    return add_forms(folder.form(left), folder.form(right), sign, op)


def add_constant(form: Form, known: Array, op: ir.Operation) -> Form:
    """form + known, the constant rounded to a scale fine enough to lose nothing."""
    if not np.isfinite(known).all():
        known = without_infinities(form, known, op)
    if not known.any() and shape(op.result) == shape(form.value):
        return form
    fine = form = to_32(form, op)
    if form.element != "i32":
        largest = float(np.abs(known).max())
        bits = finer_bits(form, (form.real_reach + largest) / ROOM)
        if is_large(known):
            narrow_bits = finer_bits(form, largest / RANGES["i16"][1])
            bits = narrow_bits if narrow_bits >= LEAST_FINER_BITS else bits
        fine = rescale(form, "i32", one(form.unit * 2.0**-bits), -1, 0, op)
    fine = with_small_number(shifted(fine), known, op)
    codes = np.rint(known / per_axis(fine))
    if not codes.any() and shape(op.result) == shape(form.value):
        return form
    low, high = fine.low + int(codes.min()), fine.high + int(codes.max())
    if max(-low, high) >= 2**31:
        coarse = fine.scale * (max(-low, high) / ROOM)
        return add_constant(rescale(fine, "i32", coarse, fine.axis, 0, op), known, op)
    value = build.add(fine.value, wide_constant(codes.astype(np.int64)))
    return Form(value, fine.scale, fine.axis, 0, low, high)


def with_small_number(form: Form, known: Array, op: ir.Operation) -> Form:
    """32-bit codes made finer where one number of few codes is added that counts: the epsilon beside a small variance.

    Below NEGLIGIBLE of a code it changes no number that is not 0 by more than that.
    """
    sizes = np.abs(known.flat[0] / form.scale)
    least = float(sizes.min())
    if (
        (known != known.flat[0]).any()
        or least <= NEGLIGIBLE
        or least >= SMALL_CODES
        or np.array_equal(sizes, np.rint(sizes))
    ):
        return form
    wanted = int(np.ceil(np.log2(SMALL_CODES / least)))
    room = int(np.log2(ROOM // 4 / max(form.reach, float(sizes.max()), 1.0)))  # TOSA's rescale takes no larger codes
    bits = min(wanted, room)
    return rescale(form, "i32", form.scale * 2.0**-bits, form.axis, 0, op) if bits > 0 else form


def is_large(values: Array) -> bool:
    """Whether a constant takes so many bytes that an operator more is worth half of them; equal values are stored once."""
    return values.size >= LARGE and not (values == values.flat[0]).all()


def finer_bits(form: Form, least_unit: float) -> int:
    """By how many bits codes of 32 bits are finer than the form's, as long as their unit is not below `least_unit`."""
    return max(0, min(16, int(np.log2(abs(form.unit) / least_unit)))) if least_unit < abs(form.unit) else 0


def wide_constant(codes: Array) -> ir.Value:
    """Codes as i32; many that fit 16 bits are stored so, which costs an operator and saves half of the bytes."""
    low, high = RANGES["i16"]
    if not is_large(codes) or codes.min() < low or codes.max() > high:
        return constant(codes, build.i32())
    stored = constant(codes, element_of("i16"))
    return build.operation("tosa.cast", tensor(codes.shape, build.i32()), [stored])


def without_infinities(form: Form, known: Array, op: ir.Operation) -> Array:
    """A mask's infinities as numbers so large that the softmax of the sum is the same."""
    readers = {use.owner.operation.name for use in op.result.uses}
    if np.isnan(known).any() or not readers <= {"tosa.reduce_max", "tosa.sub"}:
        raise NotInteger(op, "adds a number that is infinite")
    large = 2 * form.real_reach + MASKED
    return np.clip(known, -large, large)


def per_axis(form: Form) -> Array:
    """The form's scales shaped to broadcast against its values."""
    if form.is_per_tensor:
        return form.scale.reshape(())
    return form.scale.reshape((-1, *(1,) * (len(shape(form.value)) - 1 - form.axis)))


def add_forms(left: Form, right: Form, sign: int, op: ir.Operation) -> Form:
    """left + sign * right at a common scale."""
    left, right = to_32(left, op), to_32(right, op)
    left, right = aligned(left, right, op)
    if np.array_equal(left.scale, -right.scale):
        right, sign = replace_scale(right, left.scale), -sign
    low = left.low + (right.low if sign > 0 else -right.high)
    high = left.high + (right.high if sign > 0 else -right.low)
    if sign < 0 and is_largest_of(right.value, left.value):
        low, high = left.low - left.high, 0
    scale, axis = left.scale, left.axis
    if sign < 0 and high <= 0:
        # Codes that are never negative can be read as indices; the scale takes the sign.
        value, scale, low, high = build.sub(right.value, left.value), -scale, -high, -low
    else:
        value = build.add(left.value, right.value) if sign > 0 else build.sub(left.value, right.value)
    return Form(value, scale, axis, 0, low, high)


def is_largest_of(value: ir.Value, operand: ir.Value) -> bool:
    """Whether `value` is the maximum of `operand` along an axis."""
    op = defining(value)
    return op is not None and op.name == "tosa.reduce_max" and computes_same(op.operands[0], operand)


def computes_same(first: ir.Value, second: ir.Value) -> bool:
    """Whether two values are one, or made by equal operators on the same operands and equal constants."""
    if first == second:
        return True
    left, right = defining(first), defining(second)
    if left is None or right is None or left.name not in ("tosa.rescale", "tosa.cast", "tosa.const"):
        return False
    if left.name != right.name or attributes_of(left) != attributes_of(right) or left.result.type != right.result.type:
        return False
    return all(computes_same(one, other) for one, other in zip(left.operands, right.operands, strict=True))
