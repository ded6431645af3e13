"""vgf-unroll-loops: a while_loop whose number of turns is known becomes that many copies of its body.

    %0:2 = tosa.while_loop (%n = %three, %v = %x) {
      yield %n > 0
    } do {
      yield %n - 1, %v + %v
    }
becomes
    %1 = %three - 1; %2 = %x + %x
    %3 = %1 - 1; %4 = %2 + %2
    %5 = %3 - 1; %6 = %4 + %4

A VGF's graphs have no loop, and on the host each loop costs a segment. The turns are counted by evaluating the condition,
which therefore has to follow from constants through operators on integers and booleans, where every device agrees; floating
point may decide otherwise elsewhere. Inner loops come first. A loop is left alone, for the host, when its condition depends
on an input, and when its copies would be more than `max-operators`.

Invalid input: none, a loop whose turns are not known is left alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from vgfc.build import small_constant
from vgfc.ir import Array, element_type, functions, is_float, is_pure, nested, operations, redirect, replace, shape
from vgfc.passmanager import Pass, register
from vgfc.tosa_numpy import evaluate, known_operands

MAX_COUNTED_ELEMENTS = 4096  # larger tensors count no turns, and cost time to evaluate


def is_counted(op: ir.Operation) -> bool:
    """Whether an operator may take part in counting: its tensors are small and not in floating point."""
    kinds = [value.type for value in (*op.operands, *op.results)]
    tensors = [kind for kind in kinds if isinstance(kind, ir.RankedTensorType)]
    return all(math.prod(shape(kind)) <= MAX_COUNTED_ELEMENTS and not is_float(element_type(kind)) for kind in tensors)


def results_of(block: ir.Block, carried: Sequence[Array | None]) -> list[Array | None]:
    """What the block yields for these arguments, None for each value that is not known."""
    known = {argument: array for argument, array in zip(block.arguments, carried, strict=True) if array is not None}
    *body, ending = [op.operation for op in block.operations]
    for op in body:
        operands = known_operands(op, known) if is_counted(op) else None
        result = evaluate(op, operands) if operands is not None else None
        if result is not None:
            known[op.result] = result
    return [known[value] if value in known else small_constant(value) for value in ending.operands]


def turns(loop: ir.Operation, most: int) -> int | None:
    """How often the body runs, None when that is not known or more than `most`."""
    condition, body = (region.blocks[0] for region in loop.regions)
    carried = [small_constant(value) for value in loop.operands]
    for turn in range(most + 1):
        (goes_on,) = results_of(condition, carried)
        if goes_on is None:
            return None
        if not goes_on.item():
            return turn
        carried = results_of(body, carried)
    return None


def count_operators(block: ir.Block) -> int:
    """The operations of a block and of all blocks inside it."""
    return sum(1 + len(list(nested(op.operation))) for op in block.operations)


def copied(block: ir.Block, arguments: Sequence[ir.Value]) -> list[ir.Value]:
    """The values that the block yields, from a copy of its operations at the insertion point."""
    values = dict(zip(block.arguments, arguments, strict=True))
    *body, ending = [op.operation for op in block.operations]
    for op in body:
        copy = op.clone()
        redirect(copy, values)
        values.update(zip(op.results, copy.results, strict=True))
    return [values.get(value, value) for value in ending.operands]


def unroll(op: ir.Operation, max_operators: int) -> None:
    """Unroll the loops inside an operation, then the operation itself when it is one."""
    for region in op.regions:
        for block in region.blocks:
            for inner in list(block.operations):
                unroll(inner.operation, max_operators)
    if op.name != "tosa.while_loop":
        return
    condition, body = (region.blocks[0] for region in op.regions)
    if not all(is_pure(inner.operation) for inner in list(condition.operations)[:-1]):
        return
    count = turns(op, max_operators // count_operators(body))
    if count is None:
        return
    carried = list(op.operands)
    with ir.InsertionPoint(op):
        for _ in range(count):
            carried = copied(body, carried)
    replace(op, *carried)


@register
@dataclass(frozen=True)
class UnrollLoops(Pass):
    name = "vgf-unroll-loops"
    max_operators: int = 1024

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            for op in operations(function):
                unroll(op, self.max_operators)
