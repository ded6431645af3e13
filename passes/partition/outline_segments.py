"""vgf-outline-segments: the entry's operations move into private functions, one a segment, that the entry calls in order.

    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
becomes
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = call @segment_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func private @segment_0(...) -> ... attributes {vgf.segment = "graph"} { ... }

A module whose entry only calls segments already is left alone.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc.diagnostics import PassFailure
from vgfc.ir import entry, operations
from vgfc.passmanager import Pass, register


@register
@dataclass(frozen=True)
class OutlineSegments(Pass):
    name = "vgf-outline-segments"

    def run(self, module: ir.Module) -> None:
        function = entry(module)
        if function is None:
            raise PassFailure("expected one public function with a body, the model's entry", module.operation.location)
        body = list(operations(function))
        if all(op.name == "func.call" for op in body):
            return
        results = list(function.type.results)
        with ir.InsertionPoint.at_block_begin(module.body), function.location:
            segment = func.FuncOp("segment_0", (list(function.type.inputs), results), visibility="private")
            segment.attributes["vgf.segment"] = ir.StringAttr.get("graph")
        block = segment.add_entry_block([argument.location for argument in function.arguments])
        last = list(function.entry_block.operations)[-1]
        for op in [*body, last.operation]:
            op.detach_from_parent()
            block.append(op)
        for old, new in zip(function.arguments, block.arguments, strict=True):
            old.replace_all_uses_with(new)
        with ir.InsertionPoint(function.entry_block), function.location:
            call = func.CallOp(results, "segment_0", list(function.arguments))
            func.ReturnOp(call.results)
        segment.move_after(function)
