"""The operators of a segmented module as plain data: what reads what, from which line of the user's, with which constants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import cast

from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc import ir as helpers
from vgfc.diagnostics import module_path, source_line
from vgfc.interface import entry_function, ports
from vgfc.memory import device_bytes
from vgfc.segments import CONSTANTS, HOST_REASON, is_graph_constant, string

MAX_ATTRIBUTE_CHARACTERS = 120
HIDDEN_ATTRIBUTES = frozenset({"values", "implementation_attrs"})


@dataclass(frozen=True)
class Node:
    """An operator, or an input or output of a segment; `kind` is "operator", "input" or "output".

    `results` are the types of its results as `2x3xf32`, `result_bytes` what each takes in device memory. `constants` are
    indices into `ProgramGraph.constants`. `reason` says why the host runs it.
    """

    kind: str
    name: str
    results: tuple[str, ...]
    result_bytes: tuple[int, ...]
    source: str | None = None
    path: str | None = None
    attributes: tuple[tuple[str, str], ...] = ()
    constants: tuple[int, ...] = ()
    reason: str | None = None


@dataclass(frozen=True)
class Edge:
    """A value: from node `source` to node `target` of a segment, the source's result number `result`."""

    source: int
    target: int
    result: int


@dataclass
class Segment:
    """One segment; nodes are in the order in which they run, inputs first, outputs last."""

    name: str
    kind: str
    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)


@dataclass(frozen=True)
class Link:
    """A value between segments, or of the model: (segment, node) that makes it and (segment, node) that takes it."""

    source: tuple[int, int]
    target: tuple[int, int]


@dataclass(frozen=True)
class ConstantUse:
    """Values that operators read as a constant; `stored` is "file" (the VGF's constant section) or "code" (the SPIR-V)."""

    type: str
    size_bytes: int
    stored: str
    readers: tuple[str, ...]
    source: str | None
    path: str | None


@dataclass
class ProgramGraph:
    """All segments in dispatch order."""

    segments: list[Segment] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    constants: list[ConstantUse] = field(default_factory=list)


def graph_of(module: ir.Module) -> ProgramGraph:
    """What a module consists of; one that is not cut into segments is shown as one graph."""
    return _Reader(module).run()


def type_text(kind: ir.Type) -> str:
    """A tensor type without the word: 2x3xf32; other types as MLIR writes them."""
    text = str(kind)
    return text[len("tensor<") : -1] if text.startswith("tensor<") else text


def value_bytes(values: Iterable[ir.Value]) -> tuple[int, ...]:
    """Device bytes of each value, 0 for what is no tensor."""
    return tuple(device_bytes(value.type) for value in values)


def _segment_of(op: ir.Operation, symbols: dict[str, func.FuncOp]) -> func.FuncOp | None:
    """The segment that an operation of the entry calls, with a body or only declared; None for any other operation."""
    if op.name != "func.call":
        return None
    function = symbols[ir.FlatSymbolRefAttr(op.attributes["callee"]).value]
    return function if helpers.segment_kind(function) is not None else None


