"""Quantised operators against PyTorch's quantised graph: the folded integers run on Arm's reference model.

A case states how many codes its result may be away from PyTorch's. It is 0 unless a reason stands beside it:
- TIE: TOSA rounds halves up, PyTorch to even; averages of few codes hit halves;
- LOOKUP: a 16-bit table or a shifted product is within 2^-10 of the function, which moves a code near a half;
- SCALE_16: TOSA multiplies 48-bit sums by 15-bit factors, which are within 2^-15 of the scale.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import vgfc

TIE = LOOKUP = SCALE_16 = 1
INT = "TOSA-1.0+INT"
INT16 = "TOSA-1.0+INT+int16"
IMAGE = (1, 8, 6, 6)


class Call(nn.Module):
    """A function of tensors and modules as a module."""

    def __init__(self, function: Callable[..., Any], *modules: nn.Module) -> None:
        super().__init__()
        self.function = function
        self.parts = nn.ModuleList(modules)

    def forward(self, *tensors: torch.Tensor) -> Any:
        return self.function(*tensors, *self.parts)


ONE_IMAGE: dict[str, tuple[Callable[[], nn.Module], int]] = {
    "conv2d": (lambda: nn.Conv2d(8, 16, 3, padding=1), 0),
    "conv2d_strided_without_bias": (lambda: nn.Conv2d(8, 16, 3, stride=2, bias=False), 0),
    "conv2d_dilated": (lambda: nn.Conv2d(8, 16, 3, dilation=2, padding=2), 0),
    "depthwise": (lambda: nn.Conv2d(8, 16, 3, padding=1, groups=8), 0),
    "grouped": (lambda: nn.Conv2d(8, 16, 3, padding=1, groups=2), 0),
    "transposed": (lambda: nn.ConvTranspose2d(8, 6, 4, stride=2, padding=1), 0),
    "transposed_grouped": (lambda: nn.ConvTranspose2d(8, 8, 3, stride=2, groups=2), 1),  # the bias is rounded here only
    "conv_relu6": (lambda: nn.Sequential(nn.Conv2d(8, 16, 3), nn.ReLU6()), 0),
    "conv_hardtanh": (lambda: nn.Sequential(nn.Conv2d(8, 16, 3), nn.Hardtanh(-0.3, 0.4)), 0),
    "conv_batch_norm_relu": (lambda: nn.Sequential(nn.Conv2d(8, 16, 3), nn.BatchNorm2d(16), nn.ReLU()), 0),
    "residual": (lambda: Call(lambda x, conv: F.relu(x + conv(x)), nn.Conv2d(8, 8, 3, padding=1)), 0),
    "max_pool": (lambda: nn.MaxPool2d(3, 2, 1), 0),
    "avg_pool": (lambda: nn.AvgPool2d(2), TIE),
    "avg_pool_padded": (lambda: nn.AvgPool2d(3, 2, 1, count_include_pad=False), TIE),
    "adaptive_avg_pool": (lambda: nn.AdaptiveAvgPool2d(1), 0),
    "mean": (lambda: Call(lambda x: x.mean(-1)), 0),
    "mean_of_all": (lambda: Call(lambda x: x.mean()), 0),
    "sum": (lambda: Call(lambda x: x.sum(1)), 0),
    "amax": (lambda: Call(lambda x: x.amax(1)), 0),
    "amin": (lambda: Call(lambda x: x.amin(-1, keepdim=True)), 0),
    "var": (lambda: Call(lambda x: x.var(1)), 0),
    "batch_norm": (lambda: nn.BatchNorm2d(8), 0),
    "group_norm": (lambda: nn.GroupNorm(2, 8), LOOKUP),
    "glu": (lambda: nn.GLU(1), LOOKUP),
    "cumsum": (lambda: Call(lambda x: x.cumsum(1)), 0),
    "reshape": (lambda: Call(lambda x: x.reshape(1, 16, 18)), 0),
    "slice": (lambda: Call(lambda x: x[:, 2:5, ::2]), 0),
    "flip": (lambda: Call(lambda x: x.flip(2)), 0),
    "repeat": (lambda: Call(lambda x: x.repeat(1, 2, 1, 1)), 0),
    "pad": (lambda: Call(lambda x: F.pad(x, (1, 2, 0, 1))), 0),
    "pad_with_number": (lambda: Call(lambda x: F.pad(x, (1, 2, 0, 1), value=1.5)), 0),
    "pixel_shuffle": (lambda: nn.PixelShuffle(2), 0),
    "nearest": (lambda: nn.Upsample(scale_factor=2), 0),
    "bilinear": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), TIE),
    "masked_fill": (lambda: Call(lambda x: x.masked_fill(x < 0, 0.25)), 0),
    "batch_norm_conv": (lambda: nn.Sequential(nn.Conv2d(8, 8, 1), nn.GELU(), nn.Conv2d(8, 4, 1)), 0),
}

FUNCTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "hardswish": F.hardswish,
    "hardsigmoid": F.hardsigmoid,
    "leaky_relu": lambda x: F.leaky_relu(x, 0.1),
    "elu": F.elu,
    "selu": F.selu,
    "mish": F.mish,
    "softplus": F.softplus,
    "exp": torch.exp,
    "expm1": torch.expm1,
    "log": lambda x: torch.log(x.abs() + 0.1),
    "log1p": lambda x: torch.log1p(x.abs()),
    "rsqrt": lambda x: torch.rsqrt(x.abs() + 0.1),
    "sqrt": lambda x: torch.sqrt(x.abs()),
    "reciprocal": lambda x: 1 / (x.abs() + 0.5),
    "pow": lambda x: x**3,
    "sin": torch.sin,
    "cos": torch.cos,
    "asin": lambda x: torch.asin(x * 0.2),
    "atan": torch.atan,
    "sinh": torch.sinh,
    "erf": torch.erf,
    "floor": torch.floor,
    "round": torch.round,
    "sign": torch.sign,
    "abs": torch.abs,
    "neg": torch.neg,
    "clamp": lambda x: x.clamp(-0.5, 0.7),
    "one_minus": lambda x: 1 - x,
    "composite": lambda x: torch.tanh(x) * torch.sigmoid(x * 2 + 1) + 0.3 * x,
}

SEVERAL: dict[str, tuple[Callable[[], nn.Module], list[tuple[int, ...]], int]] = {
    "conv1d": (lambda: nn.Conv1d(8, 16, 3, padding=1), [(1, 8, 20)], 0),
    "conv3d": (lambda: nn.Conv3d(4, 8, 3, padding=1), [(1, 4, 5, 5, 5)], 0),
    "linear": (lambda: nn.Linear(32, 10), [(4, 32)], 0),
    "linear_of_rows": (lambda: nn.Linear(32, 10, bias=False), [(2, 5, 32)], 0),
    "matmul": (lambda: Call(torch.matmul), [(2, 5, 8), (2, 8, 6)], 0),
    "add": (lambda: Call(torch.add), [IMAGE, IMAGE], 0),
    "add_broadcast": (lambda: Call(torch.add), [IMAGE, (1, 8, 1, 1)], 0),
    "add_of_unequal_sizes": (lambda: Call(lambda x, y: x + 73 * y), [IMAGE, IMAGE], 0),
    "sub": (lambda: Call(torch.sub), [IMAGE, IMAGE], 0),
    "mul": (lambda: Call(torch.mul), [IMAGE, IMAGE], 0),
    "div": (lambda: Call(lambda x, y: x / (y.abs() + 1)), [IMAGE, IMAGE], LOOKUP),
    "maximum": (lambda: Call(torch.maximum), [IMAGE, IMAGE], 0),
    "minimum": (lambda: Call(torch.minimum), [IMAGE, IMAGE], 0),
    "where": (lambda: Call(lambda x, y: torch.where(x > 0, x, y)), [IMAGE, IMAGE], 0),
    "cat": (lambda: Call(lambda x, y: torch.cat([x, y * 3], 1)), [IMAGE, IMAGE], 0),
    "stack": (lambda: Call(lambda x, y: torch.stack([x, y], 1)), [IMAGE, IMAGE], 0),
    "softmax": (lambda: nn.Softmax(-1), [(2, 5, 20)], LOOKUP),
    "softmax_of_channels": (lambda: nn.Softmax(1), [IMAGE], LOOKUP),
    "log_softmax": (lambda: nn.LogSoftmax(-1), [(2, 5, 20)], LOOKUP),
    "layer_norm": (lambda: nn.LayerNorm(32), [(2, 5, 32)], LOOKUP),
    "rms_norm": (lambda: nn.RMSNorm(32), [(2, 5, 32)], LOOKUP),
    "attention": (lambda: Call(F.scaled_dot_product_attention), [(1, 2, 6, 8)] * 3, LOOKUP),
    "causal_attention": (
        lambda: Call(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)),
        [(1, 2, 6, 8)] * 3,
        LOOKUP,
    ),
}


def cases() -> dict[str, tuple[Callable[[], nn.Module], list[tuple[int, ...]], int]]:
    made = {name: (make, [IMAGE], codes) for name, (make, codes) in ONE_IMAGE.items()}
    made |= {name: (lambda function=function: Call(function), [IMAGE], 0) for name, function in FUNCTIONS.items()}
    return made | SEVERAL


CASES = cases()


def quantized(name: str, config: str) -> tuple[Any, tuple[torch.Tensor, ...]]:
    """The case quantised on random inputs, and inputs that are not among them."""
    torch.manual_seed(0)
    make, shapes, _ = CASES[name]
    model = make().eval()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.normal_()
            module.running_var.uniform_(0.5, 2)
    samples = [tuple(torch.randn(shape) for shape in shapes) for _ in range(8)]
    return vgfc.quantize(model, samples, config), tuple(torch.randn(shape) for shape in shapes)


def largest_difference(program: vgfc.Program, found: torch.Tensor, wanted: torch.Tensor) -> int:
    """In codes of the program's output."""
    scale = program.outputs[0].scale
    assert scale is not None
    return int(np.abs(np.rint((found.double() - wanted.double()).numpy() / scale)).max())


