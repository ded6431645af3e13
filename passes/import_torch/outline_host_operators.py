"""vgf-outline-host-operators: torch operators that no converter could say in TOSA become calls of functions of the host.

    %values, %indices = torch.aten.sort %x, %dim, %descending : ...
becomes, between casts from and to the torch types,
    %0:2 = call @aten_sort_0(%1) : (tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xi32>)
    func.func private @aten_sort_0(...) attributes {vgf.host_function = "torch.aten.sort", ...} { ... linalg ... }

The function's body comes from torch-mlir's lowering to linalg; it takes and gives what carries the torch values elsewhere, so
64-bit integers come and go as i32. Operators that `vgfc.host_operators` does not list are left alone, as are those of 8-bit
unsigned integers; `vgf-finish-torch-conversion` reports them.

Invalid input: none, what it cannot outline it leaves.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func, tensor

from vgfc import build
from vgfc.diagnostics import CompileError
from vgfc.host_operators import HOST_OPERATORS
from vgfc.ir import defining, element_type, functions, shape
from vgfc.ir import tensor as tensor_type
from vgfc.passmanager import Pass, register, run_pipeline
from vgfc.segments import HOST_FUNCTION, HOST_REASON
from vgfc.torch_conversion import Call, carried_type, convert_one, is_tensor, operator_name, torch_dtype

GLUE = ("torch.constant.", "torch.prim.ListConstruct", "torch.vtensor.literal")
TO_LINALG = (
    "builtin.module(torchdynamo-export-to-torch-backend-pipeline,torch-backend-to-linalg-on-tensors-backend-pipeline)"
)


def torch_function(op: ir.Operation) -> tuple[ir.Module, list[ir.Value]]:
    """A module with one function that does what the operator does, and the tensors that it is to be called with."""
    inputs: dict[ir.Value, None] = {}

    def collect(value: ir.Value) -> None:
        owner = defining(value)
        if owner is not None and owner.name.startswith(GLUE):
            for operand in owner.operands:
                collect(operand)
        else:
            inputs[value] = None

    for operand in op.operands:
        collect(operand)
    module = ir.Module.create(loc=op.location)
    with ir.InsertionPoint(module.body), op.location:
        function = func.FuncOp("body", ([value.type for value in inputs], [result.type for result in op.results]))
    block = function.add_entry_block([op.location] * len(inputs))
    replacements = dict(zip(inputs, block.arguments, strict=True))

    def copied(value: ir.Value) -> ir.Value:
        if value not in replacements:
            owner = defining(value)
            assert owner is not None, "every other value was collected as an input"
            operands = [copied(operand) for operand in owner.operands]
            clone = owner.clone(ip=ir.InsertionPoint(block))
            for index, operand in enumerate(operands):
                clone.operands[index] = operand
            replacements[value] = clone.result
        return replacements[value]

    operands = [copied(operand) for operand in op.operands]
    clone = op.clone(ip=ir.InsertionPoint(block))
    for index, operand in enumerate(operands):
        clone.operands[index] = operand
    with ir.InsertionPoint(block), op.location:
        func.ReturnOp(list(clone.results))
    return module, list(inputs)


def converted(value: ir.Value, wanted: ir.Type) -> ir.Value:
    """A tensor in another type of as many elements: a scalar for one of rank 1, another width of integers."""
    kind = tensor_type(shape(wanted), element_type(value))
    if shape(value) != shape(wanted):
        if shape(wanted):
            value = tensor.ExpandShapeOp(kind, value, [], [], shape(wanted)).result
        else:
            value = tensor.CollapseShapeOp(kind, value, []).result
    if element_type(value) == element_type(wanted):
        return value
    return build.operation("tosa.cast", wanted, [value])


def adapt(function: func.FuncOp, inputs: list[ir.Type], outputs: list[ir.Type]) -> None:
    """Make a lowered function take and give the types that carry the torch values."""
    block = function.entry_block
    for argument, kind in zip(list(block.arguments), inputs, strict=True):
        own = argument.type
        if own == kind:
            continue
        argument.set_type(kind)
        with ir.InsertionPoint.at_block_begin(block), function.location:
            back = converted(argument, own)
        inside = defining(back)
        assert inside is not None
        while defining(inside.operands[0]) is not None:
            inside = defining(inside.operands[0])
            assert inside is not None
        argument.replace_all_uses_except(back, [inside])
    last = list(block.operations)[-1].operation
    with ir.InsertionPoint(last), function.location:
        for index, (value, kind) in enumerate(zip(list(last.operands), outputs, strict=True)):
            last.operands[index] = converted(value, kind)
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, outputs))


def outline(op: ir.Operation, name: str, module: ir.Module) -> None:
    """Replace the operator by a call of a new function of the host."""
    temporary, inputs = torch_function(op)
    try:
        run_pipeline(temporary, TO_LINALG)
    except CompileError:
        return
    (function,) = functions(temporary)
    reason = HOST_REASON in op.attributes and ir.StringAttr(op.attributes[HOST_REASON]).value
    call_inputs = [carried_type(value) for value in inputs]
    outputs: list[ir.Type] = [carried_type(result) for result in op.results]
    adapt(function, list(call_inputs), outputs)
    function.operation.detach_from_parent()
    module.body.append(function)
    function.attributes["sym_name"] = ir.StringAttr.get(name)
    function.attributes["sym_visibility"] = ir.StringAttr.get("private")
    function.attributes[HOST_FUNCTION] = ir.StringAttr.get(operator_name(op))
    function.attributes[HOST_REASON] = ir.StringAttr.get(reason or f"{operator_name(op)} has no form in TOSA 1.0")

    def call(found: Call) -> list[ir.Value]:
        values = [
            build.operation("builtin.unrealized_conversion_cast", kind, [value])
            for kind, value in zip(call_inputs, inputs, strict=True)
        ]
        return list(func.CallOp(outputs, name, values).results)

    convert_one(Call(op, operator_name(op)), call)


@register
@dataclass(frozen=True)
class OutlineHostOperators(Pass):
    name = "vgf-outline-host-operators"

    def run(self, module: ir.Module) -> None:
        count = 0
        for function in functions(module):
            for view in list(function.entry_block.operations):
                op = view.operation
                if operator_name(op) not in HOST_OPERATORS:
                    continue
                tensors = [value for value in (*op.operands, *op.results) if is_tensor(value)]
                if any(torch_dtype(value) == "ui8" for value in tensors):
                    continue
                outline(op, f"{operator_name(op).removeprefix('torch.').replace('.', '_')}_{count}", module)
                count += 1
