"""Reading and writing files so that nothing is half-written and a missing file is one sentence."""

from __future__ import annotations

import io
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vgfc.diagnostics import CompileError

if TYPE_CHECKING:
    import numpy as np

Piece = bytes | bytearray | memoryview


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The content of a file, or of standard input for "-"; raises CompileError where it cannot be read."""
    if str(path) == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise CompileError(f"cannot read '{path}': {(error.strerror or str(error)).lower()}") from None


def read_array(path: str | os.PathLike[str]) -> np.ndarray[Any, Any]:
    """The tensor in a .npy file; raises CompileError where there is none."""
    import numpy as np  # 60 ms, which tools that read no tensors need not pay

    try:
        array: np.ndarray[Any, Any] = np.load(io.BytesIO(read_bytes(path)), allow_pickle=False)
    except (ValueError, EOFError):
        raise CompileError(f"'{path}' is no .npy file of numbers") from None
    return array


def write_atomically(path: str | os.PathLike[str], *pieces: Piece) -> None:
    """Write a file of these pieces under a temporary name and rename it; "-" is standard output. Raises CompileError."""
    if str(path) == "-":
        sys.stdout.buffer.writelines(pieces)
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    if target.exists() and not target.is_file():  # /dev/null and pipes are written to, not replaced
        if target.is_dir():
            raise CompileError(f"cannot write '{path}': is a directory")
        _write(target, pieces)
        return
    temporary = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        try:
            _write(temporary, pieces)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise CompileError(f"cannot write '{path}': {(error.strerror or str(error)).lower()}") from None


def _write(path: Path, pieces: Sequence[Piece]) -> None:
    with path.open("wb") as stream:
        stream.writelines(pieces)
