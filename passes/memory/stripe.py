"""vgf-stripe: compute the operators around a graph segment's peak part by part, so that its large tensors never live whole.

Between two small tensors there is often a large one: an expansion before a depthwise convolution, a convolution before a pool,
int32 accumulators before they are rescaled. Such a stretch of operators is computed in parts of its result, one after the
other, and the parts are put together:

    %0 = tosa.conv2d %x, %weight, ... : tensor<1x56x56x96xi32>
    %1 = tosa.rescale %0, ... : tensor<1x56x56x96xi8>
becomes
    %0 = tosa.conv2d %x, %weight_0, ... : tensor<1x56x56x48xi32>
    %1 = tosa.rescale %0, ... : tensor<1x56x56x48xi8>
    %2 = tosa.conv2d %x, %weight_1, ... : tensor<1x56x56x48xi32>
    %3 = tosa.rescale %2, ... : tensor<1x56x56x48xi8>
    %4 = tosa.concat %1, %3 {axis = 3 : i32} : tensor<1x56x56x96xi8>

Parts may be stripes along the height, whose convolutions overlap, or groups of output channels, which compute nothing twice;
`vgfc.striping` has the rules. Every element is computed from the same numbers as before. The stretch, the axis and the number
of parts are those that save most of the runtime's session (`vgfc.planning.runtime_model`), where every operator more has to
save `price` percent; this is repeated until nothing does. What is computed twice may be `recompute` percent of the segment's
multiplications in all, and no stretch is cut into more than `parts`.

With `on-request` only modules with the attribute `vgf.stripe` are changed: more operators and copies are the price.

Invalid input: none, an operator without a rule is computed whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod
from typing import Protocol, TypeVar, cast

from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc import build
from vgfc.ir import defining, erase_unused, functions, segment_kind, shape
from vgfc.memory import Described, device_bytes, segment_program
from vgfc.passmanager import Pass, register
from vgfc.planning import Instruction, Program, footprints_bytes, plan_session, session_bytes
from vgfc.segments import STRIPE, is_constant
from vgfc.striping import Demands, Span, demands, multiplications, part, produced, rebuild

GROWTH = 0.05  # an operator for which the session grows by this share is worth cutting, too
# Operators of the longest stretch; the search is made with each: long ones save more at once, and leave more behind that no
# later cut can save.
LONGEST_STRETCHES = (6, 24)
FIRST_PARTS = (2, 4, 8)
SMOOTHNESS = 8
PATIENCE = 6  # cuts that may go by without lowering the session, as there are that many peaks
NEAR_PEAK = 0.6  # an operator with this share of the peak's bytes live is worth cutting

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


@dataclass
class Draft:
    """Makes instructions; references are numbers of values, -1 for a constant."""

    numbers: dict[ir.Value, int]
    sizes: list[int]
    result_bytes: int
    instructions: list[Instruction] = field(default_factory=list)
    work: int = 0

    def whole(self, value: ir.Value) -> int:
        return self.numbers.get(value, -1)

    def cut(self, source: int, value: ir.Value, span: Span, of: Span | None) -> int:
        if source == -1 or (of is None and span.extent == shape(value)[span.axis]):
            return source
        return self._add([source], part_bytes(value, span))

    def operator(self, op: ir.Operation, operands: list[int], span: Span) -> int:
        extents = shape(op.result)
        self.work += multiplications(op) * (prod(extents) // extents[span.axis]) * span.extent
        return self._add(operands, part_bytes(op.result, span))

    def concat(self, op: ir.Operation, parts: list[int], axis: int) -> int:
        self.numbers[op.result] = self._add(parts, self.result_bytes)
        return self.numbers[op.result]

    def _add(self, operands: list[int], size_bytes: int) -> int:
        self.sizes.append(size_bytes)
        number = len(self.sizes) - 1
        self.instructions.append(Instruction(tuple(item for item in dict.fromkeys(operands) if item >= 0), (number,)))
        return number


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


def part_bytes(value: ir.Value, span: Span) -> int:
    """The bytes of a span of a value."""
    return device_bytes(value.type) // shape(value)[span.axis] * span.extent


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


@dataclass(frozen=True)
class Choice:
    """A stretch cut into parts, what the segment costs then, and the multiplications that are done twice."""

    cost: float
    instructions: int
    stretch: Stretch
    parts: tuple[Part, ...]
    repeated: int


def cost_of(program: Program) -> float:
    """What the search lowers: the session's bytes, averaged with a maximum of the live bytes that counts equal peaks.

    With the session alone, nothing would be gained by cutting the first of two equal peaks.
    """
    live = footprints_bytes(program)
    largest = max(live, default=0)
    if largest == 0:
        return 0.0
    smooth = largest * math.pow(sum((size / largest) ** SMOOTHNESS for size in live), 1 / SMOOTHNESS)
    return math.sqrt(session_bytes(program) * smooth)


class Segment:
    """A segment's function as it is, with what the search for the best cut asks of it."""

    def __init__(self, function: func.FuncOp) -> None:
        self.described = segment_program(function)
        self.program = self.described.program
        self.session_bytes = session_bytes(self.program)
        self.cost = cost_of(self.program)
        self.numbers = {value: number for number, value in enumerate(self.described.values)}
        self.work = [multiplications(op) * prod(shape(op.results[0])) for op in self.described.operations]

    def worth_cutting(self) -> set[int]:
        """Operators near the peak, and those for whose results the session grows though there is room in pieces."""
        live = footprints_bytes(self.program)
        found = {index for index, size in enumerate(live) if size >= NEAR_PEAK * max(live)}
        writer = {value: index for index, item in enumerate(self.program.instructions) for value in item.results}
        top = 0
        session = plan_session(self.program)
        for value in sorted(session.offsets_bytes, key=writer.__getitem__):
            end = session.offsets_bytes[value] + self.program.sizes_bytes[value]
            if end - top >= GROWTH * session.size_bytes:
                found.add(writer[value])
            top = max(top, end)
        return found

    def weigh(self, stretch: Stretch, count: int) -> Choice | None:
        """A stretch cut into `count` parts."""
        ops = [self.described.operations[index] for index in stretch.members]
        parts = parts_of(ops, stretch.axis, count)
        if parts is None:
            return None
        last = stretch.members[-1]
        number = self.numbers[ops[-1].result]
        draft = Draft(dict(self.numbers), list(self.program.sizes_bytes), self.program.sizes_bytes[number])
        for index, instruction in enumerate(self.program.instructions):
            if index == last:
                emit(ops, stretch.axis, parts, draft)
                replaced = draft.sizes.pop()
                draft.instructions[-1] = Instruction(draft.instructions[-1].operands, (number,))
                draft.sizes[number] = replaced
            elif index not in stretch.members:
                draft.instructions.append(instruction)
        program = Program(tuple(draft.sizes), tuple(draft.instructions))
        repeated = draft.work - sum(self.work[index] for index in stretch.members)
        return Choice(cost_of(program), len(draft.instructions), stretch, tuple(parts), repeated)

    def best(self, longest: int, allowed: int, most_parts: int, price: float) -> Choice | None:
        """The cut that is worth most and repeats no more than `allowed` multiplications; None where none is worth it.

        A cut is worth what it saves of the session, less `price` percent of it for every operator that it adds.
        """
        best: Choice | None = None
        least = self.cost

        def consider(stretch: Stretch, count: int) -> None:
            nonlocal best, least
            found = self.weigh(stretch, count) if count <= most_parts else None
            if found is None or found.repeated > allowed:
                return
            added = found.instructions - len(self.program.instructions)
            cost = found.cost * (1 + price / 100) ** added
            if cost < least:
                best, least = found, cost

        for stretch in stretches(self.described, self.worth_cutting(), longest):
            for count in FIRST_PARTS:
                consider(stretch, count)
        if best is not None:
            for count in range(2, most_parts + 1):
                consider(best.stretch, count)
        return best


