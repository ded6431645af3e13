"""vgf-inline-branches: both sides of a cond_if are computed, and its condition selects between their results.

    %0 = tosa.cond_if %c -> tensor<2xf32> {
      %1 = tosa.add %x, %y
      tosa.yield %1
    } else {
      tosa.yield %y
    }
becomes
    %1 = tosa.add %x, %y
    %2 = tosa.reshape %c            // tensor<i1> -> tensor<1xi1>
    %0 = tosa.select %2, %1, %y

A VGF's graphs have no branches, and on the host each costs a segment. Operators on tensors are pure, so that computing the
side that is not taken changes nothing: a selection lets not even its NaN through. Of a constant condition only the side
that is taken stays.

Left alone, for the host, are sides with effects or with a loop (it might not end), those with an operator that a condition
may be there to guard (a division, an index into a tensor: TOSA leaves the whole graph's result open when these are out
of range), and results of a type that TOSA cannot select.

Invalid input: none, a cond_if that cannot be inlined is left alone.
"""

from dataclasses import dataclass

from torch_mlir import ir

from vgfc import build
from vgfc.ir import constant_value, element_type, functions, is_pure, operations, replace, shape
from vgfc.passmanager import Pass, register
from vgfc.shaders import is_shader
from vgfc.tosa_types import OPERATORS

GUARDED = frozenset({"tosa.gather", "tosa.intdiv", "tosa.scatter"})
SELECTED_TYPES = frozenset(row.types[-1] for row in OPERATORS["select"].rows)


def can_be_computed(block: ir.Block) -> bool:
    """Whether running the block changes nothing but its results, whatever its operands are."""
    body = [op.operation for op in list(block.operations)[:-1]]
    return all((is_pure(op) or is_shader(op)) and op.name not in GUARDED for op in body)


def moved(op: ir.Operation, block: ir.Block) -> list[ir.Value]:
    """The values that a side yields, after its operations have been moved before `op`."""
    for argument, value in zip(block.arguments, list(op.operands)[1:], strict=False):  # a side may have no arguments
        argument.replace_all_uses_with(value)
    *body, ending = [inner.operation for inner in list(block.operations)]
    results = list(ending.operands)
    for inner in body:
        inner.move_before(op)
    return results


def selected(condition: ir.Value, chosen: ir.Value, other: ir.Value) -> ir.Value:
    """One of two values of the same type by a condition of one element, whatever its rank."""
    if chosen == other:
        return chosen
    ones = (1,) * len(shape(chosen))
    fitting = condition if shape(condition) == ones else build.reshape(condition, ones)
    return build.select(fitting, chosen, other)


def inline(op: ir.Operation) -> None:
    """Inline a cond_if, those inside it first."""
    sides = [region.blocks[0] for region in op.regions]
    for side in sides:
        for inner in list(side.operations):
            if inner.operation.name == "tosa.cond_if":
                inline(inner.operation)
    condition = op.operands[0]
    known = constant_value(condition)
    if known is not None:
        chosen = moved(op, sides[0] if known.item() else sides[1])
    elif all(can_be_computed(side) for side in sides) and all(
        str(element_type(result)) in SELECTED_TYPES for result in op.results
    ):
        pairs = list(zip(moved(op, sides[0]), moved(op, sides[1]), strict=True))
        with ir.InsertionPoint(op), op.location:
            chosen = [selected(condition, *pair) for pair in pairs]
    else:
        return
    replace(op, *chosen)


@register
@dataclass(frozen=True)
class InlineBranches(Pass):
    name = "vgf-inline-branches"

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            for op in operations(function):
                if op.name == "tosa.cond_if":
                    inline(op)
