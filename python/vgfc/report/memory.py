"""What a program needs of device memory, over time: sessions of its graph segments, what lies between segments, constants.

A session holds a graph segment's intermediate values; where the runtime puts them is `vgfc.planning.plan_session`'s model of
it. Between segments the file's alias groups decide. Bytes throughout; instants count a segment's operators from 0.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from torch_mlir import ir

from vgfc.ir import int_list
from vgfc.memory import entry_program
from vgfc.planning import (
    Buffer,
    Program,
    footprints_bytes,
    largest_live_sum_bytes,
    live_ranges,
    plan_session,
    positional_maxima_bytes,
    segment_program,
    session_buffers,
)
from vgfc.report.graph import ProgramGraph, Segment, type_text
from vgfc.report.html import framed, page
from vgfc.segments import ALIAS_GROUPS, is_outlined, partitioned_entry, symbols_of


@dataclass(frozen=True)
class Block:
    """A value in a session: live in instants `lower` to `upper` - 1, at `offset_bytes`; made by node `node`."""

    node: int
    name: str
    type: str
    source: str | None
    path: str | None
    lower: int
    upper: int
    offset_bytes: int
    size_bytes: int


@dataclass(frozen=True)
class SessionMemory:
    """A graph segment's session. `bound_bytes` is the most that is live at one instant: no plan for this order needs less.

    `live_bytes` lists the bytes live at each instant; at `peak_instant` they are the most.
    """

    segment: str
    size_bytes: int
    bound_bytes: int
    peak_instant: int
    live_bytes: tuple[int, ...]
    blocks: tuple[Block, ...]

    @property
    def peak_blocks(self) -> list[Block]:
        """The values that are live at the peak, the largest first."""
        live = [block for block in self.blocks if block.lower <= self.peak_instant < block.upper]
        return sorted(live, key=lambda block: (-block.size_bytes, block.offset_bytes))


@dataclass(frozen=True)
class Between:
    """A value between segments: needed while segments `lower` to `upper` - 1 run, those that make and read it included.

    `group` is its alias group, None where it has storage of its own.
    """

    segment: str
    readers: tuple[str, ...]
    type: str
    group: int | None
    lower: int
    upper: int
    size_bytes: int


@dataclass(frozen=True)
class MemoryReport:
    """The whole program's memory; `between_bytes` is what values between segments take, after alias groups.

    No plan of alias groups for this order of segments needs less than `between_bound_bytes`.
    """

    sessions: tuple[SessionMemory, ...]
    between_bytes: int
    constant_bytes: int
    input_bytes: int
    output_bytes: int
    between: tuple[Between, ...] = ()
    between_bound_bytes: int = 0

    @property
    def session_bytes(self) -> int:
        """All sessions: the runtime keeps one for every graph segment."""
        return sum(session.size_bytes for session in self.sessions)

    @property
    def device_bytes(self) -> int:
        """Sessions, what lies between segments, and constants; inputs and outputs are the caller's."""
        return self.session_bytes + self.between_bytes + self.constant_bytes

    def to_json(self) -> str:
        """The report as one JSON object."""
        return json.dumps(
            {**asdict(self), "session_bytes": self.session_bytes, "device_bytes": self.device_bytes}, indent=2
        )

    def to_html(self, title: str = "Memory") -> str:
        """One self-contained page: figures, every session over time, what is live at its peak."""
        return page({"title": title, "memory": memory_data(self, ())})

    def __str__(self) -> str:
        lines = [
            f"sessions    {self.session_bytes} bytes in {len(self.sessions)}",
            f"between     {self.between_bytes} bytes"
            + (f" for {len(self.between)} values, bound {self.between_bound_bytes}" if self.between else ""),
            f"constants   {self.constant_bytes} bytes",
            f"io          {self.input_bytes} bytes in, {self.output_bytes} bytes out",
        ]
        for session in self.sessions:
            lines.append(
                f"{session.segment}: {session.size_bytes} bytes, bound {session.bound_bytes}, "
                f"peak at operator {session.peak_instant} of {len(session.live_bytes)}"
            )
            for block in session.peak_blocks:
                lines.append(
                    f"  {block.size_bytes:>10}  {block.name:20} {block.type:24} {block.source or block.path or ''}"
                )
        for value in self.between:
            group = "alone" if value.group is None else f"group {value.group}"
            readers = ", ".join(value.readers)
            lines.append(f"  {value.size_bytes:>10}  {group:20} {value.type:24} {value.segment} to {readers}")
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return framed(self.to_html())


