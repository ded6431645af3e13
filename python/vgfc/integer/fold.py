"""Quantised islands as integer TOSA: from each vgf.quantize backwards to the dequantized tensors it depends on.

A value gets an integer form (`vgfc.integer.forms.Form`) from the forms of its operands. Three things keep operators few and
precision high: a quantize is pulled through whatever it commutes with exactly (data movement, limits, max pools); a chain of
element-wise operators on one 8-bit tensor is one table; everything else stays in 32 bits until the next quantize.

Operators are only added here. The caller replaces the quantize by what `Folder.quantized` gives and erases what is unused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import tosa

from vgfc import build
from vgfc.integer import lookup
from vgfc.integer.chains import ELEMENTWISE, Chains
from vgfc.integer.constants import Codes, Constants, Parameters, parameters_of, permutation_of
from vgfc.integer.forms import (
    ROOM,
    Form,
    NotInteger,
    element_of,
    negated,
    one,
    per_tensor,
    rescale,
    same_scale,
    shifted,
    widened,
)
from vgfc.integer.numerics import RANGES, Array, interpolate, quantize, table_codes
from vgfc.ir import (
    const_shape,
    constant,
    constant_value,
    defining,
    dense,
    element_type,
    has_one_use,
    int_list,
    is_float,
    shape,
    shape_value,
    tensor,
)

COMPARISONS = ("tosa.equal", "tosa.greater", "tosa.greater_equal")
LOGIC = ("tosa.logical_and", "tosa.logical_or", "tosa.logical_xor", "tosa.logical_not")
PLAIN_MOVES = ("tosa.reshape", "tosa.transpose", "tosa.slice", "tosa.reverse", "tosa.tile")
MOVES_AND_POOLS = (*PLAIN_MOVES, "tosa.concat", "tosa.max_pool2d", "tosa.gather", "tosa.pad", "tosa.resize")
RESIZE_LIMIT = 256  # of a resize's numerators here; TOSA allows 2^11
MULTIPLIER_LIMIT = 2**15 - 1
MASKED = 32.0  # exp(-32) is nothing beside 1 in any of the types here
FINE_BITS = 14  # how much finer than a tensor's reach a common scale has to be


class Folder:
    """One function being folded; `has_int16` and `has_int4` are extensions of the target."""

    def __init__(self, has_int16: bool, has_int4: bool) -> None:
        self.has_int16 = has_int16
        self.has_int4 = has_int4
        self.constants = Constants()
        self.chains = Chains(self.constants)
        self.forms: dict[ir.Value, Form] = {}
        self.refused: dict[ir.Value, NotInteger] = {}

    # Quantize

    def fold(self, op: ir.Operation) -> ir.Value:
        """The result of a vgf.quantize, a comparison or an argmax from integers.

        Raises NotInteger, naming the operator that has no integer form.
        """
        if op.name in COMPARISONS:
            return self.condition(op.result, op)
        if op.name == "tosa.argmax":
            with before(op):
                return argmax_of(self, op)
        return self.quantized(op.operands[0], parameters_of(op), element_type(op.result), op)

    def quantized(self, value: ir.Value, wanted: Parameters, element: ir.Type, at: ir.Operation) -> ir.Value:
        """Codes of `value` for these parameters; new operators come before `at`."""
        known = self.constants.real(value)
        if known is not None:
            scales, zero_points = wanted.along(shape(value))
            with before(at):
                return constant(quantize(known, scales, zero_points, wanted.low, wanted.high), element)
        op = defining(value)
        if op is None:
            return self.quantized_argument(value, wanted, element)
        if wanted.axis >= 0:
            raise NotInteger(at, "quantizes an activation with a scale for each channel, expected one scale")
        limits = self.limits_of(op)
        if limits is not None:
            source, low, high = limits
            ends = quantize(np.array([low, high]), wanted.scales, wanted.zero_points, wanted.low, wanted.high)
            narrow = Parameters(wanted.scales, wanted.zero_points, -1, int(ends[0]), int(ends[1]))
            return self.quantized(source, narrow, element, at)
        table = self.table(value, wanted, element, at)
        if table is not None:
            return table
        pulled = self.pull_through(op, wanted, element, at)
        if pulled is not None:
            return pulled
        return self.requantized(self.form(value), wanted, element, at)

    def quantized_argument(self, value: ir.Value, wanted: Parameters, element: ir.Type) -> ir.Value:
        """A new vgf.quantize of an argument of the function, where the argument is made, to the type's whole range."""
        low, high = RANGES[str(element)]
        number = ir.IntegerType.get_signless(64)
        attributes = {
            "scales": dense(wanted.scales, ir.F64Type.get()),
            "zero_points": dense(wanted.zero_points, number),
            "axis": ir.IntegerAttr.get(number, wanted.axis),
            "quant_min": ir.IntegerAttr.get(number, low),
            "quant_max": ir.IntegerAttr.get(number, high),
        }
        with ir.InsertionPoint.at_block_begin(value.owner), value.location:
            codes = build.operation("vgf.quantize", tensor(shape(value), element), [value], attributes)
            if wanted.low <= low and wanted.high >= high:
                return codes
            return clamp_codes(codes, max(wanted.low, low), min(wanted.high, high))

    def dequantized(self, value: ir.Value, at: ir.Operation) -> ir.Value | None:
        """A new vgf.dequantize for a result of the function that only moves codes; None where it computes or is one itself."""
        op = defining(value)
        if op is None or op.name == "vgf.dequantize" or op.name not in MOVES_AND_POOLS:
            return None
        form = self.form(value)
        if form.element not in ("i8", "i16") or not form.is_per_tensor or form.unit <= 0:
            return None
        low, high = RANGES[form.element]
        number = ir.IntegerType.get_signless(64)
        attributes = {
            "scales": dense(form.scale, ir.F64Type.get()),
            "zero_points": dense(np.array([form.zero_point]), number),
            "axis": ir.IntegerAttr.get(number, -1),
            "quant_min": ir.IntegerAttr.get(number, low),
            "quant_max": ir.IntegerAttr.get(number, high),
        }
        with before(at):
            return build.operation("vgf.dequantize", value.type, [form.value], attributes)

    def requantized(self, form: Form, wanted: Parameters, element: ir.Type, at: ir.Operation) -> ir.Value:
        """The codes of a form for these parameters."""
        name, zero_point = str(element), int(wanted.zero_points[0])
        if name not in ("i8", "i16"):
            raise NotInteger(at, f"quantizes to {name}, expected i8 or i16")
        if name == "i16" and zero_point:
            raise NotInteger(at, f"has zero point {zero_point} for 16-bit codes, TOSA has them at 0")
        with before(at):
            codes = rescale(form, name, wanted.scales, -1, zero_point, at)
            return self.limited(codes, wanted)

    def limited(self, codes: Form, wanted: Parameters) -> ir.Value:
        """The codes inside the range of the quantize, limited where they may lie outside."""
        if codes.low >= wanted.low and codes.high <= wanted.high:
            return codes.value
        return clamp_codes(
            codes.value, max(wanted.low, RANGES[codes.element][0]), min(wanted.high, RANGES[codes.element][1])
        )

    def limits_of(self, op: ir.Operation) -> tuple[ir.Value, float, float] | None:
        """(operand, lower, upper limit) of a clamp, or of a maximum or minimum with one number."""
        if op.name == "tosa.clamp":
            return (op.operands[0], *(ir.FloatAttr(op.attributes[name]).value for name in ("min_val", "max_val")))
        if op.name in ("tosa.maximum", "tosa.minimum"):
            for source, limit in ((0, 1), (1, 0)):
                number = self.constants.splat(op.operands[limit])
                if number is not None and shape(op.operands[source]) == shape(op.result):
                    ends = (number, np.inf) if op.name == "tosa.maximum" else (-np.inf, number)
                    return op.operands[source], *ends
        return None

    def pull_through(self, op: ir.Operation, wanted: Parameters, element: ir.Type, at: ir.Operation) -> ir.Value | None:
        """The same operator on quantized operands, where quantizing commutes with it exactly."""
        kind = tensor(shape(op.result), element)
        if op.name in PLAIN_MOVES or op.name == "tosa.max_pool2d":
            return self.again(op, [self.quantized(op.operands[0], wanted, element, at)], kind, at)
        if op.name in ("tosa.reduce_max", "tosa.reduce_min"):
            return self.again(op, [self.quantized(op.operands[0], wanted, element, at)], kind, at)
        if op.name == "tosa.concat":
            return self.again(op, [self.quantized(operand, wanted, element, at) for operand in op.operands], kind, at)
        if op.name == "tosa.pad":
            fill = self.constants.real(op.operands[2])
            if fill is None:
                return None
            code = quantize(fill, wanted.scales, wanted.zero_points, wanted.low, wanted.high)
            inner = self.quantized(op.operands[0], wanted, element, at)
            with before(at):
                return build.operation(op.name, kind, [inner, op.operands[1], constant(code, element)])
        if op.name == "tosa.gather":
            inner = self.quantized(op.operands[0], wanted, element, at)
            with before(at):
                return build.operation(op.name, kind, [inner, op.operands[1]])
        if op.name == "tosa.resize" and "NEAREST" in str(op.attributes["mode"]):
            return self.again(op, [self.quantized(op.operands[0], wanted, element, at)], kind, at)
        if op.name == "tosa.select":
            branches = [self.quantized(operand, wanted, element, at) for operand in op.operands[1:3]]
            condition = self.condition(op.operands[0], at)
            with before(at):
                return build.operation(op.name, kind, [condition, *branches])
        if op.name == "tosa.avg_pool2d":
            return self.pooled_codes(op, wanted, element, at)
        return None

    def again(self, op: ir.Operation, codes: list[ir.Value], kind: ir.Type, at: ir.Operation) -> ir.Value:
        """The operator with other operands in place of its first ones."""
        with before(at):
            rest = list(op.operands)[len(codes) :]
            return build.operation(op.name, kind, [*codes, *rest], attributes_of(op))

    def pooled_codes(self, op: ir.Operation, wanted: Parameters, element: ir.Type, at: ir.Operation) -> ir.Value | None:
        """An average pool on 8-bit codes, where the result is quantized as the operand is."""
        form = self.form(op.operands[0])
        is_same = form.is_per_tensor and form.unit == wanted.scales[0] and form.zero_point == wanted.zero_points[0]
        if not is_same or form.element != str(element) or form.element not in ("i8", "i16"):
            return None
        with before(at):
            zero_point = constant(np.array([form.zero_point]), element)
            attributes = attributes_of(op) | {"acc_type": ir.TypeAttr.get(build.i32())}
            kind = tensor(shape(op.result), element)
            value = build.operation(op.name, kind, [form.value, zero_point, zero_point], attributes)
            return self.limited(Form(value, form.scale, -1, form.zero_point, form.low, form.high), wanted)

    def table(self, value: ir.Value, wanted: Parameters, element: ir.Type, at: ir.Operation) -> ir.Value | None:
        """One table for a chain of element-wise operators on one quantized tensor; None where there is no such chain."""
        leaf = self.chains.leaf(value)
        if leaf is None or leaf == value:
            return None
        form = self.form(leaf)
        if not form.is_per_tensor or form.element not in ("i8", "i16"):
            return None
        if form.element == "i16" or str(element) != "i8":
            if form.element == "i16" and not self.chains.is_curved(value):
                return None
            wide = self.lookup(value, leaf, False, at)
            return self.requantized(wide, wanted, element, at)
        codes = np.arange(-128, 128)
        reals = form.unit * (codes - form.zero_point)
        entries = quantize(
            self.chains.evaluate(value, reals), wanted.scales, wanted.zero_points, wanted.low, wanted.high
        )
        with before(at):
            kind = tensor(shape(form.value), element)
            return tosa.TableOp(kind, form.value, constant(entries, element)).output

    def lookup(self, value: ir.Value, leaf: ir.Value, relative: bool, at: ir.Operation) -> Form:
        """The chain from `leaf` to `value` by a wide lookup."""

        def function(reals: Array) -> Array:
            return self.chains.evaluate(value, reals)

        form = self.form(leaf)
        with before(at):
            return lookup.lookup(form, function, relative, self.has_int16, at)

    # Forms

    def form(self, value: ir.Value) -> Form:
        """The integer form of a floating-point value; raises NotInteger where it has none."""
        if value in self.refused:
            raise self.refused[value]
        if value not in self.forms:
            try:
                self.forms[value] = self.make_form(value)
            except NotInteger as refusal:
                self.refused[value] = refusal
                raise
        return self.forms[value]

    def make_form(self, value: ir.Value) -> Form:
        op = defining(value)
        if op is None:
            raise NotInteger(next(iter(value.uses)).owner.operation, "reads an input that is not quantized")
        if op.name == "vgf.dequantize":
            return dequantized_form(op)
        known = self.constants.real(value)
        if known is not None:
            raise NotInteger(op, "is a constant that was never quantized")
        if op.name in ELEMENTWISE and self.chains.is_curved(value):
            leaf = self.chains.leaf(value)
            assert leaf is not None, "a curved chain has a leaf"
            relative = op.name in POWERS
            try:
                return self.lookup(value, leaf, relative, op)
            except NotInteger:
                if op.name not in CONVERTERS:
                    raise
        converter = CONVERTERS.get(op.name)
        if converter is None:
            raise NotInteger(op, "has no integer form")
        with before(op):
            return converter(self, op)

    def condition(self, value: ir.Value, at: ir.Operation) -> ir.Value:
        """A boolean value with the comparisons behind it made on integers."""
        op = defining(value)
        if op is None or not any(is_float_tensor(operand) for operand in op.operands):
            if op is None or op.name not in LOGIC:
                return value
            operands = [self.condition(operand, at) for operand in op.operands]
            with before(at):
                return build.operation(op.name, value.type, operands, attributes_of(op))
        if op.name not in COMPARISONS:
            raise NotInteger(op, "has no integer form")
        with before(at):
            return compare(self, op)

    def source(self, value: ir.Value) -> ir.Value:
        """What a value repeats along axes of extent 1: an element-wise reader broadcasts it anyway."""
        op = defining(value)
        if op is not None and op.name == "tosa.tile" and len(shape(op.operands[0])) == len(shape(value)):
            before_shape, after = shape(op.operands[0]), shape(value)
            if all(old in (1, new) for old, new in zip(before_shape, after, strict=True)):
                return self.source(op.operands[0])
        return value


