"""vgf-propagate-layouts: choose the arrangement that every operator works in, so that few transposes and reshapes are left.

PyTorch is NCHW and TOSA's convolutions are NHWC; linear layers, attention heads and flattening reshape in between. All
chains of transpose and reshape are dissolved into views (`vgfc.views`), and every operator that can work in another
arrangement (`vgfc.layouts`) is free to. For each view that is left somewhere, the pass asks which set of operators
should change over for it to go away, and answers by a minimum cut over the whole function, costs being operators first
and bytes moved second; it stops when no view has an answer that lowers the total. Where an operator stays, the shortest
chain is written: at most reshape, transpose, reshape.

    %1 = tosa.transpose %conv {perms = array<i32: 0, 3, 1, 2>}
    %2 = tosa.clamp %1                                            // reads as clamp %conv
    %3 = tosa.transpose %2 {perms = array<i32: 0, 2, 3, 1>}

Arguments and results keep their types; constants are rearranged at compile time. A pointwise convolution between two
reshapes may come out as a matmul, where that is fewer operators.

Invalid input: none, operators that it does not know keep the arrangement they have.
"""

from dataclasses import dataclass

from torch_mlir import ir

from vgfc.ir import erase_unused, functions
from vgfc.layouts.graph import Graph
from vgfc.layouts.rewriter import Rewriter
from vgfc.layouts.search import improve
from vgfc.passmanager import EXACT, Pass, register


@register
@dataclass(frozen=True)
class PropagateLayouts(Pass):
    name = "vgf-propagate-layouts"

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            graph = Graph(function, EXACT in module.operation.attributes)
            improve(graph)
            Rewriter(graph).run()
            erase_unused(function)
