"""vgf-separate-results: every result of the entry gets a value of its own, made by an operator.

    func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
      %0 = tosa.abs %x
      return %0, %0, %x
    }
becomes
    %0 = tosa.abs %x
    %1 = tosa.clamp %0 {min_val = -inf, max_val = inf}
    %2 = tosa.clamp %x {min_val = -inf, max_val = inf}
    return %0, %1, %2

A VGF binds each output to a resource of its own: a value returned twice, an input returned as it is and a constant would
share one, or have none that an operator writes. The copies come last, so that they live as short as may be: a clamp to all
there is, for i32 a bitwise and for i1 a logical or with itself, since SPIR-V has no identity.

Invalid input: none, an entry without results and a module without entry are left alone.
"""

from dataclasses import dataclass

from torch_mlir import ir

from vgfc import build
from vgfc.ir import defining, entry
from vgfc.passmanager import Pass, register


@register
@dataclass(frozen=True)
class SeparateResults(Pass):
    name = "vgf-separate-results"

    def run(self, module: ir.Module) -> None:
        function = entry(module)
        if function is None:
            return
        ending = list(function.entry_block.operations)[-1].operation
        seen: set[ir.Value] = set()
        with ir.InsertionPoint(ending), ending.location:
            for index, value in enumerate(list(ending.operands)):
                owner = defining(value)
                if owner is None or owner.name == "tosa.const" or value in seen:
                    ending.operands[index] = build.copy(value)
                seen.add(value)