@pytest.mark.parametrize("name", CASES)
def test_int8_agrees_with_pytorch(name: str) -> None:
    model, inputs = quantized(name, "int8")
    program = vgfc.compile(model, inputs, target=INT16)
    found = program.run(*inputs, device="reference")
    assert largest_difference(program, found, model(*inputs)) <= CASES[name][2]


# What the target with nothing but 8-bit tables does in another way: gathers in place of 16-bit tables.
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "layer_norm", "rms_norm", "group_norm", "glu", "div"])
def test_int8_without_16_bit_tables(name: str) -> None:
    model, inputs = quantized(name, "int8")
    program = vgfc.compile(model, inputs, target=INT)
    found = program.run(*inputs, device="reference")
    assert largest_difference(program, found, model(*inputs)) <= CASES[name][2]


@pytest.mark.parametrize("name", ["conv2d", "depthwise", "linear", "residual", "max_pool", "add", "mul", "mean", "cat"])
def test_16_bit_activations(name: str) -> None:
    model, inputs = quantized(name, "int16x8")
    program = vgfc.compile(model, inputs, target=INT16)
    found = program.run(*inputs, device="reference")
    assert largest_difference(program, found, model(*inputs)) <= SCALE_16


@pytest.mark.parametrize("name", ["conv1d", "conv2d", "conv3d", "depthwise", "transposed", "linear"])
def test_4_bit_weights(name: str) -> None:
    model, inputs = quantized(name, "int8x4")
    program = vgfc.compile(model, inputs, target="TOSA-1.0+INT+int4")
    assert "xi4>" in str(program.module)
    found = program.run(*inputs, device="reference")
    assert largest_difference(program, found, model(*inputs)) == 0


