"""vgf-merge-axes: operators on tensors of more axes than the target takes work on fewer, neighbouring axes taken as one.

    %0 = tosa.transpose %x {perms = array<i32: 0, 1, 3, 2>} : (tensor<2x3x4x5xf32>) -> tensor<2x3x5x4xf32>   // with max-rank=3
becomes
    %1 = tosa.reshape %x : (tensor<2x3x4x5xf32>, ...) -> tensor<6x4x5xf32>
    %2 = tosa.transpose %1 {perms = array<i32: 0, 2, 1>} : (tensor<6x4x5xf32>) -> tensor<6x5x4xf32>
    %0 = tosa.reshape %2 : (tensor<6x5x4xf32>, ...) -> tensor<2x3x5x4xf32>

TOSA's level 8K allows 6 axes (TOSA 1.0.2, Levels, MAX_RANK), which is the default. Axes that an operator treats alike can be
taken as one: neither reduced, cut, padded nor turned round, broadcast from the same operands, and together in a
transposition. An argument or result of the entry gets fewer axes as well, and `vgf.model_type` keeps what the model has.
An operator that needs more axes than there may be is left alone, for the partitioner to say so.

Invalid input: none, what cannot be rewritten is left alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc import build
from vgfc.ir import (
    attributes_of,
    const_shape,
    constant,
    constant_value,
    defining,
    element_type,
    entry,
    erase_unused,
    functions,
    int_list,
    operations,
    shape,
    shape_value,
    tensor,
)
from vgfc.passmanager import Pass, register
from vgfc.tosa_operators import ELEMENTWISE, REDUCTIONS

Groups = list[list[int]]  # neighbouring axes, in order


def axis_of(op: ir.Operation) -> int:
    """The axis attribute."""
    return int(ir.IntegerAttr(op.attributes["axis"]).value)


def tensors(op: ir.Operation) -> list[ir.Value]:
    """The operands that have the operator's axes."""
    if op.name == "tosa.mul":
        return list(op.operands)[:2]
    if op.name == "tosa.concat" or op.name in ELEMENTWISE - {"tosa.negate"}:
        return list(op.operands)
    return [op.operands[0]]


def treatment(op: ir.Operation) -> list[object] | None:
    """For each axis of the operands what the operator does along it; neighbours can be one where it is None for both."""
    rank = len(shape(op.operands[0]))
    if op.name in ELEMENTWISE:
        result = shape(op.results[0])
        broadcast = [tuple(shape(value)[axis] == 1 for value in tensors(op)) for axis in range(rank)]
        return [None if result[axis] == 1 else ("broadcast", broadcast[axis]) for axis in range(rank)]
    if op.name in REDUCTIONS or op.name in ("tosa.concat", "tosa.reverse"):
        return [("axis", axis) if axis == axis_of(op) else ("kept",) for axis in range(rank)]
    if op.name == "tosa.slice":
        starts, sizes = shape_value(op.operands[1]), shape_value(op.operands[2])
        if starts is None or sizes is None:
            return None
        whole = shape(op.operands[0])
        return [("kept",) if sizes[axis] == whole[axis] else ("cut", axis) for axis in range(rank)]
    if op.name == "tosa.pad":
        amounts = shape_value(op.operands[1])
        if amounts is None:
            return None
        pairs = list(zip(amounts[::2], amounts[1::2], strict=True))
        return [("kept",) if pairs[axis] == (0, 0) else ("padded", axis) for axis in range(rank)]
    if op.name == "tosa.tile":
        multiples = shape_value(op.operands[1])
        return (
            None
            if multiples is None
            else [("kept",) if n == 1 else ("tiled", axis) for axis, n in enumerate(multiples)]
        )
    return None


def grouped(treated: Sequence[object], limit: int) -> Groups | None:
    """Neighbours put together, from the front, until there are no more groups than may be; None when that cannot be."""
    groups: Groups = [[axis] for axis in range(len(treated))]
    index = 0
    while len(groups) > limit and index + 1 < len(groups):
        first, second = treated[groups[index][-1]], treated[groups[index + 1][0]]
        if first == second or first is None or second is None:
            groups[index] += groups.pop(index + 1)
        else:
            index += 1
    return groups if len(groups) <= limit else None


def merged(dimensions: Sequence[int], groups: Groups) -> tuple[int, ...]:
    """The extents of groups of axes."""
    return tuple(math.prod(dimensions[axis] for axis in group) for group in groups)


def reshaped(value: ir.Value, dimensions: Sequence[int]) -> ir.Value:
    """A reshape, of a reshape's own operand where there is one, so that the wider shape between them can go."""
    known = constant_value(value)
    if known is not None:
        return constant(known.reshape(tuple(dimensions)), element_type(value))
    source = defining(value)
    if source is not None and source.name == "tosa.reshape":
        value = source.operands[0]
    return build.reshape(value, dimensions)


