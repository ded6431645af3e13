"""A segmented module whose every value is an output: for looking into a graph on a device that gives out only outputs."""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc import ir as helpers
from vgfc.emit.tosa_flatbuffer import Watched
from vgfc.interface import entry_function

CONSTANTS = ("tosa.const", "tosa.const_shape")


def exposed_module(module: ir.Module) -> tuple[ir.Module, list[Watched], list[str]]:
    """A copy of a module with one graph segment, which gives the result of each of its operations, in order.

    Returns the copy, what its outputs are, and the names among them of what the entry returned before.
    """
    copy = helpers.copy_module(module)
    entry = entry_function(copy)
    segment = next(function for function in helpers.functions(copy) if helpers.segment_kind(function) == "graph")
    names: dict[ir.Value, str] = {argument: f"input_{n}" for n, argument in enumerate(segment.arguments)}
    watched: list[Watched] = []
    values: list[ir.Value] = []
    for op in helpers.operations(segment):
        for index, value in enumerate(op.results):
            names[value] = f"value_{len(names)}"
            if op.name not in CONSTANTS:
                operands = tuple(names[operand] for operand in op.operands)
                kind = ir.RankedTensorType(value.type)
                watched.append(Watched(op.name, op.location, index, kind, names[value], operands))
                values.append(value)
    last = list(segment.entry_block.operations)[-1].operation
    call, entry_return = (op.operation for op in list(entry.entry_block.operations)[-2:])
    returned = {value: names[operand] for value, operand in zip(call.results, last.operands, strict=True)}
    results = [returned.get(value, "") for value in entry_return.operands]
    kinds = [value.type for value in values]
    with copy.context, segment.location:
        with ir.InsertionPoint(last):
            func.ReturnOp(values)
        last.erase()
        with ir.InsertionPoint(call):
            wide = func.CallOp(kinds, segment.name.value, list(call.operands))
            func.ReturnOp(wide.results)
        entry_return.erase()
        call.erase()
        for function in (segment, entry):
            inputs = list(function.type.inputs)
            function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, kinds))
            if "res_attrs" in function.attributes:
                del function.attributes["res_attrs"]
    return copy, watched, results
