"""torch.compile(backend="vgf"): the same results as eager PyTorch, whatever the graph does, and programs where they can be."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch._dynamo.exc import BackendCompilerFailed

from vgfc.diagnostics import CompileError
from vgfc.program import Program

DEVICE = "reference"


@pytest.fixture(autouse=True)
def fresh_dynamo() -> None:
    torch._dynamo.reset()


class Compiled:
    """A function compiled by the backend, and the programs made for it."""

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        self.programs: list[Program] = []
        given = {"device": DEVICE, "programs": self.programs, **options}
        self.run = torch.compile(function, backend="vgf", options=given)

    def __call__(self, *inputs: Any) -> Any:
        with torch.no_grad():
            return self.run(*inputs)


def close(found: torch.Tensor, wanted: torch.Tensor) -> None:
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


class Network(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.convolution = torch.nn.Conv2d(3, 4, 3)
        self.norm = torch.nn.BatchNorm2d(4)
        self.linear = torch.nn.Linear(4, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(F.relu(self.norm(self.convolution(x))).mean((2, 3)))


def test_graph_runs_as_one_program() -> None:
    model = Network().eval()
    compiled = Compiled(model, fallback=False)
    x = torch.randn(1, 3, 6, 7)
    close(compiled(x), model(x))
    close(compiled(2 * x), model(2 * x))
    assert len(compiled.programs) == 1
    assert [port.shape for port in compiled.programs[0].inputs] == [(1, 3, 6, 7)]


def test_new_shapes_make_new_programs_and_old_ones_are_kept() -> None:
    model = Network().eval()
    compiled = Compiled(model, fallback=False)
    for height in (6, 8, 9, 8, 9):
        x = torch.randn(1, 3, height, 7)
        close(compiled(x), model(x))
    assert sorted({port.shape for program in compiled.programs for port in program.inputs}) == [
        (1, 3, 6, 7),
        (1, 3, 8, 7),
        (1, 3, 9, 7),
    ]


def test_unsupported_operator_runs_in_eager_between_two_programs() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return F.relu(torch.special.bessel_j0(x @ x + 3)) * 2

    compiled = Compiled(function)
    x = torch.randn(3, 3)
    with pytest.warns(UserWarning, match="2 parts of the graph run as VGF, the rest in eager"):
        found = compiled(x)
    close(found, function(x))
    assert len(compiled.programs) == 2


def test_unsupported_operator_is_an_error_without_fallback() -> None:
    compiled = Compiled(torch.special.bessel_j0, fallback=False)
    with pytest.raises(CompileError, match="bessel_j0"):
        compiled(torch.eye(3))


def test_graph_break_leaves_two_programs() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        x = torch.exp(x)
        torch._dynamo.graph_break()
        return x + 1

    compiled = Compiled(function, fallback=False)
    x = torch.randn(2, 3)
    close(compiled(x), function(x))
    assert len(compiled.programs) == 2


def test_changed_weights_are_seen() -> None:
    model = Network().eval()
    compiled = Compiled(model, fallback=False)
    x = torch.randn(1, 3, 6, 7)
    compiled(x)
    with torch.no_grad():
        model.linear.bias += 1
    close(compiled(x), model(x))
    model.linear.weight.data.mul_(2)  # PyTorch does not count changes through .data
    close(compiled(x), model(x))
    assert len(compiled.programs) == 3


def test_input_that_is_written_to() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return x * 2

    compiled = Compiled(function)
    x, y = torch.zeros(2, 3), torch.zeros(2, 3)
    close(compiled(x), function(y))
    close(x, y)


def test_result_that_is_a_view_of_an_input_still_is_one() -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x.view(-1), torch.exp(x)

    compiled = Compiled(function)
    x = torch.zeros(2, 3)
    view, _ = compiled(x)
    view.add_(5)
    close(x, torch.full((2, 3), 5.0))


def test_results_that_are_no_tensors_inputs_or_twice_the_same() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> tuple[Any, ...]:
        z = x + y
        return z, None, x, z, 7

    compiled = Compiled(function, fallback=False)
    x, y = torch.randn(2, 3), torch.randn(2, 3)
    first, none, same, second, seven = compiled(x, y)
    close(first, x + y)
    close(second, x + y)
    assert none is None and same is x and seven == 7


def test_strides_are_those_of_eager() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.exp(x).permute(0, 2, 1)

    compiled = Compiled(function, fallback=False)
    x = torch.randn(2, 3, 4)
    found = compiled(x)
    assert found.stride() == function(x).stride()
    close(found, function(x))


def test_training_steps_are_eager_and_right() -> None:
    model, twin = Network().train(), Network().train()
    compiled = torch.compile(model, backend="vgf", options={"device": DEVICE})
    x = torch.randn(2, 3, 6, 7)
    with pytest.warns(UserWarning, match="gradients are recorded"):
        compiled(x).square().sum().backward()
    twin(x).square().sum().backward()
    for parameter, wanted in zip(model.parameters(), twin.parameters(), strict=True):
        assert parameter.grad is not None and wanted.grad is not None
        close(parameter.grad, wanted.grad)
    close(model.norm.running_mean, twin.norm.running_mean)  # type: ignore[arg-type]


def test_statistics_that_a_batch_norm_updates() -> None:
    model, twin = Network().train(), Network().train()
    compiled = Compiled(model)
    x = torch.randn(2, 3, 6, 7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = compiled(x)
    with torch.no_grad():
        close(found, twin(x))
    close(model.norm.running_mean, twin.norm.running_mean)  # type: ignore[arg-type]


def test_mutated_weights_in_inference_mode_are_seen() -> None:
    with torch.inference_mode():
        model = Network().eval()
        compiled = torch.compile(model, backend="vgf", options={"device": DEVICE})
        x = torch.randn(1, 3, 6, 7)
        close(compiled(x), model(x))
        model.linear.bias.add_(1)
        close(compiled(x), model(x))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"options": {"devices": "vulkan"}}, "backend vgf has no option 'devices'; its options are: device, fallback"),
        ({"options": {"device": "gpu"}}, "expected a device of auto, vulkan, reference, found 'gpu'"),
    ],
)
def test_wrong_options_are_answered(arguments: dict[str, Any], message: str) -> None:
    compiled = torch.compile(torch.exp, backend="vgf", **arguments)
    with pytest.raises((BackendCompilerFailed, CompileError), match=message), torch.no_grad():
        compiled(torch.zeros(2))