def rewrite(op: ir.Operation, limit: int) -> None:
    """The operator on groups of axes, when there are few enough."""
    if op.name == "tosa.transpose":
        rewrite_transpose(op, limit)
        return
    treated = treatment(op)
    groups = grouped(treated, limit) if treated is not None else None
    if groups is None:
        return
    own = tensors(op)
    with ir.InsertionPoint(op), op.location:
        operands = [reshaped(value, merged(shape(value), groups)) if value in own else value for value in op.operands]
        attributes = attributes_of(op)
        if "axis" in attributes:
            at = next(index for index, group in enumerate(groups) if axis_of(op) in group)
            attributes["axis"] = ir.IntegerAttr.get(build.i32(), at)
        # an axis that is cut, padded or repeated is a group of its own
        numbers = [shape_value(operand) or () for operand in op.operands]
        if op.name == "tosa.slice":
            operands[1] = const_shape([numbers[1][group[0]] for group in groups])
            operands[2] = const_shape(merged(numbers[2], groups))
        if op.name == "tosa.tile":
            operands[1] = const_shape([numbers[1][group[0]] for group in groups])
        if op.name == "tosa.pad":
            operands[1] = const_shape([numbers[1][2 * group[0] + side] for group in groups for side in (0, 1)])
        dimensions = shape(op.results[0])
        result = tensor(merged(dimensions, groups), element_type(op.results[0]))
        made = build.operation(op.name, result, operands, attributes)
        op.results[0].replace_all_uses_with(build.reshape(made, dimensions))
    op.erase()


def rewrite_transpose(op: ir.Operation, limit: int) -> None:
    """A transposition of groups: axes of extent 1 dropped, axes that stay together merged."""
    perms = int_list(op.attributes["perms"])
    dimensions = shape(op.operands[0])
    live = [axis for axis in perms if dimensions[axis] != 1]
    runs: Groups = []
    for axis in live:
        before = [other for other in range(runs[-1][-1] + 1, axis) if dimensions[other] != 1] if runs else [0]
        if runs and axis > runs[-1][-1] and not before:
            runs[-1].append(axis)
        else:
            runs.append([axis])
    if not runs or len(runs) > limit:
        return
    order = sorted(range(len(runs)), key=lambda index: runs[index][0])
    with ir.InsertionPoint(op), op.location:
        narrow = reshaped(op.operands[0], merged(dimensions, [runs[index] for index in order]))
        turned = build.transpose(narrow, [order.index(index) for index in range(len(runs))])
        op.results[0].replace_all_uses_with(build.reshape(turned, shape(op.results[0])))
    op.erase()


def rewrite_signature(function: func.FuncOp, limit: int) -> None:
    """Arguments and results of the entry with no more axes than may be, the first ones taken as one."""
    ending = list(function.entry_block.operations)[-1].operation
    values = [("arg_attrs", list(function.arguments)), ("res_attrs", list(ending.operands))]
    for name, ports in values:
        given = list(ir.ArrayAttr(function.attributes[name])) if name in function.attributes else [{}] * len(ports)
        found = []
        for index, (value, attributes) in enumerate(zip(ports, given, strict=True)):
            entries = {item.name: item.attr for item in attributes} if isinstance(attributes, ir.DictAttr) else {}
            rank = len(shape(value))
            if rank > limit:
                entries.setdefault("vgf.model_type", ir.TypeAttr.get(value.type))
                first = rank - limit + 1
                narrow = (math.prod(shape(value)[:first]), *shape(value)[first:])
                if name == "arg_attrs":
                    wide = value.type
                    value.set_type(tensor(narrow, element_type(value)))
                    with ir.InsertionPoint.at_block_begin(function.entry_block), function.location:
                        whole = ir.Operation.create(
                            "tosa.reshape", results=[wide], operands=[value, const_shape(shape(wide))]
                        )
                    value.replace_all_uses_except(whole.result, [whole])
                else:
                    with ir.InsertionPoint(ending), function.location:
                        ending.operands[index] = reshaped(value, narrow)
            found.append(ir.DictAttr.get(entries))
        if found:
            function.attributes[name] = ir.ArrayAttr.get(found)
    kinds = [argument.type for argument in function.arguments], [value.type for value in ending.operands]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(*kinds))


def is_wide(op: ir.Operation, limit: int) -> bool:
    """Whether an operand or result has more axes than may be."""
    values = [*op.operands, *op.results]
    return any(len(shape(value)) > limit for value in values if isinstance(value.type, ir.RankedTensorType))


@register
@dataclass(frozen=True)
class MergeAxes(Pass):
    name = "vgf-merge-axes"
    max_rank: int = 6

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            wide = [op for op in operations(function) if is_wide(op, self.max_rank)]
            ports = [*function.type.inputs, *function.type.results]
            if not wide and not any(len(shape(kind)) > self.max_rank for kind in ports):
                continue
            for op in wide:
                if op.name not in ("tosa.reshape", "tosa.const"):
                    rewrite(op, self.max_rank)
            if function == entry(module):
                rewrite_signature(function, self.max_rank)
            for op in operations(function):
                if op.name == "tosa.reshape" and len(shape(op.operands[0])) > self.max_rank:
                    with ir.InsertionPoint(op), op.location:
                        op.results[0].replace_all_uses_with(reshaped(op.operands[0], shape(op.results[0])))
                    op.erase()
            erase_unused(function)
