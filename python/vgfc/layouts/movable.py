"""Operators that can work on their operands in another arrangement, and how they look then: the element-wise ones.

A label is a `View` of the operator's frame, the shape it is thought of as running over: its result's, or its input's where
that is the larger (reductions, slices, pointwise convolutions).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from torch_mlir import ir

from vgfc import build
from vgfc.ir import attributes_of, defining, element_type, shape, tensor
from vgfc.target import LEVELS
from vgfc.views import Shape, View, axis_position, broadcast, grow_axis

MAX_RANK = LEVELS["8K"].max_rank


class Movable:
    """An operator that can work in another arrangement; this class describes the element-wise ones.

    `data_count` operands are data, the ones after them (zero points, tables, shifts) are taken over as they are.
    """

    def __init__(self, op: ir.Operation, frame: Shape, data_count: int) -> None:
        self.op = op
        self.frame = frame
        self.data_count = data_count
        self.shapes = [shape(operand) for operand in list(op.operands)[:data_count]]
        self.result_shape = shape(op.result)

    def allows(self, label: View) -> bool:
        """Whether the operator can work in this arrangement."""
        return 1 <= len(label.target) <= MAX_RANK and self.result_view(label) is not None

    def operand_view(self, index: int, label: View) -> View | None:
        """How data operand `index` has to be rearranged; None when it cannot be."""
        return broadcast(label, self.shapes[index])

    def result_view(self, label: View) -> View | None:
        """How the result comes out; None when the operator cannot work so."""
        return label

    def labels_for_operand(self, index: int, view: View) -> list[View]:
        """The labels under which data operand `index` is wanted in arrangement `view`."""
        return [view] if self.shapes[index] == self.frame else []

    def labels_for_result(self, view: View) -> list[View]:
        """The labels under which the result comes out in arrangement `view`."""
        return [view]

    def extra_operators(self, label: View) -> int:
        """The operators that the form under `label` takes beyond one."""
        return 0

    def has_inner_channels(self, label: View) -> bool:
        """Whether a constant operand has one number per index of an axis that is not the last one.

        Convolutions and their neighbours take such constants up when they are one number per channel.
        """
        for index, operand in enumerate(list(self.op.operands)[: self.data_count]):
            owner = defining(operand)
            if owner is None or owner.name != "tosa.const" or prod(self.shapes[index]) == 1:
                continue
            view = self.operand_view(index, label)
            if view is not None and prod(view.target) != view.target[-1]:
                return True
        return False

    def rebuild(self, operands: Sequence[ir.Value], label: View) -> ir.Value:
        """The operator under `label`, made at the current insertion point; `operands` are rearranged already."""
        view = self.result_view(label)
        assert view is not None
        attributes = attributes_of(self.op)
        self.adapt(attributes, label)
        others = self.other_operands(label)
        result = tensor(view.target, element_type(self.op.result))
        with self.op.location:
            return build.operation(self.op.name, result, [*operands, *others], attributes)

    def adapt(self, attributes: dict[str, ir.Attribute], label: View) -> None:
        """Change the attributes that name axes."""

    def other_operands(self, label: View) -> list[ir.Value]:
        """The operands after the data."""
        return list(self.op.operands)[self.data_count :]


def set_integer(attributes: dict[str, ir.Attribute], name: str, value: int) -> None:
    attributes[name] = ir.IntegerAttr.get(attributes[name].type, value)


def where(view: View, axis: int, exact: bool) -> int | None:
    """The target axis that a source axis became, if it is the outermost part of it (all of it, when `exact`)."""
    place = axis_position(view, axis)
    return None if place is None or (exact and place[1] != 1) else place[0]


class PerChannel(Movable):
    """An element-wise operator with one parameter per index of `axis`, which has to stay where `last` says."""

    def __init__(self, op: ir.Operation, axis: int, must_be_last: bool) -> None:
        super().__init__(op, shape(op.result), 1)
        self.axis = axis
        self.must_be_last = must_be_last

    def result_view(self, label: View) -> View | None:
        at = where(label, self.axis, exact=True)
        return None if at is None or (self.must_be_last and at != len(label.target) - 1) else label

    def adapt(self, attributes: dict[str, ir.Attribute], label: View) -> None:
        if not self.must_be_last:
            at = where(label, self.axis, exact=True)
            assert at is not None
            set_integer(attributes, "axis", at)


class Reduction(Movable):
    def __init__(self, op: ir.Operation) -> None:
        super().__init__(op, shape(op.operands[0]), 1)
        self.axis = ir.IntegerAttr(op.attributes["axis"]).value

    def result_view(self, label: View) -> View | None:
        return None if where(label, self.axis, exact=True) is None else broadcast(label, self.result_shape)

    def labels_for_result(self, view: View) -> list[View]:
        grown = [
            grow_axis(view, self.axis, self.frame[self.axis], position)
            for position, extent in enumerate(view.target)
            if extent == 1
        ]
        return [label for label in grown if label is not None]

    def adapt(self, attributes: dict[str, ir.Attribute], label: View) -> None:
        at = where(label, self.axis, exact=True)
        assert at is not None
        set_integer(attributes, "axis", at)
