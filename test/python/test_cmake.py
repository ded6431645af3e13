"""The CMake package: the example outside the tree builds against the checkout and against an install prefix."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import vgfc
from vgfc.vgf_file import decode

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
ENVIRONMENT = {**os.environ, "CMAKE_GENERATOR": "Ninja", "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}


def run(*command: str | Path) -> str:
    words = [str(part) for part in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def installed(tmp_path: Path) -> Path:
    run(BIN / "cmake", "-S", ROOT, "-B", tmp_path / "vgfc", f"-DVGFC_VENV={BIN.parent}")
    run(BIN / "cmake", "--install", tmp_path / "vgfc", "--prefix", tmp_path / "prefix")
    return tmp_path / "prefix" / "lib" / "cmake" / "vgfc"


@pytest.mark.parametrize("source", ["package", "prefix"])
def test_example_builds_a_model_and_rebuilds_it(tmp_path: Path, source: str) -> None:
    folder = installed(tmp_path) if source == "prefix" else Path(vgfc.__file__).parent / "cmake"
    example, build = tmp_path / "example", tmp_path / "build"
    shutil.copytree(ROOT / "examples" / "cmake", example)
    run(BIN / "cmake", "-S", example, "-B", build, f"-Dvgfc_DIR={folder}", f"-DVGFC_PYTHON={sys.executable}")
    run(BIN / "cmake", "--build", build)
    file = decode((build / "blend.vgf").read_bytes())
    assert file.input_names == ("a", "b")
    run(BIN / "ctest", "--test-dir", build)
    before = (build / "blend.vgf").stat().st_mtime_ns
    run(BIN / "cmake", "--build", build)
    assert (build / "blend.vgf").stat().st_mtime_ns == before
    later = before + 10**10
    (example / "blend.mlir").write_text((example / "blend.mlir").read_text().replace("0.5", "0.25"))
    os.utime(example / "blend.mlir", ns=(later, later))
    run(BIN / "cmake", "--build", build)
    assert (build / "blend.vgf").stat().st_mtime_ns != before
