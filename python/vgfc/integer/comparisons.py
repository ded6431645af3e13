"""Comparisons of integer forms, and what is decided by them."""

from __future__ import annotations

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.integer.alignment import aligned
from vgfc.integer.folder import Folder, before
from vgfc.integer.forms import Form, NotInteger, per_tensor, positive, to_32, widened
from vgfc.integer.numerics import RANGES
from vgfc.ir import attributes_of, defining, element_type, is_float, shape

LOGIC = ("tosa.logical_and", "tosa.logical_or", "tosa.logical_xor", "tosa.logical_not")


def is_float_tensor(value: ir.Value) -> bool:
    """Whether a value is a tensor of floating-point numbers."""
    return isinstance(value.type, ir.RankedTensorType) and is_float(element_type(value))


def condition(folder: Folder, value: ir.Value, at: ir.Operation) -> ir.Value:
    """A boolean value with the comparisons behind it made on integers."""
    op = defining(value)
    if op is None or not any(is_float_tensor(operand) for operand in op.operands):
        if op is None or op.name not in LOGIC:
            return value
        operands = [condition(folder, operand, at) for operand in op.operands]
        with before(at):
            return build.operation(op.name, value.type, operands, attributes_of(op))
    if op.name not in build.COMPARISONS:
        raise NotInteger(op, "has no integer form")
    with before(at):
        return build.broadcast_to(compare(folder, op), shape(op.result))


def compare(folder: Folder, op: ir.Operation) -> ir.Value:
    """A comparison of codes; with one number it is decided for each code as floating point decides it."""
    for index, other in ((0, 1), (1, 0)):
        number = folder.constants.splat(op.operands[other])
        if number is not None:
            return compare_number(folder.form(folder.source(op.operands[index])), number, index == 0, op)
    left, right = (to_32(folder.form(folder.source(operand)), op) for operand in op.operands)
    left, right = positive(left, op), positive(right, op)
    left, right = aligned(left, right, op)
    return build.binary(op.name, left.value, right.value)


def compare_number(form: Form, number: float, is_left: bool, op: ir.Operation) -> ir.Value:
    """form <op> number, or number <op> form: the codes for which it holds lie on one side of a code (or are one)."""
    form = positive(per_tensor(widened(form, op), op), op)
    if np.isnan(number):
        raise NotInteger(op, "compares with a number that is none")
    exact = float(np.clip(number / form.unit, -(2.0**40), 2.0**40))
    near = round(exact)
    # A code whose f32 number is the constant counts as equal to it, whatever 1e-7 of rounding is between them.
    is_code = float(np.float32(near * form.unit)) == float(np.float32(number))
    low, high = RANGES["i32"]
    below = min(max(near - 1 if is_code else int(np.floor(exact)), low), high)
    above = min(max(near + 1 if is_code else int(np.ceil(exact)), low), high)
    if op.name == "tosa.equal":
        code = near if is_code else form.high + 1
        return build.binary("tosa.equal", form.value, build.scalar_like(code, form.value))
    strict = op.name == "tosa.greater"
    if is_left:
        least = above if strict or not is_code else near
        return build.binary("tosa.greater_equal", form.value, build.scalar_like(least, form.value))
    most = below if strict or not is_code else near
    return build.binary("tosa.greater_equal", build.scalar_like(most, form.value), form.value)


def argmax_of(folder: Folder, op: ir.Operation) -> ir.Value:
    """The index of the largest code; of a negated tensor, of the largest complement, which orders codes the other way."""
    negation = defining(op.operands[0])
    if negation is not None and negation.name == "tosa.negate":
        inner = folder.form(negation.operands[0])
        if inner.element in ("i8", "i16") and inner.is_per_tensor and inner.unit > 0:
            return build.operation(
                op.name, op.result.type, [build.unary("tosa.bitwise_not", inner.value)], attributes_of(op)
            )
    form = folder.form(op.operands[0])
    if form.element not in ("i8", "i16") or not form.is_per_tensor or form.unit < 0:
        raise NotInteger(op, "reads a tensor that is not quantized to 8 or 16 bits")
    return build.operation(op.name, op.result.type, [form.value], attributes_of(op))
