"""Shaders on the Vulkan device, against PyTorch."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from torch_mlir import ir

import vgfc
from vgfc.shaders import Shader, ShaderCall, Tensor, attributes_for, find

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
