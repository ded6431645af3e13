"""vgf-fold-casts: drop casts that change nothing, and join casts in a row where the first keeps every value.

    %1 = tosa.cast %0 : (tensor<4xi8>) -> tensor<4xi32>
    %2 = tosa.cast %1 : (tensor<4xi32>) -> tensor<4xf32>      // reads as a cast from i8
    %3 = tosa.cast %0 : (tensor<4xf16>) -> tensor<4xf32>
    %4 = tosa.cast %3 : (tensor<4xf32>) -> tensor<4xf16>      // reads as %0

The first cast of a pair may go only when its type holds every value of the type before it, so that it rounds nothing;
f32 to f16 and back stays. A cast to i1 asks whether the value is zero, which a cast that keeps all values does not change;
but nothing passes through i1.

Invalid input: none, casts that do not fit stay.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir

from vgfc import build
from vgfc.ir import defining, element_type, replace, rewrite_each
from vgfc.passmanager import Pass, register

FLOATS = {  # significand bits with the hidden one, exponent range of normal numbers
    "f8E4M3FN": (4, -6, 8),
    "f8E5M2": (3, -14, 15),
    "f16": (11, -14, 15),
    "bf16": (8, -126, 127),
    "f32": (24, -126, 127),
    "f64": (53, -1022, 1023),
}
INTEGERS = {"i1": 1, "i4": 4, "i8": 8, "i16": 16, "i32": 32, "i48": 48, "i64": 64}


def holds_all(wide: str, narrow: str) -> bool:
    """Whether every value of element type `narrow` is one of `wide`, with subnormals, infinities and NaN."""
    if wide == narrow:
        return True
    if wide in FLOATS and narrow in FLOATS:
        (bits, low, high), (fewer, inner_low, inner_high) = FLOATS[wide], FLOATS[narrow]
        same_specials = wide != "f8E4M3FN"
        return same_specials and fewer <= bits and low - bits <= inner_low - fewer and inner_high <= high
    if wide in INTEGERS and narrow in INTEGERS:
        return wide != "i1" and INTEGERS[narrow] <= INTEGERS[wide]
    if wide in FLOATS and narrow in INTEGERS:
        bits, _, high = FLOATS[wide]
        return INTEGERS[narrow] <= bits and INTEGERS[narrow] <= high
    return False


def fold(op: ir.Operation) -> None:
    """Join a cast with the casts before it."""
    source = op.operands[0]
    wanted = str(element_type(op.result))
    while (inner := defining(source)) is not None and inner.name == "tosa.cast":
        before = inner.operands[0]
        if not holds_all(str(element_type(source)), str(element_type(before))):
            break
        source = before
    if str(element_type(source)) == wanted:
        replace(op, source)
    elif source != op.operands[0]:
        with ir.InsertionPoint(op), op.location:
            joined = build.operation("tosa.cast", op.result.type, [source])
        replace(op, joined)


@register
@dataclass(frozen=True)
class FoldCasts(Pass):
    name = "vgf-fold-casts"

    def run(self, module: ir.Module) -> None:
        rewrite_each(module, ("tosa.cast",), fold)
