"""What other compilers to VGF leave out or abort on runs whole: in graphs where TOSA can say it, else with host segments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import vgfc


class Model(torch.nn.Module):
    """A function between two convolutions' worth of ordinary operators, so that segments have something on both sides."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor, *others: torch.Tensor) -> Any:
        found = self.function(torch.tanh(x), *others)
        parts = found if isinstance(found, tuple) else (found,)
        return tuple(part + 1 if part.is_floating_point() else part for part in parts)


def seeded(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def indices(high: int, *shape: int) -> torch.Tensor:
    return torch.randint(0, high, shape, generator=torch.Generator().manual_seed(high))


# name: (function, inputs, kinds of segments)
CASES: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...], list[str]]] = {
    "topk": (lambda x: torch.topk(x, 3, dim=1), (seeded(2, 8),), ["graph", "host", "graph"]),
    "topk smallest": (
        lambda x: torch.topk(x, 2, dim=0, largest=False),
        (seeded(5, 3),),
        ["graph", "host", "graph"],
    ),
    "sort": (lambda x: torch.sort(x, dim=-1), (seeded(2, 3, 8),), ["graph", "host", "graph"]),
    "sort descending": (
        lambda x: torch.sort(x, dim=1, descending=True),
        (seeded(2, 7, 3),),
        ["graph", "host", "graph"],
    ),
    "scatter": (
        lambda x, i, s: torch.scatter(x, 1, i, s),
        (seeded(2, 8), torch.tensor([[1, 0, 7], [2, 5, 3]]), seeded(2, 3)),
        ["graph"],
    ),
    "scatter_add": (
        lambda x, i, s: torch.scatter_add(x, 1, i, s),
        (seeded(2, 8), torch.tensor([[1, 1, 7], [2, 2, 2]]), seeded(2, 3)),
        ["graph", "host", "graph"],
    ),
    "atan2": (torch.atan2, (seeded(3, 5), seeded(5, 3).T.contiguous()), ["graph"]),
    "max-pool indices": (
        lambda x: F.max_pool2d(x, 2, return_indices=True),
        (seeded(1, 2, 8, 8),),
        ["graph", "host", "graph"],
    ),
    "max-pool indices, padded": (
        lambda x: F.max_pool2d(x, 3, stride=2, padding=1, return_indices=True),
        (seeded(2, 3, 7, 9),),
        ["graph", "host", "graph"],
    ),
    "bicubic": (lambda x: F.interpolate(x, scale_factor=2.0, mode="bicubic"), (seeded(1, 2, 6, 6),), ["graph"]),
    "transposed convolution, grouped": (
        lambda x, w: F.conv_transpose2d(x, w, groups=2, stride=2),
        (seeded(1, 4, 6, 6), seeded(4, 3, 3, 3)),
        ["graph"],
    ),
    "transposed convolution, dilated": (
        lambda x, w: F.conv_transpose2d(x, w, dilation=2),
        (seeded(1, 4, 6, 6), seeded(4, 3, 3, 3)),
        ["graph"],
    ),
    "torch.cond": (
        lambda x: torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, (x,)),
        (seeded(2, 8),),
        ["graph"],
    ),
    "rfft": (lambda x: torch.fft.rfft(x).abs(), (seeded(2, 16),), ["graph"]),
    "int64 embedding": (
        lambda x, i: F.embedding(i, x),
        (seeded(9, 4), indices(9, 2, 3)),
        ["graph"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_runs_whole(name: str) -> None:
    function, inputs, kinds = CASES[name]
    model = Model(function).eval()
    program = vgfc.compile(model, inputs)
    assert program.report().segments == kinds
    found, wanted = program.run(*inputs, device="vulkan"), model(*inputs)
    found = found if isinstance(found, tuple) else (found,)
    assert len(found) == len(wanted)
    for mine, theirs in zip(found, wanted, strict=True):
        assert mine.dtype == theirs.dtype
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)
