"""vgf-fold-slices: slices of slices, of concats and of pads, and concats of slices, as the shortest form.

    %1 = tosa.concat %a, %b {axis = 1}
    %2 = tosa.slice %1 ...                 // lies within %b: reads as a slice of %b, or as %b when it is all of it
    %3 = tosa.concat %s1, %s2 {axis = 1}   // two slices of %x that touch: reads as one slice of %x

A slice that takes whole operands of a concat becomes a concat of those; one that lies within what a pad has put around a
value becomes a slice of that value. A concat inside a concat along the same axis, that nothing else reads, is joined into it.

Invalid input: none, what does not fit stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from vgfc import build
from vgfc.ir import defining, erase_unused, functions, has_one_use, operations, replace, shape, shape_value
from vgfc.passmanager import Pass, register
from vgfc.target import LEVELS

MAX_CONCAT_OPERANDS = LEVELS["8K"].max_tensor_list_size


def fold_slice(op: ir.Operation) -> bool:
    """Make one slice start further up; False when it stays."""
    start, size = shape_value(op.operands[1]), shape_value(op.operands[2])
    inner = defining(op.operands[0])
    if start is None or size is None:
        return False
    if size == shape(op.operands[0]):
        replace(op, op.operands[0])
        return True
    if inner is None:
        return False
    with ir.InsertionPoint(op), op.location:
        replacement = sliced(inner, start, size)
    if replacement is None:
        return False
    replace(op, replacement)
    return True


def sliced(inner: ir.Operation, start: Sequence[int], size: Sequence[int]) -> ir.Value | None:
    """A slice of the result of `inner` in terms of its operands; None when it has no shorter form."""
    if inner.name == "tosa.slice":
        before = shape_value(inner.operands[1])
        if before is None:
            return None
        return build.slice_(inner.operands[0], [a + b for a, b in zip(before, start, strict=True)], size)
    if inner.name == "tosa.pad":
        padding = shape_value(inner.operands[1])
        if padding is None:
            return None
        moved = [first - padding[2 * axis] for axis, first in enumerate(start)]
        extents = shape(inner.operands[0])
        if any(first < 0 or first + count > extent for first, count, extent in zip(moved, size, extents, strict=True)):
            return None
        return build.slice_(inner.operands[0], moved, size)
    if inner.name == "tosa.concat":
        return sliced_concat(inner, list(start), list(size))
    return None


def sliced_concat(inner: ir.Operation, start: list[int], size: list[int]) -> ir.Value | None:
    """A slice of a concat: of one operand, or whole operands."""
    axis = ir.IntegerAttr(inner.attributes["axis"]).value
    first, end, position = start[axis], start[axis] + size[axis], 0
    touched = []
    for operand in inner.operands:
        extent = shape(operand)[axis]
        if position < end and first < position + extent:
            touched.append((operand, position, extent))
        position += extent
    if len(touched) == 1:
        operand, position, _ = touched[0]
        start[axis] -= position
        return build.slice_(operand, start, size)
    whole = touched[0][1] == first and touched[-1][1] + touched[-1][2] == end
    others_whole = all(size[at] == extent for at, extent in enumerate(shape(inner.result)) if at != axis)
    return build.concat([operand for operand, _, _ in touched], axis) if whole and others_whole else None


def fold_concat(op: ir.Operation) -> bool:
    """Join neighbouring slices of one value, and concats inside; False when nothing was."""
    axis = ir.IntegerAttr(op.attributes["axis"]).value
    parts: list[ir.Value] = []
    for operand in op.operands:
        inner = defining(operand)
        if (
            inner is not None
            and inner.name == "tosa.concat"
            and ir.IntegerAttr(inner.attributes["axis"]).value == axis
            and has_one_use(operand)
        ):
            parts += inner.operands
        else:
            parts.append(operand)
    if len(parts) > MAX_CONCAT_OPERANDS:
        parts = list(op.operands)
    with ir.InsertionPoint(op), op.location:
        joined: list[ir.Value] = []
        for part in parts:
            together = join(joined[-1], part, axis) if joined else None
            if together is None:
                joined.append(part)
            else:
                joined[-1] = together
        if len(joined) != 1 and joined == list(op.operands):
            return False
        replacement = build.concat(joined, axis)
    replace(op, replacement)
    return True


def join(left: ir.Value, right: ir.Value, axis: int) -> ir.Value | None:
    """One slice for two that touch along `axis`; None when they are not two slices of one value that do."""
    first, second = defining(left), defining(right)
    if first is None or second is None or first.name != "tosa.slice" or second.name != "tosa.slice":
        return None
    starts = [shape_value(each.operands[1]) for each in (first, second)]
    if first.operands[0] != second.operands[0] or starts[0] is None or starts[1] is None:
        return None
    size, other = shape(left), shape(right)
    expected = [at + (size[axis] if index == axis else 0) for index, at in enumerate(starts[0])]
    if list(starts[1]) != expected:
        return None
    total = [extent + (other[axis] if index == axis else 0) for index, extent in enumerate(size)]
    return build.slice_(first.operands[0], starts[0], total)


@register
@dataclass(frozen=True)
class FoldSlices(Pass):
    name = "vgf-fold-slices"

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            changed = True
            while changed:
                changed = False
                for op in operations(function):
                    if op.name == "tosa.slice":
                        changed |= fold_slice(op)
                    elif op.name == "tosa.concat":
                        changed |= fold_concat(op)
                erase_unused(function)
