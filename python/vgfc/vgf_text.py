"""A VGF file as text to read, to compare and to test with FileCheck: resources, constants, and each segment's graph.

Numbers are the file's own: `@3` is entry 3 of the resource table, `%61` the id that the graph's SPIR-V gives a value.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

import ml_dtypes  # noqa: F401 - makes bfloat16 and fp8 names that numpy.dtype knows
import numpy as np

from vgfc.diagnostics import CompileError
from vgfc.frontend.spirv_reader import Application, Constant, Graph, read_graphs
from vgfc.tosa_encoding import kind_of
from vgfc.vgf_file import FORMAT_TYPES, Module, Resource, Segment, Slot, VgfFile

SHOWN_VALUES = 8  # of a constant's values; a few tell files apart, all of them hide the rest


def text_of(file: VgfFile) -> Iterator[str]:
    """The lines of the text; raises CompileError where a segment's SPIR-V cannot be decoded."""
    major, minor, patch = file.version
    yield f"VGF {major}.{minor}.{patch}, Vulkan headers {file.vulkan_header_version}"
    yield from _ports("inputs", file.inputs, file.input_names)
    yield from _ports("outputs", file.outputs, file.output_names)
    yield "resources"
    for number, resource in enumerate(file.resources):
        yield f"  @{number} = {describe_resource(resource)}"
    if file.constants:
        yield "constants"
    for number, constant in enumerate(file.constants):
        sparsity = f", sparse along {constant.sparsity_dimension}" if constant.sparsity_dimension >= 0 else ""
        values = describe_values(constant_values(file, number))
        yield f"  constant {number} = @{constant.resource}, {len(constant.data)} bytes{sparsity}: {values}"
    for number, segment in enumerate(file.segments):
        yield from _segment(file, number, segment)


def describe_resource(resource: Resource) -> str:
    """Category, shape, format and alias group of a resource."""
    _, name = FORMAT_TYPES.get(resource.vk_format, ("", f"VkFormat {resource.vk_format}"))
    extents = "x".join(str(extent) for extent in resource.shape)
    strides = f", strides {list(resource.strides)}" if resource.strides else ""
    group = f", alias group {resource.alias_group}" if resource.alias_group is not None else ""
    return f"{resource.category.lower()} {extents}{'x' if extents else ''}{name}{strides}{group}"


def constant_values(file: VgfFile, number: int) -> np.ndarray[tuple[int], np.dtype[np.generic]]:
    """The values of an entry of the constant table, flat; raises CompileError where bytes and type do not agree."""
    constant = file.constants[number]
    if not 0 <= constant.resource < len(file.resources):
        raise CompileError(f"constant {number} refers to resource {constant.resource} of {len(file.resources)}")
    dtype = np.dtype(file.resources[constant.resource].dtype)
    if len(constant.data) % dtype.itemsize:
        raise CompileError(f"constant {number}: {len(constant.data)} bytes are no whole number of {dtype.name} values")
    return np.frombuffer(constant.data, dtype)


def describe_values(values: np.ndarray[tuple[int], np.dtype[np.generic]]) -> str:
    """One value where all are the same, else the first few, with a checksum where that is not all of them."""
    if values.size and (values == values[0]).all():
        return f"all {_number(values[0])}"
    shown = ", ".join(_number(value) for value in values[:SHOWN_VALUES])
    if values.size <= SHOWN_VALUES:
        return f"[{shown}]"
    return f"[{shown}, ...] crc32 {zlib.crc32(values.tobytes()):08x}"


def _number(value: object) -> str:
    plain = value.item() if isinstance(value, np.generic) else value
    return str(plain).lower() if isinstance(plain, bool) else str(plain)


def _ports(title: str, slots: Sequence[Slot], names: Sequence[str]) -> Iterator[str]:
    yield title
    for index, slot in enumerate(slots):
        name = f'"{names[index]}" ' if index < len(names) and names[index] else ""
        yield f"  {name}@{slot.resource} at binding {slot.binding}"


def _segment(file: VgfFile, number: int, segment: Segment) -> Iterator[str]:
    if not 0 <= segment.module < len(file.modules):
        raise CompileError(f"segment {number} refers to module {segment.module} of {len(file.modules)}")
    module = file.modules[segment.module]
    yield f'segment {number} {segment.kind} "{segment.name}"'
    yield f'  module {segment.module} "{module.name}", {module.language}, entry point "{module.entry_point}"'
    for index, slots in segment.descriptor_sets:
        for slot in slots:
            role = "in" if slot in segment.inputs else "out" if slot in segment.outputs else "unused"
            yield f"  set {index} binding {slot.binding} = @{slot.resource} ({role})"
    for graph_constant_id, constant in segment.constants:
        yield f"  graph constant {graph_constant_id} = constant {constant}"
    if any(segment.dispatch_shape):
        yield f"  dispatch {' x '.join(str(extent) for extent in segment.dispatch_shape)}"
    for constants in segment.push_constants:
        yield f"  push constants {constants.size} bytes at {constants.offset}, stages {constants.stage_flags:#x}"
    if segment.kind == "graph" and module.language == "SPIR-V" and module.code:
        for graph in read_graphs(module.code):
            yield from graph_text(graph)
    else:
        yield from _shader(module)


def _shader(module: Module) -> Iterator[str]:
    if not module.code:
        yield "  no code"
    elif module.language == "SPIR-V":
        yield f"  {len(module.code) // 4} words of SPIR-V"
    else:
        yield "  code"
        yield from (f"    {line}".rstrip() for line in module.code.decode(errors="replace").splitlines())


def graph_text(graph: Graph) -> Iterator[str]:
    """The lines of one graph: its inputs, constants in the order of their ids, operators, outputs."""
    inputs = ", ".join(f"%{number}: {port.type}" for number, port in graph.inputs)
    yield f"  graph @{graph.name}({inputs})"
    for number in sorted(graph.constants):
        yield f"    %{number} = {describe_constant(graph.constants[number])}"
    for application in graph.applications:
        yield f"    {describe_application(application)}"
    yield f"    return {', '.join(f'%{number}' for number, _ in graph.outputs)}"


def describe_constant(constant: Constant) -> str:
    """A constant of a graph: its values, or the number under which the file keeps them."""
    if constant.values is None:
        return f"graph constant {constant.graph_constant_id} : {constant.type}"
    return f"constant {describe_values(constant.values.reshape(-1))} : {constant.type}"


def describe_application(application: Application) -> str:
    """One operator with results, operands, attributes and types, and the source line that the module gives it."""
    results = ", ".join(f"%{number}" if number >= 0 else "unused" for number in application.results)
    operands = ", ".join(f"%{number}" for number in application.operands)
    attributes = [
        f"{name} = {_number(value.reshape(-1)[0]) if kind_of(name) == 'number' else _number(value)}"
        for name, value in application.attributes.items()
    ]
    place = application.location
    return (
        f"{results} = {application.operator.name}({operands})"
        + (f" {{{', '.join(attributes)}}}" if attributes else "")
        + f" : {', '.join(str(kind) for kind in application.types)}"
        + (f"  // {place.file}:{place.line}:{place.column}" if place else "")
    )
