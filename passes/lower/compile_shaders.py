"""vgf-compile-shaders: the GLSL in compute segments becomes SPIR-V, which is all that the emitter writes.

    %0 = tosa.custom %x {implementation_attrs = "{... shader_language: GLSL, shader_code: #version 460 ...}", ...}
becomes
    %0 = tosa.custom %x {implementation_attrs = "{... shader_language: SPIR-V, shader_code: <base64> ...}", ...}

Shaders in SPIR-V are left alone.
"""

from dataclasses import dataclass

from torch_mlir import ir

from vgfc.diagnostics import fail
from vgfc.ir import functions, operations, segment_kind
from vgfc.passmanager import Pass, register
from vgfc.shaders import compile_glsl, is_shader, shader_of, with_spirv


@register
@dataclass(frozen=True)
class CompileShaders(Pass):
    name = "vgf-compile-shaders"

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            if segment_kind(function) != "compute":
                continue
            for op in operations(function):
                if not is_shader(op):
                    continue
                shader = shader_of(op)
                if shader.language == "HLSL":
                    raise fail(op, "has a shader in HLSL, expected GLSL or SPIR-V")
                if isinstance(shader.code, str):
                    code = compile_glsl(shader.code, op.location, shader.name)
                    op.attributes["implementation_attrs"] = with_spirv(op, code)
