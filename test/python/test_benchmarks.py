"""What the benchmark commands measure with, and the limit on memory that compiling has."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import vgfc
from benchmarks.compare_executorch import COLUMNS, PRECISIONS, Row, page, ports
from benchmarks.footprint import measured
from benchmarks.measure import EQUAL_DB, INTEGER_TARGETS, Figures
from benchmarks.run_models import markdown
from benchmarks.vgf_statistics import statistics
from vgfc.vgf_file import decode

ROOT = Path(__file__).resolve().parents[2]
MIB = 1024 * 1024
TOSA = """
func.func @main(%x: tensor<1x4x4x20xf32>) -> tensor<1x4x4x20xf32> {
  %row = "tosa.const"() <{values = dense<"0x%s"> : tensor<1x1x1x20xf32>}> : () -> tensor<1x1x1x20xf32>
  %0 = tosa.add %x, %row : (tensor<1x4x4x20xf32>, tensor<1x1x1x20xf32>) -> tensor<1x4x4x20xf32>
  %1 = tosa.tanh %0 : (tensor<1x4x4x20xf32>) -> tensor<1x4x4x20xf32>
  %2 = tosa.tanh %1 : (tensor<1x4x4x20xf32>) -> tensor<1x4x4x20xf32>
  return %2 : tensor<1x4x4x20xf32>
}
""".replace("%s", np.arange(20, dtype=np.float32).tobytes().hex())

# Compiles resnet18 from its exported program in a process that has compiled before, so that what is measured is the model.
RESNET18 = """
import json, sys, torch, vgfc
from benchmarks import models
from benchmarks.footprint import measured
from benchmarks.measure import EQUAL_DB, INTEGER_TARGETS, Figures
from benchmarks.run_models import markdown
small, small_inputs, _ = models.get("cnn")
vgfc.compile(small, small_inputs)
model, inputs, _ = models.get("resnet18")
program = torch.export.export(model, inputs)
weights = sum(tensor.numel() * tensor.element_size() for tensor in program.state_dict.values())
with measured() as footprint:
    vgfc.compile(program).save(sys.argv[1])
print(json.dumps([weights, footprint.peak_bytes - footprint.baseline_bytes]))
"""


def test_operators_counted_in_the_spirv() -> None:
    program = vgfc.compile_mlir(TOSA)
    found = statistics(program.vgf)
    assert found.operators == {"ADD": 1, "TANH": 2}
    assert found.operators == {name.upper(): count for name, count in program.report().operators.items()}
    assert found.constant_bytes == 80 == program.report().constant_bytes
    assert found.segments == 1
    assert found.vgf_bytes == len(program.vgf)


def test_footprint_sees_memory_that_is_free_again() -> None:
    with measured() as footprint:
        block = np.ones(64 * MIB, np.uint8)
        del block
    grown_bytes = footprint.peak_bytes - footprint.baseline_bytes
    assert 60 * MIB < grown_bytes < 90 * MIB
    assert footprint.seconds > 0
    with measured() as later:
        pass
    assert later.peak_bytes - later.baseline_bytes < 30 * MIB


def test_resnet18_compiles_in_three_times_its_weights(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RESNET18, tmp_path / "resnet18.vgf"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    weight_bytes, grown_bytes = json.loads(done.stdout.splitlines()[-1])
    assert weight_bytes > 46_000_000
    assert grown_bytes <= 3 * weight_bytes


def test_ports_of_a_quantised_boundary_take_and_give_fp32() -> None:
    file = decode(vgfc.compile_mlir(TOSA).vgf)
    (plain,) = ports(file, [None], inputs=True)
    assert (plain.dtype, plain.scale) == ("float32", None)
    (quantised,) = ports(file, [(0.5, 3)], inputs=True)
    assert (quantised.dtype, quantised.scale, quantised.zero_point) == ("float32", 0.5, 3)


@pytest.mark.parametrize("precision", list(PRECISIONS))
def test_page_has_a_row_for_each_compiler_and_their_ratio(precision: str) -> None:
    def row(tool: str, seconds: float, count: int) -> Row:
        return Row(
            "cnn", precision, tool, seconds, seconds, 5 * MIB, {"ADD": count}, count, 1, 80, 4000, 128, 0.5, 101.25
        )

    text = page([row("ExecuTorch", 2.0, 20), row("vgfc", 0.25, 15)], {"machine": "one"}, repeat=3)
    assert f"## {PRECISIONS[precision]}" in text
    assert f"| {' | '.join(COLUMNS)} |" in text
    assert "| cnn | ExecuTorch | 2.00 | 2.00 | 5 | 20 | 80 | 4000 | 128 | 0.500 | 101.2 |" in text
    assert (
        "vgfc compiles 8.0 to 8.0 times as fast; in sum 15 operators against 20 and 128 session bytes against 128."
        in text
    )
    assert "- machine: one" in text


@pytest.mark.parametrize(("ratio_db", "shown"), [(None, ""), (EQUAL_DB, "equal"), (45.67, "45.7")])
def test_table_of_the_models(ratio_db: float | None, shown: str) -> None:
    figures = Figures("cnn", "int8", 0.0, 0.0, 0.0, 0.0, 23, {"add": 23}, 1, 80, 4000, 128, 0.0, 0.0, 43.71, ratio_db)
    assert f"| cnn | int8 | 23 | 80 | 128 | 43.7 | {shown} |" in markdown([figures])


def test_every_configuration_of_the_quantizer_is_measured() -> None:
    from vgfc.quantizer import CONFIGURATIONS

    assert list(INTEGER_TARGETS) == list(CONFIGURATIONS)


def test_executorch_is_compared_by_its_own_interpreter() -> None:
    """The worker must not import vgfc: it runs where vgfc is not installed."""
    text = (ROOT / "benchmarks" / "executorch_worker.py").read_text(encoding="utf-8")
    assert "import vgfc" not in text
    assert "from vgfc" not in text
    assert torch.__version__.split("+")[0] in (ROOT / "benchmarks" / "compare_executorch.py").read_text(
        encoding="utf-8"
    )
