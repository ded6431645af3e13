"""vgf-split-concats: a concatenation of more tensors than the target's lists may hold becomes a tree of them.

    %0 = tosa.concat %a, %b, %c, %d, %e {axis = 0 : i32}        // with max-operands=3
becomes
    %1 = tosa.concat %a, %b, %c {axis = 0 : i32}
    %2 = tosa.concat %d, %e {axis = 0 : i32}
    %0 = tosa.concat %1, %2 {axis = 0 : i32}

TOSA's level 8K allows 64 tensors (TOSA 1.0.2, Levels, MAX_TENSOR_LIST_SIZE), which is the default.

Invalid input: none, the verifier of tosa.concat has seen the shapes; a limit below 2 is an error of the option.
"""

from dataclasses import dataclass

from torch_mlir import ir

from vgfc import build
from vgfc.ir import functions, operations, replace
from vgfc.passmanager import Pass, PipelineError, register


def split(op: ir.Operation, limit: int) -> None:
    """Replace a concatenation that is too long."""
    axis = ir.IntegerAttr(op.attributes["axis"]).value
    values = list(op.operands)
    with ir.InsertionPoint(op), op.location:
        while len(values) > limit:
            values = [build.concat(values[start : start + limit], axis) for start in range(0, len(values), limit)]
        joined = build.concat(values, axis)
    replace(op, joined)


@register
@dataclass(frozen=True)
class SplitConcats(Pass):
    name = "vgf-split-concats"
    max_operands: int = 64

    def run(self, module: ir.Module) -> None:
        if self.max_operands < 2:
            raise PipelineError(
                f"option 'max-operands' of pass '{self.name}': expected 2 or more, found {self.max_operands}"
            )
        for function in functions(module):
            for op in operations(function):
                if op.name == "tosa.concat" and len(op.operands) > self.max_operands:
                    split(op, self.max_operands)
