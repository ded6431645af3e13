"""PyTorch programs as modules in the torch dialect; every operator comes in as it is in the exported graph.

The module has one public `@main`. Weights are inline `torch.vtensor.literal`s, a tensor that is shared comes once. Each
operation is located at NameLoc("module.path", FileLineColLoc(the user's file, line)). Arguments and results carry
`vgf.name` from the export signature; a buffer that the model changes is an extra argument (`vgf.state`, `vgf.initial`)
and an extra result that replaces it.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind, InputSpec, OutputKind, TensorArgument
from torch.fx import GraphModule, Node
from torch_mlir import ir
from torch_mlir.dialects import func
from torch_mlir.extras import fx_importer

from vgfc.diagnostics import CompileError
from vgfc.dialect import make_context
from vgfc.frontend.complex_numbers import without_complex
from vgfc.frontend.control_flow import COND, MAX_COPIES, WHILE, without_control_flow
from vgfc.host_operators import HOST_OPERATORS
from vgfc.ir import Array, dense, numpy_type
from vgfc.pipeline import CONVERT_TORCH
from vgfc.registered_shaders import find as find_shader
from vgfc.torch_conversion import converted_operators

Model = torch.nn.Module | ExportedProgram | str | os.PathLike[str]

FRAME = re.compile(r'File "([^"]+)", line (\d+)')
TORCH_FOLDER = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
ELEMENTS = {
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.uint8: "ui8",
    torch.int8: "si8",
    torch.int16: "si16",
    torch.int32: "si32",
    torch.int64: "si64",
    torch.bool: "i1",
}
STRIDED = (torch.ops.aten.as_strided.default, torch.ops.aten.as_strided_copy.default)
NO_DOUBLE = "a VGF has no 64-bit floating-point numbers; convert the model with model.float()"


def import_program(
    model: Model, inputs: Sequence[Any] | None = None, input_shapes: Mapping[str, Sequence[int]] | None = None
) -> ir.Module:
    """The program as a module in the torch dialect, in a context of its own.

    `model` is a module, which is exported with the example `inputs`, an exported program or the path of a .pt2 file.
    `input_shapes` fixes the dynamic dimensions of an exported program's inputs, by the name of the input. Raises
    CompileError for what cannot be exported or read, dynamic dimensions, 64-bit floating-point or complex numbers, and
    results that are no tensors.
    """
    program = without_control_flow(exported_program(model, inputs, input_shapes))
    _check_control_flow(program)
    program = without_complex(functionalize(program))
    _check_shapes(program)
    return _Import(program).run()


def exported_program(
    model: Model, inputs: Sequence[Any] | None = None, input_shapes: Mapping[str, Sequence[int]] | None = None
) -> ExportedProgram:
    """The model as an exported program; raises CompileError where it cannot be exported, read or given these shapes."""
    if isinstance(model, torch.nn.Module):
        if inputs is None:
            raise CompileError("a torch.nn.Module needs example inputs to be compiled, found none")
        return _export(model, tuple(inputs))
    if not isinstance(model, ExportedProgram):
        model = load(model)
    return _with_shapes(model, input_shapes) if input_shapes else model


def load(path: str | os.PathLike[str]) -> ExportedProgram:
    """The program in a .pt2 file; raises CompileError for a missing or malformed file."""
    if not Path(path).is_file():
        raise CompileError(f"cannot read '{path}': no such file")
    if not zipfile.is_zipfile(path):
        raise CompileError(f"cannot read '{path}': expected a .pt2 file of torch.export.save, which is a zip archive")
    try:
        return torch.export.load(path)
    except (RuntimeError, ValueError, KeyError, OSError, AssertionError, TypeError) as error:
        reason = _first_line(error)
        raise CompileError(f"cannot read '{path}': expected a .pt2 file of torch.export.save ({reason})") from None


def _export(model: torch.nn.Module, inputs: tuple[Any, ...]) -> ExportedProgram:
    try:
        return torch.export.export(model, inputs)
    except (RuntimeError, ValueError, TypeError, AttributeError, LookupError, AssertionError) as error:
        raise CompileError(f"torch.export cannot export {type(model).__name__}: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def _with_shapes(program: ExportedProgram, input_shapes: Mapping[str, Sequence[int]]) -> ExportedProgram:
    """The program exported again, its inputs of the shapes given by name."""
    values = []
    names = [spec.arg.name for spec in program.graph_signature.input_specs if spec.kind == InputKind.USER_INPUT]
    for name in input_shapes:
        if name not in names:
            raise CompileError(f"no input is named '{name}'; the inputs are: {', '.join(names)}")
    placeholders = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    for name in names:
        value = placeholders[name].meta.get("val")
        if not isinstance(value, torch.Tensor):
            values.append(value)
            continue
        shape = [int(extent) for extent in input_shapes.get(name, value.shape)]
        if len(shape) != value.ndim or any(
            isinstance(old, int) and old != new for old, new in zip(value.shape, shape, strict=True)
        ):
            raise CompileError(
                f"input '{name}' has shape {_shape_text(value.shape)}, found {_shape_text(shape)} for it"
            )
        values.append(torch.zeros(shape, dtype=value.dtype))
    in_spec = program.call_spec.in_spec
    assert in_spec is not None, "torch.export always records how inputs nest"
    arguments, keywords = torch.utils._pytree.tree_unflatten(values, in_spec)
    try:
        return torch.export.export(program.module(check_guards=False), arguments, keywords)
    except (RuntimeError, ValueError, TypeError, AttributeError, LookupError, AssertionError) as error:
        raise CompileError(f"the program does not take these input shapes: {_first_line(error)}") from error


def _shape_text(shape: Sequence[Any]) -> str:
    return f"({', '.join(str(extent) for extent in shape)})"


def functionalize(program: ExportedProgram) -> ExportedProgram:
    """The program without operators that write to their operands, and without those that no pass converts.

    PyTorch's decompositions take seconds, so that they run only where such operators are, and on no others.
    """
    targets = _targets(program.graph_module)
    mutable = any(target._schema.is_mutable for target in targets)
    casts = any(str(node.target) == "wrap_with_autocast" for node in program.graph.nodes)
    strided = not targets.isdisjoint(STRIDED)
    recipes = _recipes(targets)
    if not mutable and not casts and not strided and not recipes:
        return program
    program = program.run_decompositions(recipes)
    while recipes := _recipes(_targets(program.graph_module)):  # what decomposing one may bring up
        program = program.run_decompositions(recipes)
    for node in program.graph.nodes:  # of a program of our own by now
        if node.target == torch.ops.aten.as_strided_copy.default:
            node.target = torch.ops.aten.as_strided.default
    return program


def _recipes(targets: set[torch._ops.OpOverload]) -> dict[torch._ops.OperatorBase, Callable[..., Any]]:
    """How PyTorch decomposes those operators that no pass converts, where it knows how."""
    unknown = [target for target in targets if not target._schema.is_mutable and not _is_known(target)]
    if not unknown:
        return {}
    known_recipes = torch.export.default_decompositions()
    return {target: known_recipes[target] for target in unknown if target in known_recipes}


def _targets(graph_module: GraphModule) -> set[torch._ops.OpOverload]:
    return {
        node.target
        for module in graph_module.modules()
        if isinstance(module, GraphModule)
        for node in module.graph.nodes
        if node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload)
    }


def _is_known(target: torch._ops.OpOverload) -> bool:
    """Whether the operator can come in by its own name: a pass converts it, or it is none of PyTorch's core."""
    if target.namespace != "aten":
        return True
    name = str(fx_importer._get_mlir_op_name_for_schema(target._schema))
    is_shader = find_shader(str(target._schema.name)) is not None
    return is_shader or name in HOST_OPERATORS or name in converted_operators(tuple(CONVERT_TORCH))