def apply(function: func.FuncOp, described: Described, choice: Choice) -> None:
    """Put the parts in the place of a stretch."""
    ops = [described.operations[index] for index in choice.stretch.members]
    with ir.InsertionPoint(ops[-1]), ops[-1].location:
        result = emit(ops, choice.stretch.axis, choice.parts, Rewriter())
    ops[-1].result.replace_all_uses_with(result)
    erase_unused(function)


def _copied(function: func.FuncOp) -> func.FuncOp:
    """A copy beside the function, to be erased or to take its place."""
    return cast(func.FuncOp, function.operation.clone(ip=ir.InsertionPoint(function)).opview)


def _figures(function: func.FuncOp) -> tuple[int, int]:
    """(session bytes, operators) of a segment's function."""
    program = segment_program(function).program
    return session_bytes(program), len(program.instructions)


@register
@dataclass(frozen=True)
class Stripe(Pass):
    name = "vgf-stripe"
    on_request: bool = False
    parts: int = 16
    recompute: int = 10
    price: float = 0.3

    def run(self, module: ir.Module) -> None:
        if self.on_request and STRIPE not in module.operation.attributes:
            return
        for function in functions(module):
            if segment_kind(function) == "graph":
                self.cut(function)

    def cut(self, function: func.FuncOp) -> None:
        """Put the best of several searches in the place of a segment's function."""
        trials = [self.search(_copied(function), longest) for longest in LONGEST_STRETCHES]
        before, operators = _figures(function)
        costs = [session * (1 + self.price / 100) ** (count - operators) for session, count in map(_figures, trials)]
        best = costs.index(min(costs))
        kept = function if costs[best] >= before else trials[best]
        for other in (function, *trials):
            if other is not kept:
                other.operation.erase()

    def search(self, function: func.FuncOp, longest: int) -> func.FuncOp:
        """Cut a function until nothing is worth it; returns the one that takes its place."""
        segment = Segment(function)
        allowed = sum(segment.work) * self.recompute // 100
        lowest = segment.session_bytes
        saved: func.FuncOp | None = None  # as it was with the lowest session, where cuts have gone by since
        waited = 0
        while segment.session_bytes > 0 and waited < PATIENCE:
            choice = segment.best(longest, allowed, self.parts, self.price)
            if choice is None:
                break
            if saved is None:
                saved = _copied(function)
            allowed -= choice.repeated
            apply(function, segment.described, choice)
            segment = Segment(function)
            waited += 1
            if segment.session_bytes < lowest:
                lowest, waited = segment.session_bytes, 0
                saved.operation.erase()
                saved = None
        # Whoever holds an operation of a function that is erased has a dangling one.
        del segment
        if saved is None:
            return function
        function.operation.erase()
        return saved
