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
from vgfc.ir import functions, operations, segment_kind, shape
from vgfc.passmanager import Pass, register

MAX_INLINE_ELEMENTS = 16  # what upstream's tosa-to-spirv-tosa-mark-graph-constants leaves in the SPIR-V


def element_count(kind: ir.Type) -> int:
    count = 1
    for extent in shape(kind):
        count *= extent
    return count


def is_returned(op: ir.Operation) -> bool:
    """Whether a function returns the constant itself, if need be through the identity that gives a result its own value."""
    users = [use.owner.operation for use in op.results[0].uses]
    return any(user.name == "func.return" or (user.name == "tosa.identity" and is_returned(user)) for user in users)


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
                if op.name != "tosa.const" or element_count(op.results[0].type) <= MAX_INLINE_ELEMENTS:
                    continue
                values = op.attributes["values"]
                if isinstance(values, ir.DenseElementsAttr) and values.is_splat and not is_returned(op):
                    continue
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