def before(op: ir.Operation) -> Any:
    """The insertion point before an operation, at its location."""
    return _Place(op)


class _Place:
    def __init__(self, op: ir.Operation) -> None:
        self.point = ir.InsertionPoint(op)
        self.location = op.location

    def __enter__(self) -> None:
        self.point.__enter__()
        self.location.__enter__()

    def __exit__(self, *exception: Any) -> None:
        self.location.__exit__(*exception)
        self.point.__exit__(*exception)


def attributes_of(op: ir.Operation) -> dict[str, ir.Attribute]:
    """All attributes of an operation."""
    return {name: op.attributes[name] for name in op.attributes}


def clamp_codes(value: ir.Value, low: int, high: int) -> ir.Value:
    """Codes of 8 or 16 bits limited to [low, high]."""
    element = element_type(value)
    bounds = {"min_val": ir.IntegerAttr.get(element, low), "max_val": ir.IntegerAttr.get(element, high)}
    return build.operation("tosa.clamp", value.type, [value], bounds)


def dequantized_form(op: ir.Operation) -> Form:
    """The form of a vgf.dequantize of an activation."""
    parameters = parameters_of(op)
    name = str(element_type(op.operands[0]))
    if parameters.axis >= 0:
        raise NotInteger(op, "has a scale for each channel of an activation, expected one scale")
    if name not in ("i8", "i16"):
        raise NotInteger(op, f"has codes of type {name}, expected i8 or i16")
    zero_point = int(parameters.zero_points[0])
    if name == "i16" and zero_point:
        raise NotInteger(op, f"has zero point {zero_point} for 16-bit codes, TOSA has them at 0")
    low, high = RANGES[name]
    return Form(op.operands[0], parameters.scales, -1, zero_point, max(low, parameters.low), min(high, parameters.high))


