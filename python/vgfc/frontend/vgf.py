"""Any VGF file, read back into the segmented TOSA module that it came from, or could have come from.

The entry `main` calls one private function a segment, in dispatch order. Graph segments hold TOSA decoded from their SPIR-V,
graph constants with the values of the file's constant section; compute segments hold the `tosa.custom` that carries their
shader (see `vgfc.shaders`). A file says how many bytes of push constants a shader wants, but not which.

What SPIR-V does not hold cannot come back: i4 values are i8 there, i48 ones and i64 ones look alike, tensors of rank 0 have
rank 1.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc import ir as helpers
from vgfc import tosa_encoding as encoding
from vgfc.diagnostics import CompileError, verify
from vgfc.frontend.spirv_reader import Application, Constant, Graph, Port, TensorType, read_graphs
from vgfc.frontend.tosa_attributes import plain_attribute
from vgfc.shaders import DOMAIN, TENSOR_DESCRIPTOR
from vgfc.vgf_file import FORMAT_TYPES, FORMATS, Module, Resource, Segment, VgfFile, decode

GRAPH_CONSTANT_ID = "grapharm.graph_constant_id"
ELEMENTS = {number: element for element, number in FORMATS.items() if element not in ("i4", "i64")}


def read_vgf(content: bytes, context: ir.Context) -> ir.Module:
    """The segmented TOSA module that a VGF file describes.

    Raises CompileError for a damaged file, and for what no such module can say: images among the resources, a graph that is
    not TOSA.001000.1, a resource read before anything writes it.
    """
    file = decode(content)
    with context, ir.Location.unknown():
        module = _Builder(file).build()
        verify(module, "the file's graph")
    return module


class _Builder:
    def __init__(self, file: VgfFile) -> None:
        self.file = file
        self.module = ir.Module.create()
        self.values: dict[int, ir.Value] = {}  # by resource
        self.written_groups: dict[int, int] = {}  # alias group and the resource written last
        self.graphs: dict[int, list[Graph]] = {}  # by module
        self.used_names = {"main"}

    def build(self) -> ir.Module:
        inputs = [slot.resource for slot in self.file.inputs]
        outputs = [slot.resource for slot in self.file.outputs]
        kinds = [self.type_of(number) for number in inputs], [self.type_of(number) for number in outputs]
        with ir.InsertionPoint(self.module.body):
            entry = func.FuncOp("main", kinds)
        entry.attributes["arg_attrs"] = self.port_attributes(inputs, self.file.input_names)
        entry.attributes["res_attrs"] = self.port_attributes(outputs, self.file.output_names)
        block = entry.add_entry_block()
        for number, argument in zip(inputs, block.arguments, strict=True):
            self.define(number, argument)
        for position, segment in enumerate(self.file.segments):
            name = self.unique(segment.name or f"segment_{position}")
            if segment.kind == "graph":
                self.add_graph(segment, name, block)
            else:
                self.add_compute(segment, name, block)
        with ir.InsertionPoint(block):
            func.ReturnOp([self.value_of(number, "the model's outputs") for number in outputs])
        return self.module

    def unique(self, name: str) -> str:
        candidate, count = name, 1
        while candidate in self.used_names:
            candidate, count = f"{name}_{count}", count + 1
        self.used_names.add(candidate)
        return candidate

    # Resources

    def resource(self, number: int) -> Resource:
        if not 0 <= number < len(self.file.resources):
            raise CompileError(f"the file refers to resource {number} of {len(self.file.resources)}")
        return self.file.resources[number]

    def type_of(self, number: int) -> ir.RankedTensorType:
        resource = self.resource(number)
        if resource.vk_format not in ELEMENTS:
            raise CompileError(f"resource {number}: expected a tensor format, found VkFormat {resource.vk_format}")
        if any(extent <= 0 for extent in resource.shape):
            raise CompileError(f"resource {number}: expected a static shape, found {list(resource.shape)}")
        element = ELEMENTS[resource.vk_format]
        return helpers.tensor(resource.shape or (1,), ir.Type.parse(element.removeprefix("u")))

    def port_attributes(self, resources: Sequence[int], names: Sequence[str]) -> ir.ArrayAttr:
        """`vgf.name`, the alias group of an input, and the unsigned type that the file gives a tensor of codes."""
        found = []
        for index, number in enumerate(resources):
            resource = self.resource(number)
            attributes: dict[str, ir.Attribute] = {}
            if index < len(names) and names[index]:
                attributes["vgf.name"] = ir.StringAttr.get(names[index])
            if ELEMENTS[resource.vk_format].startswith("u"):
                kind = helpers.tensor(resource.shape, ir.Type.parse(ELEMENTS[resource.vk_format]))
                attributes["vgf.model_type"] = ir.TypeAttr.get(kind)
            if resource.category == "INPUT" and resource.alias_group is not None:
                attributes["vgf.alias_group"] = _i64(resource.alias_group)
            found.append(ir.DictAttr.get(attributes))
        return ir.ArrayAttr.get(found)

    def define(self, number: int, value: ir.Value) -> None:
        self.values[number] = value
        group = self.resource(number).alias_group
        if group is not None:
            self.written_groups[group] = number

    def value_of(self, number: int, reader: str) -> ir.Value:
        """The value that a resource has now; one of an alias group may have been written under another number."""
        group = self.resource(number).alias_group
        written = number if group is None else self.written_groups.get(group, number)
        if written not in self.values:
            raise CompileError(f"{reader}: resource {number} is read before anything writes it")
        value = self.values[written]
        if value.type != self.type_of(number):
            raise CompileError(
                f"{reader}: resource {number} is read as {self.type_of(number)}, its alias group {group} was last written "
                f"as {value.type}"
            )
        return value

    # Segments

    def add_call(
        self, block: ir.Block, name: str, segment: Segment, inputs: Sequence[int], outputs: Sequence[int]
    ) -> tuple[list[ir.Type], list[ir.Type]]:
        """The entry's call of a segment; returns the types of its function."""
        operands = [self.value_of(number, f"segment '{segment.name}'") for number in inputs]
        kinds: list[ir.Type] = [self.type_of(number) for number in outputs]
        with ir.InsertionPoint(block):
            call = func.CallOp(kinds, name, operands)
        groups = [self.resource(number).alias_group for number in outputs]
        if any(group is not None for group in groups):
            call.attributes["vgf.alias_groups"] = ir.DenseI64ArrayAttr.get([-1 if g is None else g for g in groups])
        for number, result in zip(outputs, call.results, strict=True):
            self.define(number, result)
        return [value.type for value in operands], kinds

    def add_graph(self, segment: Segment, name: str, block: ir.Block) -> None:
        graph = self.graph_of(segment)
        bound = {
            (index, slot.binding): slot.resource for index, slots in segment.descriptor_sets for slot in slots
        } or {(0, slot.binding): slot.resource for slot in (*segment.inputs, *segment.outputs)}

        def resources(ports: Sequence[tuple[int, Port]]) -> list[int]:
            found = []
            for _, port in ports:
                if (port.descriptor_set, port.binding) not in bound:
                    raise CompileError(
                        f"segment '{segment.name}': nothing is bound to set {port.descriptor_set}, binding {port.binding}"
                    )
                number = bound[port.descriptor_set, port.binding]
                if self.type_of(number) != _type(port.type):
                    raise CompileError(
                        f"segment '{segment.name}': resource {number} is {self.type_of(number)}, its graph says {port.type}"
                    )
                found.append(number)
            return found

        inputs, outputs = resources(graph.inputs), resources(graph.outputs)
        kinds = self.add_call(block, name, segment, inputs, outputs)
        with ir.InsertionPoint(self.module.body):
            function = func.FuncOp(name, kinds, visibility="private")
        function.attributes["vgf.segment"] = ir.StringAttr.get("graph")
        body = function.add_entry_block()
        with ir.InsertionPoint(body):
            values = {number: value for (number, _), value in zip(graph.inputs, body.arguments, strict=True)}
            _GraphBody(graph, values, self.constant_values(segment)).build()

    def graph_of(self, segment: Segment) -> Graph:
        if not 0 <= segment.module < len(self.file.modules):
            raise CompileError(
                f"segment '{segment.name}' refers to module {segment.module} of {len(self.file.modules)}"
            )
        module = self.file.modules[segment.module]
        if module.language != "SPIR-V" or not module.code:
            raise CompileError(f"segment '{segment.name}': module '{module.name}' holds no SPIR-V")
        if segment.module not in self.graphs:
            self.graphs[segment.module] = read_graphs(module.code)
        graphs = {graph.name: graph for graph in self.graphs[segment.module]}
        if module.entry_point not in graphs:
            raise CompileError(
                f"module '{module.name}': expected the graph '{module.entry_point}', found {', '.join(graphs) or 'none'}"
            )
        return graphs[module.entry_point]

    def constant_values(self, segment: Segment) -> dict[int, ir.DenseElementsAttr]:
        """The values of the graph constants that a segment binds, by their numbers."""
        found = {}
        for graph_constant_id, index in segment.constants:
            if not 0 <= index < len(self.file.constants):
                raise CompileError(f"segment '{segment.name}' binds constant {index} of {len(self.file.constants)}")
            constant = self.file.constants[index]
            kind = self.type_of(constant.resource)
            element = helpers.element_type(kind)
            dtype = np.dtype(helpers.numpy_type(element))
            wanted = math.prod(helpers.shape(kind)) * dtype.itemsize
            if len(constant.data) != wanted:
                raise CompileError(f"constant {index}: expected {wanted} bytes for {kind}, found {len(constant.data)}")
            array = np.frombuffer(constant.data, dtype).reshape(helpers.shape(kind))
            found[graph_constant_id] = helpers.dense(array, element)
        return found

    def add_compute(self, segment: Segment, name: str, block: ir.Block) -> None:
        """A function around the one `tosa.custom` that holds the shader; see `vgfc.shaders`."""
        if not 0 <= segment.module < len(self.file.modules):
            raise CompileError(
                f"segment '{segment.name}' refers to module {segment.module} of {len(self.file.modules)}"
            )
        module = self.file.modules[segment.module]
        inputs, outputs = [slot.resource for slot in segment.inputs], [slot.resource for slot in segment.outputs]
        _, result_types = kinds = self.add_call(block, name, segment, inputs, outputs)
        with ir.InsertionPoint(self.module.body):
            function = func.FuncOp(name, kinds, visibility="private")
        function.attributes["vgf.segment"] = ir.StringAttr.get("compute")
        body = function.add_entry_block()
        attributes = {
            "domain_name": ir.StringAttr.get(DOMAIN),
            "operator_name": ir.StringAttr.get(module.name),
            "implementation_attrs": ir.StringAttr.get(self.shader_text(segment, module)),
        }
        with ir.InsertionPoint(body):
            op = ir.Operation.create("tosa.custom", result_types, list(body.arguments), attributes)
            func.ReturnOp(op.results)

    def shader_text(self, segment: Segment, module: Module) -> str:
        """The JSON that says what a compute segment's shader is and what is bound to it."""
        data: dict[str, Any] = {
            "entry_point": module.entry_point,
            "workgroup_sizes": list(segment.dispatch_shape),
            "shader_language": module.language,
        }
        if module.language == "SPIR-V":
            data["shader_code"] = base64.b64encode(module.code).decode()
        else:
            data["shader_code"] = module.code.decode()
        if segment.push_constants:
            sizes = enumerate(constant.size for constant in segment.push_constants)
            data["push_constants"] = ", ".join(f"range_{index}: {size}" for index, size in sizes)
        sets = {slot: index for index, bound in segment.descriptor_sets for slot in bound}
        for word, slots in (("input", segment.inputs), ("output", segment.outputs)):
            for index, slot in enumerate(slots):
                resource = self.resource(slot.resource)
                data[f"{word}_{index}_type"] = "Tensor"
                data[f"{word}_{index}_vkformat"] = f"VK_FORMAT_{FORMAT_TYPES[resource.vk_format][1]}"
                data[f"{word}_{index}_vkdescriptortype"] = TENSOR_DESCRIPTOR
                data[f"{word}_{index}_binding"] = slot.binding
                data[f"{word}_{index}_descriptorset"] = sets.get(slot, 0)
        return json.dumps(data, sort_keys=True)


