"""vgf-note-integer-ranges: say where 64-bit integers, which are computed in 32 bits, may not fit.

    %0 = torch.aten.mul.Tensor %i, %j : !torch.vtensor<[3],si64>, !torch.vtensor<[3],si64> -> !torch.vtensor<[3],si64>
puts, unless the ranges of %i and %j prove that the product fits,
    vgf.notes = ["model.py:7: aten.mul.Tensor computes 64-bit integers in 32 bits: its result may be anywhere in [...]"]
on the module, which `vgfc.compile` shows as warnings.

A 64-bit input is known to fit 32 bits, because `program.run` checks it. From there and from constants, argmax, comparisons
and the like the range of each value is followed through the graph; after a note a value counts as fitting. Indices and
counts are proved so, and need no note.

Invalid input: none, an operator whose range is not known counts as filling 32 bits, which it is refused for elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from torch_mlir import ir

from vgfc.diagnostics import source_line
from vgfc.ir import array_of, functions
from vgfc.passmanager import Pass, register
from vgfc.torch_conversion import (
    Call,
    blocks,
    is_none,
    is_tensor,
    operator_name,
    scalar_constant,
    torch_dtype,
    torch_shape,
)

NOTES = "vgf.notes"


class Range(NamedTuple):
    """All whole numbers from low to high."""

    low: int
    high: int

    def joined(self, other: Range) -> Range:
        """The smallest range that holds both."""
        return Range(min(self.low, other.low), max(self.high, other.high))

    def fits(self) -> bool:
        """Whether 32 bits hold every number."""
        return FULL.low <= self.low and self.high <= FULL.high


FULL = Range(-(2**31), 2**31 - 1)
TRUTH = Range(0, 1)
Rule = Callable[[Call, "Known"], Range]


def hull(*numbers: int) -> Range:
    """The range of several numbers."""
    return Range(min(numbers), max(numbers))


class Known:
    """The ranges of the values seen so far."""

    def __init__(self) -> None:
        self.ranges: dict[ir.Value, Range] = {}

    def of(self, value: ir.Value) -> Range:
        """The range of an integer or boolean tensor, or of a number known now."""
        if not is_tensor(value):
            number = scalar_constant(value)
            return FULL if number is None else Range(int(number), int(number))
        limits = {"i1": TRUTH, "ui8": Range(0, 255), "si8": Range(-128, 127), "si16": Range(-(2**15), 2**15 - 1)}
        return self.ranges.get(value, limits.get(torch_dtype(value), FULL))


def times(left: Range, right: Range) -> Range:
    """The products."""
    return hull(*(a * b for a in left for b in right))


def added(sign: int, swapped: bool = False) -> Rule:
    """left + sign * alpha * right."""

    def rule(call: Call, known: Known) -> Range:
        left, right = known.of(call.operand(0)), known.of(call.operand(1))
        if swapped:
            left, right = right, left
        factor = int(call.number(2)) if call.has(2) else 1
        scaled = times(right, Range(sign * factor, sign * factor))
        return Range(left.low + scaled.low, left.high + scaled.high)

    return rule


def multiplied(call: Call, known: Known) -> Range:
    return times(known.of(call.operand(0)), known.of(call.operand(1)))


def counted(call: Call, known: Known) -> Range:
    """A sum, running or not: at most every element the largest."""
    own, count = known.of(call.operand(0)), math.prod(call.shape())
    return hull(own.low * count, own.high * count, 0)


def powered(call: Call, known: Known) -> Range:
    base, exponent = known.of(call.operand(0)), known.of(call.operand(1))
    top = max(abs(base.low), abs(base.high)) ** min(max(exponent.high, 0), 64)
    return Range(-top if base.low < 0 else 0, top)


def shifted(call: Call, known: Known) -> Range:
    amount = min(max(known.of(call.operand(1)).high, 0), 63)
    return times(known.of(call.operand(0)), Range(1, 2**amount))


def negated(call: Call, known: Known) -> Range:
    own = known.of(call.operand(0))
    return Range(-own.high, -own.low)


def sized(call: Call, known: Known) -> Range:
    own = known.of(call.operand(0))
    return hull(*([0] if own.low <= 0 <= own.high else []), abs(own.low), abs(own.high))


def held(call: Call, known: Known) -> Range:
    """A clamp by numbers or tensors, each of which may be None."""
    own = known.of(call.operand(0))
    low = known.of(call.operand(1)) if call.has(1) else own
    high = known.of(call.operand(2)) if call.has(2) else own
    first = Range(max(own.low, low.low), max(own.high, low.high)) if call.has(1) else own
    return Range(min(first.low, high.low), min(first.high, high.high)) if call.has(2) else first


def divided(call: Call, known: Known) -> Range:
    """A quotient, rounded either way: no further from 0 than the dividend, but for -1 from rounding down."""
    own = known.of(call.operand(0))
    mirrored = (-own.low, -own.high) if known.of(call.operand(1)).low < 0 else ()
    return hull(own.low, own.high, 0, -1, *mirrored)


def rest(call: Call, known: Known) -> Range:
    divisor = known.of(call.operand(1))
    return Range(min(divisor.low + 1, 0), max(divisor.high - 1, 0))


def place(call: Call, known: Known) -> Range:
    return Range(0, max(math.prod(call.shape()) - 1, 0))


def squared(call: Call, known: Known) -> Range:
    own = known.of(call.operand(0))
    return times(own, own)


def piece(call: Call, known: Known) -> Range:
    """One of the tensors of a list: what the operator that made the list took apart."""
    owner = call.operand(0).owner
    return FULL if isinstance(owner, ir.Block) else known.of(owner.operation.operands[0])


def literal(call: Call, known: Known) -> Range:
    values = array_of(call.op.attributes["value"])
    return Range(int(values.min()), int(values.max()))


def of_all(call: Call, known: Known) -> Range:
    """What only moves or chooses elements: the range of its integer operands together."""
    found: Range | None = None
    for value in [*call.op.operands, *(item for operand in call.op.operands for item in _items(operand))]:
        is_integers = is_tensor(value) and torch_dtype(value)[0] in "su"
        if is_integers or (str(value.type) == "!torch.int" and call.name in NUMBERS_COUNT):
            found = known.of(value) if found is None else found.joined(known.of(value))
    return FULL if found is None else found


def _items(value: ir.Value) -> list[ir.Value]:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "torch.prim.ListConstruct":
        return []
    return [item for item in owner.operation.operands if not is_none(item)]


def first(call: Call, known: Known) -> Range:
    return known.of(call.operand(0))


def stepped(call: Call, known: Known) -> Range:
    numbers = [int(call.number(index)) for index in range(len(call)) if str(call.operand(index).type) == "!torch.int"]
    return hull(0, *numbers)


MOVING = (
    "view", "reshape", "flatten.using_ints", "unflatten.int", "squeeze", "squeeze.dim", "squeeze.dims", "unsqueeze", "permute",
    "transpose.int", "t", "expand", "slice.Tensor", "select.int", "clone", "contiguous", "detach", "alias", "repeat", "tile",
    "flip", "roll", "index_select", "gather", "index.Tensor", "narrow", "amax", "amin", "max", "min", "bitwise_not", "unfold",
    "expand_as", "broadcast_to", "repeat_interleave.self_int", "lift_fresh_copy", "pixel_shuffle",
)  # fmt: skip
JOINING = (
    "cat", "stack", "where.self", "where.ScalarSelf", "where.ScalarOther", "where.Scalar", "masked_fill.Scalar", "maximum",
    "minimum",
)  # fmt: skip
NUMBERS_COUNT = frozenset(f"torch.aten.{name}" for name in JOINING if "where" in name or "fill" in name)
RULES: dict[str, Rule] = {
    **dict.fromkeys(("add.Tensor", "add.Scalar"), added(1)),
    **dict.fromkeys(("sub.Tensor", "sub.Scalar"), added(-1)),
    **dict.fromkeys(("rsub.Tensor", "rsub.Scalar"), added(-1, swapped=True)),
    **dict.fromkeys(("mul.Tensor", "mul.Scalar"), multiplied),
    **dict.fromkeys(("sum", "sum.dim_IntList", "cumsum"), counted),
    **dict.fromkeys(("pow.Tensor_Scalar", "pow.Tensor_Tensor"), powered),
    **dict.fromkeys(("bitwise_left_shift.Tensor", "__lshift__.Scalar", "bitwise_left_shift.Tensor_Scalar"), shifted),
    **dict.fromkeys(("floor_divide", "floor_divide.Scalar", "div.Tensor_mode", "div.Scalar_mode"), divided),
    **dict.fromkeys(("remainder.Tensor", "remainder.Scalar", "fmod.Tensor", "fmod.Scalar"), rest),
    **dict.fromkeys(("argmax", "argmin"), place),
    **dict.fromkeys(("clamp", "clamp.Tensor", "clip"), held),
    **dict.fromkeys(("arange", "arange.start", "arange.start_step"), stepped),
    **dict.fromkeys(("to.dtype", "_to_copy", "type_as"), first),
    **dict.fromkeys(MOVING, of_all),
    **dict.fromkeys(JOINING, of_all),
    "square": squared,
    "torch.prim.ListUnpack": piece,
    "torch.vtensor.literal": literal,
    "neg": negated,
    "abs": sized,
    "one_hot": lambda call, known: TRUTH,
}


def range_of(call: Call, known: Known) -> Range:
    """The range of an operator's 64-bit results."""
    rule = RULES.get(call.name.removeprefix("torch.aten."))
    floating = any(is_tensor(value) and torch_dtype(value)[0] in "fb" for value in call.op.operands)
    return FULL if rule is None or (floating and rule in (first, of_all)) else rule(call, known)


def note(call: Call, found: Range) -> str:
    """What to tell the user."""
    line = source_line(call.op.location)
    where = f"{line}: " if line is not None else ""
    name = call.name.removeprefix("torch.")
    return (
        f"{where}{name} computes 64-bit integers in 32 bits: its result may be anywhere in [{found.low}, {found.high}]"
    )


@register
@dataclass(frozen=True)
class NoteIntegerRanges(Pass):
    name = "vgf-note-integer-ranges"

    def run(self, module: ir.Module) -> None:
        notes: list[str] = []
        for function in functions(module):
            known = Known()
            for block in blocks(function.operation):
                for view in block.operations:
                    op = view.operation
                    wide = [value for value in op.results if is_tensor(value) and torch_dtype(value) == "si64"]
                    if not wide or 0 in torch_shape(wide[0]):
                        continue
                    call = Call(op, operator_name(op))
                    found = range_of(call, known)
                    if not found.fits():
                        notes.append(note(call, found))
                        found = FULL
                    known.ranges.update(dict.fromkeys(wide, found))
        if notes:
            module.operation.attributes[NOTES] = ir.ArrayAttr.get([ir.StringAttr.get(text) for text in notes])
