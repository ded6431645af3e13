"""vgf-integer-boundary: for a target without floating point the model's inputs and outputs are its integer codes.

    func.func @main(%x: tensor<4xf32> {vgf.name = "x"}) { %0 = "vgf.quantize"(%x) <{scales = dense<0.5>, ...}> ...
becomes
    func.func @main(%x: tensor<4xi8> {vgf.model_type = tensor<4xf32>, vgf.name = "x", vgf.scale = 0.5, vgf.zero_point = 3})

The first quantize and the last dequantize are left to whoever runs the program, who finds scale and zero point in the
attributes. With floating point in
the target nothing changes. An input that the model reads without quantizing it, and an output that it computes in floating
point, are refused, and so is an input that is quantized in several ways.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc.diagnostics import fail
from vgfc.integer.constants import Parameters, parameters_of
from vgfc.ir import defining, element_type, entry, is_float
from vgfc.passmanager import Pass, register
from vgfc.target import target_of


@register
@dataclass(frozen=True)
class IntegerBoundary(Pass):
    name = "vgf-integer-boundary"

    def run(self, module: ir.Module) -> None:
        target = target_of(module)
        function = entry(module)
        if "FP" in target.profiles or function is None:
            return
        inputs = [quantized_argument(function, index, str(target)) for index in range(len(function.arguments))]
        outputs = [
            dequantized_result(function, index, str(target)) for index in range(len(returned(function).operands))
        ]
        for index, quantizes in reversed(list(enumerate(inputs))):
            if quantizes:
                replace_argument(function, index, quantizes)
        for index, dequantize in enumerate(outputs):
            if dequantize is not None:
                replace_result(function, index, dequantize)
        update_type(function)


def returned(function: func.FuncOp) -> ir.Operation:
    """The function's return."""
    return list(function.entry_block.operations)[-1].operation


def quantized_argument(function: func.FuncOp, index: int, target: str) -> list[ir.Operation]:
    """The quantize operators that read an argument, empty where the argument is no floating-point tensor or unused."""
    argument = function.arguments[index]
    if not is_float(element_type(argument)):
        return []
    readers = [use.owner.operation for use in argument.uses]
    for reader in readers:
        if reader.name != "vgf.quantize":
            raise fail(
                reader,
                f"reads input {index} in floating point, which target {target} does not have; quantize the input",
            )
    if len({str(reader.attributes) + str(reader.result.type) for reader in readers}) > 1:
        raise fail(readers[0], f"is one of several ways in which input {index} is quantized, expected one")
    return readers


def dequantized_result(function: func.FuncOp, index: int, target: str) -> ir.Operation | None:
    """The dequantize operator that makes a result, None where the result is no floating-point tensor."""
    value = returned(function).operands[index]
    if not is_float(element_type(value)):
        return None
    op = defining(value)
    if op is None:
        raise fail(
            function, f"returns an input as result {index} in floating point, which target {target} does not have"
        )
    if op.name != "vgf.dequantize" or parameters_of(op).axis >= 0:
        raise fail(
            op, f"makes result {index} in floating point, which target {target} does not have; quantize the output"
        )
    return op


def boundary_attributes(
    function: func.FuncOp, name: str, index: int, count: int, op: ir.Operation, kind: ir.Type
) -> None:
    """Write scale, zero point and the model's own type beside an argument or result."""
    parameters: Parameters = parameters_of(op)
    given = (
        list(ir.ArrayAttr(function.attributes[name])) if name in function.attributes else [ir.DictAttr.get({})] * count
    )
    entries = {item.name: item.attr for item in ir.DictAttr(given[index])}
    entries.setdefault("vgf.model_type", ir.TypeAttr.get(kind))
    entries["vgf.scale"] = ir.FloatAttr.get(ir.F64Type.get(), float(parameters.scales[0]))
    entries["vgf.zero_point"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), int(parameters.zero_points[0]))
    given[index] = ir.DictAttr.get(entries)
    function.attributes[name] = ir.ArrayAttr.get(given)


def replace_argument(function: func.FuncOp, index: int, quantizes: list[ir.Operation]) -> None:
    """Make an argument the codes that its quantize operators gave."""
    argument = function.arguments[index]
    boundary_attributes(function, "arg_attrs", index, len(function.arguments), quantizes[0], argument.type)
    kind = quantizes[0].result.type
    for op in quantizes:
        op.result.replace_all_uses_with(argument)
        op.erase()
    argument.set_type(kind)


def replace_result(function: func.FuncOp, index: int, dequantize: ir.Operation) -> None:
    """Return the codes in place of the numbers."""
    leave = returned(function)
    boundary_attributes(function, "res_attrs", index, len(leave.operands), dequantize, dequantize.result.type)
    leave.operands[index] = dequantize.operands[0]
    if next(iter(dequantize.result.uses), None) is None:
        dequantize.erase()


def update_type(function: func.FuncOp) -> None:
    """Let the function's type say what its arguments and its return say."""
    inputs = [argument.type for argument in function.arguments]
    results = [value.type for value in returned(function).operands]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results))
