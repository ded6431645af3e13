"""Which TOSA operators can work on their operands in another arrangement, and how they look then.

`movable(op)` gives the description of one operator, or None when it is bound to the arrangement it has. A label is a
`View` of the operator's frame, the shape it is thought of as running over: its result's, or its input's where that is
the larger (reductions, slices, pointwise convolutions).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.ir import (
    Array,
    array_of,
    attributes_of,
    constant,
    constant_value,
    defining,
    element_type,
    int_list,
    shape,
    shape_value,
    tensor,
)
from vgfc.ir import const_shape as make_shape
from vgfc.views import (
    Shape,
    View,
    axis_factors,
    axis_position,
    broadcast,
    grow_axis,
    outermost_in,
    reshape,
    resize_axis,
)

MAX_RANK = 6  # TOSA 1.0, level 8K
MAX_KERNEL = 8192  # the same

UNARY = frozenset(
    {
        "tosa.abs",
        "tosa.bitwise_not",
        "tosa.cast",
        "tosa.ceil",
        "tosa.clamp",
        "tosa.clz",
        "tosa.cos",
        "tosa.erf",
        "tosa.exp",
        "tosa.floor",
        "tosa.log",
        "tosa.logical_not",
        "tosa.negate",
        "tosa.reciprocal",
        "tosa.rsqrt",
        "tosa.sigmoid",
        "tosa.sin",
        "tosa.table",
        "tosa.tanh",
    }
)
BINARY = frozenset(
    {
        "tosa.add",
        "tosa.arithmetic_right_shift",
        "tosa.bitwise_and",
        "tosa.bitwise_or",
        "tosa.bitwise_xor",
        "tosa.equal",
        "tosa.greater",
        "tosa.greater_equal",
        "tosa.intdiv",
        "tosa.logical_and",
        "tosa.logical_left_shift",
        "tosa.logical_or",
        "tosa.logical_right_shift",
        "tosa.logical_xor",
        "tosa.maximum",
        "tosa.minimum",
        "tosa.mul",
        "tosa.pow",
        "tosa.sub",
    }
)
DATA_OPERANDS = {**dict.fromkeys(UNARY, 1), **dict.fromkeys(BINARY, 2), "tosa.select": 3}
REDUCTIONS = frozenset(
    {
        "tosa.reduce_all",
        "tosa.reduce_any",
        "tosa.reduce_max",
        "tosa.reduce_min",
        "tosa.reduce_product",
        "tosa.reduce_sum",
    }
)


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


def _set_integer(attributes: dict[str, ir.Attribute], name: str, value: int) -> None:
    attributes[name] = ir.IntegerAttr.get(attributes[name].type, value)


def _where(view: View, axis: int, exact: bool) -> int | None:
    """The target axis that a source axis became, if it is the outermost part of it (all of it, when `exact`)."""
    place = axis_position(view, axis)
    return None if place is None or (exact and place[1] != 1) else place[0]


class _PerChannel(Movable):
    """An element-wise operator with one parameter per index of `axis`, which has to stay where `last` says."""

    def __init__(self, op: ir.Operation, axis: int, must_be_last: bool) -> None:
        super().__init__(op, shape(op.result), 1)
        self.axis = axis
        self.must_be_last = must_be_last

    def result_view(self, label: View) -> View | None:
        at = _where(label, self.axis, exact=True)
        return None if at is None or (self.must_be_last and at != len(label.target) - 1) else label

    def adapt(self, attributes: dict[str, ir.Attribute], label: View) -> None:
        if not self.must_be_last:
            at = _where(label, self.axis, exact=True)
            assert at is not None
            _set_integer(attributes, "axis", at)


class _Reduction(Movable):
    def __init__(self, op: ir.Operation) -> None:
        super().__init__(op, shape(op.operands[0]), 1)
        self.axis = ir.IntegerAttr(op.attributes["axis"]).value

    def result_view(self, label: View) -> View | None:
        return None if _where(label, self.axis, exact=True) is None else broadcast(label, self.result_shape)

    def labels_for_result(self, view: View) -> list[View]:
        grown = [
            grow_axis(view, self.axis, self.frame[self.axis], position)
            for position, extent in enumerate(view.target)
            if extent == 1
        ]
        return [label for label in grown if label is not None]

    def adapt(self, attributes: dict[str, ir.Attribute], label: View) -> None:
        at = _where(label, self.axis, exact=True)
        assert at is not None
        _set_integer(attributes, "axis", at)


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
            if resized is None or _where(resized, position, self.exact) is None:
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


class _Slice(_Resizing):
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
        return [make_shape(start), make_shape(view.target)]


class _Pad(_Resizing):
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
        return [make_shape(padding), self.op.operands[2]]


class _Tile(_Resizing):
    def __init__(self, op: ir.Operation, multiples: Shape) -> None:
        axes = [axis for axis, multiple in enumerate(multiples) if multiple != 1]
        super().__init__(op, shape(op.result), 1, axes)
        self.multiples = multiples

    def other_operands(self, label: View) -> list[ir.Value]:
        multiples = [1] * len(label.target)
        for axis, (at, _, _) in self._places(label).items():
            multiples[at] = self.multiples[axis]
        return [make_shape(multiples)]


class _Axis(_Resizing):
    """concat and reverse: one axis, named by an attribute."""

    def adapt(self, attributes: dict[str, ir.Attribute], label: View) -> None:
        (place,) = self._places(label).values()
        _set_integer(attributes, "axis", place[0])


class _Pointwise(Movable):
    """A 1x1 convolution of stride 1 without padding: any arrangement of what precedes the channels.

    In the arrangement [1, M, channels] it is written as a matmul, and an add for a bias that is not all zeros. One whose
    weights are one number for one result is a scaled sum, in any arrangement that keeps the channels apart from the rest,
    and an average pool where they are the height and width of an image.
    """

    def __init__(self, op: ir.Operation, weight: Array | None, bias: Array | None, may_change_form: bool) -> None:
        super().__init__(op, shape(op.operands[0]), 1)
        element = element_type(op.result)
        self.weight = weight
        self.bias = bias
        is_plain = weight is not None and bias is not None and element == element_type(op.operands[0])
        self.as_matmul = is_plain and may_change_form and str(element) in ("f32", "f16")
        is_splat = weight is not None and bool((weight == weight.reshape(-1)[0]).all())
        self.as_sum = self.as_matmul and is_splat and self.result_shape[3] == 1 and self.frame[3] > 1

    @property
    def has_bias(self) -> bool:
        """Whether the bias adds anything."""
        return self.bias is None or bool(np.any(self.bias != 0))

    def _form(self, label: View) -> str | None:
        """How the operator is written under `label`."""
        rank = len(label.target)
        if rank == 4 and self._swap_channels(label, self.frame[3], self.result_shape[3]) is not None:
            return "convolution"
        if rank == 3 and label.target[0] == 1 and self.as_matmul and self._is_last(label):
            return "matmul"
        return "sum" if self.as_sum and broadcast(label, self.result_shape) is not None else None

    def _is_last(self, label: View) -> bool:
        return self._swap_channels(label, self.frame[3], self.result_shape[3]) is not None

    def result_view(self, label: View) -> View | None:
        form = self._form(label)
        if form == "sum":
            return broadcast(label, self.result_shape)
        return None if form is None else self._swap_channels(label, self.frame[3], self.result_shape[3])

    def _swap_channels(self, view: View, channels: int, wanted: int) -> View | None:
        last = len(view.target) - 1
        if channels != 1:
            return resize_axis(view, 3, wanted) if axis_position(view, 3) == (last, 1) else None
        if view.target[last] != 1:
            return None
        return view if wanted == 1 else grow_axis(view, 3, wanted, last)

    def labels_for_operand(self, index: int, view: View) -> list[View]:
        return [view, *_as_images(view)]

    def labels_for_result(self, view: View) -> list[View]:
        labels = [self._swap_channels(each, self.result_shape[3], self.frame[3]) for each in [view, *_as_images(view)]]
        return [label for label in labels if label is not None]

    def extra_operators(self, label: View) -> int:
        form = self._form(label)
        if form == "sum":
            operators = self._sum_operators(label)
            if self._is_pool(label):
                operators = self._pool_operators()
            return operators - 1 + int(self.has_bias)
        return int(form == "matmul" and self.has_bias)

    def _summed_axes(self, label: View) -> list[int]:
        """The axes that the channels are under `label`."""
        view = broadcast(label, self.result_shape)
        assert view is not None
        return [axis for axis, extent in enumerate(label.target) if extent != view.target[axis]]

    def _is_pool(self, label: View) -> bool:
        """Whether the scaled sum under `label` is best made of the mean of an image's height, width or both."""
        axes = self._summed_axes(label)
        if len(label.target) != 4 or not set(axes) <= {1, 2} or any(label.target[axis] > MAX_KERNEL for axis in axes):
            return False
        return self._pool_operators() <= self._sum_operators(label)

    def _sum_operators(self, label: View) -> int:
        return len(self._summed_axes(label)) + int(self.factor != 1)

    def _pool_operators(self) -> int:
        return 1 + int(self._factor_of_mean() != 1)

    def _factor_of_mean(self) -> float:
        """What the mean is to be multiplied with."""
        assert self.weight is not None
        count = self.frame[3]
        is_mean = self.factor == float(np.array(1 / count).astype(self.weight.dtype))
        return 1.0 if is_mean else self.factor * count

    @property
    def factor(self) -> float:
        """The number that a scaled sum is scaled with."""
        assert self.weight is not None
        return float(self.weight.reshape(-1)[0])

    def rebuild(self, operands: Sequence[ir.Value], label: View) -> ir.Value:
        form = self._form(label)
        if form == "convolution":
            return super().rebuild(operands, label)
        assert self.weight is not None and self.bias is not None
        element = element_type(self.op.result)
        with self.op.location:
            value = self._summed(operands[0], label) if form == "sum" else self._product(operands[0], label)
            if self.has_bias:
                bias = constant(self.bias.reshape([1] * (len(label.target) - 1) + [-1]), element)
                value = build.add(value, bias)
        return value

    def _product(self, operand: ir.Value, label: View) -> ir.Value:
        """The convolution as a matmul."""
        assert self.weight is not None
        element = element_type(self.op.result)
        factors = constant(self.weight.reshape(self.weight.shape[0], -1).T[None], element)
        kind = tensor([*label.target[:2], self.weight.shape[0]], element)
        return build.operation("tosa.matmul", kind, [operand, factors, self.op.operands[3], self.op.operands[4]])

    def _summed(self, operand: ir.Value, label: View) -> ir.Value:
        """The convolution as an average pool, or as sums and their factor."""
        value, factor = operand, self.factor
        if self._is_pool(label):
            value, factor = self._pooled(operand, label), self._factor_of_mean()
        else:
            for axis in self._summed_axes(label):
                value = build.reduce("tosa.reduce_sum", value, axis)
        if factor == 1:
            return value
        return build.mul(value, build.scalar_like(factor, value))

    def _pooled(self, operand: ir.Value, label: View) -> ir.Value:
        view, axes = self.result_view(label), self._summed_axes(label)
        assert view is not None
        kernel = [label.target[axis] if axis in axes else 1 for axis in (1, 2)]
        return build.avg_pool2d(operand, view.target, kernel, stride=(1, 1), pad=(0, 0, 0, 0))


