"""Computing a part of an operator's result from parts of its operands, so that large tensors never live whole.

A span is a part of one axis: `demands` says which spans of its operands an operator reads for a span of its result, and
`rebuild` makes the operator that computes just that span. Each element is computed from the same numbers in the same order as
before, so results stay equal to the bit. The rules are those of TOSA 1.0's operators: a convolution's window reaches over the
edge of its span, a resize reads the row after the last, transposes and reshapes carry a span to another axis.

Ranges are half-open, in elements along the axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from torch_mlir import ir

from vgfc import build
from vgfc.ir import (
    attributes_of,
    const_shape,
    constant,
    constant_value,
    element_type,
    int_list,
    is_float,
    shape,
    shape_value,
    tensor,
)
from vgfc.tosa_operators import ELEMENTWISE, REDUCTIONS

POINTWISE = ELEMENTWISE | {"tosa.rescale", "tosa.table"}
# Operands after these are shifts, zero points and tables, which every part of the result reads whole.
POINTWISE_OPERANDS = {"tosa.mul": 2, "tosa.negate": 1, "tosa.rescale": 1, "tosa.table": 1, "tosa.cast": 1}
CONVOLUTIONS = ("tosa.conv2d", "tosa.depthwise_conv2d")
POOLS = ("tosa.avg_pool2d", "tosa.max_pool2d")


@dataclass(frozen=True)
class Span:
    """The part [low, high) of an axis."""

    axis: int
    low: int
    high: int

    @property
    def extent(self) -> int:
        """How many elements it has along its axis."""
        return self.high - self.low

    def joined(self, other: Span) -> Span | None:
        """The smallest span that holds both, None when they are parts of different axes."""
        if other.axis != self.axis:
            return None
        return Span(self.axis, min(self.low, other.low), max(self.high, other.high))


Demands = list[Span | None]  # for each operand the span that is read; None: all of it


@dataclass(frozen=True)
class Window:
    """How an operator slides along one axis: its window's extent (dilation counted), stride, and padding before."""

    extent: int
    stride: int
    before: int

    def read(self, span: Span, input_extent: int) -> tuple[Span, tuple[int, int]]:
        """The input's span for a span of the result, and the padding before and after that is left."""
        low = span.low * self.stride - self.before
        high = (span.high - 1) * self.stride - self.before + self.extent
        inside = Span(span.axis, max(low, 0), min(high, input_extent))
        return inside, (inside.low - low, high - inside.high)


def window(op: ir.Operation, axis: int) -> Window:
    """How a convolution or pool slides along axis 1 (height) or 2 (width)."""
    place = axis - 1
    if op.name in POOLS:
        extent = int_list(op.attributes["kernel"])[place]
    else:
        kernel = shape(op.operands[1])[place + (op.name == "tosa.conv2d")]
        extent = (kernel - 1) * int_list(op.attributes["dilation"])[place] + 1
    return Window(extent, int_list(op.attributes["stride"])[place], int_list(op.attributes["pad"])[2 * place])


