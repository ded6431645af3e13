"""vgf-fold-transpose-pairs: drop a transpose that the one before it already undid, and merge any other two into one.

torch-mlir wraps convolutions in NCHW <-> NHWC transposes, so two of them meet wherever convolutions follow each other:

    %1 = tosa.transpose %0 {perms = array<i32: 0, 3, 1, 2>}
    %2 = tosa.transpose %1 {perms = array<i32: 0, 2, 3, 1>}    // reads as %0

A transpose by the identity goes away as well. The first transpose stays while others read it.

In none of vgfc's pipelines, where vgf-propagate-layouts does this with a whole function in view: it is for other pipelines
that want the local rewrite alone, and the shortest pass to read first.

Invalid input: none, the verifier of tosa.transpose has seen the permutations.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import tosa
from torch_mlir.rewrite import PatternRewriter

from vgfc.ir import NO_MATCH, apply_patterns, defining, int_list
from vgfc.passmanager import Pass, register


def fold_pair(op: tosa.TransposeOp, rewriter: PatternRewriter) -> bool | None:
    perms = int_list(op.perms)
    if perms == sorted(perms):
        rewriter.replace_op(op, [op.input1])
        return None
    inner = defining(op.input1)
    if inner is None or inner.name != "tosa.transpose":
        return NO_MATCH
    inner_perms = int_list(inner.attributes["perms"])
    merged = [inner_perms[axis] for axis in perms]
    source = inner.operands[0]
    if merged == sorted(merged):
        rewriter.replace_op(op, [source])
        return None
    with rewriter.ip, op.location:
        replacement = tosa.TransposeOp(op.output.type, source, ir.DenseI32ArrayAttr.get(merged))
    rewriter.replace_op(op, replacement)
    return None


@register
@dataclass(frozen=True)
class FoldTransposePairs(Pass):
    name = "vgf-fold-transpose-pairs"

    def run(self, module: ir.Module) -> None:
        apply_patterns(module, (tosa.TransposeOp, fold_pair))
