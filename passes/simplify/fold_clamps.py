"""vgf-fold-clamps: one clamp for a maximum and a minimum with constants, and for clamps in a row.

torch-mlir writes relu6 and hardtanh as two operators on splat constants:

    %1 = tosa.maximum %x, %zero
    %2 = tosa.minimum %1, %six             // both read as tosa.clamp %x {min_val = 0.0, max_val = 6.0}

A bound that a single maximum or minimum leaves open becomes an infinity, so that infinities pass as before.
clamp(clamp(x, a, b), c, d) has the bounds clamp(a, c, d) and clamp(b, c, d), which holds for disjoint ranges as well. A clamp
that others read stays for them.

Operators that differ in their NaN mode are left alone, and so are constants that are NaN, that differ between elements, or
that broadcast the other operand to a larger result.

Invalid input: none, what does not fit stays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch_mlir import ir

from vgfc import build
from vgfc.ir import (
    defining,
    element_type,
    erase_unused,
    functions,
    is_float,
    nan_mode,
    operations,
    replace,
    shape,
    splat_value,
)
from vgfc.passmanager import Pass, register
from vgfc.tosa_numpy import attribute_number

Number = float | int
Bounds = tuple[Number, Number]


def limited(bounds: Bounds, outer: Bounds) -> Bounds:
    """The bounds of a clamp by `bounds` followed by one by `outer`."""
    low, high = outer
    return (min(max(bounds[0], low), high), min(max(bounds[1], low), high))


def bounds_of(op: ir.Operation) -> tuple[ir.Value, Bounds] | None:
    """What a clamp, maximum or minimum with a splat clamps, and to what; None for other operations."""
    if op.name == "tosa.clamp":
        return op.operands[0], (attribute_number(op.attributes["min_val"]), attribute_number(op.attributes["max_val"]))
    # The integers that maximum and minimum take are i32, which clamp does not.
    if op.name not in ("tosa.maximum", "tosa.minimum") or not is_float(element_type(op.result)):
        return None
    for data, other in (tuple(op.operands), tuple(op.operands)[::-1]):
        value = splat_value(other)
        if value is not None and not math.isnan(value) and shape(data) == shape(op.result):
            return data, (value, math.inf) if op.name == "tosa.maximum" else (-math.inf, value)
    return None


def bound_attribute(value: Number, element: ir.Type) -> ir.Attribute:
    """A clamp's bound as an attribute of the element type."""
    if isinstance(element, ir.FloatType):
        return ir.FloatAttr.get(element, value)
    return ir.IntegerAttr.get(element, int(value))


def fold(op: ir.Operation) -> None:
    """Merge `op` with the clamps before it, if it is a clamp of some form."""
    found = bounds_of(op)
    if found is None:
        return
    data, bounds = found
    mode = nan_mode(op)
    merged = False
    while (inner := defining(data)) is not None and nan_mode(inner) == mode:
        before = bounds_of(inner)
        if before is None:
            break
        data, bounds, merged = before[0], limited(before[1], bounds), True
    element = element_type(op.result)
    if (op.name == "tosa.clamp" and not merged) or not bounds[0] <= bounds[1]:
        return
    attributes = {
        name: bound_attribute(value, element) for name, value in zip(("min_val", "max_val"), bounds, strict=True)
    }
    if "nan_mode" in op.attributes:
        attributes["nan_mode"] = op.attributes["nan_mode"]
    with ir.InsertionPoint(op), op.location:
        clamp = build.operation("tosa.clamp", op.result.type, [data], attributes)
    replace(op, clamp)


@register
@dataclass(frozen=True)
class FoldClamps(Pass):
    name = "vgf-fold-clamps"

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            for op in operations(function):
                fold(op)
            erase_unused(function)
