"""Reductions along axes and over windows of integer forms: sums, extrema, pools and resizes."""

from __future__ import annotations

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.integer.alignment import narrowed
from vgfc.integer.folder import Folder
from vgfc.integer.forms import Form, NotInteger, element_of, one, per_tensor, replace_scale, rescale, to_32, widened
from vgfc.integer.moves import PLAIN_MOVES
from vgfc.integer.numerics import RANGES
from vgfc.ir import (
    attributes_of,
    const_shape,
    constant,
    defining,
    element_type,
    has_one_use,
    int_list,
    shape,
    shape_value,
    tensor,
)

RESIZE_LIMIT = 256  # of a resize's numerators here; TOSA allows 2^11


def reduce_extremum_form(folder: Folder, op: ir.Operation) -> Form:
    """The largest or smallest code along an axis."""
    form = to_32(folder.form(op.operands[0]), op)
    axis = ir.IntegerAttr(op.attributes["axis"]).value
    if form.axis == axis:
        form = per_tensor(form, op)
    name = op.name
    if (form.scale < 0).all():
        name = "tosa.reduce_min" if name == "tosa.reduce_max" else "tosa.reduce_max"
    value = build.reduce(name, form.value, axis)
    return Form(value, form.scale, form.axis, form.zero_point, form.low, form.high)


