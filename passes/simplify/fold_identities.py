"""vgf-fold-identities: drop operators that give back what they are given, and shorten the ones that come apart.

    %1 = tosa.mul %x, %one                 // reads as %x
    %2 = tosa.sub %1, %zero                // reads as %x
    %3 = tosa.tile %b, ...                 // before an addition that broadcasts: reads as %b
    %4 = tosa.pow %x, %two                 // reads as tosa.mul %x, %x

Clamps to all that a type holds; x and x, x or x, the larger or smaller of x and x. Multiplication by one; x - 0.0 and
x + -0.0; x + 0.0 only where x cannot be -0.0, since -0.0 + 0.0 is 0.0: it is kept for floating point unless x comes out of
an operator that makes no -0.0. Integers lose every addition of zero. Further: sums, maxima and the like over an axis of
extent 1; pads of nothing; tiles by one, and tiles of one element that an element-wise reader broadcasts itself; concats of
one; reversals of an axis of extent 1; double negations; casts to the same type; selects by a constant or between equal
values; logical operations with a constant that decides nothing. Powers of 1, 2, -1 and -0.5 become the operators that do
these; the reciprocal of a power of 0.5 becomes rsqrt.

Left alone: x * 0, x - x and the like, which are not 0 for NaN and infinities.

Invalid input: none, what does not fit stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.ir import (
    constant_value,
    defining,
    element_type,
    erase_unused,
    functions,
    is_float,
    operations,
    replace,
    shape,
    shape_value,
    splat_value,
)
from vgfc.passmanager import EXACT, Pass, register
from vgfc.tosa_numpy import attribute_number
from vgfc.tosa_operators import BINARY, REDUCTIONS

# Accumulators start from +0.0, exp and clamps from a positive bound make no negative number, and so on.
NEVER_NEGATIVE_ZERO = frozenset(
    {
        "tosa.conv2d",
        "tosa.conv3d",
        "tosa.depthwise_conv2d",
        "tosa.exp",
        "tosa.matmul",
        "tosa.reduce_sum",
        "tosa.rsqrt",
        "tosa.sigmoid",
        "tosa.transpose_conv2d",
    }
)
ROUNDED_ANEW = ("tosa.pow", "tosa.reciprocal")  # in a module that is to stay exact these are left alone
INVOLUTIONS = ("tosa.bitwise_not", "tosa.logical_not")

Rule = Callable[[ir.Operation], "ir.Value | None"]


def same_shape(value: ir.Value, op: ir.Operation) -> bool:
    """Whether `value` can stand for the result of `op`."""
    return bool(value.type == op.result.type)


def with_constant(op: ir.Operation) -> list[tuple[ir.Value, float | int | bool]]:
    """The operands that have the result's type, each with the splat that the other operand is."""
    found = []
    for data, other in (tuple(op.operands)[:2], tuple(op.operands)[1::-1]):
        value = splat_value(other)
        if value is not None and same_shape(data, op):
            found.append((data, value))
    return found


def fold_addition(op: ir.Operation) -> ir.Value | None:
    """x + 0."""
    for data, value in with_constant(op):
        if value != 0:
            continue
        if not is_float(element_type(op.result)) or np.signbit(value) or makes_no_negative_zero(data):
            return data
    return None


def makes_no_negative_zero(value: ir.Value) -> bool:
    """Whether a floating-point value is known not to be -0.0."""
    owner = defining(value)
    return owner is not None and owner.name in NEVER_NEGATIVE_ZERO


def fold_subtraction(op: ir.Operation) -> ir.Value | None:
    """x - 0.0."""
    value = splat_value(op.operands[1])
    is_zero = value is not None and value == 0 and not np.signbit(value)
    return op.operands[0] if is_zero and same_shape(op.operands[0], op) else None


def fold_multiplication(op: ir.Operation) -> ir.Value | None:
    """x * 1."""
    if not is_float(element_type(op.result)) and splat_value(op.operands[2]) != 0:
        return None
    return next((data for data, value in with_constant(op) if value == 1), None)


def fold_power(op: ir.Operation) -> ir.Value | None:
    """Powers that other operators raise to."""
    base, exponent = op.operands[0], splat_value(op.operands[1])
    if exponent is None or not same_shape(base, op):
        return None
    if exponent == 1:
        return base
    if exponent == 2:
        return build.mul(base, base)
    kinds = {-1: "tosa.reciprocal", -0.5: "tosa.rsqrt"}
    return build.unary(kinds[exponent], base) if exponent in kinds else None


def fold_reciprocal(op: ir.Operation) -> ir.Value | None:
    """1 / x ** 0.5."""
    inner = defining(op.operands[0])
    if inner is None or inner.name != "tosa.pow" or splat_value(inner.operands[1]) != 0.5:
        return None
    return build.unary("tosa.rsqrt", inner.operands[0]) if same_shape(inner.operands[0], op) else None


def fold_involution(op: ir.Operation) -> ir.Value | None:
    """not not x."""
    inner = defining(op.operands[0])
    return inner.operands[0] if inner is not None and inner.name == op.name else None