def produced(op: ir.Operation, span: Span) -> Span:
    """The smallest span, with this one in it, that the operator can compute by itself."""
    if op.name != "tosa.reshape":
        return span
    source = _reshaped_axis(op, span.axis)
    factor = 1 if source is None else max(1, shape(op.result)[span.axis] // shape(op.operands[0])[source])
    return Span(span.axis, span.low // factor * factor, -(-span.high // factor) * factor)


def demands(op: ir.Operation, span: Span) -> Demands | None:
    """What the operator reads for a span of its (one) result; None when it cannot compute a part along this axis."""
    rule = _RULES.get(op.name)
    if rule is None or len(op.results) != 1 or span.axis >= len(shape(op.result)):
        return None
    return rule(op, span)


def _pointwise(op: ir.Operation, span: Span) -> Demands | None:
    full = shape(op.result)
    counted = POINTWISE_OPERANDS.get(op.name, len(op.operands))
    found: Demands = []
    for index, operand in enumerate(op.operands):
        if index >= counted:
            found.append(None)
            continue
        extents = shape(operand)
        if len(extents) != len(full):
            return None
        found.append(span if extents[span.axis] == full[span.axis] else None)
    if op.name == "tosa.rescale" and ir.BoolAttr(op.attributes["per_channel"]).value and span.axis == len(full) - 1:
        found[1] = found[2] = Span(0, span.low, span.high)
    return found


def _convolution(op: ir.Operation, span: Span) -> Demands | None:
    found: Demands = [None] * len(op.operands)
    if span.axis in (1, 2):
        inside, _ = window(op, span.axis).read(span, shape(op.operands[0])[span.axis])
        found[0] = inside
        return found if inside.extent > 0 else None
    if span.axis != 3:
        return None
    if op.name == "tosa.conv2d":
        found[1] = Span(0, span.low, span.high)
    elif shape(op.operands[1])[3] == 1:
        found[0], found[1] = span, Span(2, span.low, span.high)
    else:
        return None
    if shape(op.operands[2])[0] > 1:
        found[2] = Span(0, span.low, span.high)
    return found


def _pool(op: ir.Operation, span: Span) -> Demands | None:
    rest: Demands = [None] * (len(op.operands) - 1)
    if span.axis in (1, 2):
        inside, _ = window(op, span.axis).read(span, shape(op.operands[0])[span.axis])
        return [inside, *rest] if inside.extent > 0 else None
    return [span, *rest]


def _resize(op: ir.Operation, span: Span) -> Demands | None:
    rest: Demands = [None] * 3
    if span.axis not in (1, 2):
        return [span, *rest]
    read = _resized(op, span)
    return None if read is None else [read[0], *rest]


def _resized(op: ir.Operation, span: Span) -> tuple[Span, int, int] | None:
    """The rows that a resize reads, and the offset and border with which it computes the span from them.

    TOSA 1.0, RESIZE: result row y lies at (y * scale_d + offset) / scale_n of the input; it and the next row are read. Where
    rows are blended in floating point and the quotient is not exact, its rounding depends on the row: None.
    """
    scale, offset = shape_value(op.operands[1]), shape_value(op.operands[2])
    if scale is None or offset is None:
        return None
    place = span.axis - 1
    numerator, denominator, start = scale[2 * place], scale[2 * place + 1], offset[place]
    blends = "BILINEAR" in str(op.attributes["mode"]) and is_float(element_type(op.result))
    if blends and numerator & (numerator - 1):
        return None
    last = shape(op.operands[0])[span.axis] - 1
    low = min(max((span.low * denominator + start) // numerator, 0), last)
    high = min(max(((span.high - 1) * denominator + start) // numerator + 1, 0), last)
    shifted = span.low * denominator + start - low * numerator
    border = (span.extent - 1) * denominator - (high - low) * numerator + shifted
    # TOSA bounds both: -n <= offset < 16 n and -16 n <= border < n.
    if not (-numerator <= shifted < 16 * numerator and -16 * numerator <= border < numerator):
        return None
    return Span(span.axis, low, high + 1), shifted, border


def _concat(op: ir.Operation, span: Span) -> Demands | None:
    if ir.IntegerAttr(op.attributes["axis"]).value == span.axis:
        return None
    return [span] * len(op.operands)


def _reduction(op: ir.Operation, span: Span) -> Demands | None:
    return None if ir.IntegerAttr(op.attributes["axis"]).value == span.axis else [span]


def _transpose(op: ir.Operation, span: Span) -> Demands | None:
    return [Span(int_list(op.attributes["perms"])[span.axis], span.low, span.high)]


def _reshape(op: ir.Operation, span: Span) -> Demands | None:
    source = _reshaped_axis(op, span.axis)
    if source is None:
        return None
    before, after = shape(op.operands[0])[source], shape(op.result)[span.axis]
    if after >= before:
        factor = after // before
        return [Span(source, span.low // factor, -(-span.high // factor)), None]
    factor = before // after
    return [Span(source, span.low * factor, span.high * factor), None]


def _reshaped_axis(op: ir.Operation, axis: int) -> int | None:
    """The axis of a reshape's operand that an axis of its result is made of: the same elements lie before both."""
    before, after = shape(op.operands[0]), shape(op.result)
    for source in range(len(before)):
        if prod(before[:source]) == prod(after[:axis]) and before[source] > 1 and after[axis] > 1:
            larger, smaller = max(before[source], after[axis]), min(before[source], after[axis])
            return source if larger % smaller == 0 else None
    return None


def _matmul(op: ir.Operation, span: Span) -> Demands | None:
    left, right = (span, None) if span.axis == 1 else (None, span) if span.axis == 2 else (span, span)
    return [left, right, None, None]


_RULES: dict[str, Callable[[ir.Operation, Span], Demands | None]] = {
    **dict.fromkeys(POINTWISE, _pointwise),
    **dict.fromkeys(CONVOLUTIONS, _convolution),
    **dict.fromkeys(POOLS, _pool),
    **dict.fromkeys(REDUCTIONS, _reduction),
    "tosa.resize": _resize,
    "tosa.concat": _concat,
    "tosa.transpose": _transpose,
    "tosa.reshape": _reshape,
    "tosa.matmul": _matmul,
}


def rebuild(op: ir.Operation, operands: Sequence[ir.Value], span: Span) -> ir.Value:
    """The operator for a span of its result, at the current insertion point; `operands` are what `demands` asked for."""
    extents = list(shape(op.result))
    extents[span.axis] = span.extent
    values = list(operands)
    attributes = attributes_of(op)
    if op.name in (*CONVOLUTIONS, *POOLS) and span.axis in (1, 2):
        pad = int_list(op.attributes["pad"])
        place = 2 * (span.axis - 1)
        _, pad[place : place + 2] = window(op, span.axis).read(span, shape(op.operands[0])[span.axis])
        attributes["pad"] = ir.DenseI64ArrayAttr.get(pad)
    elif op.name == "tosa.reshape":
        values[1] = const_shape(extents)
    elif op.name == "tosa.resize" and span.axis in (1, 2):
        read, offset, border = _resized(op, span), shape_value(op.operands[2]), shape_value(op.operands[3])
        assert read is not None and offset is not None and border is not None, "demands said that it can"
        place = span.axis - 1
        offsets, borders = list(offset), list(border)
        offsets[place], borders[place] = read[1], read[2]
        values[2], values[3] = const_shape(offsets), const_shape(borders)
    return build.operation(op.name, tensor(extents, element_type(op.result)), values, attributes)


def part(value: ir.Value, span: Span) -> ir.Value:
    """The span of a value: a smaller constant where it is one, else a slice; the value itself where that is all of it."""
    if span.extent == shape(value)[span.axis]:
        return value
    values = constant_value(value)
    if values is None:
        return build.slice_axis(value, span.axis, span.low, span.extent)
    place = tuple(slice(span.low, span.high) if axis == span.axis else slice(None) for axis in range(values.ndim))
    return constant(values[place], element_type(value))


def multiplications(op: ir.Operation) -> int:
    """The work that a result's element takes: multiplications of a convolution or matmul, 1 for anything else."""
    if op.name == "tosa.conv2d":
        return prod(shape(op.operands[1])[1:])
    if op.name == "tosa.depthwise_conv2d":
        return prod(shape(op.operands[1])[:2])
    if op.name == "tosa.matmul":
        return shape(op.operands[0])[2]
    return prod(int_list(op.attributes["kernel"])) if op.name in POOLS else 1
