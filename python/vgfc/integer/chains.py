"""Chains of element-wise operators as functions of one tensor, evaluated on numbers."""

from __future__ import annotations

import numpy as np
from torch_mlir import ir

from vgfc.integer.constants import Constants
from vgfc.integer.numerics import Array
from vgfc.ir import defining, shape
from vgfc.tosa_numpy import EVALUATORS

LINEAR = frozenset(f"tosa.{name}" for name in ["add", "sub", "mul", "negate", "clamp", "maximum", "minimum", "abs"])
CURVED = frozenset(
    f"tosa.{name}"
    for name in [
        "ceil",
        "cos",
        "erf",
        "exp",
        "floor",
        "log",
        "pow",
        "reciprocal",
        "rsqrt",
        "sigmoid",
        "sin",
        "tanh",
        "select",
        "greater",
        "greater_equal",
        "equal",
        "logical_and",
        "logical_or",
        "logical_xor",
        "logical_not",
        "cast",
    ]
)
ELEMENTWISE = LINEAR | CURVED


class Chains:
    """Which values are a function of one other value, element by element."""

    def __init__(self, constants: Constants) -> None:
        self.constants = constants
        self.leaves: dict[ir.Value, ir.Value | None] = {}
        self.curved: dict[ir.Value, bool] = {}

    def leaf(self, value: ir.Value) -> ir.Value | None:
        """The tensor that `value` is an element-wise function of: itself when of no other; None for one constant number."""
        if value not in self.leaves:
            self.leaves[value] = self.find_leaf(value)
        return self.leaves[value]

    def find_leaf(self, value: ir.Value) -> ir.Value | None:
        op = defining(value)
        if op is None:
            return value
        if self.is_number(value):
            return None
        if op.name not in ELEMENTWISE:
            return value
        found = {leaf for leaf in (self.leaf(operand) for operand in op.operands) if leaf is not None}
        if len(found) != 1:
            return value
        leaf = found.pop()
        return leaf if shape(leaf) == shape(value) else value

    def is_number(self, value: ir.Value) -> bool:
        """Whether a value is a constant of one number."""
        known = self.constants.operand(value)
        return known is not None and known.size > 0 and bool((known == known.flat[0]).all())

    def is_curved(self, value: ir.Value) -> bool:
        """Whether more than sums, products and limits stand between a value and its leaf."""
        if value not in self.curved:
            op = defining(value)
            inner = op is not None and self.leaf(value) is not None and self.leaf(value) != value
            self.curved[value] = bool(
                inner
                and op is not None
                and (
                    op.name in CURVED
                    or any(self.is_curved(operand) for operand in op.operands if not self.is_number(operand))
                )
            )
        return self.curved[value]

    def has_power(self, value: ir.Value) -> bool:
        """Whether a negative power, which is largest where its operand is small, stands between a value and its leaf."""
        op = defining(value)
        leaf = self.leaf(value)
        if op is None or leaf is None or leaf == value:
            return False
        return op.name in ("tosa.reciprocal", "tosa.rsqrt", "tosa.pow") or any(map(self.has_power, op.operands))

    def evaluate(self, value: ir.Value, numbers: Array) -> Array:
        """The chain's values where its leaf has `numbers` (1-D), with each operator rounded to its own type."""
        leaf = self.leaf(value)
        assert leaf is not None, "a constant is no chain"
        made: dict[ir.Value, Array] = {leaf: np.asarray(numbers).astype(np.float32)}
        with np.errstate(all="ignore"):
            return self.value_of(value, made).astype(np.float64)

    def value_of(self, value: ir.Value, made: dict[ir.Value, Array]) -> Array:
        if value not in made:
            known = self.constants.operand(value)
            if known is not None:
                made[value] = known.reshape(-1)[:1]
            else:
                op = defining(value)
                assert op is not None, "the leaf is the only value without operator"
                made[value] = EVALUATORS[op.name](op, [self.value_of(operand, made) for operand in op.operands])
        return made[value]
