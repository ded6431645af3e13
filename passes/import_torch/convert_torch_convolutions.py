"""vgf-convert-torch-convolutions: convolutions of torch in one, two and three dimensions become TOSA's.

    %0 = torch.aten.conv2d %x, %weight, %none, %strides, %padding, %dilation, %groups : ...
becomes, between casts from and to the torch type,
    %1 = tosa.transpose %x {perms = array<i32: 0, 2, 3, 1>}
    %2 = tosa.conv2d %1, (tosa.transpose %weight), %zeros, ... {pad = ..., stride = ..., dilation = ...}
    %3 = tosa.transpose %2 {perms = array<i32: 0, 3, 1, 2>}

TOSA's windows must cover the padded input exactly: what a stride leaves over is taken off the padding, or off the input.
One group per channel is a depthwise convolution. Other groups become one convolution with a block-diagonal weight, or a
few when that would multiply the weight by more than eight: one operator per group is what a device does slowest.
A one-dimensional convolution is a two-dimensional one of height 1, and so a transposed one; a transposed convolution of
three dimensions is a convolution of the input with zeros put between its elements.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.ir import constant, constant_value, element_type, is_float, shape
from vgfc.passmanager import register
from vgfc.torch_conversion import Call, Converter, TorchConversion

LARGEST_BLOCK_FACTOR = 8


@dataclass(frozen=True)
class Window:
    """Stride, dilation and (before, after) padding per spatial axis."""

    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]


def spread(numbers: Sequence[int], rank: int) -> tuple[int, ...]:
    """One number per axis, from a list of one or of all."""
    return tuple(numbers) * rank if len(numbers) == 1 else tuple(numbers)


def fitted(
    value: ir.Value, kernel: Sequence[int], window: Window
) -> tuple[ir.Value, tuple[tuple[int, int], ...], list[int]]:
    """The NHWC input, padding and output extents with which the windows cover the input exactly."""
    padding, extents, sizes = [], [], list(shape(value))
    for index, size in enumerate(kernel):
        before, after = window.padding[index]
        span = (size - 1) * window.dilation[index] + 1
        room = sizes[index + 1] + before + after - span
        extents.append(room // window.stride[index] + 1)
        after -= room % window.stride[index]
        sizes[index + 1] += min(after, 0)
        padding.append((before, max(after, 0)))
    return build.slice_(value, [0] * len(sizes), sizes), tuple(padding), extents


def channels_last(value: ir.Value) -> ir.Value:
    """NC... as N...C."""
    rank = len(shape(value))
    return build.transpose(value, [0, *range(2, rank), 1])


def channels_first(value: ir.Value) -> ir.Value:
    """N...C as NC...."""
    rank = len(shape(value))
    return build.transpose(value, [0, rank - 1, *range(1, rank - 1)])


def block_diagonal(weight: ir.Value, groups: int) -> ir.Value:
    """The weight [O, I / groups, ...] of a convolution in groups as the weight [O, I, ...] of one that reads all inputs."""
    dimensions = shape(weight)
    outputs, inputs = dimensions[0] // groups, dimensions[1]
    known = constant_value(weight)
    if known is not None:
        whole = np.zeros((dimensions[0], inputs * groups, *dimensions[2:]), known.dtype)
        for group in range(groups):
            block = slice(group * outputs, (group + 1) * outputs)
            whole[block, group * inputs : (group + 1) * inputs] = known[block]
        return constant(whole, element_type(weight))
    rows = []
    for group in range(groups):
        part = build.slice_axis(weight, 0, group * outputs, outputs)
        around = [(0, 0), (group * inputs, (groups - group - 1) * inputs), *[(0, 0)] * (len(dimensions) - 2)]
        rows.append(build.pad(part, around, 0))
    return build.concat(rows, 0)


def convolved(value: ir.Value, weight: ir.Value, bias: ir.Value, window: Window, groups: int) -> ir.Value:
    """The convolution of N...C by O, I / groups, ...; weights as torch has them, the result N...C."""
    channels, outputs, kernel = shape(value)[-1], shape(weight)[0], shape(weight)[2:]
    rank = len(kernel)
    if groups == channels and shape(weight)[1] == 1 and rank == 2 and groups > 1:
        ordered = build.reshape(weight, (channels, outputs // channels, *kernel))
        return windowed("tosa.depthwise_conv2d", value, build.transpose(ordered, (2, 3, 0, 1)), bias, kernel, window)
    if groups == 1:
        ordered = build.transpose(weight, [0, *range(2, rank + 2), 1])
        return windowed("tosa.conv2d" if rank == 2 else "tosa.conv3d", value, ordered, bias, kernel, window)
    together = math.gcd(groups, LARGEST_BLOCK_FACTOR) if groups > LARGEST_BLOCK_FACTOR else groups
    parts = []
    for first in range(0, groups, together):
        part_outputs, part_inputs = outputs // groups * together, channels // groups * together
        at = first // together
        part = build.slice_axis(value, rank + 1, at * part_inputs, part_inputs)
        part_weight = block_diagonal(part_of(weight, at * part_outputs, part_outputs), together)
        part_bias = part_of(bias, at * part_outputs, part_outputs)
        parts.append(convolved(part, part_weight, part_bias, window, 1))
    return build.concat(parts, rank + 1)


def part_of(value: ir.Value, start: int, size: int) -> ir.Value:
    """The part [start, start + size) of the first axis; of a constant, a constant."""
    known = constant_value(value)
    if known is None:
        return build.slice_axis(value, 0, start, size)
    return value if size == shape(value)[0] else constant(known[start : start + size], element_type(value))


def windowed(
    name: str, value: ir.Value, weight: ir.Value, bias: ir.Value, kernel: Sequence[int], window: Window
) -> ir.Value:
    """One TOSA convolution, its windows fitted."""
    value, padding, extents = fitted(value, kernel, window)
    outputs = shape(bias)[0]
    amounts = [amount for pair in padding for amount in pair]
    dimensions = (shape(value)[0], *extents, outputs)
    return build.convolution(name, value, weight, bias, dimensions, amounts, window.stride, window.dilation)


def transposed(
    value: ir.Value, weight: ir.Value, bias: ir.Value, window: Window, output_padding: Sequence[int]
) -> ir.Value:
    """The transposed convolution of NHWC by I, O, H, W; weights as torch has them, in one group."""
    ordered = dilated(build.transpose(weight, (1, 2, 3, 0)), window.dilation)
    kernel = shape(ordered)[1:3]
    padding, cuts, extents = [], [], []
    for index, size in enumerate(kernel):
        before, after = (-amount for amount in window.padding[index])
        after += output_padding[index]
        # TOSA wants out_pad above -kernel; what is below is cut off the result
        cut_before, cut_after = max(0, 1 - size - before), max(0, 1 - size - after)
        before, after = before + cut_before, after + cut_after
        whole = (shape(value)[index + 1] - 1) * window.stride[index] + before + after + size
        padding += [before, after]
        extents.append(whole)
        cuts.append((cut_before, whole - cut_before - cut_after))
    dimensions = (shape(value)[0], *extents, shape(bias)[0])
    result = build.convolution("tosa.transpose_conv2d", value, ordered, bias, dimensions, padding, window.stride)
    for index, (start, size) in enumerate(cuts):
        result = build.slice_axis(result, index + 1, start, size)
    return result


def dilated(weight: ir.Value, dilation: Sequence[int]) -> ir.Value:
    """A weight O...I with zeros between its elements."""
    for index, step in enumerate(dilation):
        weight = with_zeros_between(weight, index + 1, step)
    return weight


def with_zeros_between(value: ir.Value, axis: int, step: int) -> ir.Value:
    """The value with step - 1 zeros between neighbours along an axis."""
    dimensions = shape(value)
    if step == 1 or dimensions[axis] == 1:
        return value
    apart = build.reshape(value, (math.prod(dimensions[: axis + 1]), 1, math.prod(dimensions[axis + 1 :])))
    spaced = build.pad(apart, [(0, 0), (0, step - 1), (0, 0)], 0)
    whole = (*dimensions[:axis], dimensions[axis] * step, *dimensions[axis + 1 :])
    return build.slice_axis(build.reshape(spaced, whole), axis, 0, (dimensions[axis] - 1) * step + 1)


def transposed_by_zeros(
    value: ir.Value, weight: ir.Value, bias: ir.Value, window: Window, output_padding: Sequence[int]
) -> ir.Value:
    """The transposed convolution of NDHWC by I, O, D, H, W as a convolution of the spaced input with the weight mirrored."""
    padding = []
    for index, size in enumerate(shape(weight)[2:]):
        value = with_zeros_between(value, index + 1, window.stride[index])
        reach = (size - 1) * window.dilation[index]
        before, after = (reach - amount for amount in window.padding[index])
        padding.append((before, after + output_padding[index]))
        weight = mirrored(weight, index + 2)
    swapped = build.transpose(weight, [1, 0, *range(2, len(shape(weight)))])
    for index, (before, after) in enumerate(padding):
        start, end = max(0, -before), max(0, -after)
        value = build.slice_axis(value, index + 1, start, shape(value)[index + 1] - start - end)
    kept = tuple((max(0, before), max(0, after)) for before, after in padding)
    return convolved(value, swapped, bias, Window((1,) * len(kept), window.dilation, kept), 1)


def mirrored(weight: ir.Value, axis: int) -> ir.Value:
    """The weight with an axis in the opposite order."""
    known = constant_value(weight)
    return build.reverse(weight, axis) if known is None else constant(np.flip(known, axis), element_type(weight))


def transposed_weight(weight: ir.Value, groups: int) -> ir.Value:
    """The weight [I, O / groups, ...] of a transposed convolution in groups as one that reads all inputs."""
    return weight if groups == 1 else block_diagonal(weight, groups)


def raised(value: ir.Value) -> ir.Value:
    """NCW as NC1W, an axis put in before the last."""
    return build.reshape(value, (*shape(value)[:-1], 1, shape(value)[-1]))


def same_padding(call: Call, mode: str, kernel: Sequence[int], dilation: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """The padding that the words 'valid' and 'same' stand for."""
    if mode not in ("valid", "same"):
        raise call.error(f"with padding '{mode}', expected 'valid' or 'same'")
    if mode == "valid":
        return ((0, 0),) * len(kernel)
    totals = [(size - 1) * step for size, step in zip(kernel, dilation, strict=True)]
    return tuple((total // 2, total - total // 2) for total in totals)


@dataclass(frozen=True)
class Places:
    """At which operands an overload has stride, padding, dilation, groups, whether it is transposed, output padding."""

    stride: int = 3
    padding: int = 4
    dilation: int = 5
    groups: int = 6
    transposed: int | None = None
    output_padding: int | None = None


def convolution(places: Places, is_transposed: bool = False) -> Converter:
    """A converter for an overload of convolution."""

    def converter(call: Call) -> ir.Value:
        element = call.element
        if not is_float(element):
            raise call.error(f"of {call.result_dtype} is not supported, expected floating point; see vgfc.quantize")
        transposes = is_transposed or (places.transposed is not None and call.flag(places.transposed))
        value, weight = call.tensor_as(0, element), call.tensor_as(1, element)
        groups = call.integer(places.groups, 1)
        outputs = shape(weight)[1] * groups if transposes else shape(weight)[0]
        bias = call.tensor_as(2, element) if call.has(2) else build.filled(0, (outputs,), element)
        rank = len(shape(weight)) - 2
        batched = len(shape(value)) == rank + 2
        value = value if batched else build.reshape(value, (1, *shape(value)))
        stride, dilation = (
            spread(call.ints(index), rank) if call.has(index) else (1,) * rank
            for index in (places.stride, places.dilation)
        )
        if str(call.operand(places.padding).type) == "!torch.str":
            padding = same_padding(call, call.text(places.padding), shape(weight)[2:], dilation)
        else:
            padding = tuple((amount, amount) for amount in spread(call.ints(places.padding), rank))
        more = (0,) * rank
        if places.output_padding is not None and call.has(places.output_padding) and transposes:
            more = spread(call.ints(places.output_padding) or [0], rank)
        if rank == 1:
            value, weight = raised(value), raised(weight)
            stride, dilation, padding, more = (1, *stride), (1, *dilation), ((0, 0), *padding), (0, *more)
        window = Window(stride, dilation, padding)
        image = channels_last(value)
        if not transposes:
            result = convolved(image, weight, bias, window, groups)
        elif len(stride) == 2:
            result = transposed(image, transposed_weight(weight, groups), bias, window, more)
        else:
            result = transposed_by_zeros(image, transposed_weight(weight, groups), bias, window, more)
        return build.reshape(channels_first(result), call.result_shape)

    return converter


FORWARD = convolution(Places())
BACKWARD = convolution(Places(stride=3, padding=4, output_padding=5, groups=6, dilation=7), is_transposed=True)
GENERAL = convolution(Places(transposed=6, output_padding=7, groups=8))
TABLE: dict[str, Converter] = {
    **{f"torch.aten.conv{rank}d{form}": FORWARD for rank in (1, 2, 3) for form in ("", ".padding")},
    "torch.aten.conv_transpose1d": BACKWARD,
    "torch.aten.conv_transpose2d.input": BACKWARD,
    "torch.aten.conv_transpose3d.input": BACKWARD,
    "torch.aten.convolution": GENERAL,
    "torch.aten._convolution": GENERAL,
}


@register
@dataclass(frozen=True)
class ConvertTorchConvolutions(TorchConversion):
    name = "vgf-convert-torch-convolutions"
    table = TABLE
