"""Functions over wide ranges in integers: the nearest to PyTorch's quantised graph that its codes allow.

8-bit results are at most one code away. For 16-bit results tables of 513 entries stand for functions, as TOSA interpolates
them, to 8 codes; where such a table cannot follow (near a pole, at a step), an entry is looked up for every code.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import vgfc

TARGETS = {"int8": ["TOSA-1.0+INT", "TOSA-1.0+INT+int16"], "int16x8": ["TOSA-1.0+INT+int16"]}
CODES = {"int8": 1, "int16x8": 8}
KINKS = {"exp_of_a_difference": 32}  # a steep function of a wide sum that ends in a kink: 2^-10 of the largest value

# What lies between the ends, which are given, at 4,001 places
OF_ONE: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], float, float]] = {
    "exp": (torch.exp, -8, 8),
    "log": (torch.log, 1e-3, 10),
    "reciprocal": (torch.reciprocal, 1e-2, 10),
    "rsqrt": (torch.rsqrt, 1e-3, 10),
    "sqrt": (torch.sqrt, 0, 10),
    "tanh": (torch.tanh, -8, 8),
    "sigmoid": (torch.sigmoid, -8, 8),
    "gelu": (F.gelu, -8, 8),
    "silu": (F.silu, -8, 8),
    "cube": (lambda x: x**3, -3, 3),
    "sin": (torch.sin, -8, 8),
    "erf": (torch.erf, -4, 4),
    "hardswish": (F.hardswish, -8, 8),
    "elu": (F.elu, -8, 8),
    "leaky_relu": (F.leaky_relu, -8, 8),
    "softplus": (F.softplus, -8, 8),
    "floor": (torch.floor, -8, 8),
    "round": (torch.round, -30, 30),
    "sign": (torch.sign, -3, 3),
}


def between(low: float, high: float, seed: int = 0) -> torch.Tensor:
    """A 4x64 tensor of numbers in [low, high]."""
    return torch.rand(4, 64, generator=torch.Generator().manual_seed(seed)) * (high - low) + low


def rows(large: float, small: float) -> torch.Tensor:
    """Two rows of large numbers and two of small ones."""
    return between(-1, 1) * torch.tensor([[large], [large], [small], [small]])


X, Y = between(-8, 8), between(-8, 8, 1)
POSITIVE = between(0.01, 10, 2)
OF_MANY: dict[str, tuple[Callable[..., torch.Tensor], tuple[torch.Tensor, ...]]] = {
    "quotient": (torch.div, (X, POSITIVE)),
    "quotient_of_both_signs": (torch.div, (X, (POSITIVE + 0.5) * Y.sign())),
    "reciprocal_of_a_sum": (lambda x, y: 1 / (x + y), (POSITIVE, POSITIVE.flip(0))),
    "softsign": (lambda x, y: x * y / (x.abs() + 1), (X, Y)),
    "softmax_wide": (lambda x: F.softmax(x, -1), (X * 6,)),
    "softmax_narrow": (lambda x: F.softmax(x, -1), (X / 800,)),
    "softmax_of_unequal_rows": (lambda x: F.softmax(x, -1), (rows(30, 0.1),)),
    "log_softmax": (lambda x: F.log_softmax(x, -1), (X * 6,)),
    "logsumexp": (lambda x: torch.logsumexp(x, -1), (X * 6,)),
    "layer_norm": (lambda x: F.layer_norm(x, (64,)), (rows(30, 0.3),)),
    "layer_norm_of_constant_rows": (lambda x: F.layer_norm(x, (64,)), (rows(30, 0) + 7,)),
    "group_norm": (lambda x: F.group_norm(x, 4), (rows(30, 0.3),)),
    "instance_norm": (lambda x: F.instance_norm(x.reshape(1, 4, 8, 8)), (rows(30, 0.3),)),
    "rms_norm": (lambda x: F.rms_norm(x, (64,)), (rows(30, 0.3),)),
    "normalize": (lambda x: F.normalize(x, dim=-1), (rows(30, 0.3),)),
    "std": (lambda x: x.std(-1), (rows(30, 0.3),)),
    "gate": (lambda x, y: torch.sigmoid(x) * torch.tanh(y), (X, Y)),
    "exp_of_a_difference": (lambda x, y: torch.exp((x - y).clamp(max=2)), (X, Y)),
    "length": (lambda x, y: torch.sqrt(x * x + y * y), (X, Y)),
    "log_of_squares": (lambda x, y: torch.log(x * x + y * y + 1e-3), (X, Y)),
    "floor_of_a_sum": (lambda x, y: torch.floor(x + y), (X, Y)),
    "sign_of_a_difference": (lambda x, y: torch.sign(x - y), (X, Y)),
    "gelu_of_a_sum": (lambda x, y: F.gelu(x + y), (X, Y)),
    "silu_of_a_product": (lambda x, y: F.silu(x * y), (X, Y)),
}
ALL = OF_MANY | {
    name: (function, (torch.linspace(low, high, 4001).reshape(1, -1),))
    for name, (function, low, high) in OF_ONE.items()
}


class Call(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *tensors: torch.Tensor) -> Any:
        return self.function(*tensors)


@pytest.mark.parametrize("width", CODES)
@pytest.mark.parametrize("name", ALL)
def test_function(name: str, width: str) -> None:
    function, inputs = ALL[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quantised = vgfc.quantize(Call(function).eval(), [inputs], width)
        for target in TARGETS[width]:
            program = vgfc.compile(quantised, inputs, target=target)
            scale = program.outputs[0].scale
            assert scale is not None
            apart = (program.run(*inputs, device="reference") - quantised(*inputs)).abs() / scale
            most = KINKS.get(name, 0) if width == "int16x8" else 0
            assert int(apart.round().max()) <= max(CODES[width], most), target