class _GraphBody:
    """Makes the operations of one graph at the insertion point; `values` holds its inputs and takes the rest.

    A constant stands where its id says that the writer met it: MLIR's serialiser numbers what it meets in order, so that
    lowering again gives the same words.
    """

    def __init__(self, graph: Graph, values: dict[int, ir.Value], constants: dict[int, ir.DenseElementsAttr]) -> None:
        self.graph = graph
        self.values = values
        self.constants = constants
        self.waiting = [graph.constants[number] for number in sorted(graph.constants)]
        self.shape_operands = {
            operand
            for application in graph.applications
            for operand, name in _named_operands(application)
            if name in encoding.SHAPE_INPUTS.get(application.operator.name, ())
        }
        self.tensor_operands = {
            operand
            for application in graph.applications
            for operand, name in _named_operands(application)
            if name not in encoding.SHAPE_INPUTS.get(application.operator.name, ())
        } | {number for number, _ in graph.outputs}
        self.shapes: dict[int, ir.Value] = {}

    def build(self) -> None:
        for application in self.graph.applications:
            self.place_constants_before(application)
            self.add(application)
        for constant in self.waiting:
            self.place(constant)
        func.ReturnOp([self.values[number] for number, _ in self.graph.outputs])

    def place_constants_before(self, application: Application) -> None:
        needed = set(application.operands)
        for constant in list(self.waiting):
            if constant.id < application.results[0] or constant.id in needed:
                self.place(constant)
                self.waiting.remove(constant)

    def place(self, constant: Constant) -> None:
        if constant.id in self.shape_operands:
            if constant.values is None:
                raise CompileError(
                    f"graph '{self.graph.name}': a shape is a graph constant, whose values are outside it"
                )
            self.shapes[constant.id] = helpers.const_shape([int(value) for value in constant.values.reshape(-1)])
        if constant.id in self.tensor_operands or constant.id not in self.shape_operands:
            self.values[constant.id] = self.tensor_constant(constant)

    def tensor_constant(self, constant: Constant) -> ir.Value:
        kind = _type(constant.type)
        if constant.graph_constant_id is None:
            assert constant.values is not None
            return helpers.constant(constant.values, helpers.element_type(kind))
        number = constant.graph_constant_id
        if number not in self.constants:
            raise CompileError(f"graph '{self.graph.name}': nothing is bound to graph constant {number}")
        values = self.constants[number]
        if values.type != kind:
            raise CompileError(f"graph '{self.graph.name}': graph constant {number} is {values.type}, expected {kind}")
        i32 = ir.IntegerType.get_signless(32)
        attributes = {"values": values, GRAPH_CONSTANT_ID: ir.IntegerAttr.get(i32, number)}
        return ir.Operation.create("tosa.const", [kind], attributes=attributes).result

    def add(self, application: Application) -> None:
        operator = application.operator
        shapes = encoding.SHAPE_INPUTS.get(operator.name, ())
        operands = [
            self.operand(operand, name in shapes, operator.name) for operand, name in _named_operands(application)
        ]
        kinds = [_type(kind) for kind in application.types]
        attributes = {}
        for name, value in application.attributes.items():
            attribute = plain_attribute(name, value)
            if attribute is not None:
                attributes[name] = attribute
        place = application.location
        location = ir.Location.file(place.file, place.line, place.column) if place else ir.Location.unknown()
        with location:
            if operator.name == "ARGMAX" and len(helpers.shape(operands[0])) == 1:
                # the one operator whose result has rank 0, which SPIR-V's tensors cannot have
                scalar = helpers.tensor((), helpers.element_type(kinds[0]))
                op = ir.Operation.create(operator.mlir_name, [scalar], operands, attributes)
                op = ir.Operation.create("tosa.reshape", kinds, [op.result, helpers.const_shape([1])])
            else:
                op = ir.Operation.create(operator.mlir_name, kinds, operands, attributes)
        self.values.update(zip(application.results, op.results, strict=True))

    def operand(self, number: int, is_shape: bool, reader: str) -> ir.Value:
        found = (self.shapes if is_shape else self.values).get(number)
        if found is None:
            what = "a constant shape" if is_shape else "a value that comes before it"
            raise CompileError(f"graph '{self.graph.name}': {reader} reads %{number}, expected {what}")
        return found


def _named_operands(application: Application) -> list[tuple[int, str]]:
    """Operands and the names that the specification gives them; a repeated one has one name."""
    names = application.operator.inputs
    if application.operator.is_variadic:
        names = (*names[:-1], *[names[-2]] * (len(application.operands) - len(names) + 1))
    return list(zip(application.operands, names, strict=True))


def _type(kind: TensorType) -> ir.RankedTensorType:
    return helpers.tensor(kind.shape, ir.Type.parse(kind.element))


def _i64(value: int) -> ir.IntegerAttr:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
