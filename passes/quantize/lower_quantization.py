"""vgf-lower-quantization: what is left of vgf.quantize and vgf.dequantize becomes exact TOSA in few operators.

    %0 = "vgf.dequantize"(%x) <{scales = dense<0.5>, zero_points = dense<3>, ...}> : (tensor<4xi8>) -> tensor<4xf32>
becomes
    %1 = tosa.rescale %x (zero point taken off) ... i16 ; %2 = tosa.cast %1 ... f32 ; %3 = tosa.mul %2, %scale

and a quantize becomes tosa.mul, tosa.cast to i16 (which rounds half to even, as PyTorch does, and saturates) and a rescale
that adds the zero point and saturates to 8 bits. Without zero point the rescale goes away. PyTorch multiplies by the f32
nearest to 1 / scale; so does this. Codes of 16 bits keep one side of their range by a clamp, and zero points that no 8-bit
code has are subtracted in floating point. For a target without floating point nothing changes.

Invalid input: none, every quantize and dequantize has such a form.
"""

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.integer.constants import Parameters, parameters_of
from vgfc.integer.forms import element_of, emit_rescale
from vgfc.integer.numerics import RANGES, Array
from vgfc.ir import constant, element_type, functions, operations, shape, tensor
from vgfc.passmanager import Pass, register
from vgfc.target import target_of

UNCHANGED = [(2**30, 30)]  # the multiplier and shift of a rescale by 1


@register
@dataclass(frozen=True)
class LowerQuantization(Pass):
    name = "vgf-lower-quantization"

    def run(self, module: ir.Module) -> None:
        target = target_of(module)
        if "FP" not in target.profiles:
            return
        has_integers = "INT" in target.profiles
        for function in functions(module):
            for op in operations(function):
                if op.name in ("vgf.quantize", "vgf.dequantize"):
                    with ir.InsertionPoint(op), op.location:
                        lower = lower_quantize if op.name == "vgf.quantize" else lower_dequantize
                        op.result.replace_all_uses_with(lower(op, has_integers))
                    op.erase()


def spread(values: Array, parameters: Parameters, value: ir.Value) -> Array:
    """Scales or zero points in the shape that broadcasts against a tensor."""
    sizes = [1] * max(len(shape(value)), 1)
    if parameters.axis >= 0:
        sizes[parameters.axis] = len(values)
    return values.reshape(sizes)


def lower_dequantize(op: ir.Operation, has_integers: bool) -> ir.Value:
    """(code - zero point) * scale in f32."""
    parameters = parameters_of(op)
    codes, result = op.operands[0], element_type(op.result)
    zero_point = int(parameters.zero_points[0])
    low, high = RANGES["i8"]
    one_zero_point = bool((parameters.zero_points == zero_point).all())
    if (
        zero_point
        and one_zero_point
        and has_integers
        and str(element_type(codes)) == "i8"
        and low <= zero_point <= high
    ):
        codes, zero_point = emit_rescale(codes, "i16", UNCHANGED, zero_point, 0), 0
    real = build.operation("tosa.cast", tensor(shape(codes), result), [codes])
    if zero_point or not one_zero_point:
        zeros = spread(parameters.zero_points.astype(np.float32), parameters, real)
        real = build.sub(real, constant(zeros, result))
    return build.mul(real, constant(spread(parameters.scales.astype(np.float32), parameters, real), result))


def lower_quantize(op: ir.Operation, has_integers: bool) -> ir.Value:
    """round(x * (1 / scale)) + zero point, limited."""
    parameters = parameters_of(op)
    value, element = op.operands[0], element_type(op.result)
    name = str(element)
    inverse = (1.0 / parameters.scales).astype(np.float32)
    scaled = build.mul(value, constant(spread(inverse, parameters, value), element_type(value)))
    zero_point = int(parameters.zero_points[0])
    one_zero_point = bool((parameters.zero_points == zero_point).all())
    low, high = RANGES[name]
    dimensions = shape(value)
    if one_zero_point and (zero_point == 0 or (has_integers and name == "i8" and low <= zero_point <= high)):
        codes = build.operation("tosa.cast", tensor(dimensions, element_of("i16") if zero_point else element), [scaled])
        if zero_point:
            codes = emit_rescale(codes, "i8", UNCHANGED, 0, zero_point)
        return limited(codes, parameters, low, high)
    rounded = build.round_to_integer(scaled)
    zeros = spread(parameters.zero_points.astype(np.float32), parameters, value)
    moved = build.add(rounded, constant(zeros, element_type(value)))
    moved = build.clamp(moved, float(max(low, parameters.low)), float(min(high, parameters.high)))
    return build.operation("tosa.cast", tensor(dimensions, element), [moved])


def limited(codes: ir.Value, parameters: Parameters, low: int, high: int) -> ir.Value:
    """Codes limited to the range of the quantize, where that is narrower than the type's."""
    low, high = max(low, parameters.low), min(high, parameters.high)
    element = element_type(codes)
    if (low, high) == RANGES[str(element)]:
        return codes
    bounds = {"min_val": ir.IntegerAttr.get(element, low), "max_val": ir.IntegerAttr.get(element, high)}
    return build.operation("tosa.clamp", codes.type, [codes], bounds)
