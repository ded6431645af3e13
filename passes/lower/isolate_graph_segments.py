"""vgf-isolate-graph-segments: each graph segment moves into a module of its own, which upstream's SPIR-V passes then lower.

    func.func private @segment_0(...) -> ... attributes {vgf.segment = "graph"} { ... }
becomes
    func.func private @segment_0(...) -> ... attributes {vgf.segment = "graph"}
    module @segment_0_graph { func.func @segment_0(...) -> ... { ... } }

so that `builtin.module(builtin.module(tosa-to-spirv-tosa,...))` touches nothing but graph segments. Segments of other
kinds are left alone.

Invalid input: none, a module without graph segments stays as it is.
"""

from dataclasses import dataclass

from torch_mlir import ir

from vgfc.ir import functions, segment_kind
from vgfc.passmanager import Pass, register


@register
@dataclass(frozen=True)
class IsolateGraphSegments(Pass):
    name = "vgf-isolate-graph-segments"

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            if segment_kind(function) != "graph":
                continue
            ir.Operation.create(
                "func.func",
                regions=1,
                attributes={name: function.attributes[name] for name in function.attributes},
                loc=function.location,
                ip=ir.InsertionPoint(function),
            )
            empty = ir.Module.create(loc=function.location)
            inner = empty.operation.clone(ip=ir.InsertionPoint(function))
            inner.attributes["sym_name"] = ir.StringAttr.get(f"{function.name.value}_graph")
            function.operation.detach_from_parent()
            inner.regions[0].blocks[0].append(function)
            for attribute in ("sym_visibility", "vgf.segment"):
                del function.attributes[attribute]
