"""vgf-merge-parallel-convolutions: one pointwise convolution for several of one value whose results are rearranged alike.

    %q = tosa.conv2d %x, %wq, %bq          // each then reshaped to heads and transposed
    %k = tosa.conv2d %x, %wk, %bk
    %v = tosa.conv2d %x, %wv, %bv          // read as one conv2d with all the output channels, and three slices

Queries, keys and values as PyTorch models write them by hand: after vgf-propagate-layouts the one result is split into heads
and transposed once, before the slices. A slice takes the place of a convolution, so that this pays only where at least two
results go through the same two views or more; the others join them.

Left alone: convolutions that are not pointwise, weights that are not constant, results that something else than a view
reads, and results of different size.

Invalid input: none, what does not fit stays.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc import build
from vgfc.ir import (
    attributes_of,
    constant,
    constant_value,
    element_type,
    erase_unused,
    functions,
    has_one_use,
    operations,
    replace,
    shape,
    tensor,
)
from vgfc.passmanager import Pass, register
from vgfc.pointwise import is_pointwise, views_after
from vgfc.views import View

MIN_SHARED_VIEWS = 2


def groups(function: func.FuncOp) -> list[list[ir.Operation]]:
    """Pointwise convolutions of one value that may become one, in the order of the function."""
    siblings: dict[tuple[ir.Value, str], list[ir.Operation]] = defaultdict(list)
    for op in operations(function):
        if is_pointwise(op) and has_one_use(op.result):
            alike = f"{op.result.type} {op.operands[3].owner} {op.operands[4].owner} {op.attributes['acc_type']}"
            siblings[op.operands[0], alike].append(op)
    return [group for group in siblings.values() if len(group) > 1]


def pays(views: list[View]) -> bool:
    """Whether results that are seen through these views are worth one convolution."""
    shared = Counter(view for view in views if view.cost >= MIN_SHARED_VIEWS)
    return bool(shared) and max(shared.values()) > 1


def merge(group: list[ir.Operation]) -> None:
    """Replace the convolutions by one and its slices."""
    first = group[0]
    weights = [constant_value(op.operands[1]) for op in group]
    biases = [constant_value(op.operands[2]) for op in group]
    channels = shape(first.result)[3]
    element = element_type(first.result)
    with ir.InsertionPoint(first), first.location:
        weight = constant(
            np.concatenate([each for each in weights if each is not None]), element_type(first.operands[1])
        )
        wide = [np.broadcast_to(each, (channels,)) for each in biases if each is not None]
        bias = constant(np.concatenate(wide), element_type(first.operands[2]))
        extents = (*shape(first.result)[:3], channels * len(group))
        operands = [first.operands[0], weight, bias, first.operands[3], first.operands[4]]
        merged = build.operation("tosa.conv2d", tensor(extents, element), operands, attributes_of(first))
        parts = [build.slice_axis(merged, 3, index * channels, channels) for index in range(len(group))]
    for op, part in zip(group, parts, strict=True):
        replace(op, part)


@register
@dataclass(frozen=True)
class MergeParallelConvolutions(Pass):
    name = "vgf-merge-parallel-convolutions"

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            for group in groups(function):
                seen = [(op, views_after(op)[0]) for op in group]
                viewed = [(op, view) for op, view in seen if view.cost]
                if len(viewed) > 1 and pays([view for _, view in viewed]):
                    merge([op for op, _ in viewed])
            erase_unused(function)
