"""Constants in a quantised graph: real numbers, and codes with their scales, seen through what only moves data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc.integer.numerics import Array
from vgfc.ir import array_of, constant_value, defining, dense, element_type, int_list, is_float, shape, shape_value
from vgfc.tosa_numpy import EVALUATORS, evaluate

WHOLE_LIMIT = 16
MOVES = ("tosa.reshape", "tosa.transpose", "tosa.slice", "tosa.reverse", "tosa.concat", "tosa.tile")


@dataclass(frozen=True)
class Codes:
    """Constant codes without zero point, int64, with f64 scales of the same shape, and the range that they were made for.

    A code of 0 may have the scale 0: it fits any.
    """

    values: Array
    scales: Array
    low: int
    high: int


@dataclass(frozen=True)
class Parameters:
    """What a vgf.quantize or vgf.dequantize says; scales and zero points have one element (axis -1) or the axis's extent."""

    scales: Array
    zero_points: Array
    axis: int
    low: int
    high: int

    def attributes(self) -> dict[str, ir.Attribute]:
        """The attributes that say so; `parameters_of` reads them."""
        number = ir.IntegerType.get_signless(64)
        return {
            "scales": dense(self.scales, ir.F64Type.get()),
            "zero_points": dense(self.zero_points, number),
            "axis": ir.IntegerAttr.get(number, self.axis),
            "quant_min": ir.IntegerAttr.get(number, self.low),
            "quant_max": ir.IntegerAttr.get(number, self.high),
        }

    def along(self, dimensions: tuple[int, ...]) -> tuple[Array, Array]:
        """Scales and zero points shaped to broadcast against a tensor of these dimensions."""
        if self.axis < 0:
            return self.scales.reshape(()), self.zero_points.reshape(())
        sizes = [1] * len(dimensions)
        sizes[self.axis] = len(self.scales)
        return self.scales.reshape(sizes), self.zero_points.reshape(sizes)


def parameters_of(op: ir.Operation) -> Parameters:
    """The attributes of a vgf.quantize or vgf.dequantize."""
    attributes = op.attributes
    axis, low, high = (ir.IntegerAttr(attributes[name]).value for name in ("axis", "quant_min", "quant_max"))
    return Parameters(
        np.array(array_of(attributes["scales"]), np.float64),
        np.array(array_of(attributes["zero_points"]), np.int64),
        axis,
        low,
        high,
    )


class Constants:
    """The constants that a function computes, each looked at once."""

    def __init__(self) -> None:
        self.reals: dict[ir.Value, Array | None] = {}
        self.codes: dict[ir.Value, Codes | None] = {}

    def real(self, value: ir.Value) -> Array | None:
        """The real numbers (f64) of a constant, through dequantize and whatever can be computed; None for any other."""
        if value not in self.reals:
            self.reals[value] = self._real(value)
        return self.reals[value]

    def _real(self, value: ir.Value) -> Array | None:
        known = constant_value(value)
        if known is not None:
            return known.astype(np.float64)
        op = defining(value)
        if op is None or not isinstance(value.type, ir.RankedTensorType) or not is_float(element_type(value)):
            return None
        if op.name == "vgf.dequantize":
            codes = constant_value(op.operands[0])
            if codes is None:
                return None
            parameters = parameters_of(op)
            scales, zero_points = parameters.along(shape(value))
            # PyTorch subtracts and multiplies in f32
            return ((codes.astype(np.int64) - zero_points).astype(np.float32) * scales.astype(np.float32)).astype(
                np.float64
            )
        if op.name not in EVALUATORS or len(op.results) != 1:
            return None
        operands: list[Array] = []
        for operand in op.operands:
            sizes = shape_value(operand)
            found = np.array(sizes, np.int64) if sizes is not None else self.operand(operand)
            if found is None:
                return None
            operands.append(found)
        result = evaluate(op, operands)
        return None if result is None else result.astype(np.float64)

    def operand(self, value: ir.Value) -> Array | None:
        """A constant operand in its own element type."""
        known = constant_value(value)
        if known is not None or not isinstance(value.type, ir.RankedTensorType):
            return known
        found = self.real(value)
        return None if found is None else found.astype(np.float32)

    def splat(self, value: ir.Value) -> float | None:
        """The one number that a constant consists of, None for any other value."""
        values = self.real(value)
        if values is None or values.size == 0 or not (values == values.flat[0]).all():
            return None
        return float(values.flat[0])

    def quantized(self, value: ir.Value) -> Codes | None:
        """Constant codes behind a dequantize, through what only moves data; None for any other value."""
        if value not in self.codes:
            self.codes[value] = self._quantized(value)
        return self.codes[value]

    def _quantized(self, value: ir.Value) -> Codes | None:
        op = defining(value)
        if op is None:
            return None
        known = constant_value(value)
        if known is not None:
            return whole_multiples(known.astype(np.float64))
        if op.name == "vgf.dequantize":
            codes = constant_value(op.operands[0])
            if codes is None:
                return None
            parameters = parameters_of(op)
            scales, zero_points = parameters.along(shape(value))
            low = int(parameters.low - parameters.zero_points.max())
            high = int(parameters.high - parameters.zero_points.min())
            # The codes of all weights are kept while the pass runs, so no wider than need be.
            wide = np.int32 if codes.dtype.itemsize < 4 else np.int64
            moved = codes.astype(wide) - zero_points.astype(wide)
            return Codes(moved, np.broadcast_to(scales, codes.shape), low, high)
        if op.name == "tosa.pad":
            return self._padded(op)
        if op.name not in MOVES:
            return None
        sources = [operand for operand in op.operands if shape_value(operand) is None]
        sizes = [
            np.array(shape_value(operand), np.int64) for operand in op.operands if shape_value(operand) is not None
        ]
        parts = [self.quantized(source) for source in sources]
        found = [part for part in parts if part is not None]
        if len(found) != len(parts):
            return None
        values = EVALUATORS[op.name](op, [*(part.values for part in found), *sizes])
        scales = EVALUATORS[op.name](op, [*(part.scales for part in found), *sizes])
        return Codes(values, scales, min(part.low for part in found), max(part.high for part in found))

    def _padded(self, op: ir.Operation) -> Codes | None:
        """Codes with zeros around them, which fit any scale: theirs is 0."""
        inner, amounts = self.quantized(op.operands[0]), shape_value(op.operands[1])
        if inner is None or amounts is None or self.splat(op.operands[2]) != 0:
            return None
        widths = [(amounts[index], amounts[index + 1]) for index in range(0, len(amounts), 2)]
        return Codes(np.pad(inner.values, widths), np.pad(inner.scales, widths), inner.low, inner.high)


def whole_multiples(values: Array) -> Codes | None:
    """Constants that were never quantized but are small multiples of one number, such as the weights of a mean."""
    sizes = np.abs(values[values != 0])
    if sizes.size == 0 or not np.isfinite(sizes).all():
        return None
    unit = float(sizes.min())
    codes = np.rint(values / unit)
    if np.abs(codes).max() > WHOLE_LIMIT or np.max(np.abs(codes * unit - values)) > 1e-6 * unit:
        return None
    return Codes(codes.astype(np.int64), np.full(values.shape, unit), -128, 127)


def permutation_of(op: ir.Operation) -> list[int]:
    """The permutation of a tosa.transpose."""
    return int_list(op.attributes["perms"])