def _registered_in(holder: list[ir.Context] = []) -> ir.Context:  # noqa: B006 - one context, made when first asked for
    if not holder:
        holder.append(make_context())
    return holder[0]


def _check_control_flow(program: ExportedProgram) -> None:
    for node in program.graph.nodes:
        if node.target in (COND, WHILE):
            found = (
                "torch.while_loop runs"
                if node.target is WHILE
                else "a side of torch.cond has a torch.while_loop that runs"
            )
            location = _Types(_registered_in()).get_node_location(node)
            raise CompileError(
                f"{found} for a number of turns that is not known from integer constants, or that makes more than "
                f"{MAX_COPIES} operators; a VGF has no loops",
                location,
            )


def _check_shapes(program: ExportedProgram) -> None:
    for node in program.graph.nodes:
        value = node.meta.get("val")
        if node.op != "placeholder" or not isinstance(value, torch.Tensor):
            continue
        for axis, extent in enumerate(value.shape):
            if not isinstance(extent, int):
                fix = f"export with fixed shapes or give one: --input-shape {node.name}=..."
                raise CompileError(f"input '{node.name}' has a dynamic dimension: axis {axis} is {extent}; {fix}")


class _Types(fx_importer.ContextCache):  # type: ignore[misc]
    """Types of values, and locations that name the module and the user's line, not the lines inside PyTorch."""

    def value_info_to_type(self, val: Any, **options: Any) -> ir.Type:
        # a list of tensors comes back as a tuple from a .pt2 file
        return super().value_info_to_type(list(val) if isinstance(val, tuple) else val, **options)

    def get_node_location(self, node: Node) -> ir.Location | None:
        stack = node.meta.get("nn_module_stack") or {}
        path = next((path for path, _ in reversed(list(stack.values())) if path), "")
        name = path.removeprefix("L['self'].") or node.name
        frames = FRAME.findall(node.meta.get("stack_trace") or "")
        frames = [frame for frame in frames if not frame[0].startswith("<")]
        if not frames:
            return ir.Location.name(name, ir.Location.unknown(self._c), self._c)
        own = [frame for frame in frames if not frame[0].startswith(TORCH_FOLDER)]
        file, line = (own or frames)[-1]
        return ir.Location.name(name, ir.Location.file(file, int(line), 0, self._c), self._c)


