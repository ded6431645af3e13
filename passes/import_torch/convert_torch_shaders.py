"""vgf-convert-torch-shaders: calls of operators that have a shader become `tosa.custom` operations that hold it.

    %2 = torch.aten.grid_sampler %0, %1, %int0, %int0, %false : ...
becomes
    %2 = tosa.custom %0, %1 {domain_name = "com.arm.VulkanCustomShader", operator_name = "aten::grid_sampler",
                             implementation_attrs = "{...}"} : ...

Shaders come from `vgfc.shaders.register`; a `torch.library` operator arrives as `torch.operator "torch.mylib.op"`. Operators
without a shader are left alone. An operand that is neither a tensor nor known now is an error.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch_mlir import ir

from vgfc.diagnostics import CompileError, PassFailure, fail
from vgfc.ir import defining, element_type, functions, shape
from vgfc.passmanager import Pass, register
from vgfc.registered_shaders import find
from vgfc.shaders import Shader, ShaderCall, Tensor, attributes_for, schema_arguments
from vgfc.torch_conversion import Call, carried_type, convert_one, is_none, is_tensor, operator_name, scalar_constant

# The argument names of PyTorch's own operators that come with a shader; those of a torch.library operator are in its schema.
ARGUMENTS = {
    "aten::grid_sampler": ("input", "grid", "interpolation_mode", "padding_mode", "align_corners"),
    "aten::grid_sampler_2d": ("input", "grid", "interpolation_mode", "padding_mode", "align_corners"),
}


def registered_name(op: ir.Operation) -> str | None:
    """namespace::name of a torch operator that has a shader, None for any other operation."""
    parts = operator_name(op).split(".")
    if parts[0] != "torch" or len(parts) < 3:
        return None
    name = f"{parts[1]}::{parts[2]}"
    return name if find(name) is not None else None


def argument_names(name: str, count: int) -> Sequence[str]:
    """The names of an operator's arguments, by its schema where PyTorch is loaded and has one."""
    return ARGUMENTS[name] if name in ARGUMENTS else schema_arguments(name, count)


def argument(op: ir.Operation, value: ir.Value, name: str) -> Any:
    """The number, text, list or None behind an operand; raises PassFailure for one that is computed."""
    if is_none(value):
        return None
    owner = defining(value)
    if owner is not None and owner.name == "torch.constant.str":
        return ir.StringAttr(owner.attributes["value"]).value
    if owner is not None and owner.name == "torch.prim.ListConstruct":
        return [argument(op, item, name) for item in owner.operands]
    number = scalar_constant(value)
    if number is None:
        raise fail(op, f"has the argument '{name}', which is computed, expected one known at compile time")
    return number


def converter(name: str) -> Any:
    """What turns a call of the operator into a `tosa.custom`."""
    factory = find(name)
    assert factory is not None

    def convert(call: Call) -> list[ir.Value]:
        op = call.op
        names = argument_names(name, len(call))
        operands = list(zip(names, op.operands, strict=False))
        inputs = [call.tensor(index) for index, (_, value) in enumerate(operands) if is_tensor(value)]
        arguments = {key: argument(op, value, key) for key, value in operands if not is_tensor(value)}
        results = [carried_type(result) for result in op.results]
        described = ShaderCall(
            operator=name,
            inputs=tuple(Tensor(shape(value), str(element_type(value))) for value in inputs),
            outputs=tuple(Tensor(shape(kind), str(kind.element_type)) for kind in results),
            arguments=arguments,
        )
        try:
            shader = factory(described)
            if not isinstance(shader, Shader):
                raise CompileError(f"shader for '{name}': expected a Shader, found {type(shader).__name__}")
            attributes = attributes_for(described, shader)
        except CompileError as error:
            raise PassFailure(error.message, op.location) from None
        custom = ir.Operation.create(
            "tosa.custom",
            results=results,
            operands=inputs,
            attributes={key: ir.StringAttr.get(text) for key, text in attributes.items()},
        )
        return list(custom.results)

    return convert


@register
@dataclass(frozen=True)
class ConvertTorchShaders(Pass):
    name = "vgf-convert-torch-shaders"

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            for view in list(function.entry_block.operations):
                name = registered_name(view.operation)
                if name is not None:
                    convert_one(Call(view.operation, operator_name(view.operation)), converter(name))
