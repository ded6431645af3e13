"""vgf-assign-graph-constants: number the constants that the VGF file stores, and keep their values in the module.

SPIR-V holds constants of up to 16 elements, and splats of any size (SPV_EXT_replicated_composites writes their one number
once). Others, and splats that a segment returns, are graph constants, of which the graph knows type and number and the file's
constant section the values. Numbers are unique over all segments, and equal constants share one:

    %0 = "tosa.const"() <{values = dense<...> : tensor<20xf32>}> : () -> tensor<20xf32>
becomes
    ml_program.global private @graph_constant_0(dense<...> : tensor<20xf32>) : tensor<20xf32>
    %0 = "tosa.const"() <{values = ...}> {grapharm.graph_constant_id = 0 : i32} : () -> tensor<20xf32>

Constants outside graph segments are left alone.
"""

from dataclasses import dataclass

from torch_mlir import ir

from vgfc.diagnostics import fail
from vgfc.ir import functions, operations, segment_kind
from vgfc.passmanager import Pass, register
from vgfc.segments import is_graph_constant


@register
@dataclass(frozen=True)
class AssignGraphConstants(Pass):
    name = "vgf-assign-graph-constants"

    def run(self, module: ir.Module) -> None:
        numbers: dict[ir.Attribute, int] = {}
        i32 = ir.IntegerType.get_signless(32)
        for function in functions(module):
            if segment_kind(function) != "graph":
                continue
            for op in operations(function):
                if "grapharm.graph_constant_id" in op.attributes:
                    del op.attributes["grapharm.graph_constant_id"]  # of the file that the module was read from
                if op.name != "tosa.const" or not is_graph_constant(op):
                    continue
                values = op.attributes["values"]
                if not isinstance(values, ir.DenseElementsAttr):
                    raise fail(op, "expected inline values (dense<...>), found opaque ones (dense_resource<...>)")
                number = numbers.setdefault(values, len(numbers))
                op.attributes["grapharm.graph_constant_id"] = ir.IntegerAttr.get(i32, number)
        with ir.InsertionPoint.at_block_begin(module.body):
            for values, number in numbers.items():
                ir.Operation.create(
                    "ml_program.global",
                    attributes={
                        "sym_name": ir.StringAttr.get(f"graph_constant_{number}"),
                        "type": ir.TypeAttr.get(ir.DenseElementsAttr(values).type),
                        "value": values,
                        "sym_visibility": ir.StringAttr.get("private"),
                    },
                )
