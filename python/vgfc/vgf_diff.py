"""Two VGF files side by side: structure, operators, constants, memory, and the lines in which their graphs differ."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vgfc.dialect import make_context
from vgfc.frontend.spirv_reader import Graph, read_graphs
from vgfc.frontend.vgf import read_vgf
from vgfc.report.graph import graph_of
from vgfc.report.memory import session_memory
from vgfc.vgf_file import VgfFile, decode
from vgfc.vgf_text import constant_values, describe_resource, describe_values, graph_text

VALUE = re.compile(r"%\d+")
CONTEXT_LINES = 2
Figure = int | str


@dataclass(frozen=True)
class Row:
    """One figure of both files."""

    name: str
    left: Figure
    right: Figure

    @property
    def differs(self) -> bool:
        """Whether the files disagree."""
        return self.left != self.right


@dataclass
class Difference:
    """Everything in which two files can differ; `constants` and `graphs` are lines of text."""

    structure: list[Row] = field(default_factory=list)
    memory: list[Row] = field(default_factory=list)
    operators: list[Row] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)
    graphs: list[str] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether the files agree in all that is compared."""
        rows = [*self.structure, *self.memory, *self.operators]
        return not any(row.differs for row in rows) and not self.constants and not self.graphs

    def to_json(self) -> dict[str, Any]:
        """The comparison as plain data."""
        sections = {"structure": self.structure, "memory": self.memory, "operators": self.operators}
        found: dict[str, Any] = {
            title: {row.name: [row.left, row.right] for row in rows} for title, rows in sections.items()
        }
        return {**found, "constants": self.constants, "graphs": self.graphs}

    def lines(self, names: tuple[str, str]) -> Iterator[str]:
        """The comparison as text; rows that differ are marked."""
        for title, rows in (("structure", self.structure), ("memory", self.memory), ("operators", self.operators)):
            if not rows:
                continue
            width = max(len(row.name) for row in rows)
            left, right = (max(len(str(figure)) for figure in column) for column in _columns(rows, names))
            yield f"{title:{width + 2}}  {names[0]:>{left}}  {names[1]:>{right}}"
            for row in rows:
                change = ""
                if row.differs:
                    is_number = isinstance(row.left, int) and isinstance(row.right, int)
                    change = f"  {int(row.right) - int(row.left):+d}" if is_number else "  differs"
                yield f"  {row.name:{width}}  {row.left!s:>{left}}  {row.right!s:>{right}}{change}"
        for title, found in (("constants", self.constants), ("graphs", self.graphs)):
            if found:
                yield title
                yield from (f"  {line}" for line in found)


def _columns(rows: list[Row], names: tuple[str, str]) -> tuple[list[Figure], list[Figure]]:
    return [names[0], *(row.left for row in rows)], [names[1], *(row.right for row in rows)]


@dataclass
class _Side:
    file: VgfFile
    graphs: list[Graph]
    size_bytes: int
    sessions: list[int]


def _side(content: bytes) -> _Side:
    file = decode(content)
    graphs = []
    for segment in file.segments:
        if segment.kind == "graph" and 0 <= segment.module < len(file.modules):
            module = file.modules[segment.module]
            found = read_graphs(module.code) if module.language == "SPIR-V" and module.code else []
            graphs += [graph for graph in found if graph.name == module.entry_point]
    module = read_vgf(content, make_context())
    sessions = [session_memory(segment).size_bytes for segment in graph_of(module).segments if segment.kind == "graph"]
    return _Side(file, graphs, len(content), sessions)


def compare_files(left: bytes, right: bytes) -> Difference:
    """What differs between two VGF files, given as their bytes; raises CompileError where one cannot be decoded."""
    one, other = _side(left), _side(right)
    found = Difference()
    for name in ("inputs", "outputs"):
        found.structure.append(Row(name, _ports(one.file, name), _ports(other.file, name)))
    for kind in ("graph", "compute"):
        found.structure.append(
            Row(f"{kind} segments", *(sum(s.kind == kind for s in side.file.segments) for side in (one, other)))
        )
    for category in ("INPUT", "OUTPUT", "INTERMEDIATE", "CONSTANT"):
        found.structure.append(
            Row(
                f"{category.lower()} resources",
                *(sum(r.category == category for r in side.file.resources) for side in (one, other)),
            )
        )
    found.structure.append(Row("alias groups", _alias_groups(one.file), _alias_groups(other.file)))
    found.memory = [
        Row("file bytes", one.size_bytes, other.size_bytes),
        Row("constant bytes", _constant_bytes(one.file), _constant_bytes(other.file)),
        Row("session bytes", sum(one.sessions), sum(other.sessions)),
    ]
    counts = [Counter(a.operator.name for graph in side.graphs for a in graph.applications) for side in (one, other)]
    found.operators = [Row("all", counts[0].total(), counts[1].total())]
    found.operators += [Row(name, counts[0][name], counts[1][name]) for name in sorted(counts[0] | counts[1])]
    found.constants = list(_compare_constants(one.file, other.file))
    found.graphs = list(_compare_graphs(one.graphs, other.graphs))
    return found


