"""vgf-merge-rescales: rescales that change nothing go away, exact ones join the next, narrowing ones come before movement.

    %1 = tosa.rescale %0 by 2^7 ... (tensor<4xi8>) -> tensor<4xi32>
    %2 = tosa.rescale %1 by 2^-9 ... (tensor<4xi32>) -> tensor<4xi8>
becomes
    %2 = tosa.rescale %0 by 2^-2 ... (tensor<4xi8>) -> tensor<4xi8>

Two rescales become one only where the first is exact (it multiplies by a power of two, and its result has room), so that no
rounding gets lost. A rescale to fewer bits moves in front of a transpose, reshape, slice or reverse that is its only
reader's operand: less is moved then. Graphs that vgf-fold-quantization made have little of this; those of other
quantisers, which come in as integer TOSA, have a lot. Per-channel rescales are only joined, never moved.

Invalid input: none, the verifier of tosa.rescale has seen its operands.
"""

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import tosa
from torch_mlir.rewrite import PatternRewriter

from vgfc.integer.forms import emit_rescale
from vgfc.integer.numerics import MAX_SHIFT, MIN_SHIFT, RANGES
from vgfc.ir import (
    NO_MATCH,
    apply_patterns,
    attributes_of,
    constant_value,
    defining,
    element_type,
    has_one_use,
    shape,
    tensor,
)
from vgfc.passmanager import Pass, register

MOVES = ("tosa.transpose", "tosa.reshape", "tosa.slice", "tosa.reverse")
BITS = {"i8": 8, "i16": 16, "i32": 32, "i48": 48}


@dataclass(frozen=True)
class Scaling:
    """What a rescale does: (multiplier, shift) for each channel, zero points, element types."""

    factors: list[tuple[int, int]]
    input_zero_point: int
    output_zero_point: int
    source: str
    result: str


def scaling_of(op: ir.Operation) -> Scaling | None:
    """The scaling of a signed rescale with single rounding and 32-bit multipliers; None for any other operation."""
    attributes = op.attributes
    if op.name != "tosa.rescale" or "SINGLE_ROUND" not in str(attributes["rounding_mode"]):
        return None
    if any(ir.BoolAttr(attributes[name]).value for name in ("input_unsigned", "output_unsigned")):
        return None
    if not ir.BoolAttr(attributes["scale32"]).value:
        return None
    known = [constant_value(operand) for operand in list(op.operands)[1:]]
    multipliers, shifts, zero_in, zero_out = (
        None if values is None else values.astype(np.int64).reshape(-1) for values in known
    )
    if multipliers is None or shifts is None or zero_in is None or zero_out is None:
        return None
    names = str(element_type(op.operands[0])), str(element_type(op.result))
    factors = [(int(multiplier), int(shift)) for multiplier, shift in zip(multipliers, shifts, strict=True)]
    return Scaling(factors, int(zero_in[0]), int(zero_out[0]), *names)


def exact_power(scaling: Scaling) -> int | None:
    """The e for which a rescale multiplies by 2^e and no code is rounded or saturates; None where it is otherwise."""
    if len(scaling.factors) != 1 or scaling.output_zero_point:
        return None
    multiplier, shift = scaling.factors[0]
    if multiplier <= 0 or multiplier & (multiplier - 1):
        return None
    power = multiplier.bit_length() - 1 - shift
    low, high = (end - scaling.input_zero_point for end in RANGES.get(scaling.source, (0, -1)))
    if power < 0 or low > high:
        return None
    least, most = RANGES[scaling.result]
    return power if low << power >= least and high << power <= most else None


def merge(op: tosa.RescaleOp, rewriter: PatternRewriter) -> bool | None:
    operation = op.operation
    scaling = scaling_of(operation)
    if scaling is None:
        return NO_MATCH
    if is_identity(scaling):
        rewriter.replace_op(op, [op.input])
        return None
    inner = defining(op.input)
    if inner is None:
        return NO_MATCH
    first = scaling_of(inner)
    if first is not None:
        return join(op, inner, first, scaling, rewriter)
    if inner.name in MOVES and has_one_use(op.input) and len(scaling.factors) == 1:
        return move_up(op, inner, scaling, rewriter)
    return NO_MATCH


def is_identity(scaling: Scaling) -> bool:
    """Whether every code stays what it is."""
    multiplier, shift = scaling.factors[0]
    same_codes = scaling.source == scaling.result and scaling.input_zero_point == scaling.output_zero_point
    return same_codes and len(scaling.factors) == 1 and multiplier == 1 << shift


def join(
    op: tosa.RescaleOp, inner: ir.Operation, first: Scaling, second: Scaling, rewriter: PatternRewriter
) -> bool | None:
    power = exact_power(first)
    if power is None or second.input_zero_point:
        return NO_MATCH
    factors = [(multiplier, shift - power) for multiplier, shift in second.factors]
    reach = max(abs(end - first.input_zero_point) for end in RANGES[first.source])
    if any(not MIN_SHIFT <= shift <= MAX_SHIFT or reach >= 1 << (shift - 1) for _, shift in factors):
        return NO_MATCH
    with rewriter.ip, op.location:
        value = emit_rescale(
            inner.operands[0], second.result, factors, first.input_zero_point, second.output_zero_point
        )
    rewriter.replace_op(op, [value])
    return None


def move_up(op: tosa.RescaleOp, inner: ir.Operation, scaling: Scaling, rewriter: PatternRewriter) -> bool | None:
    if BITS[scaling.result] >= BITS[scaling.source]:
        return NO_MATCH
    kind = tensor(shape(op.output), element_type(op.output))
    attributes = attributes_of(inner)
    with rewriter.ip, op.location:
        narrow = emit_rescale(
            inner.operands[0], scaling.result, scaling.factors, scaling.input_zero_point, scaling.output_zero_point
        )
        operands = [narrow, *list(inner.operands)[1:]]
        moved = ir.Operation.create(inner.name, results=[kind], operands=operands, attributes=attributes)
    rewriter.replace_op(op, [moved.result])
    return None


@register
@dataclass(frozen=True)
class MergeRescales(Pass):
    name = "vgf-merge-rescales"

    def run(self, module: ir.Module) -> None:
        apply_patterns(module, (tosa.RescaleOp, merge))
