"""Families of TOSA operators, by what they do along the axes of their operands."""

from __future__ import annotations


def _tosa(names: str) -> frozenset[str]:
    return frozenset(f"tosa.{name}" for name in names.split())


# One tensor, element by element; what follows it (zero points) has one number.
UNARY = _tosa(
    "abs bitwise_not cast ceil clamp clz cos erf exp floor log logical_not negate reciprocal rsqrt sigmoid sin tanh"
)
# Two tensors that broadcast, element by element; a multiplication's shift follows them.
BINARY = _tosa(
    "add arithmetic_right_shift bitwise_and bitwise_or bitwise_xor equal greater greater_equal intdiv logical_and"
    " logical_left_shift logical_or logical_right_shift logical_xor maximum minimum mul pow sub"
)
ELEMENTWISE = UNARY | BINARY | _tosa("identity select")
# One axis, which stays with extent 1.
REDUCTIONS = _tosa("reduce_all reduce_any reduce_max reduce_min reduce_product reduce_sum")
