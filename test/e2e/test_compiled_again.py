"""A VGF that some compiler wrote, compiled again: the same bits, or fewer operators where other rounding is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import vgfc
from benchmarks.recompile import compare
from vgfc.emit.vgf import emit_pieces
from vgfc.frontend.torch import import_program
from vgfc.pipeline import LEGALIZE, LOWER, PARTITION

UNOPTIMISED = f"builtin.module(torch-to-tosa,{','.join([*LEGALIZE, *PARTITION, *LOWER])})"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A small network's VGF with everything in it that the default pipeline would fold."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        *(torch.nn.Conv2d(3, 8, 3, bias=False), torch.nn.BatchNorm2d(8), torch.nn.GELU()),
        *(torch.nn.Conv2d(8, 8, 1), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(8, 4)),
        torch.nn.LayerNorm(4),
    ).eval()
    module = import_program(model, (torch.randn(1, 3, 9, 9),))
    vgfc.run_pipeline(module, UNOPTIMISED)
    path = tmp_path / "other.vgf"
    path.write_bytes(b"".join(emit_pieces(module)))
    return path


def test_it_keeps_its_bits(file: Path) -> None:
    row = compare("small", "unoptimised", file)
    assert row.different_values == 0
    assert row.operators_after < row.operators_before
    assert row.good


def test_other_rounding_is_asked_for(file: Path) -> None:
    exact, free = vgfc.compile(file), vgfc.compile(file, exact=False)
    assert free.report().operator_count < exact.report().operator_count
    x = torch.randn(1, 3, 9, 9)
    assert torch.allclose(exact.run(x, device="reference"), free.run(x, device="reference"), atol=1e-5)


def test_a_model_can_be_compiled_exactly() -> None:
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 1), torch.nn.BatchNorm2d(4)).eval()
    inputs = (torch.randn(1, 3, 4, 4),)
    assert (
        vgfc.compile(model, inputs, exact=True).report().operator_count
        > vgfc.compile(model, inputs).report().operator_count
    )
