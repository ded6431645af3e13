"""A package outside vgfc adds passes, pipelines, targets and shaders: the example, installed into a folder of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example package installed, which PYTHONPATH makes visible."""
    folder = tmp_path_factory.mktemp("extension")
    shutil.copytree(ROOT / "examples" / "extension", folder / "source")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    done = subprocess.run(
        [*command, "--target", str(folder / "site"), str(folder / "source")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / "site"


def run(site: Path, *command: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    words = [str(part) for part in command]
    environment = {**os.environ, "PYTHONPATH": str(site), "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(words, capture_output=True, text=True, check=False, env=environment, cwd=cwd)


def listed(site: Path) -> list[dict[str, Any]]:
    done = run(site, BIN / "vgf-opt", "--list-passes", "--json")
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_list_passes_says_where_each_comes_from(site: Path) -> None:
    origins = {(line["name"], line["kind"]): line["origin"] for line in listed(site)}
    assert origins["waves-fold-repeated-abs", "pass"] == "vgfc-waves"
    assert origins["waves-to-vgf", "pipeline"] == "vgfc-waves"
    assert origins["vgf-fold-transpose-pairs", "pass"] == "vgfc"
    assert origins["canonicalize", "pass"] == "upstream"


def test_its_lit_tests_pass(site: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "extension" / "test", tmp_path / "test")
    done = run(site, BIN / "lit", "-q", tmp_path / "test")
    assert done.returncode == 0, done.stdout


def test_its_pipeline_expands(site: Path) -> None:
    pair = ROOT / "test" / "tools" / "inputs" / "pair.mlir"
    command = [BIN / "vgf-opt", pair, "--vgf-pipeline=waves-to-vgf", "--dump-pass-pipeline", "-o", os.devnull]
    done = run(site, *command)
    assert done.returncode == 0, done.stderr
    assert "builtin.module(waves-fold-repeated-abs," in done.stderr
    assert "vgf-assign-graph-constants" in done.stderr


def test_its_target_is_known_by_name(site: Path) -> None:
    script = "from vgfc.target import parse_target; print(parse_target('waves-device'))"
    assert run(site, sys.executable, "-c", script).stdout.strip() == "TOSA-1.0+INT+FP+fft"
    wrong = "from vgfc.target import parse_target; parse_target('wave-device')"
    assert "waves-device) or the path of a .toml file" in run(site, sys.executable, "-c", wrong).stderr


def test_its_operator_runs_as_a_shader(site: Path) -> None:
    script = """
import torch, vgfc
from vgfc_waves.triangle import define_operator
define_operator()
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.ops.waves.triangle(x) + 1
x = torch.linspace(-2, 2, 101)
program = vgfc.compile(Model(), (x,))
print(sorted(set(program.report().segments)))
print(float((program.run(x) - Model()(x)).abs().max()) < 1e-5)
"""
    done = run(site, sys.executable, "-c", script)
    assert done.stdout.splitlines() == ["['compute', 'graph']", "True"], done.stderr


def test_without_the_package_its_names_are_unknown(tmp_path: Path) -> None:
    done = run(tmp_path, BIN / "vgf-opt", os.devnull, "-p", "waves-fold-repeated-abs")
    assert done.returncode == 1
    assert "unknown pass 'waves-fold-repeated-abs'" in done.stderr


def broken_site(folder: Path, group: str, line: str, name: str = "broken") -> Path:
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{line}\n")
    return folder


@pytest.mark.parametrize(
    ("group", "line", "message"),
    [
        (
            "vgfc.passes",
            "broken-pass = nowhere:Nothing",
            "package 'broken', entry point 'broken-pass' of vgfc.passes: ",
        ),
        ("vgfc.passes", "broken-pass = json:dumps", "pass 'broken-pass': expected a dataclass derived from Pass"),
        (
            "vgfc.passes",
            "canonicalize = json:dumps",
            "package 'broken' adds a pass 'canonicalize', a name that is taken",
        ),
    ],
)
def test_broken_packages_are_named(tmp_path: Path, group: str, line: str, message: str) -> None:
    done = run(broken_site(tmp_path, group, line), BIN / "vgf-opt", "--list-passes")
    assert done.returncode == 1
    assert message in done.stderr and "Traceback" not in done.stderr


def test_two_packages_may_not_use_one_name(tmp_path: Path) -> None:
    broken_site(tmp_path, "vgfc.passes", "same = json:dumps", "first")
    broken_site(tmp_path, "vgfc.passes", "same = json:loads", "second")
    done = run(tmp_path, BIN / "vgf-opt", "--list-passes")
    assert "'same' of vgfc.passes is added by two packages" in done.stderr
