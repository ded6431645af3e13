"""Which operators are in no graph, why, and what would change it; read off a partitioned module."""

from __future__ import annotations

from dataclasses import replace

from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc.diagnostics import module_path, source_line
from vgfc.ir import functions, operations, segment_kind
from vgfc.report import Outside
from vgfc.segments import HOST_REASON, function_of_call, partitioned_entry, shown_name, string, symbols_of
from vgfc.shaders import is_shader
from vgfc.target import EXTENSIONS, LEVELS, PROFILES, Target, graph_reason, target_of

USER_WISH = " says so"  # how vgf-mark-segments ends the reason for what the user asked for


def segment_kinds(module: ir.Module) -> list[str]:
    """The kinds of a partitioned module's segments, in dispatch order."""
    symbols = symbols_of(module)
    callees = [function_of_call(call, symbols) for call in operations(partitioned_entry(module))]
    return [segment_kind(callee) or "" for callee in callees if callee is not None]


def explain(module: ir.Module) -> list[Outside]:
    """Every operator of a partitioned module's compute and host segments, in order."""
    target, symbols = target_of(module), symbols_of(module)
    found = []
    for function in functions(module):
        kind = segment_kind(function)
        if kind in ("compute", "host"):
            found += [
                outside(op, kind, target, symbols)
                for op in operations(function)
                if is_shader(op) or HOST_REASON in op.attributes
            ]
    return found


def outside(op: ir.Operation, kind: str, target: Target, symbols: dict[str, func.FuncOp]) -> Outside:
    """What there is to say of one operator that is in no graph."""
    source = source_line(op.location)
    reason = string(op, HOST_REASON) or "it is a shader"
    return Outside(
        operator=shown_name(op, symbols),
        kind=kind,
        file=source.file if source else None,
        line=source.line if source else None,
        module_path=module_path(op.location),
        reason=reason,
        remedy=remedy(op, reason, target) if kind == "host" else "",
    )


def remedy(op: ir.Operation, reason: str, target: Target) -> str:
    """What would bring an operator of the host into a graph; empty where nothing is known to."""
    if reason.endswith(USER_WISH):
        return "without that it would be in a graph"
    if op.name == "func.call":
        return "a model that says it with other operators would not need the host"
    every = replace(target, profiles=PROFILES, extensions=tuple(EXTENSIONS))
    if graph_reason(op, every) is None:
        missing = [name for name in (*PROFILES, *EXTENSIONS) if graph_reason(op, without(every, name)) is not None]
        return f"a target with {' and '.join(name for name in missing if name not in target.enabled)} takes it"
    wide = replace(every, level="none", limits=LEVELS["none"])
    if graph_reason(op, wide) is None:
        return "a target with higher limits (level none) takes it"
    return "no target takes it: another element type or other operators are needed"


def without(target: Target, name: str) -> Target:
    """The target without one profile or extension."""
    return replace(
        target,
        profiles=tuple(profile for profile in target.profiles if profile != name),
        extensions=tuple(extension for extension in target.extensions if extension != name),
    )
