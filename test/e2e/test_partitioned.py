"""Programs of several segments: what they are cut into, and that they give what PyTorch and the uncut program give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import vgfc
from benchmarks import models
from benchmarks.partitioning import cut
from vgfc import bundle
from vgfc.runtime.parts import PartsProgram
from vgfc.target import Target


class Warp(torch.nn.Module):
    """Convolution, a sort that no graph can hold, and a warp near the end whose result goes through another convolution."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(3, 4, 3, padding=1)
        self.last = torch.nn.Conv2d(4, 2, 3, padding=1)

    def forward(self, image: torch.Tensor, grid: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.first(image))
        x, _ = torch.sort(x, dim=-1)
        x = F.grid_sample(x, grid, align_corners=False)
        return self.last(x)


def warp() -> tuple[Warp, tuple[torch.Tensor, torch.Tensor]]:
    torch.manual_seed(0)
    return Warp().eval(), (torch.randn(1, 3, 8, 8), 2 * torch.rand(1, 6, 5, 2) - 1)


def test_graph_host_compute_graph(tmp_path: Path) -> None:
    model, inputs = warp()
    program = vgfc.compile(model, inputs)
    report = program.report()
    assert report.segments == ["graph", "host", "compute", "graph"]
    wanted = model(*inputs)
    torch.testing.assert_close(program.run(*inputs, device="vulkan"), wanted, rtol=1e-4, atol=1e-5)

    outside = {found.operator: found for found in report.not_in_graph}
    assert set(outside) == {"torch.aten.sort", "aten::grid_sampler"}
    sort = outside["torch.aten.sort"]
    assert sort.kind == "host"
    assert sort.reason == "torch.aten.sort has no form in TOSA 1.0"
    line = next(
        number for number, text in enumerate(Path(__file__).read_text().splitlines(), 1) if "torch.sort(x" in text
    )
    assert (sort.file, sort.line) == (__file__, line)
    assert f"{__file__}:{line}: torch.aten.sort" in report.explain()

    with pytest.raises(
        vgfc.CompileError, match=r"a single VGF file cannot hold this program: parts of it run on the host"
    ):
        program.save(tmp_path / "warp.vgf")
    program.save(tmp_path / "warp")
    assert sorted(path.name for path in (tmp_path / "warp").iterdir()) == [
        "manifest.json",
        "part_0.vgf",
        "part_1.mlirbc",
        "part_2.vgf",
    ]
    (found,) = PartsProgram(bundle.read(tmp_path / "warp")).run([tensor.numpy() for tensor in inputs])
    np.testing.assert_allclose(found, wanted.detach().numpy(), rtol=1e-4, atol=1e-5)


def test_require_full_graph_names_the_line() -> None:
    model, inputs = warp()
    with pytest.raises(
        vgfc.CompileError, match=r"test_partitioned\.py:\d+: error: 'torch.aten.sort' would run on the host"
    ):
        vgfc.compile(model, inputs, require_full_graph=True)


def test_a_user_decides_by_module_path() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3)).eval()
    x = torch.randn(2, 4)
    whole, on_host = vgfc.compile(model, (x,)), vgfc.compile(model, (x,), segment_of="2:host")
    assert whole.report().segments == ["graph"]
    assert on_host.report().segments[:2] == ["graph", "host"]
    torch.testing.assert_close(on_host.run(x, device="vulkan"), model(x))
    torch.testing.assert_close(on_host.run(x, device="reference"), model(x))
    named = vgfc.compile(model, (x,), segment_of="2:graph/tail")
    assert named.report().segments[:2] == ["graph", "graph"]
    assert torch.equal(named.run(x, device="vulkan"), whole.run(x, device="vulkan"))


@pytest.mark.parametrize("count", [2, 4, 8])
def test_cut_by_budget_gives_the_same_bytes(count: int) -> None:
    """`python -m benchmarks.partitioning` does this for all six models."""
    whole, found = cut("cnn", [count])
    assert whole.segments == 1
    assert found.segments == count
    assert found.same_output


INTEGER_ONLY = Target(("INT",))


def test_floating_point_on_an_integer_only_target_is_one_sentence() -> None:
    model, inputs, _ = models.get("cnn")
    with pytest.raises(vgfc.CompileError) as error:
        vgfc.compile(model, inputs, target=INTEGER_ONLY, require_full_graph=True)
    assert str(error.value).count("\n") == 0
    assert "floating point, which target TOSA-1.0+INT does not have" in error.value.message


@pytest.mark.parametrize("name", ["cnn", "convnext"])
def test_quantised_models_are_legal_on_an_integer_only_target(name: str) -> None:
    model, inputs, calibration = models.get(name)
    program = vgfc.compile(
        vgfc.quantize(model, calibration, "int8"), inputs, target=INTEGER_ONLY, require_full_graph=True
    )
    assert program.report().segments == ["graph"]
    assert program.report().explain() == "every operator is in a graph"
