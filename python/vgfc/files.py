"""Reading and writing files so that nothing is half-written and a missing file is one sentence."""

from __future__ import annotations

import io
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vgfc.diagnostics import CompileError

if TYPE_CHECKING:
    import numpy as np


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


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a whole file under a temporary name and rename it; "-" is standard output. Raises CompileError."""
    if str(path) == "-":
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    if target.exists() and not target.is_file():  # /dev/null and pipes are written to, not replaced
        if target.is_dir():
            raise CompileError(f"cannot write '{path}': is a directory")
        target.write_bytes(content)
        return
    temporary = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        try:
            temporary.write_bytes(content)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise CompileError(f"cannot write '{path}': {(error.strerror or str(error)).lower()}") from None
