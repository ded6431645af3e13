"""vgf-fold-pads: let convolutions and pools do the padding that stands before them.

    %1 = tosa.pad %x, %padding, %zero      // 1 at the sides of height and width
    %2 = tosa.conv2d %1, ...  {pad = array<i64: 0, 0, 0, 0>}      // reads as conv2d %x with pad = 1, 1, 1, 1

A convolution takes a pad of zeros (of its input zero point, for integers); a max pool takes one of the lowest value of the
type, minus infinity for floating point, as long as the pad stays smaller than the kernel, which TOSA demands. Pads of pads
with one value become one pad.

Average pools are left alone: TOSA's do not count what they pad. So are pads of other axes and of other values.

Invalid input: none, what does not fit stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.ir import (
    const_shape,
    constant_value,
    defining,
    element_type,
    erase_unused,
    functions,
    int_list,
    is_float,
    numpy_type,
    operations,
    replace,
    shape_value,
)
from vgfc.passmanager import Pass, register

CONVOLUTIONS = ("tosa.conv2d", "tosa.depthwise_conv2d", "tosa.conv3d")


def number(value: ir.Value) -> float | int | None:
    """The one number of a constant, None for other values."""
    values = constant_value(value)
    return None if values is None or values.size != 1 else values.reshape(-1)[0].item()


def pads_with(op: ir.Operation) -> float | int | None:
    """The value that an operator pads its input with, as a number of the input's type; None when it does not pad."""
    if op.name in CONVOLUTIONS:
        return number(op.operands[3])
    if op.name == "tosa.max_pool2d":
        element = element_type(op.operands[0])
        return float("-inf") if is_float(element) else int(np.iinfo(numpy_type(element)).min)
    return None


def fold_into(op: ir.Operation) -> None:
    """Take over the pad before a convolution or max pool."""
    wanted = pads_with(op)
    pad = defining(op.operands[0]) if wanted is not None else None
    if pad is None or pad.name != "tosa.pad" or number(pad.operands[2]) != wanted:
        return
    padding = shape_value(pad.operands[1])
    if padding is None or any(padding[:2]) or any(padding[-2:]):
        return
    total = [own + before for own, before in zip(int_list(op.attributes["pad"]), padding[2:-2], strict=True)]
    if op.name == "tosa.max_pool2d":
        kernel = int_list(op.attributes["kernel"])
        if any(amount >= kernel[side // 2] for side, amount in enumerate(total)):
            return
    op.operands[0] = pad.operands[0]
    op.attributes["pad"] = ir.DenseI64ArrayAttr.get(total)


def merge(op: ir.Operation) -> None:
    """Join a pad with the pad before it."""
    inner = defining(op.operands[0])
    if inner is None or inner.name != "tosa.pad":
        return
    values = [constant_value(each.operands[2]) for each in (op, inner)]
    amounts = [shape_value(each.operands[1]) for each in (op, inner)]
    if values[0] is None or values[1] is None or amounts[0] is None or amounts[1] is None:
        return
    if values[0].tobytes() != values[1].tobytes():
        return
    with ir.InsertionPoint(op), op.location:
        padding = const_shape([first + second for first, second in zip(*amounts, strict=True)])
        merged = build.operation("tosa.pad", op.result.type, [inner.operands[0], padding, op.operands[2]])
    replace(op, merged)


@register
@dataclass(frozen=True)
class FoldPads(Pass):
    name = "vgf-fold-pads"

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            for op in operations(function):
                if op.name == "tosa.pad":
                    merge(op)
                else:
                    fold_into(op)
            erase_unused(function)
