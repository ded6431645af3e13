"""torch.cond against PyTorch, with each value of the predicate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import vgfc
from vgfc.frontend.branches import COND, inline_branches


class Model(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.function = function

    def forward(self, *tensors: torch.Tensor) -> Any:
        return self.function(self, *tensors)


def one_result(self: Model, x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: self.linear(x) + 1, lambda x: x * 2, (x,))


def two_results(self: Model, x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: (x + 1, x.sum(0)), lambda x: (x - 1, x[0] * 2), (x,))


def nested(self: Model, x: torch.Tensor) -> Any:
    def inner(x: torch.Tensor) -> Any:
        return torch.cond(x[0, 0] > 0, lambda x: x + 10, lambda x: x - 10, (x,))

    return torch.cond(x.sum() > 0, inner, lambda x: x * 2, (x,)) + 1


def untaken_is_nan(self: Model, x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: torch.log(x - 1e6), (x,))


@pytest.mark.parametrize("function", [one_result, two_results, nested, untaken_is_nan])
def test_gives_what_pytorch_gives(function: Callable[..., Any]) -> None:
    torch.manual_seed(0)
    model = Model(function).eval()
    x = torch.randn(3, 4)
    program = vgfc.compile(model, (x,))
    assert program.report().segments == ["graph"]
    for sign in (x.abs(), -x.abs(), x, -x):
        found, wanted = program.run(sign, device="reference"), model(sign)
        torch.testing.assert_close(found, wanted, equal_nan=True)


def test_the_callers_program_stays() -> None:
    exported = torch.export.export(Model(one_result).eval(), (torch.randn(3, 4),))
    text = str(exported.graph)
    assert not any(node.target is COND for node in inline_branches(exported).graph.nodes)
    assert str(exported.graph) == text