class _Nodes(fx_importer.GraphNodeImporter):  # type: ignore[misc]
    """Imports nodes; tensors become inline literals, each storage once."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.literals: dict[tuple[Any, ...], ir.Value] = {}

    def _import_literal(self, py_value: Any, info: Any = None) -> ir.Value:
        if not isinstance(py_value, torch.Tensor):
            return super()._import_literal(py_value, info)
        key = (py_value.data_ptr(), py_value.shape, py_value.stride(), py_value.dtype)
        if key not in self.literals or py_value.numel() == 0:
            attribute = tensor_attribute(py_value)
            kind = self._cc.tensor_to_vtensor_type(py_value)
            literal = ir.Operation.create("torch.vtensor.literal", results=[kind], attributes={"value": attribute})
            self.literals[key] = literal.result
        return self.literals[key]

    def _import_torch_op_overload(self, loc: ir.Location, node: Node, concrete_target: Any = None) -> None:
        # naming the target keeps the importer from rewriting the user's graph on the way
        target = concrete_target or node.target
        is_unsafe = target == torch.ops.aten._unsafe_index_put.default
        super()._import_torch_op_overload(loc, node, torch.ops.aten.index_put.default if is_unsafe else target)

    def _import_hop_wrap_with_set_grad_enabled(self, loc: ir.Location, node: Node, hop: Any) -> None:
        """A part of the graph under torch.no_grad, in line; the first argument is the mode."""
        values: list[Any] = list(node.args)
        _, part, *arguments = values
        graph = getattr(node.graph.owning_module, part.target).graph
        inner = [inside for inside in graph.nodes if inside.op == "placeholder"]
        for placeholder, argument in zip(inner, arguments, strict=True):
            self.bind_node_value(placeholder, self._import_argument(loc, argument))
        self.import_nodes(graph.nodes, skip_placeholders_outputs=True)
        self._multi_result_nodes.add(node)
        (returned,) = next(inside for inside in graph.nodes if inside.op == "output").args
        for index, value in enumerate(returned):
            self.bind_node_value(node, self.resolve_node_value(value), index)


def tensor_attribute(value: torch.Tensor) -> ir.DenseElementsAttr:
    """The values of a tensor as an inline attribute; raises CompileError for element types that no VGF holds."""
    _check_type(value, "a constant")
    return dense(array_of(value), ir.Type.parse(ELEMENTS[value.dtype]))


def array_of(value: torch.Tensor) -> Array:
    """The tensor's values as a contiguous array, without a copy where the tensor is contiguous."""
    value = value.detach().resolve_conj().resolve_neg().cpu().contiguous()
    if value.dtype == torch.bfloat16:
        return np.asarray(value.view(torch.int16).numpy().view(numpy_type(ir.BF16Type.get(_registered_in()))))
    return value.numpy()


