"""vgf-fold-constants: evaluate operators whose operands are all constants.

    %1 = tosa.add %variance, %epsilon      // both tosa.const
    %2 = tosa.rsqrt %1                     // reads as one tosa.const

The arithmetic is that of `vgfc.tosa_numpy`: bit-exact for integers, rounded once for floating point. A chain is evaluated
as a whole and only its end becomes a constant, so that a weight that is transposed and scaled exists twice and not
three times.

Operators are left alone whose result the specification leaves undefined (an i32 overflow, an index out of range),
those whose result is more than `max-growth-bytes` larger than what it is made from, such as a large tile, and casts of
many 8- or 16-bit integers to 32 bits, which quantisation stores so. Every constant lives as long as the module's context, so
with `views=false` transposes and reshapes of constants stay as well: the passes that change weights look through them,
and only what they leave needs to be written.

Invalid input: none, an operator that is not evaluated here stays.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc.ir import (
    Array,
    constant,
    element_type,
    erase_unused,
    functions,
    is_float,
    operations,
    size_bytes,
)
from vgfc.passmanager import EXACT, Pass, register
from vgfc.tosa_numpy import CONSTANTS, EVALUATORS, evaluate, known_operands

WIDENED_BYTES = 8192
VIEWS = ("tosa.transpose", "tosa.reshape")
# In floating point a device may round these otherwise than we do (TOSA 1.0, "Floating-point operator precision").
FREELY_ROUNDED = frozenset(
    f"tosa.{name}"
    for name in (
        *("conv2d", "cos", "depthwise_conv2d", "erf", "exp", "log", "matmul", "pow", "reciprocal", "reduce_product"),
        *("reduce_sum", "rsqrt", "sigmoid", "sin", "tanh"),
    )
)


@register
@dataclass(frozen=True)
class FoldConstants(Pass):
    name = "vgf-fold-constants"
    max_growth_bytes: int = 1 << 24
    views: bool = True

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            self._fold(function, EXACT in module.operation.attributes)
            erase_unused(function)

    def _fold(self, function: func.FuncOp, exact: bool) -> None:
        folded: dict[ir.Value, Array] = {}
        made: dict[ir.Value, ir.Value] = {}
        for op in [*operations(function), function.entry_block.operations[-1].operation]:
            if op.name in CONSTANTS or (exact and op.name in FREELY_ROUNDED and is_float(element_type(op.result))):
                continue
            result = self._evaluate(op, folded)
            if result is not None:
                folded[op.result] = result
                continue
            for index, operand in enumerate(op.operands):
                if operand in folded:
                    if operand not in made:
                        with ir.InsertionPoint(operand.owner), operand.owner.location:
                            made[operand] = constant(folded[operand], element_type(operand))
                    op.operands[index] = made[operand]
        for operand, values in folded.items():
            if operand not in made and _is_read_elsewhere(operand, function):
                with ir.InsertionPoint(operand.owner), operand.owner.location:
                    operand.replace_all_uses_with(constant(values, element_type(operand)))

    def _evaluate(self, op: ir.Operation, folded: dict[ir.Value, Array]) -> Array | None:
        if op.name not in EVALUATORS or len(op.operands) == 0:
            return None
        if not self.views and op.name in VIEWS and op.operands[0] not in folded:
            return None
        operands = known_operands(op, folded)
        if operands is None:
            return None
        kinds = [operand.type for operand in op.operands if isinstance(operand.type, ir.RankedTensorType)]
        if op.name == "tosa.cast" and widens(op):
            return None
        known_bytes = sum(size_bytes(kind) for kind in kinds)
        if size_bytes(op.result.type) > known_bytes + self.max_growth_bytes:
            return None
        return evaluate(op, operands)


def widens(op: ir.Operation) -> bool:
    """Whether a cast makes large integers of narrow ones, which are stored so to save bytes."""
    names = tuple(str(element_type(value)) for value in (op.operands[0], op.result))
    grown_bytes = size_bytes(op.result.type) - size_bytes(op.operands[0].type)
    return names in (("i8", "i32"), ("i16", "i32")) and grown_bytes >= WIDENED_BYTES


def _is_read_elsewhere(value: ir.Value, function: func.FuncOp) -> bool:
    """Whether an operation inside a nested region reads a folded value."""
    block = function.entry_block
    return any(use.owner.operation.block != block for use in value.uses)
