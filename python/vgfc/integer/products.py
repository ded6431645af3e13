"""Products, signs and powers of integer forms: a change of scale where it can be."""

from __future__ import annotations

import math

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.integer import lookup
from vgfc.integer.alignment import narrowed
from vgfc.integer.folder import Folder
from vgfc.integer.forms import ROOM, Form, NotInteger, element_of, replace_scale, widened
from vgfc.integer.numerics import Array
from vgfc.ir import constant, defining, shape, tensor

MULTIPLIER_LIMIT = 2**15 - 1


def product_form(folder: Folder, op: ir.Operation) -> Form:
    """Element-wise multiplication: by a constant it is a change of scale where it can be."""
    left, right = (folder.source(operand) for operand in op.operands[:2])
    for source, other in ((left, right), (right, left)):
        known = folder.constants.real(other)
        if known is not None:
            return multiply_constant(folder.form(source), known, op)
    first = folder.form(left)
    second = first if left == right else folder.form(right)
    return multiply_forms(first, second, left == right, op)


def multiply_constant(form: Form, known: Array, op: ir.Operation) -> Form:
    """form * known."""
    dimensions = shape(op.result)
    if (known == known.flat[0]).all() and known.flat[0] != 0 and dimensions == shape(form.value):
        return replace_scale(form, form.scale * float(known.flat[0]))
    last = len(dimensions) - 1
    per_channel = (known != 0).all() and known.size == known.shape[-1] and (np.all(known > 0) or np.all(known < 0))
    if per_channel and dimensions == shape(form.value) and form.axis in (-1, last) and known.size == dimensions[-1]:
        return Form(form.value, form.scale * known.reshape(-1), last, form.zero_point, form.low, form.high)
    wide = narrowed(widened(form, op), ROOM // MULTIPLIER_LIMIT * 2, op)
    unit = float(np.abs(known).max()) / MULTIPLIER_LIMIT or 1.0
    codes = np.rint(known / unit).astype(np.int64)
    rank = max(known.ndim, len(shape(wide.value)))
    factor = constant(codes.reshape((1,) * (rank - known.ndim) + known.shape), build.i32())
    bound = wide.reach * int(np.abs(codes).max())
    return Form(build.mul(wide.value, factor), wide.scale * unit, wide.axis, 0, -bound, bound)


def multiply_forms(left: Form, right: Form, is_square: bool, op: ir.Operation, most: float = math.inf) -> Form:
    """left * right, which is known to be `most` at most; TOSA's own rounding shift brings it to 32 bits."""
    if left.axis >= 0 and right.axis >= 0 and left.axis != right.axis:
        raise NotInteger(op, "multiplies tensors with scales along different axes")
    narrow = left.element == right.element == "i8" and left.zero_point == right.zero_point == 0
    if narrow:
        first, second = left, right
    else:
        first = widened(left, op)
        second = first if is_square else widened(right, op)
    bound = first.reach * second.reach
    if first.is_per_tensor and second.is_per_tensor and most < math.inf:
        bound = min(bound, int(most / abs(first.unit * second.unit)) + 1)
    shift = max(0, bound.bit_length() - 31)
    scale = first.scale * second.scale * 2.0**shift
    axis = max(first.axis, second.axis)
    dimensions = build.broadcast_shape(shape(first.value), shape(second.value))
    amount = constant(np.array([shift]), element_of("i8"))
    operands = [build.with_rank(form.value, len(dimensions)) for form in (first, second)]
    value = build.operation("tosa.mul", tensor(dimensions, build.i32()), [*operands, amount])
    bound = (bound >> shift) + (shift > 0)
    positive = is_square or (min(first.low, second.low) >= 0)
    return Form(value, scale, axis, 0, 0 if positive else -bound, bound)


def negate_form(folder: Folder, op: ir.Operation) -> Form:
    """Negation is a sign of the scale."""
    form = folder.form(op.operands[0])
    return replace_scale(form, -form.scale)


def abs_form(folder: Folder, op: ir.Operation) -> Form:
    """The size of each number."""
    form = widened(folder.form(op.operands[0]), op)
    return Form(build.unary("tosa.abs", form.value), np.abs(form.scale), form.axis, 0, 0, form.reach)


def power_form(folder: Folder, op: ir.Operation) -> Form:
    """1/x and 1/sqrt(x) over many orders of magnitude; 1/(1/sqrt(x)) is x/sqrt(x)."""
    inner = defining(op.operands[0])
    if op.name == "tosa.reciprocal" and inner is not None and inner.name == "tosa.rsqrt":
        wide, power = widened(folder.form(inner.operands[0]), op), folder.converted(inner)
        return multiply_forms(wide, power, False, op, most=1.01 * wide.real_reach**0.5)  # the power is near to 2^-10
    return lookup.power(folder.form(op.operands[0]), lookup.POWERS[op.name], folder.has_int16, op)
