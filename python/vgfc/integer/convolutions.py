"""Convolutions and matrix products of codes, summed in wide accumulators."""

from __future__ import annotations

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.integer.constants import Codes
from vgfc.integer.folder import Folder
from vgfc.integer.forms import Form, NotInteger, element_of, one, rescale
from vgfc.integer.numerics import RANGES, Array
from vgfc.ir import attributes_of, constant, constant_value, element_type, shape, tensor


def quantized_operand(folder: Folder, op: ir.Operation, index: int) -> Form:
    """The form of an operand that a product reads: 8 or 16 bits and one scale; wider ones are cut to 16 bits."""
    form = folder.form(op.operands[index])
    if form.element in ("i32", "i48") and folder.has_int16:
        return rescale(form, "i16", one(form.real_reach / RANGES["i16"][1]), -1, 0, op)
    if form.element not in ("i8", "i16") or not form.is_per_tensor:
        raise NotInteger(op, "reads a tensor that is not quantized to 8 or 16 bits")
    if form.element == "i16" and not folder.has_int16:
        raise NotInteger(op, "reads 16-bit codes, which the target has no products of (extension int16)")
    return form


def weight_scale(codes: Codes, axes: tuple[int, ...], op: ir.Operation) -> Array:
    """One scale for each index of the output axes, flattened in their order."""
    others = tuple(axis for axis in range(codes.scales.ndim) if axis not in axes)
    first = np.max(codes.scales, axis=others, keepdims=True)
    if not ((codes.scales == first) | (codes.scales == 0)).all() or (first == 0).any():
        raise NotInteger(op, "has weights whose scale changes inside an output channel")
    scales: Array = first.reshape(-1)
    return scales


def weight_constant(folder: Folder, codes: Codes, is_convolution: bool, op: ir.Operation) -> ir.Value:
    """The weights' codes as the narrowest type the target takes them in."""
    low, high = int(codes.values.min()), int(codes.values.max())
    if low < -128 or high > 127:
        raise NotInteger(op, f"has weight codes from {low} to {high}, expected 8 bits")
    narrow = folder.has_int4 and is_convolution and codes.high - codes.low < 16 and low >= -7 and high <= 7
    return constant(codes.values, element_of("i4" if narrow else "i8"))


def accumulator(form: Form) -> str:
    """The element type that products of this form are summed in."""
    return "i48" if form.element == "i16" else "i32"


def convolution_form(folder: Folder, op: ir.Operation) -> Form:
    """conv2d, conv3d, depthwise_conv2d and transpose_conv2d of quantized activations and weights."""
    form = quantized_operand(folder, op, 0)
    codes = folder.constants.quantized(op.operands[1])
    if codes is None:
        raise NotInteger(op, "has weights that are not quantized")
    axes = (2, 3) if op.name == "tosa.depthwise_conv2d" else (0,)
    weight_scales = weight_scale(codes, axes, op)
    scale = form.unit * weight_scales
    bias = folder.constants.real(op.operands[2])
    if bias is None:
        raise NotInteger(op, "has a bias that is no constant")
    biases = np.rint(np.broadcast_to(bias.reshape(-1), scale.shape) / scale)
    reach_low, reach_high = min(form.low - form.zero_point, 0), max(form.high - form.zero_point, 0)
    others = tuple(axis for axis in range(codes.values.ndim) if axis not in axes)
    positive = np.maximum(codes.values, 0).sum(axis=others).reshape(-1)
    negative = np.minimum(codes.values, 0).sum(axis=others).reshape(-1)
    lows = positive * reach_low + negative * reach_high + biases
    highs = positive * reach_high + negative * reach_low + biases
    wide = accumulator(form)
    limit = 2**31 if wide == "i32" else 2**47
    if max(np.abs(biases).max(), -lows.min(), highs.max()) >= limit:
        raise NotInteger(op, "has sums that do not fit its accumulator")
    if bias.size == 1 and not biases.any():
        bias_value = constant(np.zeros(1), element_of(wide))
    else:
        bias_value = constant(biases.astype(np.int64), element_of(wide))
    weight = weight_constant(folder, codes, True, op)
    zero_points = [
        constant(np.array([form.zero_point]), element_type(form.value)),
        constant(np.zeros(1), element_type(weight)),
    ]
    attributes = attributes_of(op) | {"acc_type": ir.TypeAttr.get(element_of(wide))}
    kind = tensor(shape(op.result), element_of(wide))
    value = build.operation(op.name, kind, [form.value, weight, bias_value, *zero_points], attributes)
    axis = len(shape(op.result)) - 1
    if np.all(scale == scale[0]):
        scale, axis = scale[:1], -1
    return Form(value, scale, axis, 0, int(lows.min()), int(highs.max()))


def matmul_form(folder: Folder, op: ir.Operation) -> Form:
    """A batched product of two quantized tensors, or of one and constant weights."""
    operands: list[ir.Value] = []
    zero_points: list[int] = []
    reaches: list[int] = []
    scale, axis = np.ones(1), -1
    elements = set()
    for index in (0, 1):
        codes = folder.constants.quantized(op.operands[index])
        if codes is None:
            form = quantized_operand(folder, op, index)
            operands.append(form.value)
            zero_points.append(form.zero_point)
            reaches.append(form.reach)
            scale = scale * form.unit
            elements.add(form.element)
            continue
        scales = weight_scale(codes, (2,) if index else (1,), op)
        if not np.all(scales == scales[0]):
            axis = 2 if index else 1
            scale = scale * scales
        else:
            scale = scale * scales[0]
        operands.append(weight_constant(folder, codes, False, op))
        zero_points.append(0)
        reaches.append(int(np.abs(codes.values).max()))
    wide = "i48" if "i16" in elements else "i32"
    if wide == "i48":
        operands = [widened_to_16(operand) for operand in operands]
    bound = reaches[0] * reaches[1] * shape(op.operands[0])[2]
    if bound >= (2**31 if wide == "i32" else 2**47):
        raise NotInteger(op, "has sums that do not fit its accumulator")
    zeros = [
        constant(np.array([zero_point]), element_type(operand))
        for zero_point, operand in zip(zero_points, operands, strict=True)
    ]
    value = build.operation("tosa.matmul", tensor(shape(op.result), element_of(wide)), [*operands, *zeros])
    return Form(value, scale, axis, 0, -bound, bound)


def widened_to_16(value: ir.Value) -> ir.Value:
    """8-bit constant codes as 16-bit ones: TOSA multiplies matrices of one type."""
    known = constant_value(value)
    if known is None or str(element_type(value)) == "i16":
        return value
    return constant(known, element_of("i16"))
