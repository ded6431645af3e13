"""The search for stretches of a segment's operators that are worth computing part by part.

What a cut costs and saves is weighed on programs of `vgfc.planning`, before anything is rewritten. An operator more has to save
`price` percent of the session; the cuts made are those that leave the lowest session when their operators are paid for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import cast

from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc.ir import shape
from vgfc.memory import device_bytes, segment_program
from vgfc.planning import Instruction, Program, footprints_bytes, plan_session, session_bytes
from vgfc.stretches import Part, Stretch, emit, parts_of, replace_by_parts
from vgfc.striping import Span, multiplications

GROWTH = 0.05  # an operator for which the session grows by this share is worth cutting, too
FIRST_PARTS = (2, 4, 8)
SMOOTHNESS = 8
PATIENCE = 6  # cuts that may go by without lowering the session, as there are that many peaks
NEAR_PEAK = 0.6  # an operator with this share of the peak's bytes live is worth cutting


def cost_of(program: Program, taken_bytes: int) -> float:
    """What the search lowers: the session's bytes, averaged with a maximum of the live bytes that counts equal peaks.

    With the session alone, nothing would be gained by cutting the first of two equal peaks.
    """
    live = footprints_bytes(program)
    largest = max(live, default=0)
    if largest == 0:
        return 0.0
    smooth = largest * math.pow(sum((size / largest) ** SMOOTHNESS for size in live), 1 / SMOOTHNESS)
    return math.sqrt(taken_bytes * smooth)


@dataclass(frozen=True)
class Limits:
    """What cuts may cost.

    parts:          a stretch is cut into at most so many.
    recompute:      percent of the segment's multiplications that may be done twice, in all.
    price:          percent of the session that an operator more has to save.
    smallest_bytes: a session below this is not worth a cut.
    """

    parts: int
    recompute: int
    price: float
    smallest_bytes: int = 1

    def priced(self, cost: float, added: int) -> float:
        """A cost with the operators paid for that it took."""
        return cost * (1 + self.price / 100) ** added


@dataclass(frozen=True)
class Choice:
    """A stretch cut into parts, what the segment costs and takes then, and the multiplications that are done twice."""

    cost: float
    session_bytes: int
    operators: int
    stretch: Stretch
    parts: tuple[Part, ...]
    repeated: int


class Segment:
    """A segment's function as it is, with what the search for the best cut asks of it."""

    def __init__(self, function: func.FuncOp) -> None:
        self.described = segment_program(function)
        self.program = self.described.program
        self.session_bytes = session_bytes(self.program)
        self.cost = cost_of(self.program, self.session_bytes)
        self.operators = len(self.program.instructions)
        self.numbers = {value: number for number, value in enumerate(self.described.values)}
        self.extents = {value: shape(value) for value in self.numbers if isinstance(value.type, ir.RankedTensorType)}
        results = {op.results[0]: op for op in self.described.operations if len(op.results) == 1}
        self.work = {
            value: multiplications(op) * prod(self.extents[value])
            for value, op in results.items()
            if value in self.extents
        }

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
        """A stretch cut into `count` parts; None where it cannot be."""
        ops = [self.described.operations[index] for index in stretch.members]
        parts = parts_of(ops, stretch.axis, count)
        if parts is None:
            return None
        draft = Draft(self)
        for index, instruction in enumerate(self.program.instructions):
            if index == stretch.members[-1]:
                emit(ops, stretch.axis, parts, draft)
            elif index not in stretch.members:
                draft.instructions.append(instruction)
        program = Program(tuple(draft.sizes), tuple(draft.instructions))
        repeated = draft.work - sum(self.work[op.result] for op in ops)
        taken = session_bytes(program)
        return Choice(cost_of(program, taken), taken, len(draft.instructions), stretch, tuple(parts), repeated)

    def best(self, candidates: Iterable[Stretch], allowed: int, limits: Limits) -> Choice | None:
        """The cut that is worth most and repeats no more than `allowed` multiplications; None where none is worth it."""
        best: Choice | None = None
        least = self.cost

        def consider(stretch: Stretch, count: int) -> None:
            nonlocal best, least
            found = self.weigh(stretch, count) if count <= limits.parts else None
            if found is None or found.repeated > allowed:
                return
            cost = limits.priced(found.cost, found.operators - self.operators)
            if cost < least:
                best, least = found, cost

        for stretch in candidates:
            for count in FIRST_PARTS:
                consider(stretch, count)
        if best is not None:
            for count in range(2, limits.parts + 1):
                consider(best.stretch, count)
        return best


