"""Compute shaders for operators: registering them, and how a module holds them.

    vgfc.shaders.register("mylib::twice", lambda call: Shader(
        code=GLSL_TEXT, dispatch_shape=(call.outputs[0].size // 64 + 1, 1, 1)))

makes every call of the PyTorch operator `mylib::twice` (a `torch.library` custom operator, or one of PyTorch's own) a compute
segment. The shader finds the operator's tensors in descriptor set 0 as `tensorARM` (GL_ARM_tensors): the inputs in the
order of the operator's schema, then the results, at bindings 0, 1, ... unless `bindings` says otherwise.

In a module a shader is a `tosa.custom` of domain `com.arm.VulkanCustomShader`, whose implementation attributes are the JSON
that Arm's ML SDK documents ("Vulkan Shader in TOSA Custom Operation Attributes", ai-ml-sdk-model-converter 0.11), so that
other tools' files are understood and ours are theirs. There `workgroup_sizes` is the number of workgroups dispatched.
A package can register its shaders on its own in the entry point group `vgfc.shaders`, whose objects are called once.
"""

from __future__ import annotations

import base64
import functools
import importlib.util
import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

from torch_mlir import ir

from vgfc.diagnostics import CompileError, PassFailure, fail
from vgfc.vgf_file import FORMAT_TYPES, FORMATS

DOMAIN = "com.arm.VulkanCustomShader"
SPIRV_MAGIC = b"\x03\x02\x23\x07"
TENSOR_DESCRIPTOR = "VK_DESCRIPTOR_TYPE_TENSOR_ARM"
PUSH_CONSTANT_ALIGNMENT_BYTES = 4
MAX_WORKGROUPS = 65535  # the least that Vulkan guarantees for maxComputeWorkGroupCount, per axis


@dataclass(frozen=True)
class Tensor:
    """A tensor that a shader reads or writes: shape, and element type by its MLIR name (f32, f16, i8, ...)."""

    shape: tuple[int, ...]
    element: str

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)


@dataclass(frozen=True)
class ShaderCall:
    """One call of an operator: its tensors, and its other arguments by the names of its schema."""

    operator: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Shader:
    """A shader for one call.

    `code` is GLSL text or SPIR-V bytes; `defines` are preprocessor names for GLSL. `dispatch_shape` counts workgroups.
    `bindings` are those of inputs and then outputs in descriptor set 0. `push_constants` are names with their bytes, laid
    out one after the other from offset 0; a VGF file says where they go but has no place for their values, which the
    program keeps (see `Program.save`), so that `defines` serve better what is known when compiling.
    """

    code: str | bytes
    dispatch_shape: tuple[int, int, int]
    entry_point: str = "main"
    bindings: tuple[int, ...] | None = None
    defines: Mapping[str, str | int] = field(default_factory=dict)
    push_constants: Mapping[str, bytes] = field(default_factory=dict)


Factory = Callable[[ShaderCall], Shader]

registered: dict[str, Factory] = {}


def register(operator: str, shader: Shader | Factory) -> None:
    """Make `shader` (or what it gives for a call) run every call of a PyTorch operator, `mylib::op`.

    A factory raises CompileError for a call that it has no shader for. Registering an operator again replaces its shader.
    """
    if not re.fullmatch(r"\w+::\w+(\.\w+)?", operator):
        raise CompileError(f"shader for '{operator}': expected an operator's name, namespace::name")
    registered[operator] = shader if callable(shader) else lambda call: shader


def unregister(operator: str) -> None:
    """Forget an operator's shader; does nothing where it has none."""
    registered.pop(operator, None)


def schema_arguments(operator: str, count: int) -> list[str]:
    """The names of an operator's arguments by its PyTorch schema; argument_0, ... where PyTorch knows no such operator."""
    if importlib.util.find_spec("torch") is not None:
        import torch

        namespace, _, short = operator.partition("::")
        packet = getattr(getattr(torch.ops, namespace), short, None)
        if packet is not None:
            return [argument.name for argument in getattr(packet, packet.overloads()[0])._schema.arguments]
    return [f"argument_{index}" for index in range(count)]


# In a module


@dataclass(frozen=True)
class Binding:
    """Where a shader finds a tensor."""

    descriptor_set: int
    binding: int


@dataclass(frozen=True)
class ModuleShader:
    """A shader as a `tosa.custom` holds it; `language` is "GLSL", "HLSL" or "SPIR-V", `code` text or SPIR-V bytes."""

    name: str
    language: str
    code: str | bytes
    entry_point: str
    dispatch_shape: tuple[int, int, int]
    inputs: tuple[Binding, ...]
    outputs: tuple[Binding, ...]
    push_constant_bytes: int
    push_constants: bytes


