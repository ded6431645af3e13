"""The small ones of the six models, from PyTorch to a VGF that runs on Vulkan and gives PyTorch's numbers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

import vgfc
from benchmarks import models
from benchmarks.measure import figures_of, sqnr_db
from vgfc.vgf_file import decode

SPIRV_VAL = Path(sys.executable).parent / "spirv-val"
SMALL = ["cnn", "encoder", "convnext"]


def check_spirv(content: bytes, tmp_path: Path) -> None:
    for module in decode(content).modules:
        path = tmp_path / f"{module.name}.spv"
        path.write_bytes(module.code)
        done = subprocess.run([SPIRV_VAL, "--target-env", "spv1.6", path], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", SMALL)
def test_fp32_agrees_with_pytorch(name: str, tmp_path: Path) -> None:
    model, inputs, _ = models.get(name)
    program = vgfc.compile(model, inputs)
    check_spirv(program.vgf, tmp_path)
    figures = figures_of(name, "fp32", 0.0, program, inputs, model(*inputs))
    assert figures.segments == 1
    assert figures.sqnr_db >= 100


@pytest.mark.parametrize("name", SMALL)
def test_fp16_agrees_with_pytorch(name: str, tmp_path: Path) -> None:
    model, inputs, _ = models.get(name)
    wanted = model(*inputs)
    half_inputs = tuple(tensor.half() for tensor in inputs)
    program = vgfc.compile(model.half(), half_inputs)
    check_spirv(program.vgf, tmp_path)
    found = program.run(*half_inputs, device="vulkan")
    assert found.dtype == torch.float16
    assert sqnr_db(wanted, found) >= 45


@pytest.mark.parametrize("name", ["mobilenet_v2", "resnet18", "nss_unet"])
def test_the_large_ones_compile_to_one_valid_graph(name: str, tmp_path: Path) -> None:
    model, inputs, _ = models.get(name)
    program = vgfc.compile(model, inputs)
    check_spirv(program.vgf, tmp_path)
    assert program.report().segments == ["graph"]


def test_same_input_same_bytes() -> None:
    model, inputs, _ = models.get("cnn")
    assert vgfc.compile(model, inputs).vgf == vgfc.compile(model, inputs).vgf


def test_names_come_from_the_export_signature() -> None:
    model, inputs, _ = models.get("cnn")
    program = vgfc.compile(model, inputs)
    assert [port.name for port in program.inputs] == ["x"]
    assert decode(program.vgf).input_names == ("x",)
    assert program.inputs[0].shape == (1, 3, 32, 32)
    assert program.outputs[0].dtype == "float32"


def test_the_reference_model_gives_the_same_as_vulkan() -> None:
    model, inputs, _ = models.get("cnn")
    program = vgfc.compile(model, inputs)
    assert sqnr_db(program.run(*inputs, device="reference"), program.run(*inputs, device="vulkan")) >= 100
