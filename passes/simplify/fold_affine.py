"""vgf-fold-affine: fold multiplications and additions of one constant per channel into a convolution's weights and bias.

    %1 = tosa.conv2d %x, %w, %b            // %w, %b constant
    %2 = tosa.sub %1, %mean                // 1x1x1xC, or a splat
    %3 = tosa.mul %2, %scale
    %4 = tosa.add %3, %shift               // all read as one conv2d with other weights and bias

A batch norm after a convolution goes this way as a whole: the chain is added up in f64 and the weights are written once,
rounded once. A chain before a convolution folds as well when convolutions are all that reads it; additions do so only where
the convolution does not pad, because what it pads with is zero after the addition and not before.

Left alone: chains that others read, constants that vary along other axes, weights that are not constant or not
floating point, and anything that would make a weight infinite or NaN. A constant matmul takes multiplications only.

Invalid input: none, what does not fit stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc.ir import (
    Array,
    constant_value,
    defining,
    element_type,
    erase_unused,
    functions,
    has_one_use,
    int_list,
    is_float,
    operations,
    shape,
)
from vgfc.passmanager import Pass, register
from vgfc.weights import (
    OUTPUT_AXES,
    Update,
    bias_of,
    has_constant_weights,
    input_factor,
    output_factor,
    per_channel,
    scaled_weights,
    write_constants,
)


@dataclass
class Affine:
    """x * scale + shift, one of each per channel, in f64."""

    scale: Array
    shift: Array

    def then(self, scale: Array | float, shift: Array | float) -> Affine:
        """This, followed by another."""
        return Affine(self.scale * scale, self.shift * scale + shift)


def step(op: ir.Operation, data: ir.Value) -> tuple[Array | float, Array | float] | None:
    """What an operation does to `data`, as scale and shift per channel; None for one that is not affine."""
    if op.name not in ("tosa.mul", "tosa.add", "tosa.sub") or not is_float(element_type(op.result)):
        return None
    left, right = op.operands[0], op.operands[1]
    if left == right or shape(data) != shape(op.result):
        return None
    rank = len(shape(data))
    other = per_channel(constant_value(right if left == data else left), shape(data)[-1], rank) if rank else None
    if other is None:
        return None
    if op.name == "tosa.mul":
        return other, 0.0
    if op.name == "tosa.add":
        return 1.0, other
    return (1.0, -other) if left == data else (-1.0, other)


def fold_after(op: ir.Operation) -> None:
    """Fold the chain that follows a convolution."""
    channels = shape(op.result)[-1]
    total = Affine(np.ones(channels), np.zeros(channels))
    last = op
    while has_one_use(last.result):
        user = next(iter(last.result.uses)).owner.operation
        effect = step(user, last.result)
        if effect is None or (op.name == "tosa.matmul" and user.name != "tosa.mul"):
            break
        total, last = total.then(*effect), user
    if last == op:
        return
    updates: list[Update] = []
    if (total.scale != 1).any():
        updates.append((op, 1, scaled_weights(op, output_factor(op, total.scale))))
    if op.name != "tosa.matmul":
        updates.append((op, 2, bias_of(op) * total.scale + total.shift))
    if write_constants(updates):
        last.result.replace_all_uses_with(op.result)


def fold_before(op: ir.Operation) -> None:
    """Fold the chain that leads to a convolution."""
    channels = shape(op.operands[0])[-1]
    total = Affine(np.ones(channels), np.zeros(channels))
    source = op.operands[0]
    while (inner := defining(source)) is not None:
        if not (only_weights_read(inner) if source == op.operands[0] else has_one_use(source)):
            break
        data = next((operand for operand in list(inner.operands)[:2] if constant_value(operand) is None), None)
        effect = step(inner, data) if data is not None else None
        if data is None or effect is None or (np.any(effect[1]) and not takes_offsets(op)):
            break
        total = Affine(*(np.broadcast_to(part, (channels,)) for part in effect)).then(total.scale, total.shift)
        source = data
    if source == op.operands[0]:
        return
    updates: list[Update] = []
    if total.shift.any():
        weight = constant_value(op.operands[1])
        assert weight is not None
        others = tuple(axis for axis in range(weight.ndim) if axis not in OUTPUT_AXES[op.name])
        offsets = (weight * input_factor(op, total.shift)).sum(axis=others).reshape(-1)
        updates.append((op, 2, bias_of(op) + offsets))
    if (total.scale != 1).any():
        updates.append((op, 1, scaled_weights(op, input_factor(op, total.scale))))
    if write_constants(updates):
        op.operands[0] = source


def only_weights_read(op: ir.Operation) -> bool:
    """Whether operators with constant weights are all that reads the result of `op`, as their data."""
    if len(op.results) != 1:
        return False
    return all(use.operand_number == 0 and has_constant_weights(use.owner.operation) for use in op.result.uses)


def takes_offsets(op: ir.Operation) -> bool:
    """Whether the same bias makes up for an offset of all of the input: not where zeros are padded or strided in."""
    return op.name in ("tosa.conv2d", "tosa.depthwise_conv2d", "tosa.conv3d") and not any(
        int_list(op.attributes["pad"])
    )


@register
@dataclass(frozen=True)
class FoldAffine(Pass):
    name = "vgf-fold-affine"
    changes_rounding = True

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            for op in operations(function):
                if has_constant_weights(op):
                    fold_after(op)
            for op in operations(function):
                if has_constant_weights(op):
                    fold_before(op)
            erase_unused(function)
