"""vgf-mark-segments: decide for each operation of the entry whether a graph, a shader or the host runs it.

A graph runs what the target takes as TOSA and TOSA.001000.1 has an instruction for; a shader runs the `tosa.custom` that
holds one, where the target has compute segments; the host runs the rest, and the reason is written beside it:

    %0 = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tosa.abs %y : (tensor<4xi64>) -> tensor<4xi64>
becomes
    %0 = tosa.abs %x {vgf.segment = "graph"} ...
    %1 = tosa.abs %y {vgf.segment = "host", vgf.reason = "TOSA has no abs of i64; ..."} ...

`segment-of="decoder.*:host,resize:host,net.py?12:graph/tail"` steers it: each rule is a pattern (`*`, `?`, `[a-z]`) on the path
of the user's module, the operator's name or the place (file:line, where `?` stands for the colon), then `graph`, `compute` or
`host`; the first that matches decides. A name after a slash keeps operators apart from those of other names. A
`vgf.segment` that an operation has already stays. `require-full-graph` makes the host an error. The module's attributes
`vgf.segment_of` and `vgf.require_full_graph` say the same, after the options.

Constants get no mark; each segment that reads one gets its own copy, and a shader gets it from a graph, through a reshape.
An entry that calls segments already is left alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from torch_mlir import ir
from torch_mlir.dialects import func, tosa

from vgfc.diagnostics import PassFailure, fail, module_path, source_line
from vgfc.ir import const_shape, defining, operations, shape
from vgfc.passmanager import Pass, PipelineError, register
from vgfc.segments import (
    HOST_REASON,
    KINDS,
    REQUIRE_FULL_GRAPH,
    SEGMENT,
    SEGMENT_NAME,
    SEGMENT_OF,
    function_of_call,
    host_operator,
    is_constant,
    is_outlined,
    partitioned_entry,
    shown_name,
    string,
    symbols_of,
)
from vgfc.shaders import is_shader
from vgfc.target import Target, graph_reason, target_of

Symbols = dict[str, func.FuncOp]


@dataclass(frozen=True)
class Rule:
    """A user's wish: operations that match `pattern` belong to segments of this kind and name."""

    pattern: str
    kind: str
    name: str | None

    def matches(self, op: ir.Operation) -> bool:
        return any(fnmatchcase(text, self.pattern) for text in names_of(op))


def names_of(op: ir.Operation) -> Iterator[str]:
    """What a pattern may be about: the module path, the operator's names, the place in the user's file."""
    path, source = module_path(op.location), source_line(op.location)
    if path is not None:
        yield path
    yield op.name
    yield op.name.rpartition(".")[2]
    if op.name == "tosa.custom":
        yield ir.StringAttr(op.attributes["operator_name"]).value
    if source is not None:
        yield f"{source.file}:{source.line}"
        yield f"{source.file.rpartition('/')[2]}:{source.line}"


def parse_rules(text: str) -> list[Rule]:
    """The rules of `segment-of`; raises PipelineError where one is not pattern:kind or pattern:kind/name."""
    rules = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        pattern, _, wish = part.rpartition(":")
        kind, _, name = wish.partition("/")
        if not pattern or kind not in KINDS:
            raise PipelineError(f"segment-of: expected pattern:{'|'.join(KINDS)} or pattern:kind/name, found '{part}'")
        rules.append(Rule(pattern, kind, name or None))
    return rules


def natural_kind(op: ir.Operation, target: Target, symbols: Symbols) -> tuple[str, str | None]:
    """The kind of segment that can run an operation, and why it is not a graph."""
    if is_shader(op):
        if not target.compute:
            raise fail(op, "is a shader, and the target has no compute segments")
        return "compute", None
    callee = function_of_call(op, symbols)
    if callee is not None and host_operator(callee) is not None:
        return "host", string(callee.operation, HOST_REASON) or "it calls a function of the host"
    reason = graph_reason(op, target)
    return ("graph", None) if reason is None else ("host", reason)


def decide(op: ir.Operation, target: Target, rules: list[Rule], symbols: Symbols) -> tuple[str, str | None, str | None]:
    """Kind, name of the segment, and reason for one operation; raises PassFailure for a wish that cannot be met."""
    rule = next((rule for rule in rules if rule.matches(op)), None)
    kind, reason = natural_kind(op, target, symbols)
    wish, by, name = None, "", None
    if SEGMENT in op.attributes:
        wish, by = ir.StringAttr(op.attributes[SEGMENT]).value, f"its {SEGMENT} attribute"
        if wish not in KINDS:
            raise fail(op, f"has the {SEGMENT} '{wish}', expected {', '.join(KINDS)}")
    elif rule is not None:
        wish, name, by = rule.kind, rule.name, f"segment-of '{rule.pattern}:{rule.kind}'"
    if wish is None or wish == kind:
        return kind, name, reason
    if wish == "host" and kind == "graph":
        return "host", name, f"{by} says so"
    found = reason or ("it is a shader" if kind == "compute" else "it has no shader")
    raise fail(op, f"cannot be in a {wish} segment, as {by} wants: {found}")


def pass_constants_to_shaders(function: func.FuncOp) -> None:
    """Put a copying operator between a constant and a shader that reads it: a VGF gives constants to graphs alone."""
    copies: dict[ir.Value, ir.Value] = {}
    for op in operations(function):
        if not is_shader(op):
            continue
        for index, value in enumerate(op.operands):
            owner = defining(value)
            if owner is None or not is_constant(owner):
                continue
            if value not in copies:
                with ir.InsertionPoint(op), owner.location:
                    copies[value] = tosa.ReshapeOp(value, const_shape(shape(value)), results=[value.type]).output
            op.operands[index] = copies[value]


@register
@dataclass(frozen=True)
class MarkSegments(Pass):
    name = "vgf-mark-segments"
    segment_of: str = ""
    require_full_graph: bool = False

    def run(self, module: ir.Module) -> None:
        if is_outlined(module):
            return
        target, symbols = target_of(module), symbols_of(module)
        rules = parse_rules(self.segment_of) + parse_rules(string(module.operation, SEGMENT_OF) or "")
        full_graph = self.require_full_graph or REQUIRE_FULL_GRAPH in module.operation.attributes
        function = partitioned_entry(module)
        pass_constants_to_shaders(function)
        for op in operations(function):
            if is_constant(op):
                continue
            kind, name, reason = decide(op, target, rules, symbols)
            if kind == "host" and full_graph:
                raise PassFailure(f"'{shown_name(op, symbols)}' would run on the host: {reason}", op.location)
            op.attributes[SEGMENT] = ir.StringAttr.get(kind)
            if name is not None:
                op.attributes[SEGMENT_NAME] = ir.StringAttr.get(name)
            if reason is not None:
                op.attributes[HOST_REASON] = ir.StringAttr.get(reason)