def is_shader(op: ir.Operation) -> bool:
    """Whether an operation is a `tosa.custom` that holds a shader."""
    return op.name == "tosa.custom" and bool(ir.StringAttr(op.attributes["domain_name"]).value == DOMAIN)


def attributes_for(call: ShaderCall, shader: Shader) -> dict[str, str]:
    """The string attributes of the `tosa.custom` for a call; raises CompileError for a shader that cannot be right."""
    tensors = [*call.inputs, *call.outputs]
    bindings = shader.bindings or tuple(range(len(tensors)))
    _check(call, shader, bindings)
    data: dict[str, Any] = {
        "entry_point": shader.entry_point,
        "workgroup_sizes": list(shader.dispatch_shape),
        **_code_entries(shader),
    }
    if shader.push_constants:
        data["push_constants"] = ", ".join(f"{name}: {len(value)}" for name, value in shader.push_constants.items())
        values = b"".join(shader.push_constants.values())
        data["push_constant_values"] = base64.b64encode(values).decode()
    for index, (tensor, binding) in enumerate(zip(tensors, bindings, strict=True)):
        is_input = index < len(call.inputs)
        prefix = f"input_{index}" if is_input else f"output_{index - len(call.inputs)}"
        data[f"{prefix}_type"] = "Tensor"
        data[f"{prefix}_vkformat"] = f"VK_FORMAT_{FORMAT_TYPES[FORMATS[tensor.element]][1]}"
        data[f"{prefix}_vkdescriptortype"] = TENSOR_DESCRIPTOR
        data[f"{prefix}_binding"] = binding
        data[f"{prefix}_descriptorset"] = 0
    return {
        "domain_name": DOMAIN,
        "operator_name": call.operator,
        "implementation_attrs": json.dumps(data, sort_keys=True),
    }


def _code_entries(shader: Shader) -> dict[str, str]:
    if isinstance(shader.code, bytes):
        return {"shader_language": "SPIR-V", "shader_code": base64.b64encode(shader.code).decode()}
    return {"shader_language": "GLSL", "shader_code": with_defines(shader.code, shader.defines)}


def with_defines(text: str, defines: Mapping[str, str | int]) -> str:
    """GLSL with the definitions put behind its `#version` line."""
    if not defines:
        return text
    lines = "".join(f"#define {name} {value}\n" for name, value in defines.items())
    version = re.search(r"^\s*#version[^\n]*\n", text, re.MULTILINE)
    cut = version.end() if version else 0
    return f"{text[:cut]}{lines}{text[cut:]}"


def _check(call: ShaderCall, shader: Shader, bindings: Sequence[int]) -> None:
    where = f"shader for '{call.operator}'"
    count = len(call.inputs) + len(call.outputs)
    if len(bindings) != count or len(set(bindings)) != count:
        raise CompileError(f"{where}: expected {count} different bindings, inputs then outputs, found {list(bindings)}")
    if len(shader.dispatch_shape) != 3 or not all(1 <= extent <= MAX_WORKGROUPS for extent in shader.dispatch_shape):
        found = list(shader.dispatch_shape)
        raise CompileError(
            f"{where}: expected a dispatch shape of three numbers of 1 to {MAX_WORKGROUPS}, found {found}"
        )
    if isinstance(shader.code, bytes) and (shader.code[:4] != SPIRV_MAGIC or len(shader.code) % 4):
        raise CompileError(f"{where}: expected SPIR-V words, little-endian, found other bytes")
    if isinstance(shader.code, bytes) and shader.defines:
        raise CompileError(f"{where}: definitions need GLSL, found SPIR-V")
    for name, value in shader.push_constants.items():
        if not value or len(value) % PUSH_CONSTANT_ALIGNMENT_BYTES:
            raise CompileError(f"{where}: push constant '{name}' takes a multiple of 4 bytes, found {len(value)}")
    for tensor in (*call.inputs, *call.outputs):
        if tensor.element not in FORMATS:
            raise CompileError(f"{where}: a VGF has no tensors of {tensor.element}")


