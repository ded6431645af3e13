"""MLIR bytecode from outside: read in a child process first, since MLIR's reader believes every size that a file states.

A flipped bit in a count makes it ask for gigabytes, or ends the process. The child has little memory and dies instead.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import signal

from torch_mlir import ir

from vgfc.diagnostics import CompileError
from vgfc.dialect import make_context

MAGIC = b"ML\xefR"
SPARE_BYTES = 1 << 30  # what a child may take beside a multiple of the file
BYTES_PER_BYTE = 16
CHILD_SECONDS, SECONDS_PER_MIB = 20, 1
DAMAGED = 2


def is_bytecode(content: bytes | str) -> bool:
    """Whether this starts as MLIR bytecode does."""
    return isinstance(content, bytes) and content[:4] == MAGIC


def ensure_sound(content: bytes, name: str) -> None:
    """Raise CompileError for bytecode at which MLIR's reader would crash, hang or take all memory.

    Bytecode that it refuses in good order passes; reading it again gives the message.
    """
    child = os.fork()
    if child == 0:
        os._exit(_read(content))
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == DAMAGED:
        raise CompileError(f"'{name}': expected MLIR bytecode, found a damaged file that MLIR's reader cannot take")


def _read(content: bytes) -> int:
    """In the child: read within bounds; nothing but the status gets out."""
    faulthandler.disable()  # a crash is an answer here, which nobody needs to see
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(CHILD_SECONDS + SECONDS_PER_MIB * (len(content) >> 20))
    with open("/proc/self/statm", encoding="ascii") as file:
        used_bytes = int(file.read().split()[0]) * resource.getpagesize()
    limit_bytes = used_bytes + SPARE_BYTES + BYTES_PER_BYTE * len(content)
    resource.setrlimit(resource.RLIMIT_AS, (limit_bytes, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        with make_context():
            ir.Module.parse(content)
    except MemoryError:
        return DAMAGED
    except (ir.MLIRError, RuntimeError):
        return 1
    return 0