def _as_images(view: View) -> list[View]:
    """The same order of elements as a tensor of rank 4 with the last axis as it is."""
    rank = len(view.target)
    if rank in (0, 4):
        return []
    lead = view.target[:-1]
    image = (*lead, 1) if rank == 3 else (1, prod(lead), 1)
    shaped = view.then(reshape(view.target, (*image, view.target[-1])))
    return [] if shaped is None else [shaped]


def _movable_convolution(op: ir.Operation, exact: bool) -> Movable | None:
    weight_shape = shape(op.operands[1])
    is_depthwise = op.name == "tosa.depthwise_conv2d"
    kernel = weight_shape[:2] if is_depthwise else weight_shape[1:3]
    if prod(kernel) != 1 or any(int_list(op.attributes["pad"])) or set(int_list(op.attributes["stride"])) != {1}:
        return None
    if is_depthwise and weight_shape[3] != 1:
        return None
    weight, bias = (constant_value(operand) for operand in list(op.operands)[1:3])
    return _Pointwise(op, weight, bias, may_change_form=not is_depthwise and not exact)


def _movable_rescale(op: ir.Operation) -> Movable:
    if ir.BoolAttr(op.attributes["per_channel"]).value:
        return _PerChannel(op, len(shape(op.result)) - 1, must_be_last=True)
    return Movable(op, shape(op.result), 1)


