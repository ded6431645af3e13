"""Sums and differences of integer forms."""

from __future__ import annotations

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.integer.alignment import aligned
from vgfc.integer.folder import Folder
from vgfc.integer.forms import ROOM, Form, NotInteger, one, replace_scale, rescale, shifted, to_32
from vgfc.integer.numerics import Array
from vgfc.ir import attributes_of, constant, defining, shape

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
    fine = form
    if form.element != "i32":
        reach = (form.real_reach + float(np.abs(known).max())) / ROOM
        scale = (
            form.unit if abs(form.unit) < reach else form.unit * 2.0 ** -min(16, int(np.log2(abs(form.unit) / reach)))
        )
        fine = rescale(form, "i32", one(scale), -1, 0, op)
    fine = shifted(fine)
    codes = np.rint(known / per_axis(fine, np.ndim(known)))
    if not codes.any() and shape(op.result) == shape(form.value):
        return form
    low, high = fine.low + int(codes.min()), fine.high + int(codes.max())
    if max(-low, high) >= 2**31:
        coarse = fine.scale * (max(-low, high) / ROOM)
        return add_constant(rescale(fine, "i32", coarse, fine.axis, 0, op), known, op)
    value = build.add(fine.value, constant(codes.astype(np.int64).reshape(np.shape(known)), build.i32()))
    return Form(value, fine.scale, fine.axis, 0, low, high)


def without_infinities(form: Form, known: Array, op: ir.Operation) -> Array:
    """A mask's infinities as numbers so large that the softmax of the sum is the same."""
    readers = {use.owner.operation.name for use in op.result.uses}
    if np.isnan(known).any() or not readers <= {"tosa.reduce_max", "tosa.sub"}:
        raise NotInteger(op, "adds a number that is infinite")
    large = 2 * form.real_reach + MASKED
    return np.clip(known, -large, large)


def per_axis(form: Form, rank: int) -> Array:
    """The form's scales shaped to broadcast against an array of this rank."""
    if form.is_per_tensor:
        return form.scale.reshape(())
    behind = len(shape(form.value)) - 1 - form.axis
    return form.scale.reshape((-1, *(1,) * behind)) if behind < rank else form.scale.reshape(())


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
