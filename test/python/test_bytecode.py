"""Damaged MLIR bytecode at which MLIR's own reader crashes, hangs or takes all memory is one message."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from torch_mlir import ir

from vgfc import bytecode as guard
from vgfc.diagnostics import CompileError
from vgfc.dialect import make_context
from vgfc.frontend.load import parse_mlir
from vgfc.ir import bytecode

TEXT = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tosa.abs %x : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}"""
FATAL = "damaged file that MLIR's reader cannot take"


@pytest.fixture(scope="module")
def fatal() -> list[bytes]:
    """Files with one byte changed that end the reader's process, or the reader's patience."""
    content = bytecode(ir.Module.parse(TEXT, make_context()))
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guard, "CHILD_SECONDS", 1)
        for position in range(80, 130):
            damaged = content[:position] + b"\xfe" + content[position + 1 :]
            try:
                guard.ensure_sound(damaged, "x")
            except CompileError:
                found.append(damaged)
    return found


def test_there_are_such_files(fatal: list[bytes]) -> None:
    assert len(fatal) >= 3


def test_they_are_refused(fatal: list[bytes]) -> None:
    for content in fatal[-3:]:
        with pytest.raises(CompileError, match=FATAL):
            parse_mlir(content)


def test_vgf_opt_refuses_them(fatal: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "damaged.mlirbc"
    path.write_bytes(fatal[-1])
    command = [str(Path(sys.executable).parent / "vgf-opt"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert FATAL in done.stderr and "Traceback" not in done.stderr


def test_sound_bytecode_is_read() -> None:
    content = bytecode(ir.Module.parse(TEXT, make_context()))
    guard.ensure_sound(content, "x")
    assert str(parse_mlir(content)) == str(ir.Module.parse(TEXT, make_context()))
