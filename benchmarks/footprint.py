"""Time and memory of one piece of work, measured the same way in the processes of both compilers. Needs only Python."""

from __future__ import annotations

import ctypes
import gc
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

KIB = 1024


@dataclass
class Footprint:
    """What a piece of work took; filled in when it ends.

    `seconds` is wall time, `cpu_seconds` that of this process and the commands that it ran. `peak_bytes` is the largest
    resident memory of this process while it ran, `baseline_bytes` the resident memory before it.
    """

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    baseline_bytes: int = 0
    peak_bytes: int = 0


@contextmanager
def measured() -> Iterator[Footprint]:
    """Measures the body of the `with` statement; Linux only, where the kernel can forget a process's earlier peak."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # memory that earlier work freed must not hide what this work takes
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    footprint = Footprint(baseline_bytes=_status_bytes("VmRSS"))
    cpu_start, start = _cpu_seconds(), time.perf_counter()
    yield footprint
    footprint.seconds = time.perf_counter() - start
    footprint.cpu_seconds = _cpu_seconds() - cpu_start
    footprint.peak_bytes = _status_bytes("VmHWM")


def _cpu_seconds() -> float:
    own, commands = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + commands.ru_utime + commands.ru_stime


def _status_bytes(field: str) -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * KIB
    raise KeyError(f"/proc/self/status has no {field}")
