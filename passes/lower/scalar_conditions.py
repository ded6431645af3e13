"""vgf-scalar-conditions: the conditions of cond_if and while_loop become tensors of rank 0.

    %0 = tosa.cond_if %c : tensor<1x1xi1> -> tensor<2xf32> { ... }
becomes
    %1 = tosa.reshape %c : (tensor<1x1xi1>, !tosa.shape<0>) -> tensor<i1>
    %0 = tosa.cond_if %1 : tensor<i1> -> tensor<2xf32> { ... }

TOSA asks for one element, of any rank. Upstream's tosa-to-scf, which takes host segments on from here, reads the element
with no index, and writes an invalid tensor.extract for any rank but 0.

Invalid input: none, a module without control flow is left alone.
"""

from dataclasses import dataclass

from torch_mlir import ir

from vgfc import build
from vgfc.ir import functions, shape
from vgfc.passmanager import Pass, register


def make_scalar(reader: ir.Operation) -> None:
    """Let an operation's first operand, a condition, have rank 0."""
    condition = reader.operands[0]
    if shape(condition):
        with ir.InsertionPoint(reader), reader.location:
            reader.operands[0] = build.reshape(condition, ())


def visit(block: ir.Block) -> None:
    """The conditions in a block and in all blocks inside it."""
    for op in [op.operation for op in list(block.operations)]:
        for region in op.regions:
            for inner in region.blocks:
                visit(inner)
        if op.name == "tosa.cond_if":
            make_scalar(op)
        elif op.name == "tosa.while_loop":
            make_scalar(list(op.regions[0].blocks[0].operations)[-1].operation)


@register
@dataclass(frozen=True)
class ScalarConditions(Pass):
    name = "vgf-scalar-conditions"

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            visit(function.entry_block)
