"""A VGF file as plain data: resources, constants, modules, segments, inputs and outputs. Imports no MLIR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import vgfpy

from vgfc.diagnostics import CompileError

TENSOR = 1000460000  # VK_DESCRIPTOR_TYPE_TENSOR_ARM

# Element type and the VkFormat that holds it (Vulkan specification, "Formats"; from 1000460000 on those of VK_ARM_tensors
# and the extensions beside it). i4 values take a byte each, i48 values eight.
FORMATS = {
    "ui8": 13,
    "i8": 14,
    "i4": 14,
    "ui16": 74,
    "i16": 75,
    "f16": 76,
    "ui32": 98,
    "i32": 99,
    "f32": 100,
    "i64": 111,
    "i48": 111,
    "i1": 1000460000,
    "bf16": 1000460001,
    "f8E4M3FN": 1000460002,
    "f8E5M2": 1000460003,
}
# The numpy (or ml_dtypes) type that a VkFormat's values have, and the format's name without VK_FORMAT_.
FORMAT_TYPES = {
    13: ("uint8", "R8_UINT"),
    14: ("int8", "R8_SINT"),
    74: ("uint16", "R16_UINT"),
    75: ("int16", "R16_SINT"),
    76: ("float16", "R16_SFLOAT"),
    98: ("uint32", "R32_UINT"),
    99: ("int32", "R32_SINT"),
    100: ("float32", "R32_SFLOAT"),
    111: ("int64", "R64_SINT"),
    1000460000: ("bool", "R8_BOOL_ARM"),
    1000460001: ("bfloat16", "R16_SFLOAT_FPENCODING_BFLOAT16_ARM"),
    1000460002: ("float8_e4m3fn", "R8_SFLOAT_FPENCODING_FLOAT8E4M3_ARM"),
    1000460003: ("float8_e5m2", "R8_SFLOAT_FPENCODING_FLOAT8E5M2_ARM"),
}


@dataclass(frozen=True)
class Resource:
    """An entry of the resource table; `descriptor_type` is None for constants."""

    category: str
    vk_format: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    descriptor_type: int | None
    alias_group: int | None

    @property
    def dtype(self) -> str:
        """The numpy name of the element type; raises CompileError for a format that no tensor has."""
        if self.vk_format not in FORMAT_TYPES:
            raise CompileError(f"expected a tensor format, found VkFormat {self.vk_format}")
        return FORMAT_TYPES[self.vk_format][0]


@dataclass(frozen=True)
class Constant:
    """Values of a constant resource."""

    resource: int
    data: memoryview
    sparsity_dimension: int


@dataclass(frozen=True)
class Module:
    """A shader module: SPIR-V bytes, or source text in GLSL or HLSL, or neither (a placeholder)."""

    kind: str
    name: str
    entry_point: str
    language: str
    code: bytes


@dataclass(frozen=True)
class Slot:
    """A binding number and the resource bound to it."""

    binding: int
    resource: int


@dataclass(frozen=True)
class PushConstants:
    """A push-constant range in bytes."""

    stage_flags: int
    offset: int
    size: int


@dataclass(frozen=True)
class Segment:
    """One dispatch. `constants` pairs graph constant ids with indices of the constant table."""

    kind: str
    name: str
    module: int
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    descriptor_sets: tuple[tuple[int, tuple[Slot, ...]], ...]
    constants: tuple[tuple[int, int], ...]
    dispatch_shape: tuple[int, ...]
    push_constants: tuple[PushConstants, ...]


@dataclass(frozen=True)
class VgfFile:
    """A decoded file; its constants are views of the bytes that it was decoded from, and keep them alive."""

    version: tuple[int, int, int]
    vulkan_header_version: int
    resources: tuple[Resource, ...]
    constants: tuple[Constant, ...]
    modules: tuple[Module, ...]
    segments: tuple[Segment, ...]
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]


def decode(content: bytes) -> VgfFile:
    """The file whose bytes are `content`; raises CompileError where they are no whole VGF file."""
    if len(content) < vgfpy.HeaderSize():
        raise CompileError(
            f"not a VGF file: expected a header of {vgfpy.HeaderSize()} bytes, found {len(content)} bytes"
        )
    header = vgfpy.CreateHeaderDecoder(content, vgfpy.HeaderSize(), len(content))
    if header is None or not header.IsValid():
        raise CompileError("not a VGF file: its header does not start with the format's magic number, or is damaged")
    if not header.CheckVersion():
        version = f"{header.GetMajor()}.{header.GetMinor()}.{header.GetPatch()}"
        raise CompileError(f"VGF version {version} is not one that this library reads")

    def section(name: str, create: Any, offset: int, size: int) -> Any:
        if offset + size > len(content):
            raise CompileError(f"damaged VGF file: its {name} ends at byte {offset + size} of {len(content)}")
        decoder = create(memoryview(content)[offset : offset + size], size)
        if decoder is None:
            raise CompileError(f"damaged VGF file: its {name} cannot be decoded")
        return decoder

    modules = section(
        "module table", vgfpy.CreateModuleTableDecoder, header.GetModuleTableOffset(), header.GetModuleTableSize()
    )
    sequence = section(
        "model sequence",
        vgfpy.CreateModelSequenceTableDecoder,
        header.GetModelSequenceTableOffset(),
        header.GetModelSequenceTableSize(),
    )
    resources = section(
        "resource table",
        vgfpy.CreateModelResourceTableDecoder,
        header.GetModelResourceTableOffset(),
        header.GetModelResourceTableSize(),
    )
    constants = section(
        "constant section", vgfpy.CreateConstantDecoder, header.GetConstantsOffset(), header.GetConstantsSize()
    )
    try:
        return _file(content, header, modules, sequence, resources, constants)
    except UnicodeDecodeError:
        raise CompileError("damaged VGF file: a name is not UTF-8") from None


def _file(content: bytes, header: Any, modules: Any, sequence: Any, resources: Any, constants: Any) -> VgfFile:
    return VgfFile(
        version=(header.GetMajor(), header.GetMinor(), header.GetPatch()),
        vulkan_header_version=header.GetEncoderVulkanHeadersVersion(),
        resources=tuple(_resource(resources, index) for index in range(resources.size())),
        constants=tuple(_constant(content, constants, index) for index in range(constants.size())),
        modules=tuple(_module(modules, index) for index in range(modules.size())),
        segments=tuple(_segment(sequence, index) for index in range(sequence.modelSequenceTableSize())),
        inputs=_slots(sequence, sequence.getModelSequenceInputBindingSlotsHandle()),
        outputs=_slots(sequence, sequence.getModelSequenceOutputBindingSlotsHandle()),
        input_names=_names(sequence, sequence.getModelSequenceInputNamesHandle()),
        output_names=_names(sequence, sequence.getModelSequenceOutputNamesHandle()),
    )


def _resource(table: Any, index: int) -> Resource:
    return Resource(
        category=table.getCategory(index).name.upper(),
        vk_format=table.getVkFormat(index),
        shape=tuple(int(extent) for extent in table.getTensorShape(index) or ()),
        strides=tuple(int(stride) for stride in table.getTensorStride(index) or ()),
        descriptor_type=table.getDescriptorType(index),
        alias_group=table.getAliasGroupId(index),
    )


def _constant(content: bytes, table: Any, index: int) -> Constant:
    found = table.getConstant(index)
    if found is None:
        raise CompileError(f"damaged VGF file: constant {index} has no data")
    # the library's view does not keep the content alive; the same bytes seen through the content do
    start_bytes = np.frombuffer(found, np.uint8).ctypes.data - np.frombuffer(content, np.uint8).ctypes.data
    data = memoryview(content)[start_bytes : start_bytes + found.nbytes]
    return Constant(table.getConstantMrtIndex(index), data, table.getConstantSparsityDimension(index))


def _module(table: Any, index: int) -> Module:
    if table.isGLSL(index):
        language, code = "GLSL", table.getGLSLModuleCode(index).encode() if table.hasGLSLCode(index) else b""
    elif table.isHLSL(index):
        language, code = "HLSL", table.getHLSLModuleCode(index).encode() if table.hasHLSLCode(index) else b""
    else:
        language, code = "SPIR-V", bytes(table.getSPIRVModuleCode(index)) if table.hasSPIRVCode(index) else b""
    return Module(
        table.getModuleType(index).name.lower(),
        table.getModuleName(index),
        table.getModuleEntryPoint(index),
        language,
        code,
    )


def _segment(table: Any, index: int) -> Segment:
    ranges = table.getSegmentPushConstRange(index)
    sets = []
    for position in range(table.getSegmentDescriptorSetInfosSize(index)):
        handle = table.getDescriptorBindingSlotsHandle(index, position)
        sets.append((table.getSegmentDescriptorSetIndex(index, position), _slots(table, handle)))
    return Segment(
        kind=table.getSegmentType(index).name.lower(),
        name=table.getSegmentName(index),
        module=table.getSegmentModuleIndex(index),
        inputs=_slots(table, table.getSegmentInputBindingSlotsHandle(index)),
        outputs=_slots(table, table.getSegmentOutputBindingSlotsHandle(index)),
        descriptor_sets=tuple(sets),
        constants=tuple(_constant_binding(binding) for binding in table.getSegmentConstantBindings(index) or ()),
        dispatch_shape=tuple(int(extent) for extent in table.getSegmentDispatchShape(index) or ()),
        push_constants=tuple(
            PushConstants(
                table.getPushConstRangeStageFlags(ranges, position),
                table.getPushConstRangeOffset(ranges, position),
                table.getPushConstRangeSize(ranges, position),
            )
            for position in range(table.getPushConstRangesSize(ranges))
        ),
    )


def _constant_binding(binding: Any) -> tuple[int, int]:
    return int(binding.graphConstantId), int(binding.constantIndex)


def _slots(table: Any, handle: Any) -> tuple[Slot, ...]:
    return tuple(
        Slot(table.getBindingSlotBinding(handle, index), table.getBindingSlotMrtIndex(handle, index))
        for index in range(table.getBindingsSize(handle))
    )


def _names(table: Any, handle: Any) -> tuple[str, ...]:
    return tuple(table.getName(handle, index) for index in range(table.getNamesSize(handle)))
