"""Limits of integer forms: clamps, maxima and minima."""

from __future__ import annotations

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.integer.alignment import aligned
from vgfc.integer.folder import Folder
from vgfc.integer.forms import Form, positive, rescale, shifted, to_32, widened
from vgfc.integer.numerics import RANGES
from vgfc.ir import constant, element_type, shape


def clamp_codes(value: ir.Value, low: int, high: int) -> ir.Value:
    """Codes of 8 or 16 bits limited to [low, high]."""
    element = element_type(value)
    bounds = {"min_val": ir.IntegerAttr.get(element, low), "max_val": ir.IntegerAttr.get(element, high)}
    return build.operation("tosa.clamp", value.type, [value], bounds)


def clamp_form(folder: Folder, op: ir.Operation) -> Form:
    """Limits on codes: nothing where they lie outside, exact where they fall on codes, else on finer codes."""
    limits = folder.limits_of(op)
    if limits is None:
        return extremum_form(folder, op)
    source, low, high = limits
    form = folder.form(source)
    if form.element == "i48":
        form = widened(form, op)
    form = positive(form, op)
    if form.is_per_tensor and form.element in ("i8", "i16"):
        ends = [end / form.unit + form.zero_point if np.isfinite(end) else end for end in (low, high)]
        kept = [end if np.isfinite(end) else bound for end, bound in zip(ends, (form.low, form.high), strict=True)]
        kept = [min(max(end, form.low), form.high) for end in kept]
        codes = [round(end) for end in kept]
        if all(abs(end - code) < 1e-4 for end, code in zip(kept, codes, strict=True)):
            if codes == [form.low, form.high]:
                return form
            if form.element == "i8" or folder.has_int16:
                value = clamp_codes(form.value, codes[0], codes[1])
                return Form(value, form.scale, -1, form.zero_point, codes[0], codes[1])
        form = rescale(form, "i32", form.scale * 2.0**-12, -1, 0, op)
    form = shifted(form)
    shaped = [1] * len(shape(form.value))
    shaped[form.axis if form.axis >= 0 else -1] = len(form.scale)
    value, least, most = form.value, form.low, form.high
    bounds = RANGES["i32"]
    if np.isfinite(low) and low > float(np.min(form.scale)) * least:
        codes_low = np.clip(np.rint(low / form.scale), *bounds).astype(np.int64)
        value = build.binary("tosa.maximum", value, constant(codes_low.reshape(shaped), build.i32()))
        least = max(least, int(codes_low.min()))
        most = max(most, int(codes_low.max()))
    if np.isfinite(high) and high < float(np.max(form.scale)) * most:
        codes_high = np.clip(np.rint(high / form.scale), *bounds).astype(np.int64)
        value = build.binary("tosa.minimum", value, constant(codes_high.reshape(shaped), build.i32()))
        most = min(most, int(codes_high.max()))
        least = min(least, int(codes_high.min()))
    return Form(value, form.scale, form.axis, 0, least, most)


def extremum_form(folder: Folder, op: ir.Operation) -> Form:
    """The larger or smaller of two tensors."""
    left, right = (to_32(folder.form(folder.source(operand)), op) for operand in op.operands)
    left, right = positive(left, op), positive(right, op)
    left, right = aligned(left, right, op)
    pick = max if op.name == "tosa.maximum" else min
    value = build.binary(op.name, left.value, right.value)
    return Form(value, left.scale, left.axis, 0, pick(left.low, right.low), pick(left.high, right.high))
