"""vgf-merge-scale-and-shift: one depthwise convolution for a multiplication and an addition per channel.

    %1 = tosa.mul %x, %scale               // 1x1x1xC constants
    %2 = tosa.add %1, %shift               // both read as a 1x1 depthwise_conv2d of %x with weights and bias

For what is left of batch norms and layer norms after vgf-fold-affine, which needs a convolution beside them.

Left alone: one of the two alone, tensors of other ranks than 4, constants that vary along other axes, values in between that
others read.

Invalid input: none, what does not fit stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.ir import Array, constant, constant_value, defining, element_type, has_one_use, replace, rewrite_each, shape
from vgfc.passmanager import Pass, register


def channel_operand(op: ir.Operation) -> tuple[ir.Value, Array] | None:
    """The data and the constant of an operation between them: one finite number per channel of a rank 4 tensor."""
    extents = shape(op.result)
    for data, other in (tuple(op.operands)[:2], tuple(op.operands)[1::-1]):
        values = constant_value(other)
        if values is None or len(extents) != 4 or shape(data) != extents or data == other:
            continue
        if values.size in (1, extents[3]) and values.size == values.shape[3] and np.isfinite(values).all():
            return data, np.broadcast_to(values.reshape(-1), (extents[3],))
    return None


def merge(add: ir.Operation) -> None:
    """Replace an addition and the multiplication before it."""
    element = element_type(add.result)
    if str(element) not in ("f32", "f16"):
        return
    shift = channel_operand(add)
    owner = defining(shift[0]) if shift is not None else None
    if shift is None or owner is None or owner.name != "tosa.mul" or not has_one_use(shift[0]):
        return
    scale = channel_operand(owner)
    if scale is None:
        return
    with ir.InsertionPoint(add), add.location:
        weight = constant(scale[1].reshape(1, 1, -1, 1), element)
        merged = build.pointwise("tosa.depthwise_conv2d", scale[0], weight, constant(shift[1], element))
    replace(add, merged)


@register
@dataclass(frozen=True)
class MergeScaleAndShift(Pass):
    name = "vgf-merge-scale-and-shift"
    changes_rounding = True

    def run(self, module: ir.Module) -> None:
        rewrite_each(module, ("tosa.add",), merge)
