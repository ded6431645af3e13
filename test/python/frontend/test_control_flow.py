"""torch.cond against PyTorch, with each value of the predicate, and torch.while_loop with a known number of turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import vgfc
from vgfc.frontend.control_flow import COND, WHILE, without_control_flow


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


def constant_in_a_side(self: Model, x: torch.Tensor) -> Any:
    return torch.cond(
        x.sum() > 0, lambda x: x + torch.tensor([1.0, 2.0, 3.0, 4.0]), lambda x: x * torch.tensor(2.5), (x,)
    )


def untaken_is_nan(self: Model, x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: torch.log(x - 1e6), (x,))


@pytest.mark.parametrize("function", [one_result, two_results, nested, constant_in_a_side, untaken_is_nan])
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
    assert not any(node.target is COND for node in without_control_flow(exported).graph.nodes)
    assert str(exported.graph) == text


def by_tensor(self: Model, x: torch.Tensor) -> Any:
    return torch.while_loop(lambda n, x: n < 3, lambda n, x: (n + 1, self.linear(x)), (torch.tensor(0), x))[1]


def by_number(self: Model, x: torch.Tensor) -> Any:
    n, x = torch._higher_order_ops.while_loop(lambda n, x: n < 7, lambda n, x: (n + 2, x * n + 1), (1, x))
    return x + n


def no_turn(self: Model, x: torch.Tensor) -> Any:
    return torch.while_loop(lambda n, x: n < 0, lambda n, x: (n + 1, x + 1), (torch.tensor(0), x))[1] * 2


def loop_in_a_loop(self: Model, x: torch.Tensor) -> Any:
    def body(n: torch.Tensor, x: torch.Tensor) -> Any:
        # the inner number of turns is the outer one's turn
        inner = torch.while_loop(lambda k, x: k > 0, lambda k, x: (k - 1, x * 1.5), (n.clone(), x))[1]
        return n + 1, inner - 1

    return torch.while_loop(lambda n, x: n < 3, body, (torch.tensor(0), x))[1]


def branch_in_a_loop(self: Model, x: torch.Tensor) -> Any:
    def body(n: torch.Tensor, x: torch.Tensor) -> Any:
        return n + 1, torch.cond(x.sum() > 0, lambda x: x - 1, lambda x: x * 2, (x,))

    return torch.while_loop(lambda n, x: n < 3, body, (torch.tensor(0), x))[1]


def loop_in_a_branch(self: Model, x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: by_tensor(self, x), lambda x: x * 2, (x,))


LOOPS = [by_tensor, by_number, no_turn, loop_in_a_loop, branch_in_a_loop, loop_in_a_branch]


@pytest.mark.parametrize("function", LOOPS)
def test_a_counted_loop_gives_what_pytorch_gives(function: Callable[..., Any]) -> None:
    torch.manual_seed(0)
    model = Model(function).eval()
    x = torch.randn(3, 4)
    exported = torch.export.export(model, (x,))
    assert any(node.target in (WHILE, COND) for node in exported.graph.nodes)
    program = vgfc.compile(exported, (x,))
    assert program.report().segments == ["graph"]
    for values in (x, -x.abs()):
        torch.testing.assert_close(program.run(values, device="reference"), model(values))


def written_counter(self: Model, x: torch.Tensor) -> Any:
    n = torch.zeros((), dtype=torch.int32)
    n.add_(2)
    return torch.while_loop(lambda n, x: n < 3, lambda n, x: (n + 1, x * 2), (n, x))[1]


def too_many_turns(self: Model, x: torch.Tensor) -> Any:
    return torch.while_loop(lambda n, x: n < 10**9, lambda n, x: (n + 1, x * 2), (torch.tensor(0), x))[1]


def turns_of_the_input(self: Model, x: torch.Tensor) -> Any:
    return torch.while_loop(lambda x: x.sum() < 9, lambda x: (x * x + 1,), (x,))[0]


def in_a_side(self: Model, x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: turns_of_the_input(self, x), lambda x: x * 2, (x,))


@pytest.mark.parametrize("function", [written_counter, too_many_turns, turns_of_the_input, in_a_side])
def test_a_loop_whose_turns_are_not_known_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(
        vgfc.CompileError, match=r"torch\.while_loop.* runs for a number of turns that is not known"
    ) as refusal:
        vgfc.compile(Model(function).eval(), (torch.randn(3, 4),))
    assert __file__ in str(refusal.value)
