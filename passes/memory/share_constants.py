"""vgf-share-constants: equal constants of a function become one, at its beginning.

Each constant that a graph reads is a device allocation of its own, and each that is in the file takes its bytes there. Passes
that cut operators into pieces, and segments that read the same weights, leave equal ones behind:

    %a = "tosa.const"() <{values = dense<[1, 2, 3]> : tensor<3xi32>}> : () -> tensor<3xi32>
    %0 = tosa.add %x, %a
    %b = "tosa.const"() <{values = dense<[1, 2, 3]> : tensor<3xi32>}> : () -> tensor<3xi32>
    %1 = tosa.mul %0, %b, %shift
becomes
    %a = "tosa.const"() <{values = dense<[1, 2, 3]> : tensor<3xi32>}> : () -> tensor<3xi32>
    %0 = tosa.add %x, %a
    %1 = tosa.mul %0, %a, %shift

Constants are equal when type and bits are, so 0.0 and -0.0 stay apart. Over all segments, `vgf-assign-graph-constants` gives
equal ones one number and the file holds them once. Constants inside the regions of operators are left alone.

Invalid input: none, constants of opaque bytes are compared by name.
"""

from dataclasses import dataclass

from torch_mlir import ir

from vgfc.ir import functions, operations
from vgfc.passmanager import Pass, register
from vgfc.segments import is_constant


@register
@dataclass(frozen=True)
class ShareConstants(Pass):
    name = "vgf-share-constants"

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            first: dict[tuple[str, ir.Attribute, ir.Type], ir.Operation] = {}
            for op in operations(function):
                if not is_constant(op):
                    continue
                key = (op.name, op.attributes["value" if op.name == "arith.constant" else "values"], op.result.type)
                if key in first:
                    op.result.replace_all_uses_with(first[key].result)
                    op.erase()
                else:
                    first[key] = op
            if first:
                start = next(operations(function))
                for op in first.values():
                    if op != start:
                        op.move_before(start)
