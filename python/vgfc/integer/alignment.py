"""Two integer forms at one scale, so that codes can be added, compared and chosen between."""

from __future__ import annotations

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.integer.forms import ROOM, Form, NotInteger, one, rescale, widened
from vgfc.integer.numerics import Array
from vgfc.ir import constant, shape

FINE_BITS = 14  # how much finer than a tensor's reach a common scale has to be


def aligned(left: Form, right: Form, op: ir.Operation) -> tuple[Form, Form]:
    """Two forms in 32 bits with one scale (up to its sign), whose sum fits."""
    same = left.axis == right.axis and np.array_equal(np.abs(left.scale), np.abs(right.scale))
    if same and left.reach + right.reach < 2**31:
        return widened(left, op), widened(right, op)
    for base, other, is_left in ((left, right, True), (right, left, False)):
        moved = onto(base, other, op)
        if moved is not None:
            return (moved[0], moved[1]) if is_left else (moved[1], moved[0])
    total = left.real_reach + right.real_reach
    largest = max(float(np.max(np.abs(form.scale))) for form in (left, right))
    bits = min(20, int(np.floor(np.log2(largest / (total / (ROOM // 4))))))
    scale = one(largest * 2.0**-bits)
    signs = [np.sign(form.scale[:1]) for form in (left, right)]
    return rescale(left, "i32", scale * signs[0], -1, 0, op), rescale(right, "i32", scale * signs[1], -1, 0, op)


def onto(base: Form, other: Form, op: ir.Operation) -> tuple[Form, Form] | None:
    """`other` at the scale of `base`, which stays as it is; None where that loses precision or does not fit.

    It loses nothing where the other's scale is a multiple, and nothing that counts where the base's is much finer.
    """
    if not np.all(other.scale > 0) or not np.all(base.scale > 0):
        return None
    if other.axis >= 0 and base.axis not in (-1, other.axis):
        return None
    ratios = other.scale / base.scale
    is_multiple = bool(np.all(np.abs(ratios - np.rint(ratios)) < 1e-6 * ratios)) and bool(np.all(ratios >= 1))
    fine = float(np.max(base.scale)) * 2.0**FINE_BITS <= min(base.real_reach, other.real_reach)
    if not is_multiple and (base.element != "i32" or not fine):
        return None
    if base.axis >= 0 and base.axis != len(shape(other.value)) - 1:
        return None
    if base.axis >= 0 and len(base.scale) != shape(other.value)[base.axis]:
        return None
    if base.reach + other.reach * float(np.max(ratios)) >= ROOM * 2 - 1:
        return None
    try:
        moved = rescale(other, "i32", base.scale, base.axis, 0, op)
        return widened(base, op), moved
    except NotInteger:
        return None


def narrowed(form: Form, limit: int, op: ir.Operation) -> Form:
    """The form with codes of at most this size."""
    if form.reach <= limit:
        return form
    ratio = form.reach / limit
    if form.element == "i32" and form.reach >= ROOM // 2:  # TOSA takes no larger codes but for a quarter or less
        ratio = max(4.0, 2.0 ** np.ceil(np.log2(ratio)))
    return rescale(form, "i32", form.scale * ratio, form.axis, 0, op)


def constant_like(form: Form, known: Array, op: ir.Operation) -> Form:
    """A constant as 32-bit codes, fine enough beside `form`."""
    finite = known[np.isfinite(known)]
    reach = max(form.real_reach, float(np.abs(finite).max()) if finite.size else 0.0)
    if finite.size != known.size:
        raise NotInteger(op, "chooses a number that is infinite")
    unit = reach / (ROOM // 2) or 1.0
    codes = np.rint(known / unit).astype(np.int64)
    return Form(constant(codes, build.i32()), one(unit), -1, 0, int(codes.min()), int(codes.max()))
