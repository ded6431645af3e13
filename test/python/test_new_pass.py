"""vgf-opt --new-pass: what it writes is found, runs, passes its test and the linters, with nothing else edited."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from vgfc.diagnostics import CompileError
from vgfc.new_pass import create_pass

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


def run(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command in `folder`, with the vgfc that lies there if one does."""
    path = f"{folder / 'python'}{os.pathsep}{folder / 'src'}"
    environment = {**os.environ, "PYTHONPATH": path, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    words = [str(part) for part in command]
    return subprocess.run(words, capture_output=True, text=True, check=False, env=environment, cwd=folder)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources with a new pass in it."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("python", "passes", "tools", "docs"):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "test").mkdir()
    settings = (ROOT / "test" / "lit.cfg.py").read_text(encoding="utf-8")
    settings += (
        f'config.environment["PYTHONPATH"] = {str(folder / "python")!r}\n'  # the copy, not the installed package
    )
    (folder / "test" / "lit.cfg.py").write_text(settings, encoding="utf-8")
    assert run(folder, sys.executable, "tools/generate_docs.py").returncode == 0
    done = run(folder, sys.executable, "-m", "vgfc.tools.vgf_opt", "--new-pass", "my-pass")
    assert done.returncode == 0, done.stderr
    assert "source  " in done.stdout and done.stdout.endswith("test/passes/simplify/my-pass.mlir\n")
    return folder


def test_only_the_two_files_and_the_pass_list_are_written(checkout: Path) -> None:
    assert (checkout / "passes" / "simplify" / "my_pass.py").is_file()
    assert (checkout / "test" / "passes" / "simplify" / "my-pass.mlir").is_file()
    assert "### vgf-my-pass" in (checkout / "docs" / "passes.md").read_text(encoding="utf-8")


def test_the_new_pass_is_listed(checkout: Path) -> None:
    listed = run(checkout, sys.executable, "-m", "vgfc.tools.vgf_opt", "--list-passes").stdout
    (line,) = [line for line in listed.splitlines() if line.startswith("vgf-my-pass ")]
    assert line.split()[1] == "vgfc" and line.endswith("drop identities, which compute nothing.")


def test_its_lit_test_passes_and_can_fail(checkout: Path) -> None:
    test = checkout / "test" / "passes" / "simplify" / "my-pass.mlir"
    done = run(checkout, BIN / "lit", "-v", test)
    assert done.returncode == 0, done.stdout
    source = checkout / "passes" / "simplify" / "my_pass.py"
    text = source.read_text(encoding="utf-8")
    source.write_text(
        text.replace("apply_patterns(module, (tosa.IdentityOp, drop_identity))", "pass"), encoding="utf-8"
    )
    assert run(checkout, BIN / "lit", "-v", test).returncode == 1
    source.write_text(text, encoding="utf-8")


def test_it_passes_the_linters_the_types_and_the_documentation_check(checkout: Path) -> None:
    for command in (
        ("ruff", "format", "--check", "passes/simplify/my_pass.py"),
        ("ruff", "check", "passes/simplify/my_pass.py"),
        ("mypy", "python/vgfc/passes/simplify/my_pass.py", "--follow-imports=silent"),
    ):
        done = run(checkout, BIN / command[0], *command[1:])
        assert done.returncode == 0, done.stdout + done.stderr
    done = run(checkout, sys.executable, "tools/generate_docs.py", "--check")
    assert done.returncode == 0, done.stderr


def test_in_a_project_of_ones_own(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "extension", tmp_path / "project")
    made = create_pass("vgf-tidy", tmp_path / "project" / "test")
    assert made.source == tmp_path / "project" / "src" / "vgfc_waves" / "tidy.py"
    assert made.entry_point == 'vgf-tidy = "vgfc_waves.tidy:Tidy"'
    assert made.test.read_text(encoding="utf-8").startswith("// RUN: vgf-opt %s -p vgf-tidy ")


def test_mistakes_are_answered_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=r"expected a pyproject\.toml in"):
        create_pass("my-pass", tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'something'\n", encoding="utf-8")
    with pytest.raises(CompileError, match="expected the package 'something'"):
        create_pass("my-pass", tmp_path)
    with pytest.raises(CompileError, match="expected a name like my-pass, found 'My Pass'"):
        create_pass("My Pass", tmp_path)
    with pytest.raises(CompileError, match="a pass named 'vgf-fold-transpose-pairs' exists already"):
        create_pass("fold-transpose-pairs", tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'vgfc'\n", encoding="utf-8")
    (tmp_path / "passes" / "simplify").mkdir(parents=True)
    (tmp_path / "passes" / "simplify" / "__init__.py").touch()
    with pytest.raises(CompileError, match="no stage is named 'late'; there are: simplify"):
        create_pass("my-pass", tmp_path, "late")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["__init__.py", "passes", "pyproject.toml", "simplify"]
