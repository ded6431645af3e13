"""vgf-finish-torch-conversion: what is left of the torch dialect goes, functions take builtin tensors.

    func.func @main(%x: !torch.vtensor<[],si64> {vgf.name = "x"}) -> !torch.vtensor<[],si64> {
      %0 = builtin.unrealized_conversion_cast %x : !torch.vtensor<[],si64> to tensor<1xi32>
      %1 = tosa.abs %0 : (tensor<1xi32>) -> tensor<1xi32>
      %2 = builtin.unrealized_conversion_cast %1 : tensor<1xi32> to !torch.vtensor<[],si64>
      return %2 : !torch.vtensor<[],si64>
    }
becomes
    func.func @main(%x: tensor<1xi32> {vgf.model_type = tensor<i64>, vgf.name = "x"})
        -> (tensor<1xi32> {vgf.model_type = tensor<i64>}) {
      %1 = tosa.abs %x : (tensor<1xi32>) -> tensor<1xi32>
      return %1 : tensor<1xi32>
    }

Where the model's own type is not the one that carries it (64-bit integers, uint8, scalars), `vgf.model_type` keeps it. An
operator of torch that no pass converted is an error, at the user's line.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc import build
from vgfc.diagnostics import PassFailure
from vgfc.ir import array_of, dense, element_type, functions, shape, tensor
from vgfc.passmanager import Pass, register
from vgfc.torch_conversion import (
    CASTS,
    blocks,
    carried,
    carried_type,
    erase_unused,
    is_tensor,
    operator_name,
    torch_dtype,
    torch_shape,
)


def adapted(value: ir.Value, wanted: ir.Type) -> ir.Value:
    """A tensor as another type that carries the same torch value: another rank for a scalar, another width."""
    value = build.reshape(value, shape(wanted))
    element = ir.RankedTensorType(wanted).element_type
    if element_type(value) == element:
        return value
    return build.operation("tosa.cast", tensor(shape(value), element), [value])


def resolve_casts(block: ir.Block) -> None:
    """Replace each cast from a torch type by the tensor behind the torch value."""
    for view in list(block.operations):
        op = view.operation
        if op.name in CASTS and is_tensor(op.operands[0]) and not is_tensor(op.results[0]):
            source = op.operands[0].owner
            if isinstance(source, ir.Block) or source.operation.name not in CASTS:
                continue
            with ir.InsertionPoint(op), op.location:
                replacement = adapted(source.operation.operands[0], op.results[0].type)
            op.results[0].replace_all_uses_with(replacement)
            op.erase()


def model_type(value: ir.Value) -> ir.Type | None:
    """The tensor type that the model itself has for a torch value, None when it is the one that carries it."""
    dtype = torch_dtype(value)
    element = ir.Type.parse(dtype.removeprefix("s") if dtype[:2] == "si" else dtype)
    own = tensor(torch_shape(value), element)
    return None if own == carried_type(value) else own


def with_model_types(function: func.FuncOp, name: str, values: list[ir.Value]) -> None:
    """Put vgf.model_type on the arguments or results whose type is about to change."""
    given = list(ir.ArrayAttr(function.attributes[name])) if name in function.attributes else [{}] * len(values)
    found = []
    for attributes, value in zip(given, values, strict=True):
        entries = {item.name: item.attr for item in attributes} if isinstance(attributes, ir.DictAttr) else {}
        own = model_type(value) if is_tensor(value) else None
        if own is not None:
            entries["vgf.model_type"] = ir.TypeAttr.get(own)
            if "vgf.initial" in entries:
                first = array_of(entries["vgf.initial"]).reshape(torch_shape(value))
                entries["vgf.initial"] = dense(first, element_type(own))
        found.append(ir.DictAttr.get(entries))
    if found:
        function.attributes[name] = ir.ArrayAttr.get(found)


def finish(function: func.FuncOp) -> None:
    """Give a function builtin types and take the last casts out of it."""
    ending = list(function.entry_block.operations)[-1].operation
    results = list(ending.operands)
    with_model_types(function, "arg_attrs", list(function.arguments))
    with_model_types(function, "res_attrs", results)
    with ir.InsertionPoint(ending), function.location:
        for index, value in enumerate(results):
            if is_tensor(value):
                ending.operands[index] = adapted(carried(value), carried_type(value))
    erase_unused(function, lambda name: name.startswith("torch.") or name in CASTS)
    check(function)
    for argument in list(function.arguments):
        if not is_tensor(argument):
            continue
        kind = carried_type(argument)
        readers = [use.owner.operation for use in argument.uses]
        argument.set_type(kind)
        for op in readers:
            if op.name in CASTS:
                with ir.InsertionPoint(op), op.location:
                    op.results[0].replace_all_uses_with(adapted(argument, op.results[0].type))
                op.erase()
    kinds = [argument.type for argument in function.arguments]
    outputs = [value.type for value in ending.operands]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kinds, outputs))
    if "torch.assume_strict_symbolic_shapes" in function.attributes:
        del function.attributes["torch.assume_strict_symbolic_shapes"]


def check(function: func.FuncOp) -> None:
    """Raises PassFailure for the first torch operator that is left; constants are only left because such a one reads them."""
    left = [
        view.operation
        for block in blocks(function.operation)
        for view in block.operations
        if view.operation.name.startswith("torch.")
    ]
    left.sort(
        key=lambda op: op.name.startswith(("torch.constant", "torch.prim.ListConstruct", "torch.vtensor.literal"))
    )
    if left:
        name = operator_name(left[0]).removeprefix("torch.")
        raise PassFailure(
            f"the operator {name} is not supported; docs/operators.md lists those that are", left[0].location
        )


@register
@dataclass(frozen=True)
class FinishTorchConversion(Pass):
    name = "vgf-finish-torch-conversion"

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            for block in list(blocks(function.operation)):
                resolve_casts(block)
            finish(function)
            erase_unused(function, lambda name: name in CASTS)