# Convolutions and products


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


# Sums


def sum_form(folder: Folder, op: ir.Operation) -> Form:
    """Addition and subtraction, exact in 32 bits up to the rounding to a common scale."""
    sign = -1 if op.name == "tosa.sub" else 1
    left, right = (folder.source(operand) for operand in op.operands)
    known = folder.constants.real(right)
    if known is not None:
        return add_constant(folder.form(left), sign * known, op)
    known = folder.constants.real(left)
    if known is not None:
        form = folder.form(right)
        return add_constant(form if sign > 0 else replace_scale(form, -form.scale), known, op)
    return add_forms(folder.form(left), folder.form(right), sign, op)


def replace_scale(form: Form, scale: Array) -> Form:
    """The same codes with another scale."""
    return Form(form.value, scale, form.axis, form.zero_point, form.low, form.high)


def add_constant(form: Form, known: Array, op: ir.Operation) -> Form:
    """form + known, the constant rounded to a scale fine enough to lose nothing."""
    if not np.isfinite(known).all():
        known = without_infinities(form, known, op)
    if not known.any() and shape(op.result) == shape(form.value):
        return form
    fine = form
    if form.element != "i32":
        reach = (form.real_reach + float(np.abs(known).max())) / ROOM
        scale = (
            form.unit if abs(form.unit) < reach else form.unit * 2.0 ** -min(16, int(np.log2(abs(form.unit) / reach)))
        )
        fine = rescale(form, "i32", one(scale), -1, 0, op)
    fine = shifted(fine)
    codes = np.rint(known / per_axis(fine, np.ndim(known)))
    if not codes.any() and shape(op.result) == shape(form.value):
        return form
    low, high = fine.low + int(codes.min()), fine.high + int(codes.max())
    if max(-low, high) >= 2**31:
        coarse = fine.scale * (max(-low, high) / ROOM)
        return add_constant(rescale(fine, "i32", coarse, fine.axis, 0, op), known, op)
    value = build.add(fine.value, constant(codes.astype(np.int64).reshape(np.shape(known)), build.i32()))
    return Form(value, fine.scale, fine.axis, 0, low, high)


