"""vgf-convert-torch-quantization: PT2E's quantize and dequantize operators become vgf.quantize and vgf.dequantize.

    %0 = torch.quantized_decomposed.quantize_per_tensor %x, %scale, %zero_point, %low, %high, %dtype : ...
becomes, between casts from and to the torch type,
    %1 = "vgf.quantize"(%0) <{axis = -1, scales = dense<0.1> : tensor<1xf64>, zero_points = ..., quant_min = ...}> : ...

Nothing of the arithmetic is chosen here. Codes of uint8 become codes of i8 that are 128 less, with the zero point and the
range moved as well: TOSA computes on signed codes only. Where something other than a dequantize reads such codes, they are
put back to what they were. Scales that the model computes while it runs (dynamic quantisation) are refused.
"""

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.integer.constants import Parameters
from vgfc.ir import Array, constant, defining, shape, tensor
from vgfc.passmanager import Pass, register
from vgfc.torch_conversion import Call, convert

UNSIGNED_SHIFT = 128
CODE_TYPES = ("ui8", "si8", "si16", "si32")
PREFIX = "torch.quantized_decomposed."


def parameters(call: Call, dtype: str, first: int) -> dict[str, ir.Attribute]:
    """The attributes of the vgf operator; `first` is the operand of the scale."""
    per_channel = "per_channel" in call.name
    scales = numbers(call, first, "scale").astype(np.float64).reshape(-1)
    zero_points = numbers(call, first + 1, "zero point").astype(np.int64).reshape(-1)
    axis = call.axis(first + 2, len(call.shape(0))) if per_channel else -1
    if per_channel and scales.size == 1:
        axis = -1
    low, high = call.integer(first + 2 + per_channel), call.integer(first + 3 + per_channel)
    if zero_points.size != scales.size:
        raise call.error(f"has {scales.size} scales and {zero_points.size} zero points, expected as many")
    if axis >= 0 and scales.size != call.shape(0)[axis]:
        raise call.error(f"has {scales.size} scales, expected {call.shape(0)[axis]}, the extent of axis {axis}")
    if not (np.isfinite(scales) & (scales > 0)).all():
        raise call.error(f"has a scale of {scales[~(np.isfinite(scales) & (scales > 0))][0]}, expected a positive one")
    shift = UNSIGNED_SHIFT if dtype == "ui8" else 0
    return Parameters(scales, zero_points - shift, axis, low - shift, high - shift).attributes()


def numbers(call: Call, index: int, what: str) -> Array:
    """A scale or zero point operand: a number or a constant tensor."""
    values = call.literal(index) if str(call.operand(index).type).startswith("!torch.vtensor") else None
    if values is not None:
        return values
    if str(call.operand(index).type).startswith("!torch.vtensor"):
        raise call.error(f"computes its {what} while the model runs, expected static quantisation with a constant one")
    return np.asarray(call.number(index))


def codes_type(call: Call, dtype: str) -> ir.Type:
    if dtype not in CODE_TYPES:
        raise call.error(f"has codes of type {dtype}, expected one of {', '.join(CODE_TYPES)}")
    return ir.IntegerType.get_signless(8 if dtype == "ui8" else int(dtype[2:]))


def convert_quantize(call: Call) -> ir.Value:
    dtype = call.result_dtype
    attributes = parameters(call, dtype, 1)
    value = call.tensor_as(0, build.f32())
    codes = build.operation("vgf.quantize", tensor(shape(value), codes_type(call, dtype)), [value], attributes)
    if dtype != "ui8":
        return codes
    wide = build.cast(codes, build.i32())
    return build.add(wide, build.scalar_like(UNSIGNED_SHIFT, wide))


def convert_dequantize(call: Call) -> ir.Value:
    dtype = call.dtype(0)
    attributes = parameters(call, dtype, 1)
    codes = signed_codes(call) if dtype == "ui8" else call.tensor(0)
    codes_type(call, dtype)
    return build.operation("vgf.dequantize", tensor(shape(codes), call.element), [codes], attributes)


def signed_codes(call: Call) -> ir.Value:
    """The i8 codes behind a uint8 operand, which is carried in i32."""
    narrow = ir.IntegerType.get_signless(8)
    values = call.literal(0)
    if values is not None:
        return constant(
            (values.astype(np.int16) - UNSIGNED_SHIFT).astype(np.int8).reshape(values.shape or (1,)), narrow
        )
    carried = call.tensor(0)
    shifted = defining(carried)
    if shifted is not None and shifted.name == "tosa.add":
        widened = defining(shifted.operands[0])
        if widened is not None and widened.name == "tosa.cast":
            source = defining(widened.operands[0])
            if source is not None and source.name == "vgf.quantize":
                return source.result
    moved = build.sub(carried, build.scalar_like(UNSIGNED_SHIFT, carried))
    return build.operation("tosa.cast", tensor(shape(moved), narrow), [moved])


TABLE = {
    PREFIX + name: converter
    for kind, converter in (("quantize", convert_quantize), ("dequantize", convert_dequantize))
    for name in (f"{kind}_per_tensor", f"{kind}_per_tensor.tensor", f"{kind}_per_tensor.tensor2", f"{kind}_per_channel")
}


@register
@dataclass(frozen=True)
class ConvertTorchQuantization(Pass):
    name = "vgf-convert-torch-quantization"

    def run(self, module: ir.Module) -> None:
        convert(module, TABLE)
