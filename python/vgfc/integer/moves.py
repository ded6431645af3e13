"""Data movement of integer forms: codes go where their numbers would, and so do the scales."""

from __future__ import annotations

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.integer.alignment import aligned, constant_like
from vgfc.integer.comparisons import condition
from vgfc.integer.constants import permutation_of
from vgfc.integer.convolutions import weight_scale
from vgfc.integer.folder import Folder
from vgfc.integer.forms import Form, NotInteger, element_of, one, per_tensor, positive, same_scale, to_32, widened
from vgfc.integer.numerics import RANGES, Array
from vgfc.ir import attributes_of, constant, element_type, shape, shape_value, tensor

PLAIN_MOVES = ("tosa.reshape", "tosa.transpose", "tosa.slice", "tosa.reverse", "tosa.tile")


def move_form(folder: Folder, op: ir.Operation) -> Form:
    """The same movement of the codes; the axis of the scales moves along."""
    form = folder.form(op.operands[0])
    scale, axis = form.scale, form.axis
    if axis >= 0:
        moved = moved_scale(op, form)
        if moved is None:
            form = per_tensor(form, op)
            moved = form.scale, -1
        scale, axis = moved
    kind = tensor(shape(op.result), element_type(form.value))
    value = build.operation(op.name, kind, [form.value, *list(op.operands)[1:]], attributes_of(op))
    return Form(value, scale, axis, form.zero_point, form.low, form.high)


