"""Pointwise convolutions, and the transposes and reshapes around them as views."""

from __future__ import annotations

from torch_mlir import ir

from vgfc.ir import constant_value, defining, has_one_use, int_list, shape
from vgfc.views import View, identity, reshape, transpose


def is_pointwise(op: ir.Operation) -> bool:
    """Whether `op` is a 1x1 convolution of stride 1 without padding and with constant weights and bias."""
    if op.name != "tosa.conv2d" or shape(op.operands[1])[1:3] != (1, 1) or any(int_list(op.attributes["pad"])):
        return False
    constants = [constant_value(op.operands[index]) for index in (1, 2)]
    return set(int_list(op.attributes["stride"])) == {1} and all(values is not None for values in constants)


def view_of(op: ir.Operation) -> View | None:
    """The view that a transpose or reshape is, None for other operations."""
    if op.name == "tosa.transpose":
        return transpose(shape(op.operands[0]), int_list(op.attributes["perms"]))
    return reshape(shape(op.operands[0]), shape(op.result)) if op.name == "tosa.reshape" else None


def views_before(value: ir.Value) -> tuple[View, ir.Value]:
    """The view that `value` is of the first value that no transpose or reshape makes, and that value."""
    view = identity(shape(value))
    while (owner := defining(value)) is not None:
        step = view_of(owner)
        longer = step.then(view) if step is not None else None
        if longer is None:
            break
        value, view = owner.operands[0], longer
    return view, value


def views_after(op: ir.Operation) -> tuple[View, ir.Operation]:
    """What the transposes and reshapes that alone read the result of `op` make of it, and the last of them, or `op`."""
    view, last = identity(shape(op.result)), op
    while has_one_use(last.result):
        user = next(iter(last.result.uses)).owner.operation
        step = view_of(user)
        longer = view.then(step) if step is not None else None
        if longer is None:
            break
        view, last = longer, user
    return view, last