def memory_data(memory: MemoryReport, segments: Sequence[Segment]) -> dict[str, Any]:
    """The memory as the page draws it; `index` is the segment's number in the drawing of the graph."""
    numbers = {segment.name: number for number, segment in enumerate(segments)}
    return {
        "session_bytes": memory.session_bytes,
        "between_bytes": memory.between_bytes,
        "constant_bytes": memory.constant_bytes,
        "input_bytes": memory.input_bytes,
        "output_bytes": memory.output_bytes,
        "between_bound_bytes": memory.between_bound_bytes,
        "between": [
            {
                "segment": value.segment,
                "readers": value.readers,
                "type": value.type,
                "group": value.group,
                "lower": value.lower,
                "upper": value.upper,
                "size_bytes": value.size_bytes,
            }
            for value in memory.between
        ],
        "sessions": [
            {
                "segment": session.segment,
                "index": numbers.get(session.segment, 0),
                "size_bytes": session.size_bytes,
                "bound_bytes": session.bound_bytes,
                "peak_instant": session.peak_instant,
                "live_bytes": session.live_bytes,
                "blocks": [
                    {
                        "node": block.node,
                        "name": block.name,
                        "type": block.type,
                        "source": block.source,
                        "path": block.path,
                        "lower": block.lower,
                        "upper": block.upper,
                        "offset_bytes": block.offset_bytes,
                        "size_bytes": block.size_bytes,
                    }
                    for block in session.blocks
                ],
            }
            for session in memory.sessions
        ],
    }


def session_memory(segment: Segment) -> SessionMemory:
    """The session of a graph segment."""
    program, makers = session_program(segment)
    session = plan_session(program)
    buffers = session_buffers(program)
    blocks = []
    for value, offset in session.offsets_bytes.items():
        number, result = makers[value]
        node, buffer = segment.nodes[number], buffers[value]
        blocks.append(
            Block(
                node=number,
                name=node.name,
                type=node.results[result],
                source=node.source,
                path=node.path,
                lower=buffer.lower,
                upper=buffer.upper,
                offset_bytes=offset,
                size_bytes=buffer.size_bytes,
            )
        )
    sizes = tuple(buffers[value].size_bytes if value in buffers else 0 for value in range(len(makers)))
    live = footprints_bytes(Program(sizes, program.instructions))
    peak = max(range(len(live)), key=live.__getitem__, default=0)
    bound = largest_live_sum_bytes(list(buffers.values()))
    return SessionMemory(segment.name, session.size_bytes, bound, peak, tuple(live), tuple(blocks))


def session_program(segment: Segment) -> tuple[Program, list[tuple[int, int]]]:
    """A graph segment as the planners take it, and for each of its values the node and result that it is.

    Values that the segment takes or gives are not in its session, so have size 0.
    """
    makers: list[tuple[int, int]] = []
    value_of: dict[tuple[int, int], int] = {}
    returned = {(edge.source, edge.result) for edge in segment.edges if segment.nodes[edge.target].kind == "output"}
    sizes = []
    for number, node in enumerate(segment.nodes):
        if node.kind == "output":
            continue
        for result, size_bytes in enumerate(node.result_bytes):
            value_of[number, result] = len(makers)
            makers.append((number, result))
            sizes.append(size_bytes if node.kind == "operator" and (number, result) not in returned else 0)
    operands: dict[int, list[int]] = {}
    for edge in segment.edges:
        operands.setdefault(edge.target, []).append(value_of[edge.source, edge.result])
    touched: list[tuple[Sequence[int], Sequence[int]]] = [
        (operands.get(number, []), [value_of[number, result] for result in range(len(node.results))])
        for number, node in enumerate(segment.nodes)
        if node.kind == "operator"
    ]
    return segment_program(sizes, touched), makers


def between_segments(module: ir.Module) -> tuple[Between, ...]:
    """The values that lie between the segments of a file, in the order in which they are made."""
    if not is_outlined(module):
        return ()
    described = entry_program(partitioned_entry(module), symbols_of(module))
    names = [ir.FlatSymbolRefAttr(call.attributes["callee"]).value for call in described.operations]
    place = {call: number for number, call in enumerate(described.operations)}
    found = []
    for number, buffer in live_ranges(described.program).items():
        value = described.values[number]
        maker = described.operations[buffer.lower]
        result = list(maker.results).index(value)
        groups = int_list(maker.attributes[ALIAS_GROUPS]) if ALIAS_GROUPS in maker.attributes else []
        group = groups[result] if result < len(groups) and groups[result] >= 0 else None
        readers = sorted({place[use.owner.operation] for use in value.uses})
        found.append(
            Between(
                segment=names[buffer.lower],
                readers=tuple(names[reader] for reader in readers),
                type=type_text(value.type),
                group=group,
                lower=buffer.lower,
                upper=buffer.upper,
                size_bytes=buffer.size_bytes,
            )
        )
    return tuple(sorted(found, key=lambda value: value.lower))


def memory_of(
    graph: ProgramGraph,
    groups: Sequence[tuple[Hashable | None, int]],
    io_bytes: tuple[int, int],
    between: tuple[Between, ...] = (),
) -> MemoryReport:
    """The memory of a program.

    `groups` lists (alias group, bytes) of the values between segments as the files have them, None for none; `between` what
    they are.
    """
    sessions = tuple(session_memory(segment) for segment in graph.segments if segment.kind == "graph")
    alone = sum(size for group, size in groups if group is None)
    shared: Counter[Hashable] = Counter()
    for group, size in groups:
        if group is not None:
            shared[group] = max(shared[group], size)
    constants = sum(constant.size_bytes for constant in graph.constants if constant.stored == "file")
    buffers = [Buffer(value.segment, value.lower, value.upper, value.size_bytes) for value in between]
    bound = sum(positional_maxima_bytes(buffers))
    return MemoryReport(sessions, alone + sum(shared.values()), constants, *io_bytes, between, bound)