def _movable_quantization(op: ir.Operation) -> Movable:
    axis = ir.IntegerAttr(op.attributes["axis"]).value
    return Movable(op, shape(op.result), 1) if axis < 0 else _PerChannel(op, axis, must_be_last=False)


def movable(op: ir.Operation, exact: bool = False) -> Movable | None:
    """The description of an operator that can work in another arrangement, None for one that cannot.

    With `exact` a convolution stays one: a matmul or a sum in its place would round otherwise.
    """
    if len(op.results) != 1 or not isinstance(op.result.type, ir.RankedTensorType):
        return None
    if op.name in DATA_OPERANDS:
        return Movable(op, shape(op.result), DATA_OPERANDS[op.name])
    if op.name in REDUCTIONS:
        return _Reduction(op)
    if op.name in ("tosa.conv2d", "tosa.depthwise_conv2d"):
        return _movable_convolution(op, exact)
    if op.name == "tosa.rescale":
        return _movable_rescale(op)
    if op.name in ("vgf.quantize", "vgf.dequantize"):
        return _movable_quantization(op)
    if op.name == "tosa.concat":
        axis = ir.IntegerAttr(op.attributes["axis"]).value
        return _Axis(op, shape(op.result), len(op.operands), [axis])
    if op.name == "tosa.reverse":
        axis = ir.IntegerAttr(op.attributes["axis"]).value
        return _Axis(op, shape(op.result), 1, [axis], exact=True)
    numbers = [shape_value(operand) for operand in list(op.operands)[1:2]]
    if numbers and numbers[0] is not None:
        if op.name == "tosa.slice":
            return _Slice(op, numbers[0])
        if op.name == "tosa.pad":
            return _Pad(op, numbers[0])
        if op.name == "tosa.tile":
            return _Tile(op, numbers[0])
    return None


def rearranged_constant(attribute: ir.DenseElementsAttr, view: View) -> ir.Value:
    """A new constant: the values of `attribute` seen through `view`; a splat is never expanded."""
    element = element_type(attribute.type)
    values = array_of(attribute)
    if attribute.is_splat:
        return constant(np.broadcast_to(values.reshape(-1)[:1].reshape((1,) * len(view.target)), view.target), element)
    return constant(view.apply(values), element)