def fold_negation(op: ir.Operation) -> ir.Value | None:
    """--x, for floating point: an integer's negation saturates."""
    inner = defining(op.operands[0])
    if inner is None or inner.name != op.name or not is_float(element_type(op.result)):
        return None
    return inner.operands[0]


def fold_selection(op: ir.Operation) -> ir.Value | None:
    """A choice that is made already."""
    condition = splat_value(op.operands[0])
    chosen = op.operands[1] if condition or op.operands[1] == op.operands[2] else op.operands[2]
    decided = condition is not None or op.operands[1] == op.operands[2]
    return chosen if decided and same_shape(chosen, op) else None


def fold_repeated(op: ir.Operation) -> ir.Value | None:
    """x and x, x or x, the larger of x and x."""
    return op.operands[0] if op.operands[0] == op.operands[1] and same_shape(op.operands[0], op) else None


def fold_clamp(op: ir.Operation) -> ir.Value | None:
    """A clamp to all that the type holds."""
    element = element_type(op.result)
    low, high = (attribute_number(op.attributes[name]) for name in ("min_val", "max_val"))
    if is_float(element):
        keeps_nan = "IGNORE" not in str(op.attributes["nan_mode"]) if "nan_mode" in op.attributes else True
        return op.operands[0] if (low, high) == (-np.inf, np.inf) and keeps_nan else None
    limit = 1 << (ir.IntegerType(element).width - 1)
    return op.operands[0] if low <= -limit and high >= limit - 1 else None


def fold_logic(op: ir.Operation) -> ir.Value | None:
    """and true, or false, xor false."""
    neutral = op.name == "tosa.logical_and"
    return next((data for data, value in with_constant(op) if value is neutral), None)


def fold_pad(op: ir.Operation) -> ir.Value | None:
    """Pads of nothing."""
    padding = shape_value(op.operands[1])
    return op.operands[0] if padding is not None and not any(padding) else None


def fold_same(op: ir.Operation) -> ir.Value | None:
    """Operators whose result has the type of their operand only when they do nothing."""
    return op.operands[0] if same_shape(op.operands[0], op) else None


def fold_concat(op: ir.Operation) -> ir.Value | None:
    """A concat of one operand."""
    return op.operands[0] if len(op.operands) == 1 else None


def fold_reverse(op: ir.Operation) -> ir.Value | None:
    """A reversal of one element."""
    axis = ir.IntegerAttr(op.attributes["axis"]).value
    return op.operands[0] if shape(op.result)[axis] == 1 else None


RULES: dict[str, Rule] = {
    "tosa.add": fold_addition,
    "tosa.bitwise_and": fold_repeated,
    "tosa.bitwise_or": fold_repeated,
    "tosa.cast": fold_same,
    "tosa.clamp": fold_clamp,
    "tosa.concat": fold_concat,
    "tosa.identity": fold_same,
    "tosa.logical_and": lambda op: fold_repeated(op) or fold_logic(op),
    "tosa.logical_or": lambda op: fold_repeated(op) or fold_logic(op),
    "tosa.logical_xor": fold_logic,
    "tosa.maximum": fold_repeated,
    "tosa.minimum": fold_repeated,
    "tosa.mul": fold_multiplication,
    "tosa.negate": fold_negation,
    "tosa.pad": fold_pad,
    "tosa.pow": fold_power,
    "tosa.reciprocal": fold_reciprocal,
    "tosa.reverse": fold_reverse,
    "tosa.select": fold_selection,
    "tosa.sub": fold_subtraction,
    "tosa.tile": fold_same,
    **dict.fromkeys(INVOLUTIONS, fold_involution),
    **dict.fromkeys(REDUCTIONS, fold_same),
}


def drop_tiles(op: ir.Operation) -> None:
    """Read what a tile repeats instead of the tile, where the operator broadcasts it itself."""
    count = 3 if op.name == "tosa.select" else 2
    for index in range(count):
        tile = defining(op.operands[index])
        if tile is None or tile.name != "tosa.tile":
            continue
        source = shape(tile.operands[0])
        others = [shape(op.operands[other]) for other in range(count) if other != index]
        tiled = [axis for axis, extent in enumerate(shape(tile.result)) if extent != source[axis]]
        if all(source[axis] == 1 and any(other[axis] != 1 for other in others) for axis in tiled):
            op.operands[index] = tile.operands[0]


@register
@dataclass(frozen=True)
class FoldIdentities(Pass):
    name = "vgf-fold-identities"

    def run(self, module: ir.Module) -> None:
        exact = EXACT in module.operation.attributes
        for function in functions(module):
            for op in operations(function):
                if op.name in BINARY or op.name == "tosa.select":
                    drop_tiles(op)
                rule = None if exact and op.name in ROUNDED_ANEW else RULES.get(op.name)
                if rule is None or constant_value(op.result) is not None:
                    continue
                with ir.InsertionPoint(op), op.location:
                    value = rule(op)
                if value is not None:
                    replace(op, value)
            erase_unused(function)
