"""vgf-check-segments: see that a partitioned module is one; it changes nothing.

The entry calls segments and does nothing else; graph segments hold what the target takes as TOSA, compute segments one
shader each; no marks are left, and no `vgf.quantize` or `vgf.dequantize`: quantisation is folded into integer operators
before the cuts are made, so that no cut comes between an operator and what gives it its type.

    %0 = call @segment_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tosa.abs %0 : (tensor<4xf32>) -> tensor<4xf32>           // error: 'tosa.abs' is in no segment
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc.diagnostics import fail
from vgfc.ir import functions, operations, segment_kind
from vgfc.passmanager import Pass, register
from vgfc.segments import (
    KINDS,
    SEGMENT_INDEX,
    SEGMENT_NAME,
    function_of_call,
    partitioned_entry,
    symbols_of,
)
from vgfc.shaders import is_shader
from vgfc.target import Target, graph_reason, target_of


def check_entry(function: func.FuncOp, symbols: dict[str, func.FuncOp]) -> None:
    called = set()
    for op in operations(function):
        callee = function_of_call(op, symbols)
        if callee is None:
            raise fail(op, "is in no segment, expected the entry to call segments alone")
        name = callee.name.value
        kind = segment_kind(callee)
        if kind not in KINDS:
            raise fail(op, f"calls @{name}, whose vgf.segment is {kind or 'absent'}, expected {', '.join(KINDS)}")
        if name in called:
            raise fail(op, f"calls @{name} a second time, expected each segment to be dispatched once")
        called.add(name)


def check_segment(function: func.FuncOp, kind: str, target: Target) -> None:
    body = list(operations(function))
    for op in body:
        for mark in (SEGMENT_INDEX, SEGMENT_NAME, "vgf.segment"):
            if mark in op.attributes:
                raise fail(op, f"still has {mark}, expected it on no operation of a segment")
    if kind == "graph":
        for op in body:
            reason = graph_reason(op, target)
            if reason is not None:
                raise fail(op, f"is in a graph segment: {reason}")
    if kind == "compute" and (len(body) != 1 or not is_shader(body[0])):
        found = ", ".join(op.name for op in body) or "nothing"
        raise fail(function, f"is a compute segment, expected one shader in it, found {found}")


@register
@dataclass(frozen=True)
class CheckSegments(Pass):
    name = "vgf-check-segments"

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            for op in operations(function):
                if op.name in ("vgf.quantize", "vgf.dequantize"):
                    raise fail(op, "is left over, expected quantisation to be folded before the model is cut")
        check_entry(partitioned_entry(module), symbols_of(module))
        target = target_of(module)
        for function in functions(module):
            kind = segment_kind(function)
            if kind is not None:
                check_segment(function, kind, target)
