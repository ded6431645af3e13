"""vgf-convert-torch-normalization: softmax and layer, group, instance, batch and RMS normalisation become TOSA.

    %0 = torch.aten.layer_norm %x, %shape, %weight, %bias, %eps, %false : ... -> !torch.vtensor<[4,8],f32>
becomes, between casts from and to the torch type, with n = 8 and constants weight * sqrt(n) and n * eps
    %mean = tosa.mul (tosa.reduce_sum %x), 1 / n
    %apart = tosa.sub %x, %mean
    %scale = tosa.rsqrt (tosa.add (tosa.reduce_sum (tosa.mul %apart, %apart)), n * eps)
    %1 = tosa.add (tosa.mul (tosa.mul %apart, %scale), weight * sqrt(n)), bias

The sum of squares is not divided by n: rsqrt(sum / n + eps) is sqrt(n) * rsqrt(sum + n * eps), and the root goes into the
weight. Batch norm with constant statistics is one product and one sum per channel. All computes in 32 bits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.ir import Array, constant, constant_value, element_type, shape
from vgfc.passmanager import register
from vgfc.torch_conversion import Call, Converter, TorchConversion, float_compute


def softmax(value: ir.Value, axis: int) -> ir.Value:
    """exp(x - max) / sum of the same, along an axis."""
    largest = build.reduce("tosa.reduce_max", value, axis)
    powers = build.unary("tosa.exp", build.sub(value, largest))
    return build.mul(powers, build.unary("tosa.reciprocal", build.reduce("tosa.reduce_sum", powers, axis)))


def log_softmax(value: ir.Value, axis: int) -> ir.Value:
    """x - max - log of the sum of exp(x - max), along an axis."""
    moved = build.sub(value, build.reduce("tosa.reduce_max", value, axis))
    summed = build.reduce("tosa.reduce_sum", build.unary("tosa.exp", moved), axis)
    return build.sub(moved, build.unary("tosa.log", summed))


def convert_softmax(call: Call) -> ir.Value:
    value = call.tensor_as(0, float_compute(call.element))
    return softmax(value, call.axis(1, len(shape(value))))


def convert_log_softmax(call: Call) -> ir.Value:
    value = call.tensor_as(0, float_compute(call.element))
    return log_softmax(value, call.axis(1, len(shape(value))))


def scaled_constant(value: ir.Value, factor: float) -> ir.Value:
    """value * factor; a constant is multiplied now."""
    known = constant_value(value)
    if known is None:
        return build.mul(value, build.scalar_like(factor, value))
    return constant((known.astype(np.float64) * factor).astype(known.dtype), element_type(value))


def standardized(
    value: ir.Value, epsilon: float, weight: ir.Value | None, bias: ir.Value | None, axis: int, centred: bool = True
) -> ir.Value:
    """(x - mean) / sqrt(variance + epsilon) * weight + bias along an axis; without the mean when not centred."""
    count = shape(value)[axis]
    apart = value
    if centred:
        summed = build.reduce("tosa.reduce_sum", value, axis)
        apart = build.sub(value, build.mul(summed, build.scalar_like(1 / count, summed)))
    squares = build.reduce("tosa.reduce_sum", build.mul(apart, apart), axis)
    scale = build.unary("tosa.rsqrt", build.add(squares, build.scalar_like(count * epsilon, squares)))
    root = math.sqrt(count)
    if weight is None:
        result = build.mul(apart, build.mul(scale, build.scalar_like(root, scale)))
    else:
        result = build.mul(build.mul(apart, scale), scaled_constant(weight, root))
    return result if bias is None else build.add(result, bias)


def optional(call: Call, index: int, element: ir.Type) -> ir.Value | None:
    """A tensor operand that may be None."""
    return call.tensor_as(index, element) if call.has(index) else None


def flat(value: ir.Value | None) -> ir.Value | None:
    """A tensor as a vector."""
    return None if value is None else build.reshape(value, (math.prod(shape(value)),))


def last_axes_normalized(call: Call, epsilon: float, bias_index: int | None, centred: bool) -> ir.Value:
    """Layer or RMS norm over the axes that operand 1 lists, taken as one."""
    element = float_compute(call.element)
    value = call.tensor_as(0, element)
    count = math.prod(call.ints(1))
    rows = build.reshape(value, (*shape(value)[: len(shape(value)) - len(call.ints(1))], count))
    weight = flat(optional(call, 2, element))
    bias = flat(optional(call, bias_index, element)) if bias_index is not None else None
    result = standardized(rows, epsilon, weight, bias, len(shape(rows)) - 1, centred)
    return build.reshape(result, shape(value))


def convert_layer_norm(call: Call) -> ir.Value:
    return last_axes_normalized(call, call.real(4, 1e-5), 3, centred=True)


def convert_rms_norm(call: Call) -> ir.Value:
    smallest = {"f32": 1.1920928955078125e-07, "f16": 0.0009765625, "bf16": 0.0078125}[call.result_dtype]
    return last_axes_normalized(call, call.real(3, smallest), None, centred=False)


def convert_native_layer_norm(call: Call) -> list[ir.Value | None]:
    return [last_axes_normalized(call, call.real(4), 3, centred=True), None, None]


def per_channel(value: ir.Value | None, rank: int) -> ir.Value | None:
    """A vector as 1xCx1x...x1."""
    return None if value is None else build.reshape(value, (1, math.prod(shape(value)), *(1,) * (rank - 2)))


def grouped(value: ir.Value, groups: int, epsilon: float, weight: ir.Value | None, bias: ir.Value | None) -> ir.Value:
    """Normalisation of each group of channels of each sample, then weight and bias per channel."""
    dimensions = shape(value)
    rows = build.reshape(value, (dimensions[0], groups, math.prod(dimensions[1:]) // groups))
    result = build.reshape(standardized(rows, epsilon, None, None, 2), dimensions)
    weight, bias = per_channel(weight, len(dimensions)), per_channel(bias, len(dimensions))
    result = result if weight is None else build.mul(result, weight)
    return result if bias is None else build.add(result, bias)


def convert_group_norm(call: Call) -> ir.Value:
    element = float_compute(call.element)
    value = call.tensor_as(0, element)
    return grouped(value, call.integer(1), call.real(4, 1e-5), optional(call, 2, element), optional(call, 3, element))


def convert_instance_norm(call: Call) -> ir.Value:
    element = float_compute(call.element)
    value = call.tensor_as(0, element)
    weight, bias = optional(call, 1, element), optional(call, 2, element)
    if call.flag(5, True):
        return grouped(value, shape(value)[1], call.real(7, 1e-5), weight, bias)
    return batch_normalized(
        value, weight, bias, call.tensor_as(3, element), call.tensor_as(4, element), call.real(7, 1e-5)
    )


def known(values: Sequence[ir.Value | None]) -> list[Array | None] | None:
    """The constants behind values, None when one of them is computed."""
    arrays = [None if value is None else constant_value(value) for value in values]
    if any(value is not None and array is None for value, array in zip(values, arrays, strict=True)):
        return None
    return [None if array is None else array.astype(np.float64) for array in arrays]


def batch_normalized(
    value: ir.Value, weight: ir.Value | None, bias: ir.Value | None, mean: ir.Value, variance: ir.Value, epsilon: float
) -> ir.Value:
    """(x - mean) / sqrt(variance + epsilon) * weight + bias with statistics per channel."""
    rank, element = len(shape(value)), element_type(value)
    arrays = known([weight, bias, mean, variance])
    if arrays is not None:
        weights, biases, means, variances = arrays
        assert means is not None and variances is not None, "statistics are tensors"
        scales = 1 / np.sqrt(variances + epsilon)
        scales = scales if weights is None else scales * weights
        offsets = (0 if biases is None else biases) - means * scales
        scale = per_channel(constant(scales.astype(np.float32), build.f32()), rank)
        offset = per_channel(constant(offsets.astype(np.float32), build.f32()), rank)
        assert scale is not None and offset is not None, "both were just made"
        return build.add(build.mul(value, scale), offset)
    columns = [per_channel(item, rank) for item in (weight, bias, mean, variance)]
    weight_column, bias_column, mean_column, variance_column = columns
    assert mean_column is not None and variance_column is not None, "statistics are tensors"
    scale = build.unary("tosa.rsqrt", build.add(variance_column, build.scalar(epsilon, element, rank)))
    scale = scale if weight_column is None else build.mul(scale, weight_column)
    result = build.mul(build.sub(value, mean_column), scale)
    return result if bias_column is None else build.add(result, bias_column)


def convert_batch_norm(call: Call) -> ir.Value:
    element = float_compute(call.element)
    value, weight, bias = call.tensor_as(0, element), optional(call, 1, element), optional(call, 2, element)
    mean, variance = optional(call, 3, element), optional(call, 4, element)
    epsilon = call.real(7, 1e-5)
    if call.flag(5) or mean is None or variance is None:
        mean, variance, _ = statistics(value)
    return batch_normalized(value, weight, bias, mean, variance, epsilon)


def statistics(value: ir.Value) -> tuple[ir.Value, ir.Value, float]:
    """Mean and biased variance per channel of a batch, as vectors, and the factor that makes the variance unbiased."""
    dimensions = shape(value)
    axes = [axis for axis in range(len(dimensions)) if axis != 1]
    count = math.prod(dimensions[axis] for axis in axes)
    summed = build.reduce_axes("tosa.reduce_sum", value, axes)
    mean = build.mul(summed, build.scalar_like(1 / count, summed))
    apart = build.sub(value, mean)
    squares = build.reduce_axes("tosa.reduce_sum", build.mul(apart, apart), axes)
    variance = build.mul(squares, build.scalar_like(1 / count, squares))
    vector = (dimensions[1],)
    return build.reshape(mean, vector), build.reshape(variance, vector), count / max(count - 1, 1)


def convert_batch_norm_inference(call: Call) -> list[ir.Value | None]:
    element = float_compute(call.element)
    value, weight, bias = call.tensor_as(0, element), optional(call, 1, element), optional(call, 2, element)
    mean, variance = call.tensor_as(3, element), call.tensor_as(4, element)
    return [batch_normalized(value, weight, bias, mean, variance, call.real(6)), None, None]


def convert_batch_norm_training(call: Call) -> list[ir.Value]:
    """Statistics of the batch normalise it, and move the running ones."""
    element = float_compute(call.element)
    value, weight, bias = call.tensor_as(0, element), optional(call, 1, element), optional(call, 2, element)
    old_mean, old_variance = call.tensor_as(3, element), call.tensor_as(4, element)
    momentum, epsilon = call.real(6), call.real(7)
    if not call.flag(5):
        raise call.error("was exported with training = false here, expected true")
    mean, variance, unbiased = statistics(value)
    inverse = build.unary("tosa.rsqrt", build.add(variance, build.scalar_like(epsilon, variance)))
    result = batch_normalized(value, weight, bias, mean, variance, epsilon)

    def moved(old: ir.Value, new: ir.Value, factor: float) -> ir.Value:
        kept = build.mul(old, build.scalar_like(1 - momentum, old))
        return build.add(kept, build.mul(new, build.scalar_like(momentum * factor, new)))

    return [result, mean, inverse, moved(old_mean, mean, 1.0), moved(old_variance, variance, unbiased)]


TABLE: dict[str, Converter] = {
    "torch.aten.softmax.int": convert_softmax,
    "torch.aten._softmax": convert_softmax,
    "torch.aten.log_softmax.int": convert_log_softmax,
    "torch.aten._log_softmax": convert_log_softmax,
    "torch.aten.layer_norm": convert_layer_norm,
    "torch.aten.native_layer_norm": convert_native_layer_norm,
    "torch.aten.rms_norm": convert_rms_norm,
    "torch.aten.group_norm": convert_group_norm,
    "torch.aten.instance_norm": convert_instance_norm,
    "torch.aten.batch_norm": convert_batch_norm,
    "torch.aten._native_batch_norm_legit_no_training": convert_batch_norm_inference,
    "torch.aten._native_batch_norm_legit_functional": convert_batch_norm_training,
}


@register
@dataclass(frozen=True)
class ConvertTorchNormalization(TorchConversion):
    name = "vgf-convert-torch-normalization"
    table = TABLE
