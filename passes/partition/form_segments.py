"""vgf-form-segments: give each marked operation of the entry the number of its segment, in dispatch order.

The segments are the fewest that the marks allow: operations of one kind (and name) share a segment wherever no cycle of
segments comes of it, neighbours or not; a shader has one of its own. Ties go to fewer bytes between segments.
`vgfc.partitioning` does it, on plain numbers:

    %0 = tosa.abs %x {vgf.segment = "graph"} ...
    %1 = tosa.abs %y {vgf.segment = "host"} ...
    %2 = tosa.ceil %0 {vgf.segment = "graph"} ...
becomes
    %0 = tosa.abs %x {vgf.segment = "graph", vgf.segment_index = 0 : i32} ...
    %1 = tosa.abs %y {vgf.segment = "host", vgf.segment_index = 1 : i32} ...
    %2 = tosa.ceil %0 {vgf.segment = "graph", vgf.segment_index = 0 : i32} ...

A graph segment that is over one of the target's budgets (`constant_bytes`: what the constants it reads take;
`session_bytes`: what the runtime needs for its intermediates) is cut, in order, into the fewest pieces that are not.
An entry that calls segments already is left alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from vgfc.diagnostics import fail
from vgfc.ir import defining, operations, read_values, size_bytes
from vgfc.partitioning import Graph, partition, split_by_budget
from vgfc.passmanager import Pass, register
from vgfc.planning.program import Instruction, Program
from vgfc.planning.runtime_model import session_bytes
from vgfc.segments import (
    SEGMENT,
    SEGMENT_INDEX,
    SEGMENT_NAME,
    is_constant,
    is_outlined,
    partitioned_entry,
    string,
)
from vgfc.target import Target, target_of


def values_bytes(values: Sequence[ir.Value]) -> int:
    """Device bytes of the tensors among these values."""
    return sum(size_bytes(value.type) for value in values if isinstance(value.type, ir.RankedTensorType))


def graph_of(body: list[ir.Operation]) -> Graph:
    """The marked operations as the partitioner takes them; raises PassFailure for one without a mark."""
    number_of: dict[ir.Value, int] = {}
    reads, colours, sizes = [], [], []
    for number, op in enumerate(body):
        kind = string(op, SEGMENT)
        if kind is None:
            raise fail(op, f"expected a {SEGMENT} attribute, as vgf-mark-segments writes it")
        reads.append(frozenset(number_of[value] for value in read_values(op) if value in number_of))
        name = string(op, SEGMENT_NAME)
        colours.append(kind if name is None else f"{kind}/{name}")
        sizes.append(values_bytes(op.results))
        number_of.update((result, number) for result in op.results)
    solo = frozenset(colour for colour in colours if colour.partition("/")[0] == "compute")
    return Graph(reads, colours, sizes, solo)


def budget_test(body: list[ir.Operation], target: Target) -> Callable[[Sequence[int]], bool] | None:
    """Whether a stretch of operations is within the target's budgets; None when it has none."""
    if target.constant_bytes is None and target.session_bytes is None:
        return None
    constants = [
        {
            value: size_bytes(value.type)
            for value in op.operands
            if (owner := defining(value)) is not None and owner.name == "tosa.const"
        }
        for op in body
    ]

    session_of = _session_model(body)

    def fits(members: Sequence[int]) -> bool:
        if target.constant_bytes is not None:
            read: dict[ir.Value, int] = {}
            for index in members:
                read.update(constants[index])
            if sum(read.values()) > target.constant_bytes:
                return False
        return target.session_bytes is None or session_of(members) <= target.session_bytes

    return fits


def _session_model(body: list[ir.Operation]) -> Callable[[Sequence[int]], int]:
    """A function that gives the session bytes of a graph segment made of these operations."""
    number_of: dict[ir.Value, int] = {}
    sizes: list[int] = []
    last_read: list[int] = []
    instructions = []
    for place, op in enumerate(body):
        operands = tuple(number_of[value] for value in read_values(op) if value in number_of)
        for number in operands:
            last_read[number] = place
        for result in op.results:
            number_of[result] = len(sizes)
            sizes.append(values_bytes([result]))
            returned = any(use.owner.name == "func.return" for use in result.uses)
            last_read.append(len(body) if returned else place)
        instructions.append(Instruction(operands, tuple(number_of[result] for result in op.results)))

    readers: dict[int, list[int]] = {}
    for place, instruction in enumerate(instructions):
        for number in instruction.operands:
            readers.setdefault(number, []).append(place)

    def session_of(members: Sequence[int]) -> int:
        inside = set(members)
        own_sizes = [0] * len(sizes)
        for place in members:
            for number in instructions[place].results:
                if last_read[number] < len(body) and all(reader in inside for reader in readers.get(number, ())):
                    own_sizes[number] = sizes[number]
        return session_bytes(Program(tuple(own_sizes), tuple(instructions[place] for place in members)))

    return session_of


def budgets(target: Target) -> str:
    """The target's budgets in words."""
    found = [(target.constant_bytes, "bytes of constants"), (target.session_bytes, "session bytes")]
    return " and ".join(f"{number} {word}" for number, word in found if number is not None)


@register
@dataclass(frozen=True)
class FormSegments(Pass):
    name = "vgf-form-segments"

    def run(self, module: ir.Module) -> None:
        if is_outlined(module):
            return
        body = [op for op in operations(partitioned_entry(module)) if not is_constant(op)]
        graph = graph_of(body)
        target = target_of(module)
        fits = budget_test(body, target)
        segments: list[list[int]] = []
        for members in partition(graph).segments:
            if fits is None or string(body[members[0]], SEGMENT) != "graph":
                segments.append(members)
                continue
            pieces = split_by_budget(members, graph, fits)
            if isinstance(pieces, int):
                raise fail(body[pieces], f"is over the target's budget by itself: {budgets(target)}")
            segments += pieces
        i32 = ir.IntegerType.get_signless(32)
        for number, members in enumerate(segments):
            for index in members:
                body[index].attributes[SEGMENT_INDEX] = ir.IntegerAttr.get(i32, number)
