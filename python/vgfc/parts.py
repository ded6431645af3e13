"""A partitioned module as parts that run one after the other: maximal runs of device segments, and host segments.

A part is a module of its own. Values between parts are numbered: the entry's arguments first, then the results of its calls
in order.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc.diagnostics import fail
from vgfc.interface import entry_function
from vgfc.ir import nested, operations, segment_kind
from vgfc.segments import function_of_call, symbols_of

ENTRY = "main"


@dataclass(frozen=True)
class Part:
    """One part: "device" (its module goes through `tosa-lower` and becomes a VGF file) or "host" (one public function).

    `inputs` and `outputs` are numbers of values.
    """

    kind: str
    module: ir.Module
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True)
class Split:
    """The parts in order, with the types of all values and the numbers of those that the model takes and gives."""

    types: tuple[ir.Type, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    parts: tuple[Part, ...]


def split(module: ir.Module) -> Split:
    """The parts of a partitioned module; without host segments the one part is the module itself.

    Raises PassFailure where the entry does more than call segments.
    """
    function, symbols = entry_function(module), symbols_of(module)
    number_of = {argument: number for number, argument in enumerate(function.arguments)}
    types = [argument.type for argument in function.arguments]
    runs: list[tuple[str, list[ir.Operation]]] = []
    for call in operations(function):
        callee = function_of_call(call, symbols)
        segment = segment_kind(callee) if callee is not None else None
        if segment is None:
            raise fail(call, "expected the entry to call segments alone")
        kind = "host" if segment == "host" else "device"
        if not runs or kind == "host" or runs[-1][0] != kind:
            runs.append((kind, []))
        runs[-1][1].append(call)
        for result in call.results:
            number_of[result] = len(types)
            types.append(result.type)
    last = list(function.entry_block.operations)[-1]
    outputs = tuple(number_of[value] for value in last.operands)
    inputs = tuple(range(len(function.arguments)))
    if len(runs) == 1 and runs[0][0] == "device":
        return Split(tuple(types), inputs, outputs, (Part("device", module, inputs, outputs),))
    parts = tuple(_part(module, kind, calls, number_of, symbols) for kind, calls in runs)
    return Split(tuple(types), inputs, outputs, parts)


def _part(
    module: ir.Module,
    kind: str,
    calls: list[ir.Operation],
    number_of: dict[ir.Value, int],
    symbols: dict[str, func.FuncOp],
) -> Part:
    inside = {result for call in calls for result in call.results}
    inputs = list(dict.fromkeys(value for call in calls for value in call.operands if value not in inside))
    outputs = [
        result
        for call in calls
        for result in call.results
        if any(use.owner.operation not in calls for use in result.uses)
    ]
    numbers = tuple(number_of[value] for value in inputs), tuple(number_of[value] for value in outputs)
    context = module.context
    with context, calls[0].location:
        copy = ir.Module.create(loc=module.operation.location)
        for name in module.operation.attributes:
            copy.operation.attributes[name] = module.operation.attributes[name]
        made = func.FuncOp(ENTRY, ([value.type for value in inputs], [value.type for value in outputs]))
        copy.body.append(made)
        made.attributes["arg_attrs"] = _names(numbers[0])
        made.attributes["res_attrs"] = _names(numbers[1])
        block = made.add_entry_block()
        replacements = dict(zip(inputs, block.arguments, strict=True))
        for call in calls:
            clone = call.clone(ip=ir.InsertionPoint(block))
            for index, value in enumerate(call.operands):
                clone.operands[index] = replacements[value]
            replacements.update(zip(call.results, clone.results, strict=True))
        with ir.InsertionPoint(block):
            func.ReturnOp([replacements[value] for value in outputs])
        _copy_callees(calls, symbols, copy)
    return Part(kind, copy, *numbers)


def _names(numbers: tuple[int, ...]) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([ir.DictAttr.get({"vgf.name": ir.StringAttr.get(f"value_{number}")}) for number in numbers])


def _copy_callees(calls: list[ir.Operation], symbols: dict[str, func.FuncOp], target: ir.Module) -> None:
    """Copy the functions that these operations call, and those that these call, in the order in which they come up."""
    waiting, seen = list(calls), set()
    while waiting:
        op = waiting.pop(0)
        callee = function_of_call(op, symbols)
        if callee is not None and callee.name.value not in seen:
            seen.add(callee.name.value)
            target.body.append(callee.operation.clone())
            waiting += nested(callee.operation)
