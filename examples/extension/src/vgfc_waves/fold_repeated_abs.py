"""waves-fold-repeated-abs: take the absolute value once where it is taken twice.

    %1 = tosa.abs %0
    %2 = tosa.abs %1    // readers of %2 read %1

Invalid input: none, operand and result of tosa.abs have one type.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import tosa
from torch_mlir.rewrite import PatternRewriter

from vgfc.ir import NO_MATCH, apply_patterns, defining
from vgfc.passmanager import Pass, register


def fold_abs(op: tosa.AbsOp, rewriter: PatternRewriter) -> bool | None:
    inner = defining(op.input1)
    if inner is None or inner.name != "tosa.abs":
        return NO_MATCH
    rewriter.replace_op(op, [op.input1])
    return None


@register
@dataclass(frozen=True)
class FoldRepeatedAbs(Pass):
    name = "waves-fold-repeated-abs"

    def run(self, module: ir.Module) -> None:
        apply_patterns(module, (tosa.AbsOp, fold_abs))