def _check_type(value: torch.Tensor, what: str) -> None:
    if value.dtype == torch.float64:
        raise CompileError(f"{what} is float64: {NO_DOUBLE}")
    if value.dtype not in ELEMENTS:
        known = ", ".join(str(dtype).removeprefix("torch.") for dtype in ELEMENTS)
        raise CompileError(f"{what} is {str(value.dtype).removeprefix('torch.')}, expected one of {known}")
    if value.layout != torch.strided:
        raise CompileError(f"{what} is stored as {value.layout}, expected a dense (strided) tensor")


class _Import:
    """One exported program on its way in."""

    def __init__(self, program: ExportedProgram) -> None:
        self.program = program
        self.signature = program.graph_signature
        self.placeholders = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
        self.nodes = {node.name: node for node in program.graph.nodes}
        self.importer = fx_importer.FxImporter(
            context=make_context(), config_check=False, graph_node_importer_cls=_Nodes
        )
        self.cache = _Types(self.importer._c, py_attr_tracker=self.importer._py_attr_tracker)
        self.importer._cc = self.cache

    def run(self) -> ir.Module:
        """The module; the operations come in the order in which the program lists them."""
        self.check()
        fx_importer.rewrite_as_strided(self.program.graph)
        self.nodes = {node.name: node for node in self.program.graph.nodes}
        module = self.importer.module
        with module.context, ir.Location.unknown():
            self.build()
        return module

    def check(self) -> None:
        """Raises CompileError for inputs, weights and results that have no place in a VGF."""
        for spec in self.signature.input_specs:
            value = self.placeholders[spec.arg.name].meta.get("val")
            if isinstance(value, torch.Tensor):
                word = "input" if spec.kind == InputKind.USER_INPUT else spec.kind.name.lower().replace("_", " ")
                used = self.placeholders[spec.arg.name].users or spec.kind == InputKind.USER_INPUT
                if used:
                    _check_type(value, f"{word} '{spec.target or spec.arg.name}'")
        for node in self.program.graph.nodes:
            value = node.meta.get("val")
            if node.op == "call_function" and isinstance(value, torch.Tensor) and value.dtype not in ELEMENTS:
                location = self.cache.get_node_location(node)
                name = str(node.target).removesuffix(".default")
                dtype = str(value.dtype).removeprefix("torch.")
                fix = NO_DOUBLE if value.dtype == torch.float64 else "a VGF has no such numbers"
                raise CompileError(f"{name} gives {dtype}: {fix}", location)
        for index, output in enumerate(self.signature.output_specs):
            if output.kind == OutputKind.USER_INPUT_MUTATION:
                node = self.nodes[output.arg.name]
                raise CompileError(
                    f"input '{output.target}' is updated in place, which a VGF cannot do; return the new value instead",
                    self.cache.get_node_location(node),
                )
            if output.kind not in (OutputKind.USER_OUTPUT, OutputKind.BUFFER_MUTATION):
                raise CompileError(f"result {index} is a {output.kind.name.lower()}, expected a tensor")
            if not isinstance(output.arg, TensorArgument):
                found = repr(output.arg.value) if isinstance(output.arg, ConstantArgument) else str(output.arg)
                raise CompileError(f"result {index} is {found}, expected a tensor")

    def build(self) -> None:
        """Create @main and its body."""
        states = {
            output.target: output.arg.name
            for output in self.signature.output_specs
            if output.kind == OutputKind.BUFFER_MUTATION
        }
        arguments: list[tuple[Node, dict[str, ir.Attribute]]] = []
        bound: list[tuple[Node, Callable[[], Any]]] = []
        state_arguments: list[tuple[Node, dict[str, ir.Attribute]]] = []
        for spec in self.signature.input_specs:
            node = self.placeholders[spec.arg.name]
            if spec.kind == InputKind.USER_INPUT:
                if isinstance(spec.arg, TensorArgument):
                    arguments.append((node, {"vgf.name": ir.StringAttr.get(node.name)}))
            elif spec.kind == InputKind.BUFFER and spec.target in states:
                attributes = {
                    "vgf.name": ir.StringAttr.get(node.name),
                    "vgf.state": ir.StringAttr.get(spec.target),
                    "vgf.initial": tensor_attribute(self.stored(spec)),
                }
                state_arguments.append((node, attributes))
            else:
                bound.append((node, lambda spec=spec: self.stored(spec)))  # type: ignore[misc]
        arguments += state_arguments

        results: list[tuple[str, dict[str, ir.Attribute]]] = []
        taken = {node.name for node, _ in arguments}
        state_results = []
        for output in self.signature.output_specs:
            name = _unused(output.arg.name, taken)
            attributes = {"vgf.name": ir.StringAttr.get(name)}
            if output.kind == OutputKind.BUFFER_MUTATION:
                attributes["vgf.state"] = ir.StringAttr.get(output.target)
                state_results.append((output.arg.name, attributes))
            else:
                results.append((output.arg.name, attributes))
        results += state_results

        location = ir.Location.unknown()
        kinds = [self.cache.node_val_to_type(node) for node, _ in arguments]
        result_kinds = [self.cache.node_val_to_type(self.nodes[name]) for name, _ in results]
        function = func.FuncOp("main", (kinds, result_kinds), ip=self.importer._m_ip, loc=location)
        function.attributes["torch.assume_strict_symbolic_shapes"] = ir.UnitAttr.get()
        function.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(attrs) for _, attrs in arguments])
        function.attributes["res_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(attrs) for _, attrs in results])
        block = function.add_entry_block([ir.Location.name(node.name, location) for node, _ in arguments])

        nodes = _Nodes(self.importer, self.importer._c, self.cache, block)
        for (node, _), argument in zip(arguments, block.arguments, strict=True):
            nodes.bind_node_value(node, argument)
        for node, value in bound:
            nodes.bind_node_value(node, self.literal_maker(nodes, node, value))
        try:
            nodes.import_nodes(self.program.graph.nodes, skip_placeholders_outputs=True)
        except NotImplementedError as error:
            raise CompileError(f"the program holds what torch-mlir cannot import: {_first_line(error)}") from error
        with location, ir.InsertionPoint(block):
            func.ReturnOp([nodes.resolve_node_value(self.nodes[name]) for name, _ in results])
        self.importer.symbol_table.insert(function)

    def literal_maker(self, nodes: _Nodes, node: Node, value: Callable[[], torch.Tensor]) -> Callable[[], ir.Value]:
        """What makes the literal of a weight when an operator first reads it."""

        def make() -> ir.Value:
            with ir.Location.name(node.name), ir.InsertionPoint(nodes._b):
                return nodes._import_literal(value())

        return make

    def stored(self, spec: InputSpec) -> torch.Tensor:
        """The tensor behind a parameter, buffer or constant of the program."""
        target = spec.target
        assert target is not None, "only user inputs have no target"
        value = self.program.state_dict.get(target)
        if value is None:
            value = self.program.constants.get(target)
        if not isinstance(value, torch.Tensor):
            raise CompileError(f"the program has no value for its {spec.kind.name.lower()} '{target}'")
        return value


def _unused(name: str, taken: set[str]) -> str:
    candidate, number = name, 0
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    taken.add(candidate)
    return candidate