def _ports(file: VgfFile, which: str) -> str:
    """Names, shapes and formats of inputs or outputs."""
    slots, names = (file.inputs, file.input_names) if which == "inputs" else (file.outputs, file.output_names)
    found = []
    for index, slot in enumerate(slots):
        text = describe_resource(file.resources[slot.resource]) if slot.resource < len(file.resources) else "?"
        found.append(f"{names[index] if index < len(names) else '?'}:{text.split(' ', 1)[-1].split(',')[0]}")
    return ", ".join(found)


def _alias_groups(file: VgfFile) -> int:
    return len({resource.alias_group for resource in file.resources if resource.alias_group is not None})


def _constant_bytes(file: VgfFile) -> int:
    return sum(len(constant.data) for constant in file.constants)


def _compare_constants(left: VgfFile, right: VgfFile) -> Iterator[str]:
    """Constants of one file that the other lacks; those of one type whose values differ are paired in order."""
    ours, theirs = _constants(left), _constants(right)
    for key, bytes_left in ours.items():
        bytes_right = theirs.pop(key, Counter())
        only_left, only_right = list((bytes_left - bytes_right).elements()), list((bytes_right - bytes_left).elements())
        kind, dtype = key
        for one, other in zip(only_left, only_right, strict=False):
            a, b = (np.frombuffer(data, dtype).astype(np.float64) for data in (one, other))
            yield f"{kind}: {int((a != b).sum())} of {a.size} values differ, by at most {np.abs(a - b).max():.6g}"
        yield from (f"- {kind}: {describe_values(np.frombuffer(d, dtype))}" for d in only_left[len(only_right) :])
        yield from (f"+ {kind}: {describe_values(np.frombuffer(d, dtype))}" for d in only_right[len(only_left) :])
    for (kind, dtype), found in theirs.items():
        yield from (f"+ {kind}: {describe_values(np.frombuffer(data, dtype))}" for data in found.elements())


def _constants(file: VgfFile) -> dict[tuple[str, np.dtype[Any]], Counter[bytes]]:
    """The values of the constants by their resource's words and element type."""
    found: dict[tuple[str, np.dtype[Any]], Counter[bytes]] = {}
    for number, constant in enumerate(file.constants):
        values = constant_values(file, number)
        kind = describe_resource(file.resources[constant.resource]).removeprefix("constant ")
        found.setdefault((kind, values.dtype), Counter())[bytes(constant.data)] += 1
    return found


def _compare_graphs(left: list[Graph], right: list[Graph]) -> Iterator[str]:
    """A unified difference of the graphs' text, values numbered anew so that only what they are for counts."""
    ours, theirs = ([line for graph in graphs for line in _renumbered(graph)] for graphs in (left, right))
    for line in difflib.unified_diff(ours, theirs, lineterm="", n=CONTEXT_LINES):
        if not line.startswith(("---", "+++")):
            yield line


def _renumbered(graph: Graph) -> list[str]:
    """The graph's text without its name; ids count values in the order in which they are first named."""
    numbers: dict[str, str] = {}

    def number(match: re.Match[str]) -> str:
        return numbers.setdefault(match[0], f"%{len(numbers)}")

    lines = [line.strip().split("  //")[0] for line in graph_text(graph)]
    lines[0] = lines[0].replace(f"@{graph.name}", "", 1)
    constants = {line.split(" = ")[0]: line.split(" = ", 1)[1] for line in lines if " = constant " in line}
    named = []
    for line in lines:
        if line.split(" = ")[0] in constants:
            continue  # shown where it is read: the order of constants means nothing
        named.append(
            VALUE.sub(lambda match: f"({constants[match[0]]})" if match[0] in constants else number(match), line)
        )
    return named
