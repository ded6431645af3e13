"""The six models in integers: operators, memory and error beside ExecuTorch's VGF backend (1.5.1) on the same models.

ExecuTorch's figures are those of its `VgfQuantizer`, int8, calibrated on the same 8 random inputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
import torch

import vgfc
from benchmarks import models
from benchmarks.measure import sqnr_db
from vgfc.program import Program

INT = "TOSA-1.0+INT"


@dataclass(frozen=True)
class ExecuTorch:
    """SQNR against the floating-point model in dB, operators for an integer-only and a mixed target, session bytes."""

    sqnr_db: float
    integer_operators: int
    mixed_operators: int
    session_bytes: int


EXECUTORCH = {
    "cnn": ExecuTorch(41.6, 26, 40, 84992),
    "mobilenet_v2": ExecuTorch(36.8, 149, 162, 8178688),
    "resnet18": ExecuTorch(32.8, 89, 102, 4164608),
    "nss_unet": ExecuTorch(47.8, 34, 48, 4915200),
    "encoder": ExecuTorch(31.7, 383, 395, 591104),
    "convnext": ExecuTorch(31.3, 433, 447, 309824),
}
HALF = ("encoder", "convnext")
# What the integer-only files hold at most: besides the weights, tables for exp, 1/x and 1/sqrt(x) of 16 KiB each.
CONSTANT_BYTES = {
    "cnn": 65_000,
    "mobilenet_v2": 3_635_000,
    "resnet18": 11_735_000,
    "nss_unet": 100_196,
    "encoder": 480_000,
    "convnext": 130_000,
}
SMALL = ("cnn", "encoder", "convnext")


@cache
def quantized(name: str, config: str = "int8") -> tuple[Any, tuple[torch.Tensor, ...], torch.Tensor]:
    """The quantised model, its inputs and the floating-point model's result."""
    model, inputs, samples = models.get(name)
    with torch.no_grad():
        wanted = model(*inputs)
    return vgfc.quantize(model, samples, config), inputs, wanted


def operators(program: Program) -> int:
    return sum(program.report().operators.values())


def is_integer(program: Program) -> bool:
    """Whether no floating-point tensor is left in the segments."""
    text = str(program.module.operation.get_asm(large_elements_limit=8))
    return not any(f"x{kind}>" in part for kind in ("f32", "f16") for part in text.split("@segment")[2:])


@pytest.mark.parametrize("name", EXECUTORCH)
def test_integer_only(name: str) -> None:
    model, inputs, wanted = quantized(name)
    program = vgfc.compile(model, inputs, target=INT)
    report = program.report()
    reference = EXECUTORCH[name]
    assert report.segments == ["graph"]
    assert is_integer(program)
    assert {port.file_dtype for port in program.inputs + program.outputs} == {"int8"}
    assert operators(program) < reference.integer_operators
    if name in HALF:
        assert operators(program) <= reference.integer_operators / 2
    assert report.memory.session_bytes <= reference.session_bytes
    assert report.constant_bytes <= CONSTANT_BYTES[name]
    found = program.run(*inputs, device="reference")
    assert sqnr_db(wanted, found) >= reference.sqnr_db


@pytest.mark.parametrize("name", EXECUTORCH)
def test_mixed(name: str) -> None:
    model, inputs, wanted = quantized(name)
    program = vgfc.compile(model, inputs)
    assert program.report().segments == ["graph"]
    assert operators(program) < EXECUTORCH[name].mixed_operators
    assert program.inputs[0].file_dtype == "float32"
    if name in SMALL:
        assert sqnr_db(wanted, program.run(*inputs, device="reference")) >= EXECUTORCH[name].sqnr_db


@pytest.mark.parametrize("name", SMALL)
def test_vulkan_gives_the_reference_models_codes(name: str) -> None:
    model, inputs, _ = quantized(name)
    program = vgfc.compile(model, inputs, target=INT)
    assert torch.equal(program.run(*inputs, device="vulkan"), program.run(*inputs, device="reference"))


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in EXECUTORCH if name not in SMALL])
def test_vulkan_gives_the_reference_models_codes_for_the_large_ones(name: str) -> None:
    test_vulkan_gives_the_reference_models_codes(name)


def test_a_small_network_is_pytorchs_graph_bit_for_bit() -> None:
    model, inputs, _ = quantized("cnn")
    program = vgfc.compile(model, inputs, target=INT)
    assert torch.equal(program.run(*inputs, device="reference"), model(*inputs))


@pytest.mark.parametrize(("config", "least_db"), [("int16x8", 49.6), ("int8x4", 15.2)])
def test_other_widths(config: str, least_db: float) -> None:
    model, inputs, wanted = quantized("cnn", config)
    program = vgfc.compile(model, inputs, target="TOSA-1.0+INT+int16+int4")
    assert is_integer(program)
    assert sqnr_db(wanted, program.run(*inputs, device="reference")) >= least_db


def test_integer_inputs_are_taken_as_they_are() -> None:
    model, inputs, _ = quantized("cnn")
    program = vgfc.compile(model, inputs, target=INT)
    port = program.inputs[0]
    assert port.scale is not None and port.zero_point is not None
    codes = torch.ops.quantized_decomposed.quantize_per_tensor(
        inputs[0], port.scale, port.zero_point, -128, 127, torch.int8
    )
    assert torch.equal(program.run(codes, device="reference"), program.run(*inputs, device="reference"))
