"""Attributes of TOSA operations from plain Python values, as the readers of files find them."""

from __future__ import annotations

from typing import Any

from torch_mlir import ir

from vgfc import ir as helpers
from vgfc import tosa_encoding as encoding

_MNEMONICS = {
    encoding.NAN_MODE: "nan_mode",
    encoding.ROUNDING_MODE: "rounding_mode",
    encoding.RESIZE_MODE: "resize_mode",
}
# Element types of what a clamp can limit, by numpy's (and ml_dtypes') name.
_CLAMPED = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "int8": "i8", "int16": "i16", "int32": "i32"}


def plain_attribute(name: str, value: Any) -> ir.Attribute | None:
    """The attribute `name` with a value that is a bool, an int, a list of ints, a word, or an array of one number.

    Words are those of `tosa_encoding.ENUMERATIONS`, for acc_type an element type as MLIR spells it. None stands for an
    attribute that MLIR leaves out at this value.
    """
    kind = encoding.kind_of(name)
    if kind == encoding.AXIS:
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), value)
    if kind == encoding.BOOL:
        return ir.BoolAttr.get(value) if value or name != "local_bound" else None
    if kind == encoding.INTEGERS:
        return ir.DenseI64ArrayAttr.get(value)
    if kind == encoding.PERMUTATION:
        return ir.DenseI32ArrayAttr.get(value)
    if kind == encoding.ACCUMULATOR:
        return ir.TypeAttr.get(ir.Type.parse(value))
    if kind == encoding.NUMBER:
        element = ir.Type.parse(_CLAMPED[value.dtype.name])
        return (ir.FloatAttr if helpers.is_float(element) else ir.IntegerAttr).get(element, value.reshape(-1)[0].item())
    return ir.Attribute.parse(f"#tosa.{_MNEMONICS[kind]}<{value}>")
