"""vgf-shrink-constants: store a constant operand once where broadcasting repeats it.

    %c = "tosa.const"() {values = dense<1.0> : tensor<1x16x16x32xf32>}
    %1 = tosa.add %x, %c                                   // reads with %c : tensor<1x1x1x1xf32>

An axis along which all values are the same bits gets extent 1, as long as another operand gives the result its extent
there. Only element-wise operators broadcast in TOSA; constants of others keep their shape.

Invalid input: none, constants that do not repeat stay.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc.ir import (
    Array,
    array_of,
    constant,
    defining,
    element_type,
    erase_unused,
    functions,
    operations,
    shape,
)
from vgfc.passmanager import Pass, register
from vgfc.tosa_operators import BINARY


def shrunk(attribute: ir.DenseElementsAttr, needed: list[bool]) -> Array | None:
    """The values without repetition along the axes that are not `needed`; None when nothing repeats."""
    values = array_of(attribute)
    for axis, extent in enumerate(values.shape):
        if extent == 1 or needed[axis]:
            continue
        first = values.take([0], axis)
        if attribute.is_splat or _same_bits(values, first):
            values = first
    return values if values.shape != shape(attribute.type) else None


def _same_bits(values: Array, first: Array) -> bool:
    unsigned = f"u{values.dtype.itemsize}"
    return bool(np.array_equal(values.view(unsigned), np.broadcast_to(first.view(unsigned), values.shape)))


@register
@dataclass(frozen=True)
class ShrinkConstants(Pass):
    name = "vgf-shrink-constants"

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            for op in operations(function):
                if op.name in BINARY or op.name == "tosa.select":
                    self._shrink_operands(op)
            erase_unused(function)

    @staticmethod
    def _shrink_operands(op: ir.Operation) -> None:
        count = 3 if op.name == "tosa.select" else 2
        for index in range(count):
            owner = defining(op.operands[index])
            if owner is None or owner.name != "tosa.const" or not shape(owner.result):
                continue
            others = [shape(op.operands[other]) for other in range(count) if other != index]
            needed = [all(other[axis] == 1 for other in others) for axis in range(len(others[0]))]
            attribute = owner.attributes["values"]
            if not isinstance(attribute, ir.DenseElementsAttr):
                continue
            values = shrunk(attribute, needed)
            if values is not None:
                with ir.InsertionPoint(owner), owner.location:
                    op.operands[index] = constant(values, element_type(owner.result))
