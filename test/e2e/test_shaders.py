"""Shaders on the Vulkan device, against PyTorch."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_mlir import ir

import vgfc
from vgfc import bundle
from vgfc.registered_shaders import find
from vgfc.runtime.parts import PartsProgram
from vgfc.shaders import Shader, ShaderCall, Tensor, attributes_for, compile_glsl
from vgfc.target import Target

INTERPOLATIONS = ["bilinear", "nearest"]
PADDINGS = ["zeros", "border", "reflection"]


def module_of(call: ShaderCall, shader: Shader) -> str:
    """A module whose entry is one call of a shader."""
    kinds = [f"tensor<{'x'.join(map(str, tensor.shape))}x{tensor.element}>" for tensor in (*call.inputs, *call.outputs)]
    ins, outs = kinds[: len(call.inputs)], kinds[len(call.inputs) :]
    arguments = ", ".join(f"%a{index}: {kind}" for index, kind in enumerate(ins))
    uses = ", ".join(f"%a{index}" for index in range(len(ins)))
    with ir.Context():
        attributes = ", ".join(
            f"{key} = {ir.StringAttr.get(text)}" for key, text in attributes_for(call, shader).items()
        )
    results = ", ".join(f"%r#{index}" if len(outs) > 1 else "%r" for index in range(len(outs)))
    count = f":{len(outs)}" if len(outs) > 1 else ""
    return (
        f"func.func @main({arguments}) -> ({', '.join(outs)}) {{\n"
        f"%r{count} = tosa.custom {uses} {{{attributes}}} : ({', '.join(ins)}) -> ({', '.join(outs)})\n"
        f"return {results} : {', '.join(outs)}\n}}"
    )


def run_grid_sample(image: torch.Tensor, grid: torch.Tensor, mode: str, padding: str, align: bool) -> Any:
    element = {torch.float32: "f32", torch.float16: "f16"}[image.dtype]
    call = ShaderCall(
        "aten::grid_sampler",
        (Tensor(tuple(image.shape), element), Tensor(tuple(grid.shape), element)),
        (Tensor((*image.shape[:2], *grid.shape[1:3]), element),),
        {
            "interpolation_mode": INTERPOLATIONS.index(mode),
            "padding_mode": PADDINGS.index(padding),
            "align_corners": align,
        },
    )
    factory = find("aten::grid_sampler")
    assert factory is not None
    shader = factory(call)
    return vgfc.compile_mlir(module_of(call, shader)).run(image, grid, device="vulkan")


@pytest.mark.parametrize(
    ("mode", "padding", "align", "dtype"),
    list(itertools.product(INTERPOLATIONS, PADDINGS, [False, True], [torch.float32, torch.float16])),
)
def test_grid_sample(mode: str, padding: str, align: bool, dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(1)
    image = torch.randn(2, 5, 7, 6, generator=generator).to(dtype)
    grid = (2.6 * torch.rand(2, 9, 11, 2, generator=generator) - 1.3).to(dtype)
    # the four corners, the edges, and far outside
    special = [(-1, -1), (1, 1), (-1, 1), (1, -1), (0, 0), (5, -7), (-1.5, 1.5), (1, 0), (0, -1)]
    grid[0, 0, : len(special)] = torch.tensor(special)
    found = run_grid_sample(image, grid, mode, padding, align)
    wanted = torch.nn.functional.grid_sample(image.float(), grid.float(), mode, padding, align)
    assert found.dtype == dtype
    limit = 1e-5 if dtype == torch.float32 else 2e-3
    torch.testing.assert_close(found.float(), wanted, atol=limit, rtol=limit)


@pytest.mark.parametrize("channels", [1, 3, 17])
def test_grid_sample_takes_any_number_of_channels(channels: int) -> None:
    image = torch.randn(1, channels, 4, 5)
    grid = 2 * torch.rand(1, 3, 2, 2) - 1
    found = run_grid_sample(image, grid, "bilinear", "zeros", False)
    torch.testing.assert_close(found, torch.nn.functional.grid_sample(image, grid, align_corners=False))


def test_grid_sample_of_nan_and_infinity() -> None:
    image = torch.arange(16.0).view(1, 1, 4, 4)
    grid = torch.tensor([[[[float("nan"), 0.0], [1e30, 0], [-1e30, 0.0], [float("inf"), 0], [-1.0, -1.0]]]])
    for mode, padding in itertools.product(INTERPOLATIONS, ["zeros", "border"]):
        found = run_grid_sample(image, grid, mode, padding, False)
        wanted = torch.nn.functional.grid_sample(image, grid, mode, padding, align_corners=False)
        finite = wanted.isfinite()  # a weight of NaN or infinity times a pixel outside is 0 here, NaN there
        torch.testing.assert_close(found[finite], wanted[finite])


# Operators of a user's own

TWICE_AND_ROOT = """#version 460
#extension GL_ARM_tensors : require
layout(local_size_x = 32) in;
layout(set = 0, binding = 3) uniform readonly tensorARM<float, 2> x;
layout(set = 0, binding = 1) uniform readonly tensorARM<float, 2> y;
layout(set = 0, binding = 0) uniform writeonly tensorARM<float, 2> scaled;
layout(set = 0, binding = 2) uniform writeonly tensorARM<float, 2> root;
void main() {
    uint index = gl_GlobalInvocationID.x, columns = tensorSizeARM(x, 1);
    if (index >= tensorSizeARM(x, 0) * columns) return;
    uint place[2] = uint[](index / columns, index % columns);
    float a, b;
    tensorReadARM(x, place, a);
    tensorReadARM(y, place, b);
    tensorWriteARM(scaled, place, a * FACTOR + b);
    tensorWriteARM(root, place, sqrt(abs(a)));
}
"""


@pytest.fixture
def library() -> Any:
    with torch.library._scoped_library("vgfc_test", "DEF") as library:
        library.define("scale_and_root(Tensor x, Tensor y, int factor) -> (Tensor, Tensor)")
        library.impl(
            "scale_and_root", lambda x, y, factor: (x * factor + y, x.abs().sqrt()), "CompositeExplicitAutograd"
        )
        torch.library.register_fake(
            "vgfc_test::scale_and_root", lambda x, y, factor: (torch.empty_like(x), torch.empty_like(x)), lib=library
        )
        yield library


def scale_and_root(call: ShaderCall) -> Shader:
    return Shader(
        code=TWICE_AND_ROOT,
        dispatch_shape=(-(-call.outputs[0].size // 32), 1, 1),
        bindings=(3, 1, 0, 2),
        defines={"FACTOR": f"{call.arguments['factor']}.0"},
    )


class Custom(torch.nn.Module):
    """Ordinary operators on both sides of a custom one, which also reads a constant."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("bias", torch.randn(5, 7))

    def forward(self, x: torch.Tensor) -> Any:
        scaled, root = torch.ops.vgfc_test.scale_and_root(torch.tanh(x), self.bias, 3)
        return scaled + 1, root * 2


