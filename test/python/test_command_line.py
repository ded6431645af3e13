"""What every command has: help with an example, shell completion, --json and --quiet."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
COMMANDS = sorted(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"])


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    done = {**os.environ, "PATH": path, "COLUMNS": "200", **environment}
    return subprocess.run([str(BIN / command[0]), *command[1:]], capture_output=True, text=True, check=False, env=done)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example_and_the_common_options(command: str) -> None:
    done = run(command, "--help")
    assert done.returncode == 0
    assert f"example: {command} " in done.stdout
    assert "--json" in done.stdout and "--quiet" in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_mistakes_are_one_line_without_a_traceback(command: str) -> None:
    done = run(command, "no-such-file.vgf", "--no-such-option")
    assert done.returncode == 2
    assert f"{command}: error: " in done.stderr and "Traceback" not in done.stderr


def completions(command: str, line: str) -> list[str]:
    """What the shell is offered, through argcomplete's own protocol (file descriptor 8)."""
    asked = f'_ARGCOMPLETE=1 IFS="\v" COMP_LINE="{line}" COMP_POINT={len(line)}'
    script = f"exec 8>&1 9>/dev/null; {asked} {BIN / command} 1>/dev/null 2>/dev/null"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    return done.stdout.split("\v")


@pytest.mark.parametrize("command", COMMANDS)
def test_options_are_completed(command: str) -> None:
    assert [word.strip() for word in completions(command, f"{command} --qui")] == ["--quiet"]


def test_names_of_passes_and_pipelines_are_completed() -> None:
    assert "vgf-fold-transpose-pairs" in completions("vgf-opt", "vgf-opt -p vgf-fold-tr")[0]
    assert "torch-to-tosa" in completions("vgf-opt", "vgf-opt --vgf-pipeline torch-")[0]
    found = completions("vgf-opt", "vgf-opt -p canonicalize,vgf-fold-tr")
    assert found and "canonicalize,vgf-fold-transpose-pairs" in found[0]


def test_no_colours_where_there_is_no_terminal() -> None:
    done = run("vgf-opt", str(ROOT / "test" / "tools" / "inputs" / "pair.mlir"), "-p", "vgf-fold-transpose-pair")
    assert "\x1b" not in done.stderr + done.stdout and done.returncode == 1


def list_passes_into(output: int) -> tuple[int, str]:
    """Status and standard error of a command whose standard output is a file descriptor, which this closes."""
    command = [str(BIN / "vgf-opt"), "--list-passes"]
    done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, check=False)
    os.close(output)
    return done.returncode, done.stderr


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    assert list_passes_into(writer) == (141, "")


def test_a_full_disk_is_one_message() -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    assert list_passes_into(full) == (1, "vgf-opt: no space left on device in the output\n")
