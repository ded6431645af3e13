"""vgf-fold-scales: move multiplications by constants to where a weight or another constant takes them up.

    %q = tosa.slice %qkv ...               // %qkv = conv2d with constant weights
    %1 = tosa.mul %q, %c                   // the attention's scale: goes into those output channels of the weights
    %2 = tosa.mul %x, %half
    %3 = tosa.erf %2                       // GELU: %x = conv2d gives x/2 at once, and what multiplies %x by the result
    %4 = tosa.mul %x, %3                   // hands the factor of two on to the weights that follow

A factor moves up through multiplications, matmuls, sums, reciprocals, pools, ReLUs, transposes, reshapes and slices to a
convolution or a constant, or down through those to all that reads it. Where the value on the way is read by others, they
have to take up the reciprocal on their side. Nothing moves unless the whole of the factor finds a place.

Only f32: half precision has no room for intermediate values of another size. Factors are finite, not zero, and within
2^-20 to 2^20. Numbers change by a rounding of each weight.

Invalid input: none, a factor without a place stays.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from math import prod

import numpy as np
from torch_mlir import ir

from vgfc.ir import (
    Array,
    constant_value,
    defining,
    element_type,
    erase_unused,
    functions,
    int_list,
    operations,
    replace,
    shape,
    shape_value,
)
from vgfc.passmanager import Pass, register
from vgfc.tosa_numpy import attribute_number
from vgfc.views import broadcast, reshape
from vgfc.weights import (
    Update,
    bias_of,
    has_constant_weights,
    input_factor,
    output_factor,
    per_channel,
    scaled_weights,
    write_constants,
)

LARGEST_FACTOR = 2.0**20


def is_moderate(factor: Array) -> bool:
    """Whether a factor is finite, not zero, and far from the ends of f32."""
    size = np.abs(factor)
    return bool(np.isfinite(factor).all() and (size >= 1 / LARGEST_FACTOR).all() and (size <= LARGEST_FACTOR).all())


def reshaped_factor(factor: Array, source: tuple[int, ...], target: tuple[int, ...]) -> Array | None:
    """A factor for a tensor of shape `source` as one for that tensor reshaped to `target`; None when neither form is small.

    Axes may have to be written out: a factor per head is one per channel where heads and channels are one axis.
    """
    repeated = [axis for axis, extent in enumerate(source) if extent != 1 and factor.shape[axis] == 1]
    choices = [some for count in range(len(repeated) + 1) for some in combinations(repeated, count)]
    for written in sorted(choices, key=lambda axes: prod(source[axis] for axis in axes)):
        extents = [source[axis] if axis in written else extent for axis, extent in enumerate(factor.shape)]
        view = broadcast(reshape(source, target), tuple(extents))
        if view is not None:
            return without_repetition(view.apply(np.broadcast_to(factor, extents)))
    return None


def without_repetition(factor: Array) -> Array:
    """A factor with extent 1 wherever it does not vary."""
    for axis in range(factor.ndim):
        first = factor.take([0], axis)
        if factor.shape[axis] > 1 and (factor == first).all():
            factor = first
    return factor


def takes_factors(op: ir.Operation, factor: Array) -> bool:
    """Whether an operator of one data operand gives a result `factor` times as large for such an operand, and vice versa.

    A pool, or resize between neighbours, per image and channel; a clamp from 0 up, or of nothing, for what keeps the sign.
    """
    if op.name in ("tosa.avg_pool2d", "tosa.resize"):
        return tuple(factor.shape[1:3]) == (1, 1)
    if op.name == "tosa.max_pool2d":
        return tuple(factor.shape[1:3]) == (1, 1) and bool((factor > 0).all())
    if op.name == "tosa.clamp":
        low, high = (attribute_number(op.attributes[name]) for name in ("min_val", "max_val"))
        return bool(low in (0, -np.inf) and high == np.inf and (factor > 0).all())
    return bool(op.name == "tosa.negate")


@dataclass
class Motion:
    """Where the parts of one factor go; nothing is changed before `apply`.

    `parts` has the factor for an operator's output channels, its input channels, or its operand of that number;
    `seen` the values that come out scaled.
    """

    parts: dict[tuple[ir.Operation, str | int], Array] = field(default_factory=dict)
    seen: set[ir.Value] = field(default_factory=set)

    def _scale(self, op: ir.Operation, where: str | int, factor: Array) -> bool:
        known = self.parts.get((op, where))
        self.parts[op, where] = factor if known is None else known * factor
        return True

    def _scale_channels(self, op: ir.Operation, where: str, channels: int, factor: Array) -> bool:
        vector = per_channel(factor, channels, factor.ndim)
        return vector is not None and self._scale(op, where, vector)

    def up(self, value: ir.Value, factor: Array, reader: ir.OpOperand | None) -> bool:
        """Make `value` come out `factor` times as large; every use but `reader` must go on seeing what it saw."""
        if value in self.seen or not is_moderate(factor):
            return False
        self.seen.add(value)
        for use in value.uses:
            same = reader is not None and use.owner == reader.owner and use.operand_number == reader.operand_number
            if not same and not self.down(use, 1 / factor):
                return False
        op = defining(value)
        return op is not None and self._up_through(op, factor)

    def _up_through(self, op: ir.Operation, factor: Array) -> bool:
        if has_constant_weights(op):
            return self._scale_channels(op, "outputs", shape(op.result)[-1], factor)
        if op.name == "tosa.mul":
            return self._up_product(op, factor)
        if op.name in ("tosa.add", "tosa.sub"):
            return self._up_sum(op, factor)
        source = self._source_factor(op, factor)
        return source is not None and self.up(op.operands[0], source, _use(op, 0))

    def _up_sum(self, op: ir.Operation, factor: Array) -> bool:
        """A sum with a constant: both terms take the factor."""
        for index in (0, 1):
            if constant_value(op.operands[index]) is not None and shape(op.operands[1 - index]) == shape(op.result):
                self._scale(op, index, factor)
                return self.up(op.operands[1 - index], factor, _use(op, 1 - index))
        return False

    def _up_product(self, op: ir.Operation, factor: Array) -> bool:
        if op.operands[0] == op.operands[1]:
            return False
        for index in (0, 1):
            if constant_value(op.operands[index]) is not None:
                return self._scale(op, index, factor)
        before = dict(self.parts), set(self.seen)
        for index in (0, 1):
            extents = shape(op.operands[index])
            fits = all(extent in (1, wanted) for extent, wanted in zip(factor.shape, extents, strict=True))
            if fits and self.up(op.operands[index], factor, _use(op, index)):
                return True
            self.parts, self.seen = dict(before[0]), set(before[1])
        return False

    def _source_factor(self, op: ir.Operation, factor: Array) -> Array | None:
        """The factor of an operator's first operand that gives its result `factor`."""
        extents = shape(op.operands[0]) if len(op.operands) else ()
        if op.name == "tosa.transpose":
            perms = int_list(op.attributes["perms"])
            return factor.transpose(np.argsort(perms))
        if op.name == "tosa.reshape":
            return reshaped_factor(factor, shape(op.result), extents)
        if op.name == "tosa.reduce_sum":
            return factor
        if op.name == "tosa.rsqrt":
            return factor**-2 if (factor > 0).all() else None
        if op.name == "tosa.reciprocal":
            return 1 / factor
        if op.name == "tosa.matmul":
            return factor if factor.shape[2] == 1 else None
        if takes_factors(op, factor):
            return factor
        start = shape_value(op.operands[1]) if op.name == "tosa.slice" else None
        if start is None:
            return None
        size = shape(op.result)
        cut = [axis for axis, extent in enumerate(size) if extent != extents[axis]]
        whole = [extents[axis] if axis in cut else factor.shape[axis] for axis in range(len(size))]
        result = np.ones(whole)
        window = tuple(slice(start[a], start[a] + size[a]) if a in cut else slice(None) for a in range(len(size)))
        result[window] = factor
        return result

    def down(self, use: ir.OpOperand, factor: Array) -> bool:
        """Let the operator of `use` multiply by `factor` what it reads."""
        op, index = use.owner.operation, use.operand_number
        if not is_moderate(factor):
            return False
        if (factor == 1).all():
            return True
        if index == 0 and has_constant_weights(op):
            return self._scale_channels(op, "inputs", shape(op.operands[0])[-1], factor)
        if op.name == "tosa.mul" and index < 2:
            if op.operands[0] == op.operands[1]:
                return False
            if constant_value(op.operands[1 - index]) is not None:
                return self._scale(op, 1 - index, factor)
            return self._down_result(op, factor)
        if op.name in ("tosa.add", "tosa.sub") and constant_value(op.operands[1 - index]) is not None:
            # (v / f + c / f) * f: the constant shrinks as the value does, and the sum hands the factor on.
            return self._scale(op, 1 - index, 1 / factor) and self._down_result(op, factor)
        result = self._result_factor(op, index, factor)
        return result is not None and self._down_result(op, result)

    def _down_result(self, op: ir.Operation, factor: Array) -> bool:
        if op.result in self.seen:
            return False
        self.seen.add(op.result)
        return any(True for _ in op.result.uses) and all(self.down(use, factor) for use in op.result.uses)

    def _result_factor(self, op: ir.Operation, index: int, factor: Array) -> Array | None:
        """The factor of an operator's result that comes of a factor of one operand."""
        if op.name == "tosa.matmul" and index < 2:
            return factor if factor.shape[2 if index == 0 else 1] == 1 else None
        if index != 0:
            return None
        if op.name == "tosa.transpose":
            return factor.transpose(int_list(op.attributes["perms"]))
        if op.name == "tosa.reshape":
            return reshaped_factor(factor, shape(op.operands[0]), shape(op.result))
        if op.name == "tosa.reduce_sum":
            axis = ir.IntegerAttr(op.attributes["axis"]).value
            return factor if factor.shape[axis] == 1 else None
        if op.name == "tosa.rsqrt":
            return factor**-0.5 if (factor > 0).all() else None
        if op.name == "tosa.reciprocal":
            return 1 / factor
        if takes_factors(op, factor):
            return factor
        start = shape_value(op.operands[1]) if op.name == "tosa.slice" else None
        if start is None:
            return None
        size = shape(op.result)
        window = tuple(
            slice(None) if extent == 1 else slice(start[axis], start[axis] + size[axis])
            for axis, extent in enumerate(factor.shape)
        )
        return factor[window]

    def apply(self) -> bool:
        """Write the constants; False, and nothing done, when one would not be finite."""
        updates: list[Update] = []
        for op in {op for op, where in self.parts if isinstance(where, str)}:
            factor = np.ones(1)
            inputs, outputs = self.parts.get((op, "inputs")), self.parts.get((op, "outputs"))
            if inputs is not None:
                factor = factor * input_factor(op, inputs)
            if outputs is not None:
                factor = factor * output_factor(op, outputs)
                if op.name != "tosa.matmul":
                    updates.append((op, 2, bias_of(op) * outputs))
            updates.append((op, 1, scaled_weights(op, factor)))
        for (op, where), factor in self.parts.items():
            if isinstance(where, int):
                values = constant_value(op.operands[where])
                assert values is not None
                updates.append((op, where, values.astype(np.float64) * factor))
        return write_constants(updates)


def _use(op: ir.Operation, index: int) -> ir.OpOperand:
    return next(use for use in op.operands[index].uses if use.owner == op and use.operand_number == index)


def move(op: ir.Operation) -> None:
    """Move the constant factor of one multiplication away, if there is a place for it."""
    for data, other in (tuple(op.operands)[:2], tuple(op.operands)[1::-1]):
        factor = constant_value(other)
        if factor is None or constant_value(data) is not None or shape(data) != shape(op.result):
            continue
        factor = factor.astype(np.float64)
        motion = Motion()
        reader = _use(op, 0 if op.operands[0] == data else 1)
        if not motion.up(data, factor, reader):
            motion = Motion({}, {op.result})
            if not all(motion.down(use, factor) for use in op.result.uses):
                return
        if motion.apply():
            replace(op, data)
        return


@register
@dataclass(frozen=True)
class FoldScales(Pass):
    name = "vgf-fold-scales"
    changes_rounding = True

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            for op in operations(function):
                if op.name == "tosa.mul" and str(element_type(op.result)) == "f32":
                    move(op)
            erase_unused(function)