class _Reader:
    def __init__(self, module: ir.Module) -> None:
        self.module = module
        self.graph = ProgramGraph()
        self.constants: dict[ir.Attribute, int] = {}
        self.readers: list[list[str]] = []
        self.sizes: list[tuple[str, int, str, str | None, str | None]] = []

    def run(self) -> ProgramGraph:
        entry = entry_function(self.module)
        inputs, outputs = ports(self.module)
        names = {argument: port.name for argument, port in zip(entry.arguments, inputs, strict=True)}
        *_, end = entry.entry_block.operations
        names.update((value, port.name) for value, port in zip(end.operands, outputs, strict=True))
        symbols = {op.name.value: op for op in self.module.body.operations if isinstance(op, func.FuncOp)}
        body = list(helpers.operations(entry))
        if body and all(_segment_of(op, symbols) is not None for op in body):
            self.calls(body, symbols, names)
        else:
            self.graph.segments.append(self.segment(entry, [port.name for port in (*inputs, *outputs)]))
        self.graph.constants = [
            ConstantUse(kind, size, stored, tuple(readers), source, path)
            for (kind, size, stored, source, path), readers in zip(self.sizes, self.readers, strict=True)
        ]
        return self.graph

    def calls(self, body: list[ir.Operation], symbols: dict[str, func.FuncOp], names: dict[ir.Value, str]) -> None:
        """The segments that the entry calls, and what passes between them."""
        makers: dict[ir.Value, tuple[int, int]] = {}
        for call in body:
            function = _segment_of(call, symbols)
            assert function is not None, "the entry was seen to call segments alone"
            number = len(self.graph.segments)
            names_here = [names.get(value) for value in (*call.operands, *call.results)]
            segment = self.shader(function) if function.is_external else self.segment(function, names_here)
            self.graph.segments.append(segment)
            for index, operand in enumerate(call.operands):
                if operand in makers:
                    self.graph.links.append(Link(makers[operand], (number, index)))
            first_output = len(segment.nodes) - len(call.results)
            for index, result in enumerate(call.results):
                makers[result] = (number, first_output + index)

    def shader(self, function: func.FuncOp) -> Segment:
        """A compute segment of a VGF file, whose shader is all that there is: inputs, the shader, outputs."""
        kind = function.type
        inputs = [
            Node("input", f"input {index}", (type_text(item),), (device_bytes(item),))
            for index, item in enumerate(kind.inputs)
        ]
        outputs = [
            Node("output", f"output {index}", (type_text(item),), (device_bytes(item),))
            for index, item in enumerate(kind.results)
        ]
        sizes = tuple(device_bytes(item) for item in kind.results)
        middle = Node("operator", function.name.value, tuple(type_text(item) for item in kind.results), sizes)
        place = len(inputs)
        edges = [Edge(index, place, 0) for index in range(place)]
        edges += [Edge(place, place + 1 + index, index) for index in range(len(outputs))]
        return Segment(
            function.name.value, helpers.segment_kind(function) or "compute", [*inputs, middle, *outputs], edges
        )

    def segment(self, function: func.FuncOp, names: Sequence[str | None]) -> Segment:
        """A segment's function; `names` are the model's for its inputs and then outputs, None for values between segments."""
        segment = Segment(function.name.value, helpers.segment_kind(function) or "graph")
        makers: dict[ir.Value, tuple[int, int]] = {}  # node and number of its result
        for index, argument in enumerate(function.arguments):
            makers[argument] = (len(segment.nodes), 0)
            types, sizes = (type_text(argument.type),), value_bytes([argument])
            segment.nodes.append(Node("input", names[index] or f"input {index}", types, sizes))
        for op in helpers.operations(function):
            if op.name in CONSTANTS:
                continue
            number = len(segment.nodes)
            segment.nodes.append(self.node(op))
            makers.update((result, (number, index)) for index, result in enumerate(op.results))
            for operand in dict.fromkeys(op.operands):
                if operand in makers:
                    source, index = makers[operand]
                    segment.edges.append(Edge(source, number, index))
        *_, last = function.entry_block.operations
        for index, value in enumerate(last.operands):
            number = len(segment.nodes)
            name = names[len(function.arguments) + index] or f"output {index}"
            segment.nodes.append(Node("output", name, (type_text(value.type),), value_bytes([value])))
            if value in makers:
                source, result = makers[value]
                segment.edges.append(Edge(source, number, result))
        return segment

    def node(self, op: ir.Operation) -> Node:
        name = op.name.removeprefix("tosa.")
        if op.name == "tosa.custom":
            name = cast(str, ir.StringAttr(op.attributes["operator_name"]).value)
        source = source_line(op.location)
        path = module_path(op.location)
        constants = []
        for operand in op.operands:
            owner = helpers.defining(operand)
            if owner is not None and owner.name in CONSTANTS and owner.name != "tosa.const_shape":
                constants.append(self.constant(owner, f"{name} {path or ''}".strip()))
        attributes = tuple(
            (key, str(op.attributes[key])[:MAX_ATTRIBUTE_CHARACTERS])
            for key in op.attributes
            if key not in HIDDEN_ATTRIBUTES and not key.startswith("vgf.")
        )
        return Node(
            kind="operator",
            name=name,
            results=tuple(type_text(result.type) for result in op.results),
            result_bytes=value_bytes(op.results),
            source=str(source) if source is not None else None,
            path=path,
            attributes=attributes,
            constants=tuple(constants),
            reason=string(op, HOST_REASON),
        )

    def constant(self, op: ir.Operation, reader: str) -> int:
        """The number of a constant; equal ones count once, as they are stored once."""
        key = op.attributes["values" if op.name == "tosa.const" else "value"]
        if key not in self.constants:
            self.constants[key] = len(self.sizes)
            kind = op.results[0].type
            stored = "file" if op.name == "tosa.const" and is_graph_constant(op) else "code"
            source = source_line(op.location)
            path = module_path(op.location)
            size = device_bytes(kind)
            self.sizes.append((type_text(kind), size, stored, str(source) if source else None, path))
            self.readers.append([])
        number = self.constants[key]
        if reader not in self.readers[number]:
            self.readers[number].append(reader)
        return number