def shader_of(op: ir.Operation) -> ModuleShader:
    """The shader that a `tosa.custom` holds; raises PassFailure where its attributes are not those of one."""
    text = ir.StringAttr(op.attributes["implementation_attrs"]).value
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise fail(op, f"expected JSON in its implementation_attrs ({error})") from None
    if not isinstance(data, dict):
        raise fail(op, f"expected a JSON object in its implementation_attrs, found {text}")
    language = _entry(op, data, "shader_language", str)
    code: str | bytes = _entry(op, data, "shader_code", str)
    if language == "SPIR-V":
        code = _decoded(op, "shader_code", str(code))
    elif language not in ("GLSL", "HLSL"):
        raise fail(op, f"has a shader in '{language}', expected SPIR-V, GLSL or HLSL")
    sizes = _entry(op, data, "workgroup_sizes", list)
    if len(sizes) != 3 or not all(isinstance(extent, int) and extent >= 1 for extent in sizes):
        raise fail(op, f"expected three workgroup_sizes of at least 1, found {sizes}")
    layout = re.findall(r"\w+\s*:\s*(\d+)", data.get("push_constants", ""))
    return ModuleShader(
        name=ir.StringAttr(op.attributes["operator_name"]).value,
        language=language,
        code=code,
        entry_point=_entry(op, data, "entry_point", str),
        dispatch_shape=(sizes[0], sizes[1], sizes[2]),
        inputs=tuple(_binding(op, data, f"input_{index}") for index in range(len(op.operands))),
        outputs=tuple(_binding(op, data, f"output_{index}") for index in range(len(op.results))),
        push_constant_bytes=sum(int(size) for size in layout),
        push_constants=_decoded(op, "push_constant_values", data.get("push_constant_values", "")),
    )


def _entry(op: ir.Operation, data: dict[str, Any], key: str, kind: type[Any]) -> Any:
    if key not in data:
        raise fail(op, f"has no {key} in its implementation_attrs")
    if not isinstance(data[key], kind) or isinstance(data[key], bool):
        raise fail(op, f"has {key} = {data[key]!r} in its implementation_attrs, expected {kind.__name__}")
    return data[key]


def _decoded(op: ir.Operation, key: str, text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise fail(op, f"expected base64 in the {key} of its implementation_attrs") from None


def _binding(op: ir.Operation, data: dict[str, Any], prefix: str) -> Binding:
    kind = data.get(f"{prefix}_vkdescriptortype", TENSOR_DESCRIPTOR)
    if kind not in (TENSOR_DESCRIPTOR, "VK_DESCRIPTOR_TYPE_STORAGE_TENSOR_EXT"):
        raise fail(op, f"has {prefix} as {kind}, expected a tensor ({TENSOR_DESCRIPTOR})")
    return Binding(data.get(f"{prefix}_descriptorset", 0), _entry(op, data, f"{prefix}_binding", int))


def with_spirv(op: ir.Operation, code: bytes) -> ir.StringAttr:
    """The implementation attributes of a shader with its code replaced by SPIR-V."""
    data = json.loads(ir.StringAttr(op.attributes["implementation_attrs"]).value)
    data["shader_language"], data["shader_code"] = "SPIR-V", base64.b64encode(code).decode()
    return ir.StringAttr.get(json.dumps(data, sort_keys=True))


# Compiling


def compile_glsl(text: str, location: ir.Location, name: str = "shader") -> bytes:
    """SPIR-V words of a GLSL compute shader, by the glslc of the scenario runner's package (extra: run).

    Raises PassFailure with the compiler's first complaint, or when there is no compiler.
    """
    try:
        return _compile_glsl(text)
    except _GlslError as error:
        raise PassFailure(f"'{name}' {error}", location) from None


class _GlslError(Exception):
    """What went wrong in compiling GLSL, in one sentence."""


@functools.lru_cache(maxsize=64)
def _compile_glsl(text: str) -> bytes:
    package = importlib.util.find_spec("scenario_runner")
    compiler = Path(package.origin or "").parent / "binaries" / "bin" / "glslc" if package else None
    if compiler is None or not compiler.is_file():
        raise _GlslError("is GLSL, and no glslc is installed to compile it (extra: run); SPIR-V needs none")
    with tempfile.TemporaryDirectory(prefix="vgfc-glsl-") as folder:
        source, target = Path(folder) / "shader.comp", Path(folder) / "shader.spv"
        source.write_text(text, encoding="utf-8")
        command = [str(compiler), "--input", str(source), "--output", str(target), "--stage", "compute"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode or not target.is_file() or not target.stat().st_size:
            lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line.upper()]
            raise _GlslError(f"does not compile: {lines[0] if lines else 'glslc failed'}")
        return target.read_bytes()