def without_infinities(form: Form, known: Array, op: ir.Operation) -> Array:
    """A mask's infinities as numbers so large that the softmax of the sum is the same."""
    readers = {use.owner.operation.name for use in op.result.uses}
    if np.isnan(known).any() or not readers <= {"tosa.reduce_max", "tosa.sub"}:
        raise NotInteger(op, "adds a number that is infinite")
    large = 2 * form.real_reach + MASKED
    return np.clip(known, -large, large)


def per_axis(form: Form, rank: int) -> Array:
    """The form's scales shaped to broadcast against an array of this rank."""
    if form.is_per_tensor:
        return form.scale.reshape(())
    behind = len(shape(form.value)) - 1 - form.axis
    return form.scale.reshape((-1, *(1,) * behind)) if behind < rank else form.scale.reshape(())


def add_forms(left: Form, right: Form, sign: int, op: ir.Operation) -> Form:
    """left + sign * right at a common scale."""
    left, right = to_32(left, op), to_32(right, op)
    left, right = aligned(left, right, op)
    if np.array_equal(left.scale, -right.scale):
        right, sign = replace_scale(right, left.scale), -sign
    low = left.low + (right.low if sign > 0 else -right.high)
    high = left.high + (right.high if sign > 0 else -right.low)
    if sign < 0 and is_largest_of(right.value, left.value):
        low, high = left.low - left.high, 0
    scale, axis = left.scale, left.axis
    if sign < 0 and high <= 0:
        # Codes that are never negative can be read as indices; the scale takes the sign.
        value, scale, low, high = build.sub(right.value, left.value), -scale, -high, -low
    else:
        value = build.add(left.value, right.value) if sign > 0 else build.sub(left.value, right.value)
    return Form(value, scale, axis, 0, low, high)


def is_largest_of(value: ir.Value, operand: ir.Value) -> bool:
    """Whether `value` is the maximum of `operand` along an axis."""
    op = defining(value)
    return op is not None and op.name == "tosa.reduce_max" and computes_same(op.operands[0], operand)


def computes_same(first: ir.Value, second: ir.Value) -> bool:
    """Whether two values are one, or made by equal operators on the same operands and equal constants."""
    if first == second:
        return True
    left, right = defining(first), defining(second)
    if left is None or right is None or left.name not in ("tosa.rescale", "tosa.cast", "tosa.const"):
        return False
    if left.name != right.name or attributes_of(left) != attributes_of(right) or left.result.type != right.result.type:
        return False
    return all(computes_same(one, other) for one, other in zip(left.operands, right.operands, strict=True))


