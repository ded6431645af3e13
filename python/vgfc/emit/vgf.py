"""VGF bytes of a lowered module: a plan is read off the module as plain data, then encoded.

The module is what `tosa-to-vgf` leaves: an entry that calls segments in dispatch order, a declaration for each segment, the
graph segments' SPIR-V in modules of their own, and the graph constants' values in ml_program.global operations.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import vgfpy
from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc import ir as helpers
from vgfc.diagnostics import CompileError, fail
from vgfc.emit.constants import PLACEHOLDER, with_constants
from vgfc.emit.spirv import serialize
from vgfc.files import Piece
from vgfc.interface import entry_function, ports
from vgfc.shaders import Binding, is_shader, shader_of
from vgfc.vgf_file import FORMATS, TENSOR

COMPUTE_STAGE = 0x20  # VK_SHADER_STAGE_COMPUTE_BIT
VULKAN_HEADER_VERSION = 321  # the first with VK_ARM_data_graph


@dataclass
class Resource:
    """An entry of the resource table; `values` only for constants."""

    category: str
    vk_format: int
    shape: tuple[int, ...]
    alias_group: int | None = None
    values: helpers.Array | None = None


Slot = tuple[int, int, int]


@dataclass
class Segment:
    """A segment: its SPIR-V, and what it reads and writes as (descriptor set, binding, resource)."""

    name: str
    kind: str
    entry_point: str
    code: bytes
    inputs: list[Slot]
    outputs: list[Slot]
    constants: list[tuple[int, int]] = field(default_factory=list)
    dispatch_shape: tuple[int, int, int] = (0, 0, 0)
    push_constant_bytes: int = 0


@dataclass
class Plan:
    """Everything that the file will say. Numbers refer to `resources`."""

    resources: list[Resource]
    segments: list[Segment]
    inputs: list[int]
    outputs: list[int]
    input_names: list[str]
    output_names: list[str]


def plan_of(module: ir.Module) -> Plan:
    """What a lowered module says about its file; raises CompileError where it does not say enough."""
    function = entry_function(module)
    symbols = {ir.StringAttr(op.attributes["sym_name"]).value: op.operation for op in module.body.operations}
    input_ports, output_ports = ports(module)
    resources: list[Resource] = []

    def add(category: str, kind: ir.Type, alias_group: int | None = None) -> int:
        dimensions, element = helpers.shape(kind), str(helpers.element_type(kind))
        # VK_ARM_tensors has no tensors of rank 0
        resources.append(Resource(category, FORMATS[element], dimensions or (1,), alias_group))
        return len(resources) - 1

    number_of: dict[ir.Value, int] = {}
    for argument in function.arguments:
        number_of[argument] = add("INPUT", argument.type)
    *calls, last = list(function.entry_block.operations)
    returned = list(last.operands)
    for value in returned:
        if value in number_of:
            raise fail(
                function,
                "expected every output to be a segment result of its own, found one returned twice or an input",
            )
        number_of[value] = add("OUTPUT", value.type)
    for call in calls:
        if call.operation.name != "func.call":
            raise fail(call, "expected the entry to hold only calls of segments")
        groups = helpers.int_list(call.attributes["vgf.alias_groups"]) if "vgf.alias_groups" in call.attributes else []
        for index, value in enumerate(call.results):
            group = groups[index] if index < len(groups) and groups[index] >= 0 else None
            if value in number_of:
                resources[number_of[value]].alias_group = group
            else:
                number_of[value] = add("INTERMEDIATE", value.type, group)
    constants: dict[int, int] = {}
    segments = []
    for call in calls:
        name = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
        if helpers.segment_kind(cast(func.FuncOp, symbols[name].opview)) == "compute":
            segments.append(_compute_segment(call, symbols[name], number_of))
            continue
        segment = _graph_segment(call, name, symbols, number_of)
        for constant_id in _graph_constant_ids(symbols[f"{name}_graph"]):
            if constant_id not in constants:
                constants[constant_id] = _add_constant(symbols, constant_id, resources)
            segment.constants.append((constant_id, constants[constant_id]))
        segments.append(segment)
    return Plan(
        resources,
        segments,
        [number_of[argument] for argument in function.arguments],
        [number_of[value] for value in returned],
        [port.name for port in input_ports],
        [port.name for port in output_ports],
    )


def _graph_segment(
    call: ir.Operation, name: str, symbols: dict[str, ir.Operation], number_of: dict[ir.Value, int]
) -> Segment:
    declaration = symbols[name]
    kind = helpers.segment_kind(cast(func.FuncOp, declaration.opview))
    if kind != "graph" or f"{name}_graph" not in symbols:
        raise fail(declaration, f"expected a lowered graph segment, found a segment of kind '{kind}'")
    return Segment(
        name=name,
        kind="graph",
        entry_point=name,
        code=serialize(_checked(_spirv_module(symbols[f"{name}_graph"]))),
        inputs=[(0, binding, number_of[value]) for binding, value in enumerate(call.operands)],
        outputs=[
            (0, binding, number_of[value]) for binding, value in enumerate(call.results, start=len(call.operands))
        ],
    )


def _compute_segment(call: ir.Operation, function: ir.Operation, number_of: dict[ir.Value, int]) -> Segment:
    *body, last = [op.operation for op in function.regions[0].blocks[0].operations]
    if len(body) != 1 or not is_shader(body[0]):
        raise fail(function, f"expected one shader, found {', '.join(op.name for op in body) or 'nothing'}")
    op = body[0]
    shader = shader_of(op)
    if not isinstance(shader.code, bytes):
        raise fail(op, f"expected a shader in SPIR-V, found {shader.language}")
    outside = dict(zip(function.regions[0].blocks[0].arguments, call.operands, strict=True))
    outside.update(zip(last.operands, call.results, strict=True))
    unread = [index for index, value in enumerate(op.results) if value not in outside]
    if unread:
        raise fail(op, f"writes result {unread[0]}, which nothing reads, expected a reader for each")

    def slots(values: Any, bindings: tuple[Binding, ...]) -> list[Slot]:
        pairs = zip(values, bindings, strict=True)
        return [(place.descriptor_set, place.binding, number_of[outside[value]]) for value, place in pairs]

    return Segment(
        name=ir.StringAttr(function.attributes["sym_name"]).value,
        kind="compute",
        entry_point=shader.entry_point,
        code=shader.code,
        inputs=slots(op.operands, shader.inputs),
        outputs=slots(op.results, shader.outputs),
        dispatch_shape=shader.dispatch_shape,
        push_constant_bytes=shader.push_constant_bytes,
    )


def _spirv_module(wrapper: ir.Operation) -> ir.Operation:
    inner = [op.operation for op in wrapper.regions[0].blocks[0].operations]
    if len(inner) != 1 or inner[0].name != "spirv.module":
        raise fail(wrapper, f"expected one spirv.module, found {', '.join(op.name for op in inner) or 'nothing'}")
    return inner[0]


def _checked(spirv: ir.Operation) -> ir.Operation:
    """The module again; raises PassFailure where two outputs of a graph are one value.

    A runtime binds each to a tensor of its own and writes where the value lies, so that one of them would stay unwritten. An
    input it does copy.
    """
    for graph in spirv.regions[0].blocks[0].operations:
        if graph.operation.name != "spirv.ARM.Graph":
            continue
        block = graph.operation.regions[0].blocks[0]
        seen: set[ir.Value] = set()
        for index, value in enumerate(block.operations[len(block.operations) - 1].operation.operands):
            if value in seen:
                raise fail(graph, f"output {index} of a graph is another output, expected a value of its own")
            seen.add(value)
    return spirv


def _graph_constant_ids(wrapper: ir.Operation) -> list[int]:
    found = set()
    for op in _spirv_module(wrapper).regions[0].blocks[0].operations:
        if op.operation.name != "spirv.ARM.Graph":
            continue
        for inner in op.operation.regions[0].blocks[0].operations:
            if inner.operation.name == "spirv.ARM.GraphConstant":
                found.add(ir.IntegerAttr(inner.attributes["graph_constant_id"]).value)
    return sorted(found)


def _add_constant(symbols: dict[str, ir.Operation], constant_id: int, resources: list[Resource]) -> int:
    symbol = symbols.get(f"graph_constant_{constant_id}")
    if symbol is None:
        raise CompileError(
            f"expected ml_program.global @graph_constant_{constant_id} with the constant's values, found none"
        )
    values = symbol.attributes["value"]
    kind = ir.DenseElementsAttr(values).type
    array = np.ascontiguousarray(helpers.array_of(values))
    element = str(helpers.element_type(kind))
    resources.append(
        Resource("CONSTANT", FORMATS[element], helpers.shape(kind) or (1,), values=array.reshape(-1).view(np.uint8))
    )
    return len(resources) - 1


def push_constants_of(module: ir.Module) -> dict[str, bytes]:
    """The bytes of the compute segments' push constants, by segment; raises PassFailure where a shader's are unknown."""
    found = {}
    for function in helpers.functions(module):
        if helpers.segment_kind(function) != "compute":
            continue
        for op in helpers.operations(function):
            shader = shader_of(op)
            if len(shader.push_constants) != shader.push_constant_bytes:
                count = len(shader.push_constants)
                raise fail(op, f"wants {shader.push_constant_bytes} bytes of push constants, found {count}")
            if shader.push_constants:
                found[function.name.value] = shader.push_constants
    return found


def encode(plan: Plan) -> list[Piece]:
    """The VGF file in pieces; the same plan gives the same bytes."""
    encoder = vgfpy.CreateEncoder(VULKAN_HEADER_VERSION)
    references: list[Any] = []
    constants: dict[int, Any] = {}
    values: list[tuple[int, helpers.Array]] = []
    for number, resource in enumerate(plan.resources):
        shape = list(resource.shape)
        if resource.values is not None:
            references.append(encoder.AddConstantResource(resource.vk_format, shape, []))
            constants[number] = encoder.AddConstant(references[-1], PLACEHOLDER)
            values.append((number, resource.values))
            continue
        add = {
            "INPUT": encoder.AddInputResource,
            "OUTPUT": encoder.AddOutputResource,
            "INTERMEDIATE": encoder.AddIntermediateResource,
        }[resource.category]
        references.append(add(TENSOR, resource.vk_format, shape, [], resource.alias_group))
    for segment in plan.segments:
        words = np.frombuffer(segment.code, "<u4").tolist()
        kind = vgfpy.ModuleType.Compute if segment.kind == "compute" else vgfpy.ModuleType.Graph
        module = encoder.AddModule(kind, segment.name, segment.entry_point, words)
        slots = {
            slot: encoder.AddBindingSlot(slot[1], references[slot[2]]) for slot in segment.inputs + segment.outputs
        }
        descriptors = [
            encoder.AddDescriptorSetInfo([made for slot, made in slots.items() if slot[0] == number], number)
            for number in sorted({slot[0] for slot in slots})
        ]
        encoder.AddSegmentInfo(
            module,
            segment.name,
            descriptors,
            [slots[slot] for slot in segment.inputs],
            [slots[slot] for slot in segment.outputs],
            [vgfpy.GraphConstantBindingRef(key, constants[number]) for key, number in segment.constants],
            list(segment.dispatch_shape),
            _push_constants(encoder, segment),
        )
    io_slots = [
        encoder.AddBindingSlot(binding, references[number])
        for binding, number in enumerate([*plan.inputs, *plan.outputs])
    ]
    split = len(plan.inputs)
    encoder.AddModelSequenceInputsOutputs(io_slots[:split], plan.input_names, io_slots[split:], plan.output_names)
    encoder.Finish()
    return with_constants(_written(encoder), values)


def _push_constants(encoder: Any, segment: Segment) -> list[Any]:
    if not segment.push_constant_bytes:
        return []
    return [encoder.AddPushConstRange(COMPUTE_STAGE, 0, segment.push_constant_bytes)]


def _written(encoder: Any) -> bytes:
    stream = io.BytesIO()
    if not encoder.WriteTo(stream):
        raise CompileError("the VGF library could not write the file")
    return stream.getvalue()


def emit_pieces(module: ir.Module) -> list[Piece]:
    """The VGF file of a lowered module, in pieces that share the memory of the module's constants.

    Raises CompileError where the module is not lowered.
    """
    with module.context:
        return encode(plan_of(module))


def emit(module: ir.Module) -> bytes:
    """The VGF file of a lowered module; raises CompileError where the module is not lowered."""
    return b"".join(emit_pieces(module))