def test_torch_library_operator(library: Any) -> None:
    vgfc.shaders.register("vgfc_test::scale_and_root", scale_and_root)
    model, x = Custom(), torch.randn(5, 7)
    program = vgfc.compile(model, (x,))
    assert program.report().segments == ["graph", "compute", "graph"]
    for found, wanted in zip(program.run(x, device="vulkan"), model(x), strict=True):
        torch.testing.assert_close(found, wanted)


def test_result_that_nothing_reads(library: Any) -> None:
    vgfc.shaders.register("vgfc_test::scale_and_root", scale_and_root)

    class First(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return torch.ops.vgfc_test.scale_and_root(x, y, 2)[0]

    model, tensors = First(), (torch.randn(2, 3), torch.randn(2, 3))
    torch.testing.assert_close(vgfc.compile(model, tensors).run(*tensors, device="vulkan"), model(*tensors))


def test_operator_without_shader_is_named_with_its_line(library: Any) -> None:
    vgfc.shaders.unregister("vgfc_test::scale_and_root")
    with pytest.raises(vgfc.CompileError, match=r"test_shaders\.py:\d+: error: .*vgfc_test\.scale_and_root"):
        vgfc.compile(Custom(), (torch.randn(5, 7),))


def test_target_without_compute_segments(library: Any) -> None:
    vgfc.shaders.register("vgfc_test::scale_and_root", scale_and_root)
    target = Target(compute=False)
    with pytest.raises(vgfc.CompileError, match="is a shader, and the target has no compute segments"):
        vgfc.compile(Custom(), (torch.randn(5, 7),), target=target)


PUSHED = """#version 460
#extension GL_ARM_tensors : require
layout(local_size_x = 32) in;
layout(push_constant) uniform Constants { float scale; float bias; };
layout(set = 0, binding = 0) uniform readonly tensorARM<float, 1> x;
layout(set = 0, binding = 1) uniform writeonly tensorARM<float, 1> y;
void main() {
    uint index = gl_GlobalInvocationID.x;
    if (index >= tensorSizeARM(x, 0)) return;
    float value;
    tensorReadARM(x, uint[](index), value);
    tensorWriteARM(y, uint[](index), value * scale + bias);
}
"""


def test_push_constants(tmp_path: Path) -> None:
    tensor = Tensor((4,), "f32")
    call = ShaderCall("my::affine", (tensor,), (tensor,), {})
    values = {"scale": np.float32(3).tobytes(), "bias": np.float32(-1).tobytes()}
    program = vgfc.compile_mlir(module_of(call, Shader(PUSHED, (1, 1, 1), push_constants=values)))
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    torch.testing.assert_close(program.run(x, device="vulkan"), 3 * x - 1)
    with pytest.raises(vgfc.CompileError, match="push constants, whose values no VGF holds; save it to a folder"):
        program.save(tmp_path / "program.vgf")
    program.save(tmp_path / "program")
    (found,) = PartsProgram(bundle.read(tmp_path / "program")).run([x.numpy()])
    np.testing.assert_array_equal(found, 3 * x.numpy() - 1)


def test_spirv_needs_no_compiler() -> None:
    tensor = Tensor((4,), "f32")
    call = ShaderCall("my::affine", (tensor,), (tensor,), {})
    text = PUSHED.replace("layout(push_constant) uniform Constants { float scale; float bias; };", "")
    code = compile_glsl(text.replace("scale", "2.0").replace("bias", "1.0"), ir.Location.unknown(ir.Context()))
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    program = vgfc.compile_mlir(module_of(call, Shader(code, (1, 1, 1))))
    torch.testing.assert_close(program.run(x, device="vulkan"), 2 * x + 1)


@pytest.mark.parametrize(
    ("shader", "message"),
    [
        (Shader("", (0, 1, 1)), "expected a dispatch shape of three numbers of 1 to 65535, found [0, 1, 1]"),
        (Shader("", (1, 1, 1), bindings=(0, 0)), "expected 2 different bindings, inputs then outputs, found [0, 0]"),
        (Shader(b"1234", (1, 1, 1)), "expected SPIR-V words, little-endian, found other bytes"),
        (Shader("", (1, 1, 1), push_constants={"a": b"123"}), "push constant 'a' takes a multiple of 4 bytes, found 3"),
    ],
)
def test_shader_that_cannot_be_right(shader: Shader, message: str) -> None:
    tensor = Tensor((4,), "f32")
    with pytest.raises(vgfc.CompileError) as error:
        attributes_for(ShaderCall("my::op", (tensor,), (tensor,), {}), shader)
    assert message in str(error.value)


def test_name_that_no_operator_has() -> None:
    with pytest.raises(vgfc.CompileError, match="expected an operator's name, namespace::name"):
        vgfc.shaders.register("mine", Shader("", (1, 1, 1)))


def test_a_program_s_own_shader_comes_before_those_of_vgfc() -> None:
    # In a process of its own: here vgfc's shaders may have been looked up before.
    script = """
import vgfc
from vgfc.registered_shaders import find

mine = vgfc.shaders.Shader("", (1, 1, 1))
vgfc.shaders.register("aten::grid_sampler", mine)
print(find("aten::grid_sampler")(None) is mine, find("aten::grid_sampler_2d") is not None)
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["True", "True"]