@pytest.mark.parametrize("name", ["conv2d", "linear", "depthwise"])
def test_one_scale_for_all_weights(name: str) -> None:
    model, inputs = quantized(name, "int8_per_tensor")
    program = vgfc.compile(model, inputs, target=INT)
    found = program.run(*inputs, device="reference")
    assert largest_difference(program, found, model(*inputs)) == 0


@pytest.mark.parametrize("name", ["conv2d", "silu", "add", "softmax", "residual"])
def test_mixed_target_gives_the_same_numbers(name: str) -> None:
    model, inputs = quantized(name, "int8")
    program = vgfc.compile(model, inputs)
    codes = vgfc.compile(model, inputs, target=INT16)
    assert program.inputs[0].file_dtype == "float32"
    assert torch.equal(program.run(*inputs, device="reference"), codes.run(*inputs, device="reference"))


@pytest.mark.parametrize("name", ["residual", "layer_norm", "softmax", "bilinear"])
def test_vulkan_and_reference_agree(name: str) -> None:
    model, inputs = quantized(name, "int8")
    for target in (INT, INT16):
        program = vgfc.compile(model, inputs, target=target)
        assert torch.equal(program.run(*inputs, device="vulkan"), program.run(*inputs, device="reference"))


def test_comparisons_and_indices_are_exact() -> None:
    torch.manual_seed(0)
    samples = [(torch.randn(IMAGE), torch.randn(IMAGE)) for _ in range(8)]
    inputs = (torch.randn(IMAGE), torch.randn(IMAGE))
    for function in (
        lambda x, y: x > y,
        lambda x, y: (x >= 0.5) & (y < 0.25),
        lambda x, y: (x + y).argmax(1),
        lambda x, y: x.eq(0) | ~(y <= 0),
    ):
        model = vgfc.quantize(Call(function), samples)
        program = vgfc.compile(model, inputs, target=INT)
        assert torch.equal(program.run(*inputs, device="reference"), model(*inputs))


def test_every_code_of_a_table() -> None:
    """All 256 codes of every function, through PyTorch's quantised graph."""
    for name, function in FUNCTIONS.items():
        model, _ = quantized(name, "int8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = vgfc.compile(model, (torch.zeros(IMAGE),), target=INT)
        port = program.inputs[0]
        assert port.scale is not None and port.zero_point is not None
        codes = torch.arange(-128, 128)
        values = torch.zeros(288)
        values[:256] = (codes - port.zero_point) * port.scale
        found = program.run(values.reshape(IMAGE), device="reference")
        assert largest_difference(program, found, model(values.reshape(IMAGE))) == 0, (name, function)


def test_an_operator_without_integer_form_is_named() -> None:
    model = vgfc.quantize(Call(lambda x, y: x.abs() ** y), [(torch.randn(4), torch.randn(4))])
    with pytest.raises(vgfc.CompileError, match=r"floating point, which target TOSA-1\.0\+INT does not have"):
        vgfc.compile(model, (torch.randn(4), torch.randn(4)), target=INT)
