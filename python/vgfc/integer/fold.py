"""Quantised islands as integer TOSA: from each vgf.quantize backwards to the dequantized tensors it depends on.

Three things keep operators few and precision high: a quantize is pulled through whatever it commutes with exactly (data
movement, limits, max pools); a chain of element-wise operators on one 8-bit tensor is one table; everything else stays in 32
bits (its integer form, see `vgfc.integer.folder`) until the next quantize.

Operators are only added here. The caller replaces the quantize by what `QuantizeFolder.fold` gives and erases what is unused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import tosa

from vgfc import build
from vgfc.integer.comparisons import argmax_of, condition
from vgfc.integer.constants import Parameters, parameters_of
from vgfc.integer.convolutions import convolution_form, matmul_form
from vgfc.integer.folder import Converter, Folder, before
from vgfc.integer.forms import Form, NotInteger, element_of, emit_rescale, rescale
from vgfc.integer.limits import clamp_codes, clamp_form
from vgfc.integer.lookup import finite, read_entries, table_follows, wide_indices
from vgfc.integer.moves import (
    PLAIN_MOVES,
    cast_form,
    concat_form,
    gather_form,
    move_form,
    pad_form,
    scatter_form,
    select_form,
)
from vgfc.integer.numerics import RANGES, quantize
from vgfc.integer.products import abs_form, negate_form, power_form, product_form
from vgfc.integer.reductions import avg_pool_form, max_pool_form, reduce_extremum_form, reduce_sum_form, resize_form
from vgfc.integer.sums import sum_form
from vgfc.ir import attributes_of, constant, defining, element_type, is_float, shape, tensor

MOVES_AND_POOLS = (
    *PLAIN_MOVES,
    "tosa.concat",
    "tosa.max_pool2d",
    "tosa.gather",
    "tosa.scatter",
    "tosa.pad",
    "tosa.resize",
)
CONVERTERS: Mapping[str, Converter] = {
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
    "tosa.scatter": scatter_form,
    "tosa.select": select_form,
    "tosa.cast": cast_form,
    "tosa.reciprocal": power_form,
    "tosa.rsqrt": power_form,
}


class QuantizeFolder(Folder):
    """What the quantizes of one function become; see `Folder` for the arguments."""

    def __init__(self, has_int16: bool, has_int4: bool, is_fine: bool) -> None:
        super().__init__(has_int16, has_int4, is_fine, CONVERTERS)

    def fold(self, op: ir.Operation) -> ir.Value:
        """The result of a vgf.quantize, a comparison, an argmax or a cast to integers from integers.

        Raises NotInteger, naming the operator that has no integer form.
        """
        if op.name in build.COMPARISONS:
            return condition(self, op.result, op)
        if op.name == "tosa.argmax":
            with before(op):
                return argmax_of(self, op)
        if op.name == "tosa.cast":
            return self.whole_numbers(op)
        return self.quantized(op.operands[0], parameters_of(op), element_type(op.result), op)

    def whole_numbers(self, op: ir.Operation) -> ir.Value:
        """A cast to integers (or booleans) of a function of one 8-bit tensor: looked up for each code."""
        leaf = self.chains.leaf(op.result)
        form = self.form(leaf) if leaf is not None else None
        if form is None or not form.is_per_tensor or form.element != "i8":
            raise NotInteger(op, "converts a tensor that is no function of one that is quantized to 8 bits")
        entries = self.chains.evaluate(op.result, form.unit * (np.arange(-128, 128) - form.zero_point))
        low, high = RANGES["i8"]
        with before(op):
            if entries.min() >= low and entries.max() <= high:
                kind = tensor(shape(form.value), element_of("i8"))
                found = tosa.TableOp(kind, form.value, constant(entries, element_of("i8"))).output
            else:
                indices = emit_rescale(form.value, "i32", [(2**30, 30)], -128, 0)
                found = read_entries(indices, entries)
            return found if found.type == op.result.type else build.operation("tosa.cast", op.result.type, [found])

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
        attributes = replace(wanted, low=low, high=high).attributes()
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
        if not is_float(element_type(value)):
            return None  # integers of the model's own are no codes
        form = self.form(value)
        if form.element not in ("i8", "i16") or not form.is_per_tensor or form.unit <= 0:
            return None
        low, high = RANGES[form.element]
        attributes = Parameters(form.scale, np.array([form.zero_point]), -1, low, high).attributes()
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
        if op.name == "tosa.scatter":
            into, rows = (self.quantized(op.operands[index], wanted, element, at) for index in (0, 2))
            with before(at):
                return build.operation(op.name, kind, [into, op.operands[1], rows])
        if op.name == "tosa.resize" and "NEAREST" in str(op.attributes["mode"]):
            return self.again(op, [self.quantized(op.operands[0], wanted, element, at)], kind, at)
        if op.name == "tosa.select":
            branches = [self.quantized(operand, wanted, element, at) for operand in op.operands[1:3]]
            chooser = condition(self, op.operands[0], at)
            with before(at):
                return build.operation(op.name, kind, [chooser, *branches])
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
            if form.element == "i16" and not table_follows(form, self.of(value), False, at):
                reals = form.unit * np.arange(form.low, form.high + 1)
                numbers = finite(self.of(value)(reals), at)
                entries = quantize(numbers, wanted.scales, wanted.zero_points, wanted.low, wanted.high)
                with before(at):
                    return read_entries(wide_indices(form), entries, element)
            wide = self.form(value)
            return self.requantized(wide, wanted, element, at)
        codes = np.arange(-128, 128)
        reals = form.unit * (codes - form.zero_point)
        entries = quantize(
            self.chains.evaluate(value, reals), wanted.scales, wanted.zero_points, wanted.low, wanted.high
        )
        with before(at):
            kind = tensor(shape(form.value), element)
            return tosa.TableOp(kind, form.value, constant(entries, element)).output
