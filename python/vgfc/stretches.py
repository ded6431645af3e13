"""Stretches of operators computed part by part: what each part computes and reads, and how the parts are put together.

A stretch is some operators of a segment of which only the last gives anything out. For a span of its result, `part_of` walks
back through the stretch with the rules of `vgfc.striping`; `emit` makes the parts one after the other, either as operations or
as instructions of a program that is to be weighed (`vgfc.stripe_search`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, TypeVar

from torch_mlir import ir

from vgfc import build
from vgfc.ir import defining, erase_unused, shape
from vgfc.memory import Described
from vgfc.segments import is_constant
from vgfc.striping import Demands, Span, demands, part, produced, rebuild

Reference = TypeVar("Reference")


@dataclass(frozen=True)
class Stretch:
    """Operators (indices, in order) that only the last of them gives anything out of, and the axis of its result to cut."""

    members: tuple[int, ...]
    axis: int


@dataclass(frozen=True)
class Part:
    """For each operator of a stretch the span it computes and what it reads for it."""

    spans: tuple[Span, ...]
    reads: tuple[Demands, ...]

    @property
    def elements(self) -> int:
        """How much it computes: the extents of all spans."""
        return sum(span.extent for span in self.spans)


class Maker(Protocol[Reference]):
    """What `emit` makes a stretch's parts with: operations, or instructions of a program to be weighed."""

    def whole(self, value: ir.Value) -> Reference: ...
    def cut(self, source: Reference, value: ir.Value, span: Span, of: Span | None) -> Reference: ...
    def operator(self, op: ir.Operation, operands: list[Reference], span: Span) -> Reference: ...
    def concat(self, op: ir.Operation, parts: list[Reference], axis: int) -> Reference: ...


def emit(ops: Sequence[ir.Operation], axis: int, parts: Sequence[Part], maker: Maker[Reference]) -> Reference:
    """Make a stretch's result part by part, the largest first: the next ones then fit where it was."""
    results: dict[int, Reference] = {}
    for index in sorted(range(len(parts)), key=lambda number: -parts[number].elements):
        piece = parts[index]
        made: dict[ir.Value, tuple[Reference, Span]] = {}
        cuts: dict[tuple[ir.Value, Span], Reference] = {}
        for op, span, reads in zip(ops, piece.spans, piece.reads, strict=True):
            operands = []
            for value, read in zip(op.operands, reads, strict=True):
                if read is None:
                    operands.append(maker.whole(value))
                    continue
                if (value, read) not in cuts:
                    source, of = made[value] if value in made else (maker.whole(value), None)
                    cuts[value, read] = source if of == read else maker.cut(source, value, read, of)
                operands.append(cuts[value, read])
            made[op.result] = maker.operator(op, operands, span), span
        results[index] = made[ops[-1].result][0]
    return maker.concat(ops[-1], [results[index] for index in range(len(parts))], axis)


class Rewriter:
    """Makes operations at the current insertion point."""

    def whole(self, value: ir.Value) -> ir.Value:
        return value

    def cut(self, source: ir.Value, value: ir.Value, span: Span, of: Span | None) -> ir.Value:
        start = 0 if of is None else of.low
        return part(source, Span(span.axis, span.low - start, span.high - start))

    def operator(self, op: ir.Operation, operands: list[ir.Value], span: Span) -> ir.Value:
        with op.location:
            return rebuild(op, operands, span)

    def concat(self, op: ir.Operation, parts: list[ir.Value], axis: int) -> ir.Value:
        return build.concat(parts, axis)


def replace_by_parts(function: ir.OpView, ops: Sequence[ir.Operation], axis: int, parts: Sequence[Part]) -> None:
    """Put the parts in the place of a stretch of a function's operators."""
    with ir.InsertionPoint(ops[-1]), ops[-1].location:
        result = emit(ops, axis, parts, Rewriter())
    ops[-1].result.replace_all_uses_with(result)
    erase_unused(function)


def part_of(ops: Sequence[ir.Operation], out: Span) -> Part | None:
    """What every operator of a stretch computes and reads for a span of the last one's result; None where one cannot."""
    needed: dict[ir.Value, Span] = {ops[-1].result: out}
    spans: list[Span] = []
    reads: list[Demands] = []
    inside = {op.result for op in ops}
    for op in reversed(ops):
        span = produced(op, needed[op.result])
        asked = demands(op, span)
        if asked is None or (op is ops[-1] and span != out):
            return None
        for value, read in zip(op.operands, asked, strict=True):
            if value not in inside:
                continue
            if read is None:
                return None
            joined = read.joined(needed[value]) if value in needed else read
            if joined is None:
                return None
            needed[value] = joined
        spans.append(span)
        reads.append(asked)
    return Part(tuple(reversed(spans)), tuple(reversed(reads)))


def parts_of(ops: Sequence[ir.Operation], axis: int, count: int) -> list[Part] | None:
    """A stretch cut into `count` parts of about one size."""
    extent = shape(ops[-1].result)[axis]
    edges = [extent * number // count for number in range(count + 1)]
    found = []
    for low, high in pairwise(edges):
        piece = part_of(ops, Span(axis, low, high)) if high > low else None
        if piece is None:
            return None
        found.append(piece)
    return found


def stretches(described: Described, wanted: set[int], longest: int) -> Iterator[Stretch]:
    """Every stretch of up to `longest` operators with one of the wanted ones, each once.

    A stretch grows from its last operator backwards; an operator joins when all its readers are in and read it in parts.
    """
    place = {op: index for index, op in enumerate(described.operations)}
    for last in range(min(wanted), len(place)):
        op = described.operations[last]
        extents = shape(op.result) if len(op.results) == 1 and isinstance(op.result.type, ir.RankedTensorType) else ()
        for axis, extent in enumerate(extents):
            if extent < 2:
                continue
            members: tuple[int, ...] = ()
            spans = {op.result: Span(axis, 0, extent // 2)}
            for index in range(last, max(-1, last - longest), -1):
                candidate = described.operations[index]
                value = candidate.results[0] if len(candidate.results) == 1 else None
                if value is None or value not in spans:
                    continue
                if index != last and any(place.get(use.owner.operation) not in members for use in value.uses):
                    continue
                asked = demands(candidate, produced(candidate, spans[value]))
                if asked is None:
                    if index == last:
                        break
                    continue
                members = (index, *members)
                for operand, read in zip(candidate.operands, asked, strict=True):
                    owner = defining(operand)
                    if read is not None and owner is not None and not is_constant(owner):
                        spans.setdefault(operand, read)
                if wanted & set(members):
                    yield Stretch(members, axis)