@dataclass
class Draft:
    """Makes instructions in the place of a segment's; references are numbers of values, -1 for a constant."""

    segment: Segment
    sizes: list[int] = field(init=False)
    instructions: list[Instruction] = field(default_factory=list)
    work: int = 0

    def __post_init__(self) -> None:
        self.sizes = list(self.segment.program.sizes_bytes)

    def whole(self, value: ir.Value) -> int:
        return self.segment.numbers.get(value, -1)

    def cut(self, source: int, value: ir.Value, span: Span, of: Span | None) -> int:
        if source == -1 or (of is None and span.extent == self.segment.extents[value][span.axis]):
            return source
        return self._add([source], value, span)

    def operator(self, op: ir.Operation, operands: list[int], span: Span) -> int:
        value = op.results[0]
        self.work += self.segment.work[value] // self.segment.extents[value][span.axis] * span.extent
        return self._add(operands, value, span)

    def concat(self, op: ir.Operation, parts: list[int], axis: int) -> int:
        number = self.segment.numbers[op.results[0]]
        self.instructions.append(Instruction(tuple(parts), (number,)))
        return number

    def _add(self, operands: list[int], value: ir.Value, span: Span) -> int:
        number = len(self.sizes)
        self.sizes.append(device_bytes(value.type) // self.segment.extents[value][span.axis] * span.extent)
        self.instructions.append(Instruction(tuple(item for item in dict.fromkeys(operands) if item >= 0), (number,)))
        return number


Finder = Callable[[Segment], Iterable[Stretch]]


def cut(function: func.FuncOp, finders: Sequence[Finder], limits: Limits) -> None:
    """Search with each finder of candidates, and put the best that was found in the place of a segment's function."""
    before = Segment(function)
    if before.session_bytes < limits.smallest_bytes:
        return
    least, kept = float(before.session_bytes), function
    for finder in finders:
        found = _searched(_copied(function), finder, limits)
        after = Segment(found)
        priced = limits.priced(after.session_bytes, after.operators - before.operators)
        del after
        dropped = found
        if priced < least:
            least, kept, dropped = priced, found, kept
        if dropped is not function:
            dropped.operation.erase()
    del before  # whoever holds an operation of a function that is erased has a dangling one
    if kept is not function:
        function.operation.erase()


def _copied(function: func.FuncOp) -> func.FuncOp:
    """A copy beside the function, to be erased or to take its place."""
    return cast(func.FuncOp, function.operation.clone(ip=ir.InsertionPoint(function)).opview)


def _searched(function: func.FuncOp, finder: Finder, limits: Limits) -> func.FuncOp:
    """Cut a function until nothing is worth it; returns the one that takes its place."""
    segment = Segment(function)
    operators = segment.operators
    allowed = sum(segment.work.values()) * limits.recompute // 100
    lowest = float(segment.session_bytes)
    saved: func.FuncOp | None = None  # as it was with the lowest session, where cuts have gone by since
    waited = 0
    while segment.session_bytes >= limits.smallest_bytes and waited < PATIENCE:
        choice = segment.best(finder(segment), allowed, limits)
        if choice is None:
            break
        if saved is None:
            saved = _copied(function)
        allowed -= choice.repeated
        members = [segment.described.operations[index] for index in choice.stretch.members]
        replace_by_parts(function, members, choice.stretch.axis, choice.parts)
        del members
        segment = Segment(function)
        waited += 1
        priced = limits.priced(segment.session_bytes, segment.operators - operators)
        if priced < lowest:
            lowest, waited = priced, 0
            saved.operation.erase()
            saved = None
    del segment
    if saved is None:
        return function
    function.operation.erase()
    return saved
