"""Operators that change extents and keep every axis at its place: slice, pad, tile, concat, reverse."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from torch_mlir import ir

from vgfc.ir import const_shape, shape
from vgfc.layouts.movable import Movable, set_integer, where
from vgfc.views import Shape, View, axis_factors, axis_position, outermost_in, reshape, resize_axis


@dataclass(frozen=True)
class _Split:
    """A label on the frame with each changed axis written as two: what is counted of it, and what goes along with that.

    A slice of 128 of 384 channels that are looked at as 12 heads of 32 is a slice of 4 heads: `inner` is 32.
    """

    label: View
    axes: tuple[int, ...]
    inner: tuple[int, ...]

    def extents(self, extents: Shape) -> Shape:
        """A shape with the changed axes written as two."""
        cut: list[int] = []
        for axis, extent in enumerate(extents):
            if axis in self.axes:
                inner = self.inner[self.axes.index(axis)]
                cut += [extent // inner, inner]
            else:
                cut.append(extent)
        return tuple(cut)

    def position(self, axis: int) -> int:
        """Where the counted part of an axis is among the axes of a shape so written."""
        return axis + sum(other < axis for other in self.axes)


class _Resizing(Movable):
    """An operator that changes the extents of some axes and keeps each at its place: slice, pad, tile, concat, reverse.

    A changed axis may be cut where everything that the operator says of it is a multiple of the inner part.
    """

    def __init__(
        self, op: ir.Operation, frame: Shape, data_count: int, axes: list[int], numbers: Shape = (), exact: bool = False
    ) -> None:
        super().__init__(op, frame, data_count)
        self.axes = tuple(axes)
        self.numbers = numbers
        self.exact = exact

    def _split(self, view: View) -> _Split | None:
        inner = []
        for axis in self.axes:
            factors = axis_factors(view, axis)
            if factors is None:
                return None
            factor = prod(factors[1:])
            if any(extents[axis] % factor for extents in (self.frame, self.result_shape, *self.shapes)):
                return None
            if factor != 1 and (self.exact or any(number % factor for number in self._numbers_of(axis))):
                return None
            inner.append(factor)
        split = _Split(view, self.axes, tuple(inner))
        label = reshape(split.extents(view.source), view.source).then(view)
        return None if label is None else _Split(label, self.axes, tuple(inner))

    def _numbers_of(self, axis: int) -> tuple[int, ...]:
        """What the operator says of an axis beyond extents, in elements."""
        return self.numbers[axis : axis + 1]

    def _resized(self, view: View, extents: Shape) -> View | None:
        """`view` of a tensor of any extents along the changed axes, as one for `extents`."""
        split = self._split(view)
        if split is None:
            return None
        resized: View | None = split.label
        wanted = split.extents(extents)
        for axis in self.axes:
            position = split.position(axis)
            if resized is None or where(resized, position, self.exact) is None:
                return None
            resized = resize_axis(resized, position, wanted[position])
        return None if resized is None else reshape(extents, wanted).then(resized)

    def _places(self, label: View) -> dict[int, tuple[int, int, int]]:
        """For each changed axis its target axis, the extent inside it there, and what one step of it was before."""
        split = self._split(label)
        assert split is not None
        places = {}
        for axis, inner in zip(self.axes, split.inner, strict=True):
            place = axis_position(split.label, split.position(axis))
            assert place is not None
            places[axis] = (*place, inner)
        return places

    def operand_view(self, index: int, label: View) -> View | None:
        return self._resized(label, self.shapes[index])

    def result_view(self, label: View) -> View | None:
        return self._resized(label, self.result_shape)

    def labels_for_operand(self, index: int, view: View) -> list[View]:
        label = self._resized(view, self.frame)
        return [] if label is None else [label]

    def labels_for_result(self, view: View) -> list[View]:
        label = self._resized(view, self.frame)
        return [] if label is None else [label]


class Slice(_Resizing):
    def __init__(self, op: ir.Operation, start: Shape) -> None:
        frame = shape(op.operands[0])
        changed = [axis for axis, extent in enumerate(shape(op.result)) if extent != frame[axis]]
        super().__init__(op, frame, 1, changed, start)

    def labels_for_result(self, view: View) -> list[View]:
        return [*super().labels_for_result(view), *self._labels_by_parts(view)]

    def _labels_by_parts(self, view: View) -> list[View]:
        """Labels under which the sliced axis is cut into parts as large as the slice, of which it takes one."""
        if len(self.axes) != 1:
            return []
        (axis,) = self.axes
        extent, size = self.frame[axis], self.result_shape[axis]
        if size == 1 or extent % size or self.numbers[axis] % size:
            return []
        parts = (*self.frame[:axis], extent // size, size, *self.frame[axis + 1 :])
        one = (*parts[:axis], 1, *parts[axis + 1 :])
        opened = reshape(one, self.result_shape).then(view)
        if opened is None:
            return []
        labels = []
        for target_axis in range(len(view.target)):
            grown = outermost_in(opened, axis, extent // size, target_axis)
            label = reshape(self.frame, parts).then(grown) if grown is not None else None
            if label is not None:
                labels.append(label)
        return labels

    def other_operands(self, label: View) -> list[ir.Value]:
        view = self.result_view(label)
        assert view is not None
        start = [0] * len(view.target)
        for axis, (at, inside, step) in self._places(label).items():
            start[at] = self.numbers[axis] // step * inside
        return [const_shape(start), const_shape(view.target)]


class Pad(_Resizing):
    def __init__(self, op: ir.Operation, padding: Shape) -> None:
        axes = [axis for axis in range(len(padding) // 2) if padding[2 * axis] or padding[2 * axis + 1]]
        super().__init__(op, shape(op.result), 1, axes, padding)

    def _numbers_of(self, axis: int) -> tuple[int, ...]:
        return self.numbers[2 * axis : 2 * axis + 2]

    def other_operands(self, label: View) -> list[ir.Value]:
        padding = [0] * (2 * len(label.target))
        for axis, (at, inside, step) in self._places(label).items():
            padding[2 * at] = self.numbers[2 * axis] // step * inside
            padding[2 * at + 1] = self.numbers[2 * axis + 1] // step * inside
        return [const_shape(padding), self.op.operands[2]]


class Tile(_Resizing):
    def __init__(self, op: ir.Operation, multiples: Shape) -> None:
        axes = [axis for axis, multiple in enumerate(multiples) if multiple != 1]
        super().__init__(op, shape(op.result), 1, axes)
        self.multiples = multiples

    def other_operands(self, label: View) -> list[ir.Value]:
        multiples = [1] * len(label.target)
        for axis, (at, _, _) in self._places(label).items():
            multiples[at] = self.multiples[axis]
        return [const_shape(multiples)]


class Axis(_Resizing):
    """concat and reverse: one axis, named by an attribute."""

    def adapt(self, attributes: dict[str, ir.Attribute], label: View) -> None:
        (place,) = self._places(label).values()
        set_integer(attributes, "axis", place[0])