def moved_scale(op: ir.Operation, form: Form) -> tuple[Array, int] | None:
    """Scales and their axis after a reshape, transpose, slice, reverse or tile; None where a reshape breaks the axis up."""
    axis, old, new = form.axis, shape(op.operands[0]), shape(op.result)
    if op.name == "tosa.transpose":
        return form.scale, permutation_of(op).index(axis)
    if op.name == "tosa.reshape":
        before_axis = int(np.prod(old[:axis], dtype=np.int64))
        for candidate, extent in enumerate(new):
            if extent == old[axis] and int(np.prod(new[:candidate], dtype=np.int64)) == before_axis:
                return form.scale, candidate
        return None
    if op.name == "tosa.slice":
        start, size = shape_value(op.operands[1]), shape_value(op.operands[2])
        assert start is not None and size is not None, "a slice has constant shapes"
        return form.scale[start[axis] : start[axis] + size[axis]], axis
    if op.name == "tosa.reverse":
        flipped = ir.IntegerAttr(op.attributes["axis"]).value == axis
        return (form.scale[::-1] if flipped else form.scale), axis
    return np.tile(form.scale, new[axis] // old[axis]), axis


def concat_form(folder: Folder, op: ir.Operation) -> Form:
    """Joined codes: as they are where the parameters agree, along their own axis with a scale for each part, else aligned."""
    forms = [to_32(folder.form(operand), op) for operand in op.operands]
    axis = ir.IntegerAttr(op.attributes["axis"]).value
    first = forms[0]
    same = all(
        same_scale(form, first) and form.zero_point == first.zero_point and form.element == first.element
        for form in forms
    )
    if not (same and (first.axis != axis)):
        forms = [widened(form, op) for form in forms]
        if all(form.axis in (-1, axis) for form in forms):
            parts = [np.broadcast_to(form.scale, (shape(form.value)[axis],)) for form in forms]
            scale, scale_axis = np.concatenate(parts), axis
        else:
            raise NotInteger(op, "joins tensors with scales along another axis")
    else:
        scale, scale_axis = first.scale, first.axis
    value = build.concat([form.value for form in forms], axis)
    low, high = min(form.low for form in forms), max(form.high for form in forms)
    return Form(value, scale, scale_axis, forms[0].zero_point, low, high)


def pad_form(folder: Folder, op: ir.Operation) -> Form:
    """Padding with a number that has a code."""
    form = to_32(folder.form(op.operands[0]), op)
    fill = folder.constants.splat(op.operands[2])
    if fill is None or (fill != 0 and not form.is_per_tensor):
        raise NotInteger(op, "pads with a number that has no code")
    code = fill / float(form.scale[0]) + form.zero_point
    low, high = RANGES[form.element]
    if abs(code - round(code)) > 1e-4 or not low <= round(code) <= high:
        raise NotInteger(op, f"pads with {fill:g}, which has no code")
    element = element_type(form.value)
    operands = [form.value, op.operands[1], constant(np.array([round(code)]), element)]
    value = build.operation(op.name, tensor(shape(op.result), element), operands)
    return Form(value, form.scale, form.axis, form.zero_point, min(form.low, round(code)), max(form.high, round(code)))


def gather_form(folder: Folder, op: ir.Operation) -> Form:
    """Rows of a quantized table (or activation) by index."""
    codes = folder.constants.quantized(op.operands[0])
    if codes is not None:
        scales = weight_scale(codes, (2,), op)
        same = bool((scales == scales[0]).all())
        table = constant(codes.values, element_of("i8"))
        low, high = int(codes.values.min()), int(codes.values.max())
        form = Form(table, scales[:1] if same else scales, -1 if same else 2, 0, low, high)
    else:
        form = to_32(folder.form(op.operands[0]), op)
        if form.axis not in (-1, 2):
            raise NotInteger(op, "reads rows of different scales")
    kind = tensor(shape(op.result), element_type(form.value))
    value = build.operation(op.name, kind, [form.value, op.operands[1]])
    return Form(value, form.scale, form.axis, form.zero_point, form.low, form.high)


def select_form(folder: Folder, op: ir.Operation) -> Form:
    """A choice between two tensors at a common scale."""
    kept = folder.source(op.result)
    if kept != op.result and shape(kept) == shape(op.result):
        return folder.form(kept)
    left, right = common_forms(folder, op, 1, 2)
    chooser = condition(folder, op.operands[0], op)
    value = build.select(chooser, left.value, right.value)
    low, high = min(left.low, right.low), max(left.high, right.high)
    return Form(value, left.scale, left.axis, left.zero_point, low, high)


def scatter_form(folder: Folder, op: ir.Operation) -> Form:
    """Rows written into a tensor at a common scale."""
    into, rows = common_forms(folder, op, 0, 2)
    if into.axis not in (-1, 2):
        raise NotInteger(op, "writes rows of different scales")
    value = build.operation(op.name, into.value.type, [into.value, op.operands[1], rows.value])
    low, high = min(into.low, rows.low), max(into.high, rows.high)
    return Form(value, into.scale, into.axis, into.zero_point, low, high)


def common_forms(folder: Folder, op: ir.Operation, first: int, second: int) -> tuple[Form, Form]:
    """Two operands with the same parameters and element type, one of them maybe a constant."""
    forms = []
    for index, other in ((first, second), (second, first)):
        known = folder.constants.real(op.operands[index])
        if known is None:
            forms.append(positive(to_32(folder.form(folder.source(op.operands[index])), op), op))
            continue
        like = to_32(folder.form(folder.source(op.operands[other])), op)
        forms.append(constant_like(like, known, op))
    left, right = forms
    if not (same_scale(left, right) and left.zero_point == right.zero_point and left.element == right.element):
        left, right = aligned(left, right, op)
    return left, right


def cast_form(folder: Folder, op: ir.Operation) -> Form:
    """Booleans and narrow integers as the numbers they are."""
    source = op.operands[0]
    name = str(element_type(source))
    if name not in ("i1", "i8", "i16"):
        raise NotInteger(op, f"converts {name} to floating point, whose range is not known")
    wide = build.operation("tosa.cast", tensor(shape(source), build.i32()), [source])
    low, high = (0, 1) if name == "i1" else RANGES[name]
    return Form(wide, one(1.0), -1, 0, low, high)