def reduce_sum_form(folder: Folder, op: ir.Operation) -> Form:
    """The sum along an axis; of 8-bit codes as a product with ones where that is fewer operators."""
    axis = ir.IntegerAttr(op.attributes["axis"]).value
    pooled = spatial_sum(folder, op, axis)
    if pooled is not None:
        return pooled
    form = folder.form(op.operands[0])
    if form.axis == axis:
        form = per_tensor(form, op)
    dimensions = shape(op.operands[0])
    count = dimensions[axis]
    if form.element == "i8" and len(dimensions) == 3 and axis == 2 and dimensions[0] == 1:
        ones = constant(np.ones((1, count, 1)), element_of("i8"))
        zeros = [constant(np.array([form.zero_point]), element_of("i8")), constant(np.zeros(1), element_of("i8"))]
        kind = tensor(shape(op.result), build.i32())
        value = build.operation("tosa.matmul", kind, [form.value, ones, *zeros])
        low, high = (form.low - form.zero_point) * count, (form.high - form.zero_point) * count
        return Form(value, form.scale, -1, 0, low, high)
    wide = narrowed(widened(form, op), (2**31 - 1) // count, op)
    value = build.reduce("tosa.reduce_sum", wide.value, axis)
    low, high = wide.low * count, wide.high * count
    if is_softmax_sum(folder, op):
        low = max(low, int(1 / wide.unit) - 1)
    return Form(value, wide.scale, wide.axis, 0, low, high)


def is_softmax_sum(folder: Folder, op: ir.Operation) -> bool:
    """Whether the operand is exp(x - the largest x): one summand is 1."""
    exponential = defining(op.operands[0])
    if exponential is None or exponential.name != "tosa.exp":
        return False
    difference = defining(exponential.operands[0])
    if difference is None or difference.name != "tosa.sub":
        return False
    largest = defining(folder.source(difference.operands[1]))
    return (
        largest is not None
        and largest.name == "tosa.reduce_max"
        and largest.operands[0] == difference.operands[0]
        and largest.attributes["axis"] == op.attributes["axis"]
    )


def spatial_sum(folder: Folder, op: ir.Operation, axis: int) -> Form | None:
    """A sum over height and width of 8-bit NHWC codes as one depthwise convolution with ones."""
    inner = defining(op.operands[0])
    if inner is None or inner.name != "tosa.reduce_sum" or not has_one_use(inner.result):
        return None
    axes = {axis, ir.IntegerAttr(inner.attributes["axis"]).value}
    dimensions = shape(inner.operands[0])
    if axes != {1, 2} or len(dimensions) != 4:
        return None
    form = folder.form(inner.operands[0])
    if form.element != "i8" or not form.is_per_tensor:
        return None
    return ones_convolution(form, dimensions[1:3], (1, 1), shape(op.result))


def ones_convolution(form: Form, kernel: tuple[int, ...], stride: tuple[int, ...], result: tuple[int, ...]) -> Form:
    """Sums over windows of an 8-bit NHWC form."""
    channels = shape(form.value)[3]
    narrow, wide = element_of("i8"), build.i32()
    ones = constant(np.ones((*kernel, channels, 1)), narrow)
    zero_points = [constant(np.array([form.zero_point]), narrow), constant(np.zeros(1), narrow)]
    attributes = {
        "pad": ir.DenseI64ArrayAttr.get([0, 0, 0, 0]),
        "stride": ir.DenseI64ArrayAttr.get(list(stride)),
        "dilation": ir.DenseI64ArrayAttr.get([1, 1]),
        "acc_type": ir.TypeAttr.get(wide),
    }
    operands = [form.value, ones, constant(np.zeros(1), wide), *zero_points]
    value = build.operation("tosa.depthwise_conv2d", tensor(result, wide), operands, attributes)
    count = int(np.prod(kernel))
    return Form(value, form.scale, -1, 0, (form.low - form.zero_point) * count, (form.high - form.zero_point) * count)


def narrow_codes(folder: Folder, op: ir.Operation) -> Form:
    """The operand in 8 or 16 bits. Wide sums of an average over other axes are narrowed: their bounds are the numbers' own."""
    form = folder.form(op.operands[0])
    if form.element in ("i8", "i16") and form.is_per_tensor:
        return form
    source = defining(op.operands[0])
    while source is not None and source.name in PLAIN_MOVES:
        source = defining(source.operands[0])
    if (
        source is None
        or source.name not in ("tosa.avg_pool2d", "tosa.resize")
        or not form.is_per_tensor
        or form.unit < 0
    ):
        raise NotInteger(op, "reads a tensor that is not quantized to 8 or 16 bits")
    low, high = form.real_range()
    if folder.has_int16:
        return rescale(form, "i16", one(max(abs(low), abs(high)) / RANGES["i16"][1]), -1, 0, op)
    scale = (high - low) / 255
    return rescale(form, "i8", one(scale), -1, round(-128 - low / scale), op)


def avg_pool_form(folder: Folder, op: ir.Operation) -> Form:
    """Means over windows: sums in 32 bits where nothing is padded, else an average pool of finer codes."""
    form = narrow_codes(folder, op)
    kernel, stride, pad = (int_list(op.attributes[name]) for name in ("kernel", "stride", "pad"))
    if not any(pad) and form.element == "i8":
        summed = ones_convolution(form, tuple(kernel), tuple(stride), shape(op.result))
        return replace_scale(summed, summed.scale / int(np.prod(kernel)))
    if form.element == "i8" and folder.has_int16:
        form = rescale(form, "i16", form.scale / 64, -1, 0, op)
    zero_point = constant(np.array([form.zero_point]), element_type(form.value))
    attributes = attributes_of(op) | {"acc_type": ir.TypeAttr.get(build.i32())}
    kind = tensor(shape(op.result), element_type(form.value))
    value = build.operation(op.name, kind, [form.value, zero_point, zero_point], attributes)
    return Form(value, form.scale, -1, form.zero_point, form.low, form.high)


def max_pool_form(folder: Folder, op: ir.Operation) -> Form:
    """The largest code of each window."""
    form = folder.form(op.operands[0])
    if form.element not in ("i8", "i16") or not form.is_per_tensor or form.unit < 0:
        raise NotInteger(op, "reads a tensor that is not quantized to 8 or 16 bits")
    kind = tensor(shape(op.result), element_type(form.value))
    value = build.operation(op.name, kind, [form.value], attributes_of(op))
    return Form(value, form.scale, -1, form.zero_point, form.low, form.high)


def resize_form(folder: Folder, op: ir.Operation) -> Form:
    """Nearest neighbours as they are; bilinear weights are whole numbers, so that the sum is exact."""
    form = narrow_codes(folder, op)
    name = form.element
    sizes = [list(shape_value(operand) or ()) for operand in op.operands[1:4]]
    if "NEAREST" in str(op.attributes["mode"]):
        factor = 1
    else:
        if form.element == "i8" and not is_quantized_next(op):
            # Multiplying numerator and denominator changes nothing but how fine the sums are, which an addition needs.
            finer = RESIZE_LIMIT // max(sizes[0][0], sizes[0][2])
            sizes = [[size * finer for size in group] for group in sizes] if finer > 1 else sizes
        factor = sizes[0][0] * sizes[0][2]
        name = "i32" if form.element == "i8" else "i48"
    kind = tensor(shape(op.result), element_of(name))
    operands = [form.value, *(const_shape(group) for group in sizes)]
    value = build.operation(op.name, kind, operands, attributes_of(op))
    return Form(value, form.scale / factor, -1, form.zero_point * factor, form.low * factor, form.high * factor)


def is_quantized_next(op: ir.Operation) -> bool:
    """Whether nothing but quantizes reads the result, past what only moves data."""
    for use in op.result.uses:
        reader = use.owner.operation
        if reader.name != "vgf.quantize" and not (reader.name in PLAIN_MOVES and is_quantized_next(reader)):
            return False
    return True
