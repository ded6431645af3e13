"""The operators of TOSA and vgf that can work in another arrangement."""

from __future__ import annotations

from math import prod

import numpy as np
from torch_mlir import ir

from vgfc.ir import array_of, constant, constant_value, element_type, int_list, shape, shape_value
from vgfc.layouts.convolutions import Pointwise
from vgfc.layouts.movable import Movable, PerChannel, Reduction
from vgfc.layouts.resizing import Axis, Pad, Slice, Tile
from vgfc.tosa_operators import BINARY, REDUCTIONS, UNARY
from vgfc.views import View

DATA_OPERANDS = {**dict.fromkeys(UNARY | {"tosa.table"}, 1), **dict.fromkeys(BINARY, 2), "tosa.select": 3}


def _movable_convolution(op: ir.Operation, exact: bool) -> Movable | None:
    weight_shape = shape(op.operands[1])
    is_depthwise = op.name == "tosa.depthwise_conv2d"
    kernel = weight_shape[:2] if is_depthwise else weight_shape[1:3]
    if prod(kernel) != 1 or any(int_list(op.attributes["pad"])) or set(int_list(op.attributes["stride"])) != {1}:
        return None
    if is_depthwise and weight_shape[3] != 1:
        return None
    weight, bias = (constant_value(operand) for operand in list(op.operands)[1:3])
    return Pointwise(op, weight, bias, may_change_form=not is_depthwise and not exact)


def _movable_rescale(op: ir.Operation) -> Movable:
    if ir.BoolAttr(op.attributes["per_channel"]).value:
        return PerChannel(op, len(shape(op.result)) - 1, must_be_last=True)
    return Movable(op, shape(op.result), 1)


def _movable_quantization(op: ir.Operation) -> Movable:
    axis = ir.IntegerAttr(op.attributes["axis"]).value
    return Movable(op, shape(op.result), 1) if axis < 0 else PerChannel(op, axis, must_be_last=False)


def movable(op: ir.Operation, exact: bool = False) -> Movable | None:
    """The description of an operator that can work in another arrangement, None for one that cannot.

    With `exact` a convolution stays one: a matmul or a sum in its place would round otherwise.
    """
    if len(op.results) != 1 or not isinstance(op.result.type, ir.RankedTensorType):
        return None
    if op.name in DATA_OPERANDS:
        return Movable(op, shape(op.result), DATA_OPERANDS[op.name])
    if op.name in REDUCTIONS:
        return Reduction(op)
    if op.name in ("tosa.conv2d", "tosa.depthwise_conv2d"):
        return _movable_convolution(op, exact)
    if op.name == "tosa.rescale":
        return _movable_rescale(op)
    if op.name in ("vgf.quantize", "vgf.dequantize"):
        return _movable_quantization(op)
    if op.name == "tosa.concat":
        axis = ir.IntegerAttr(op.attributes["axis"]).value
        return Axis(op, shape(op.result), len(op.operands), [axis])
    if op.name == "tosa.reverse":
        axis = ir.IntegerAttr(op.attributes["axis"]).value
        return Axis(op, shape(op.result), 1, [axis], exact=True)
    numbers = [shape_value(operand) for operand in list(op.operands)[1:2]]
    if numbers and numbers[0] is not None:
        if op.name == "tosa.slice":
            return Slice(op, numbers[0])
        if op.name == "tosa.pad":
            return Pad(op, numbers[0])
        if op.name == "tosa.tile":
            return Tile(op, numbers[0])
    return None


def rearranged_constant(attribute: ir.DenseElementsAttr, view: View) -> ir.Value:
    """A new constant: the values of `attribute` seen through `view`; a splat is never expanded."""
    element = element_type(attribute.type)
    values = array_of(attribute)
    if attribute.is_splat:
        return constant(np.broadcast_to(values.reshape(-1)[:1].reshape((1,) * len(view.target)), view.target), element)
    return constant(view.apply(values), element)
