"""Scaling the constant weights and biases of convolutions and matmuls, in f64 and rounded once."""

from __future__ import annotations

import numpy as np
from torch_mlir import ir

from vgfc.ir import Array, constant, constant_value, element_type, is_float, shape
from vgfc.tosa_numpy import round_to

# The axes of a weight that stand for the input's and for the output's channels (TOSA 1.0, tensor operators).
INPUT_AXIS = {
    "tosa.conv2d": 3,
    "tosa.conv3d": 4,
    "tosa.depthwise_conv2d": 2,
    "tosa.transpose_conv2d": 3,
    "tosa.matmul": 1,
}
OUTPUT_AXES = {
    "tosa.conv2d": (0,),
    "tosa.conv3d": (0,),
    "tosa.depthwise_conv2d": (2, 3),
    "tosa.transpose_conv2d": (0,),
    "tosa.matmul": (2,),
}


def has_constant_weights(op: ir.Operation) -> bool:
    """Whether `op` is a floating-point convolution with constant weights and bias, or a matmul with constant weights."""
    if op.name not in INPUT_AXIS or not is_float(element_type(op.operands[1])):
        return False
    if constant_value(op.operands[1]) is None:
        return False
    if op.name == "tosa.matmul":
        return shape(op.operands[1])[0] == 1
    return constant_value(op.operands[2]) is not None


def per_channel(values: Array | None, channels: int, rank: int) -> Array | None:
    """A constant as one f64 number per index of the last axis; None when it varies along others."""
    if values is None or values.ndim != rank or rank == 0:
        return None
    if values.size not in (1, channels) or values.size != values.shape[-1]:
        return None
    return np.broadcast_to(values.astype(np.float64).reshape(-1), (channels,))


def bias_of(op: ir.Operation) -> Array:
    """A convolution's bias, one f64 number per output channel."""
    bias = constant_value(op.operands[2])
    assert bias is not None
    return np.broadcast_to(bias.astype(np.float64), (shape(op.result)[-1],))


def output_factor(op: ir.Operation, scale: Array) -> Array:
    """One number per output channel, in the shape in which it multiplies the weights."""
    return _along(op, scale, OUTPUT_AXES[op.name])


def input_factor(op: ir.Operation, scale: Array) -> Array:
    """One number per input channel, in the shape in which it multiplies the weights."""
    return _along(op, scale, (INPUT_AXIS[op.name],))


def _along(op: ir.Operation, scale: Array, axes: tuple[int, ...]) -> Array:
    extents = shape(op.operands[1])
    return scale.reshape([extent if axis in axes else 1 for axis, extent in enumerate(extents)])


def scaled_weights(op: ir.Operation, factor: Array) -> Array:
    """The weights times an f64 factor that broadcasts to them, rounded once to their type."""
    weight = constant_value(op.operands[1])
    assert weight is not None
    with np.errstate(over="ignore"):
        if weight.dtype.itemsize < 4:
            return round_to(weight.astype(np.float64) * factor, weight.dtype)
        # The product is made in f64, block by block: a second copy of the weights in f64 is never there.
        result = np.empty(weight.shape, weight.dtype)
        np.multiply(weight, factor, out=result, dtype=np.float64, casting="same_kind")
    return result


Update = tuple[ir.Operation, int, Array]


def write_constants(updates: list[Update]) -> bool:
    """Give operands new constant values: f64, to be rounded to the operand's type, or that type already.

    False, and nothing done, when a value would not be finite.
    """
    rounded = []
    for op, index, values in updates:
        old = constant_value(op.operands[index])
        assert old is not None
        with np.errstate(over="ignore"):
            new = round_to(values, old.dtype)
        if not np.isfinite(new if new.dtype.itemsize >= 4 else new.astype(np.float32)).all():
            return False
        rounded.append((op, index, new))
    for op, index, new in rounded:
        with ir.InsertionPoint(op), op.location:
            op.operands[index] = constant(new, element_type(op.operands[index]))
    return True