def to_32(form: Form, op: ir.Operation) -> Form:
    """A form whose codes are at most 32 bits wide."""
    return widened(form, op) if form.element == "i48" else form


def aligned(left: Form, right: Form, op: ir.Operation) -> tuple[Form, Form]:
    """Two forms in 32 bits with one scale (up to its sign), whose sum fits."""
    same = left.axis == right.axis and np.array_equal(np.abs(left.scale), np.abs(right.scale))
    if same and left.reach + right.reach < 2**31:
        return widened(left, op), widened(right, op)
    for base, other, is_left in ((left, right, True), (right, left, False)):
        moved = onto(base, other, op)
        if moved is not None:
            return (moved[0], moved[1]) if is_left else (moved[1], moved[0])
    total = left.real_reach + right.real_reach
    largest = max(float(np.max(np.abs(form.scale))) for form in (left, right))
    bits = min(20, int(np.floor(np.log2(largest / (total / (ROOM // 4))))))
    scale = one(largest * 2.0**-bits)
    signs = [np.sign(form.scale[:1]) for form in (left, right)]
    return rescale(left, "i32", scale * signs[0], -1, 0, op), rescale(right, "i32", scale * signs[1], -1, 0, op)


def onto(base: Form, other: Form, op: ir.Operation) -> tuple[Form, Form] | None:
    """`other` at the scale of `base`, which stays as it is; None where that loses precision or does not fit.

    It loses nothing where the other's scale is a multiple, and nothing that counts where the base's is much finer.
    """
    if not np.all(other.scale > 0) or not np.all(base.scale > 0):
        return None
    if other.axis >= 0 and base.axis not in (-1, other.axis):
        return None
    ratios = other.scale / base.scale
    is_multiple = bool(np.all(np.abs(ratios - np.rint(ratios)) < 1e-6 * ratios)) and bool(np.all(ratios >= 1))
    fine = float(np.max(base.scale)) * 2.0**FINE_BITS <= min(base.real_reach, other.real_reach)
    if not is_multiple and (base.element != "i32" or not fine):
        return None
    if base.axis >= 0 and base.axis != len(shape(other.value)) - 1:
        return None
    if base.axis >= 0 and len(base.scale) != shape(other.value)[base.axis]:
        return None
    if base.reach + other.reach * float(np.max(ratios)) >= ROOM * 2 - 1:
        return None
    try:
        moved = rescale(other, "i32", base.scale, base.axis, 0, op)
        return widened(base, op), moved
    except NotInteger:
        return None


# Products of tensors


def product_form(folder: Folder, op: ir.Operation) -> Form:
    """Element-wise multiplication: by a constant it is a change of scale where it can be."""
    left, right = (folder.source(operand) for operand in op.operands[:2])
    for source, other in ((left, right), (right, left)):
        known = folder.constants.real(other)
        if known is not None:
            return multiply_constant(folder.form(source), known, op)
    first = folder.form(left)
    second = first if left == right else folder.form(right)
    return multiply_forms(first, second, left == right, op)


def multiply_constant(form: Form, known: Array, op: ir.Operation) -> Form:
    """form * known."""
    dimensions = shape(op.result)
    if (known == known.flat[0]).all() and known.flat[0] != 0 and dimensions == shape(form.value):
        return replace_scale(form, form.scale * float(known.flat[0]))
    last = len(dimensions) - 1
    per_channel = (known != 0).all() and known.size == known.shape[-1] and (np.all(known > 0) or np.all(known < 0))
    if per_channel and dimensions == shape(form.value) and form.axis in (-1, last) and known.size == dimensions[-1]:
        return Form(form.value, form.scale * known.reshape(-1), last, form.zero_point, form.low, form.high)
    wide = narrowed(widened(form, op), ROOM // MULTIPLIER_LIMIT * 2, op)
    unit = float(np.abs(known).max()) / MULTIPLIER_LIMIT or 1.0
    codes = np.rint(known / unit).astype(np.int64)
    rank = max(known.ndim, len(shape(wide.value)))
    factor = constant(codes.reshape((1,) * (rank - known.ndim) + known.shape), build.i32())
    bound = wide.reach * int(np.abs(codes).max())
    return Form(build.mul(wide.value, factor), wide.scale * unit, wide.axis, 0, -bound, bound)


def narrowed(form: Form, limit: int, op: ir.Operation) -> Form:
    """The form with codes of at most this size."""
    if form.reach <= limit:
        return form
    return rescale(form, "i32", form.scale * (form.reach / limit), form.axis, 0, op)


def multiply_forms(left: Form, right: Form, is_square: bool, op: ir.Operation) -> Form:
    """left * right; products that need more than 32 bits are shifted by TOSA's own rounding shift."""
    if left.axis >= 0 and right.axis >= 0 and left.axis != right.axis:
        raise NotInteger(op, "multiplies tensors with scales along different axes")
    narrow = left.element == right.element == "i8" and left.zero_point == right.zero_point == 0
    if narrow:
        first, second = left, right
    else:
        first = widened(left, op)
        second = first if is_square else widened(right, op)
    bound = first.reach * second.reach
    shift = max(0, bound.bit_length() - 31)
    scale = first.scale * second.scale * 2.0**shift
    axis = max(first.axis, second.axis)
    dimensions = build.broadcast_shape(shape(first.value), shape(second.value))
    amount = constant(np.array([shift]), element_of("i8"))
    operands = [build.with_rank(form.value, len(dimensions)) for form in (first, second)]
    value = build.operation("tosa.mul", tensor(dimensions, build.i32()), [*operands, amount])
    bound = (bound >> shift) + (shift > 0)
    positive = is_square or (min(first.low, second.low) >= 0)
    return Form(value, scale, axis, 0, 0 if positive else -bound, bound)


def negate_form(folder: Folder, op: ir.Operation) -> Form:
    """Negation is a sign of the scale."""
    form = folder.form(op.operands[0])
    return replace_scale(form, -form.scale)


def abs_form(folder: Folder, op: ir.Operation) -> Form:
    """The size of each number."""
    form = widened(folder.form(op.operands[0]), op)
    return Form(build.unary("tosa.abs", form.value), np.abs(form.scale), form.axis, 0, 0, form.reach)


# Limits


def clamp_form(folder: Folder, op: ir.Operation) -> Form:
    """Limits on codes: nothing where they lie outside, exact where they fall on codes, else on finer codes."""
    limits = folder.limits_of(op)
    if limits is None:
        return extremum_form(folder, op)
    source, low, high = limits
    form = folder.form(source)
    if form.element == "i48":
        form = widened(form, op)
    form = positive(form, op)
    if form.is_per_tensor and form.element in ("i8", "i16"):
        ends = [end / form.unit + form.zero_point if np.isfinite(end) else end for end in (low, high)]
        kept = [end if np.isfinite(end) else bound for end, bound in zip(ends, (form.low, form.high), strict=True)]
        kept = [min(max(end, form.low), form.high) for end in kept]
        codes = [round(end) for end in kept]
        if all(abs(end - code) < 1e-4 for end, code in zip(kept, codes, strict=True)):
            if codes == [form.low, form.high]:
                return form
            if form.element == "i8" or folder.has_int16:
                value = clamp_codes(form.value, codes[0], codes[1])
                return Form(value, form.scale, -1, form.zero_point, codes[0], codes[1])
        form = rescale(form, "i32", form.scale * 2.0**-12, -1, 0, op)
    form = shifted(form)
    shaped = [1] * len(shape(form.value))
    shaped[form.axis if form.axis >= 0 else -1] = len(form.scale)
    value, least, most = form.value, form.low, form.high
    bounds = RANGES["i32"]
    if np.isfinite(low) and low > float(np.min(form.scale)) * least:
        codes_low = np.clip(np.rint(low / form.scale), *bounds).astype(np.int64)
        value = build.binary("tosa.maximum", value, constant(codes_low.reshape(shaped), build.i32()))
        least = max(least, int(codes_low.min()))
        most = max(most, int(codes_low.max()))
    if np.isfinite(high) and high < float(np.max(form.scale)) * most:
        codes_high = np.clip(np.rint(high / form.scale), *bounds).astype(np.int64)
        value = build.binary("tosa.minimum", value, constant(codes_high.reshape(shaped), build.i32()))
        most = min(most, int(codes_high.max()))
        least = min(least, int(codes_high.min()))
    return Form(value, form.scale, form.axis, 0, least, most)


def extremum_form(folder: Folder, op: ir.Operation) -> Form:
    """The larger or smaller of two tensors."""
    left, right = (to_32(folder.form(folder.source(operand)), op) for operand in op.operands)
    left, right = positive(left, op), positive(right, op)
    left, right = aligned(left, right, op)
    pick = max if op.name == "tosa.maximum" else min
    value = build.binary(op.name, left.value, right.value)
    return Form(value, left.scale, left.axis, 0, pick(left.low, right.low), pick(left.high, right.high))


# Reductions and windows


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


def avg_pool_form(folder: Folder, op: ir.Operation) -> Form:
    """Means over windows: sums in 32 bits where nothing is padded, else an average pool of finer codes."""
    form = folder.form(op.operands[0])
    if form.element not in ("i8", "i16") or not form.is_per_tensor:
        raise NotInteger(op, "reads a tensor that is not quantized to 8 or 16 bits")
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


def cast_form(folder: Folder, op: ir.Operation) -> Form:
    """Booleans and narrow integers as the numbers they are."""
    source = op.operands[0]
    name = str(element_type(source))
    if name not in ("i1", "i8", "i16"):
        raise NotInteger(op, f"converts {name} to floating point, whose range is not known")
    wide = build.operation("tosa.cast", tensor(shape(source), build.i32()), [source])
    low, high = (0, 1) if name == "i1" else RANGES[name]
    return Form(wide, one(1.0), -1, 0, low, high)


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
    form = folder.form(op.operands[0])
    if form.element not in ("i8", "i16") or not form.is_per_tensor:
        raise NotInteger(op, "reads a tensor that is not quantized to 8 or 16 bits")
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


# Data movement


def move_form(folder: Folder, op: ir.Operation) -> Form:
    """The same movement of the codes; the axis of the scales moves along."""
    form = folder.form(op.operands[0])
    scale, axis = form.scale, form.axis
    if axis >= 0:
        moved = moved_scale(op, form)
        if moved is None:
            form = per_tensor(form, op)
            moved = form.scale, -1
        scale, axis = moved
    kind = tensor(shape(op.result), element_type(form.value))
    value = build.operation(op.name, kind, [form.value, *list(op.operands)[1:]], attributes_of(op))
    return Form(value, scale, axis, form.zero_point, form.low, form.high)


def moved_scale(op: ir.Operation, form: Form) -> tuple[Array, int] | None:
    """Scales and their axis after a reshape, transpose, slice, reverse or tile; None where a reshape breaks the axis up."""
    axis, old, new = form.axis, shape(op.operands[0]), shape(op.result)
    if op.name == "tosa.transpose":
        return form.scale, permutation_of(op).index(axis)
    if op.name == "tosa.reshape":
        before_axis = int(np.prod(old[:axis], dtype=np.int64))
        for candidate, extent in enumerate(new):
            if extent == old[axis] and int(np.prod(new[:candidate], dtype=np.int64)) == before_axis:
                return form.scale, candidate
        return None
    if op.name == "tosa.slice":
        start, size = shape_value(op.operands[1]), shape_value(op.operands[2])
        assert start is not None and size is not None, "a slice has constant shapes"
        return form.scale[start[axis] : start[axis] + size[axis]], axis
    if op.name == "tosa.reverse":
        flipped = ir.IntegerAttr(op.attributes["axis"]).value == axis
        return (form.scale[::-1] if flipped else form.scale), axis
    return np.tile(form.scale, new[axis] // old[axis]), axis


def concat_form(folder: Folder, op: ir.Operation) -> Form:
    """Joined codes: as they are where the parameters agree, along their own axis with a scale for each part, else aligned."""
    forms = [to_32(folder.form(operand), op) for operand in op.operands]
    axis = ir.IntegerAttr(op.attributes["axis"]).value
    first = forms[0]
    same = all(
        same_scale(form, first) and form.zero_point == first.zero_point and form.element == first.element
        for form in forms
    )
    if not (same and (first.axis != axis)):
        forms = [widened(form, op) for form in forms]
        if all(form.axis in (-1, axis) for form in forms):
            parts = [np.broadcast_to(form.scale, (shape(form.value)[axis],)) for form in forms]
            scale, scale_axis = np.concatenate(parts), axis
        else:
            raise NotInteger(op, "joins tensors with scales along another axis")
    else:
        scale, scale_axis = first.scale, first.axis
    value = build.concat([form.value for form in forms], axis)
    low, high = min(form.low for form in forms), max(form.high for form in forms)
    return Form(value, scale, scale_axis, forms[0].zero_point, low, high)


def pad_form(folder: Folder, op: ir.Operation) -> Form:
    """Padding with a number that has a code."""
    form = to_32(folder.form(op.operands[0]), op)
    fill = folder.constants.splat(op.operands[2])
    if fill is None or (fill != 0 and not form.is_per_tensor):
        raise NotInteger(op, "pads with a number that has no code")
    code = fill / float(form.scale[0]) + form.zero_point
    low, high = RANGES[form.element]
    if abs(code - round(code)) > 1e-4 or not low <= round(code) <= high:
        raise NotInteger(op, f"pads with {fill:g}, which has no code")
    element = element_type(form.value)
    operands = [form.value, op.operands[1], constant(np.array([round(code)]), element)]
    value = build.operation(op.name, tensor(shape(op.result), element), operands)
    return Form(value, form.scale, form.axis, form.zero_point, min(form.low, round(code)), max(form.high, round(code)))


def gather_form(folder: Folder, op: ir.Operation) -> Form:
    """Rows of a quantized table (or activation) by index."""
    codes = folder.constants.quantized(op.operands[0])
    if codes is not None:
        scales = weight_scale(codes, (2,), op)
        same = bool((scales == scales[0]).all())
        table = constant(codes.values, element_of("i8"))
        low, high = int(codes.values.min()), int(codes.values.max())
        form = Form(table, scales[:1] if same else scales, -1 if same else 2, 0, low, high)
    else:
        form = to_32(folder.form(op.operands[0]), op)
        if form.axis not in (-1, 2):
            raise NotInteger(op, "reads rows of different scales")
    kind = tensor(shape(op.result), element_type(form.value))
    value = build.operation(op.name, kind, [form.value, op.operands[1]])
    return Form(value, form.scale, form.axis, form.zero_point, form.low, form.high)


def select_form(folder: Folder, op: ir.Operation) -> Form:
    """A choice between two tensors at a common scale."""
    forms = []
    for index, other in ((1, 2), (2, 1)):
        known = folder.constants.real(op.operands[index])
        if known is None:
            forms.append(positive(to_32(folder.form(folder.source(op.operands[index])), op), op))
            continue
        like = to_32(folder.form(folder.source(op.operands[other])), op)
        forms.append(constant_like(like, known, op))
    left, right = forms
    if not (same_scale(left, right) and left.zero_point == right.zero_point and left.element == right.element):
        left, right = aligned(left, right, op)
    condition = folder.condition(op.operands[0], op)
    value = build.select(condition, left.value, right.value)
    low, high = min(left.low, right.low), max(left.high, right.high)
    return Form(value, left.scale, left.axis, left.zero_point, low, high)


def positive(form: Form, op: ir.Operation) -> Form:
    """The form with positive scales."""
    return negated(form, op) if (form.scale < 0).any() else form


def constant_like(form: Form, known: Array, op: ir.Operation) -> Form:
    """A constant as 32-bit codes, fine enough beside `form`."""
    finite = known[np.isfinite(known)]
    reach = max(form.real_reach, float(np.abs(finite).max()) if finite.size else 0.0)
    if finite.size != known.size:
        raise NotInteger(op, "chooses a number that is infinite")
    unit = reach / (ROOM // 2) or 1.0
    codes = np.rint(known / unit).astype(np.int64)
    return Form(constant(codes, build.i32()), one(unit), -1, 0, int(codes.min()), int(codes.max()))


# Comparisons


def is_float_tensor(value: ir.Value) -> bool:
    """Whether a value is a tensor of floating-point numbers."""
    return isinstance(value.type, ir.RankedTensorType) and is_float(element_type(value))


def compare(folder: Folder, op: ir.Operation) -> ir.Value:
    """A comparison of codes; with one number it is decided for each code as floating point decides it."""
    for index, other in ((0, 1), (1, 0)):
        number = folder.constants.splat(op.operands[other])
        if number is not None:
            return compare_number(folder.form(folder.source(op.operands[index])), number, index == 0, op)
    left, right = (to_32(folder.form(folder.source(operand)), op) for operand in op.operands)
    left, right = positive(left, op), positive(right, op)
    left, right = aligned(left, right, op)
    return build.binary(op.name, left.value, right.value)


def compare_number(form: Form, number: float, is_left: bool, op: ir.Operation) -> ir.Value:
    """form <op> number, or number <op> form: the codes for which it holds lie on one side of a code (or are one)."""
    form = positive(per_tensor(widened(form, op), op), op)
    if np.isnan(number):
        raise NotInteger(op, "compares with a number that is none")
    exact = float(np.clip(number / form.unit, -(2.0**40), 2.0**40))
    near = round(exact)
    # A code whose f32 number is the constant counts as equal to it, whatever 1e-7 of rounding is between them.
    is_code = float(np.float32(near * form.unit)) == float(np.float32(number))
    low, high = RANGES["i32"]
    below = min(max(near - 1 if is_code else int(np.floor(exact)), low), high)
    above = min(max(near + 1 if is_code else int(np.ceil(exact)), low), high)
    if op.name == "tosa.equal":
        code = near if is_code else form.high + 1
        return build.binary("tosa.equal", form.value, build.scalar_like(code, form.value))
    strict = op.name == "tosa.greater"
    if is_left:
        least = above if strict or not is_code else near
        return build.binary("tosa.greater_equal", form.value, build.scalar_like(least, form.value))
    most = below if strict or not is_code else near
    return build.binary("tosa.greater_equal", build.scalar_like(most, form.value), form.value)


def argmax_of(folder: Folder, op: ir.Operation) -> ir.Value:
    """The index of the largest code."""
    form = folder.form(op.operands[0])
    if form.element not in ("i8", "i16") or not form.is_per_tensor or form.unit < 0:
        raise NotInteger(op, "reads a tensor that is not quantized to 8 or 16 bits")
    return build.operation(op.name, op.result.type, [form.value], attributes_of(op))


# Powers


def power_form(folder: Folder, op: ir.Operation) -> Form:
    """1/x and 1/sqrt(x) over many orders of magnitude."""
    return lookup.power(folder.form(op.operands[0]), POWERS[op.name], folder.has_int16, op)


POWERS = {"tosa.reciprocal": -1.0, "tosa.rsqrt": -0.5}
CONVERTERS: dict[str, Callable[[Folder, ir.Operation], Form]] = {
    "tosa.conv2d": convolution_form,
    "tosa.conv3d": convolution_form,
    "tosa.depthwise_conv2d": convolution_form,
    "tosa.transpose_conv2d": convolution_form,
    "tosa.matmul": matmul_form,
    "tosa.add": sum_form,
    "tosa.sub": sum_form,
    "tosa.mul": product_form,
    "tosa.negate": negate_form,
    "tosa.abs": abs_form,
    "tosa.clamp": clamp_form,
    "tosa.maximum": clamp_form,
    "tosa.minimum": clamp_form,
    "tosa.reduce_max": reduce_extremum_form,
    "tosa.reduce_min": reduce_extremum_form,
    "tosa.reduce_sum": reduce_sum_form,
    "tosa.avg_pool2d": avg_pool_form,
    "tosa.max_pool2d": max_pool_form,
    "tosa.resize": resize_form,
    "tosa.reshape": move_form,
    "tosa.transpose": move_form,
    "tosa.slice": move_form,
    "tosa.reverse": move_form,
    "tosa.tile": move_form,
    "tosa.concat": concat_form,
    "tosa.pad": pad_form,
    "tosa.gather": gather_form,
    "tosa.select": select_form,
    "tosa.cast": cast_form,
    "tosa.reciprocal": power_form,
    "tosa.rsqrt": power_form,
}

__all__ = ["Folder", "interpolate", "is_float", "table_codes"]
