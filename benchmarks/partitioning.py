"""The six models cut by budget into 2, 4 and 8 graph segments: budgets, crossing bytes, and whether the output stays the same.

python -m benchmarks.partitioning [--segments 2,4,8] [--json FILE] [model ...]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from torch_mlir import ir

import vgfc
from benchmarks import models
from vgfc.diagnostics import CompileError
from vgfc.frontend.load import parse_mlir
from vgfc.frontend.torch import import_program
from vgfc.ir import bytecode, entry, operations
from vgfc.passmanager import parse_pipeline, run_pipeline, run_steps
from vgfc.pipeline import PIPELINES
from vgfc.segments import SEGMENT_INDEX
from vgfc.target import Target, attach

FIRST_PARTITION_PASS = "vgf-mark-segments"


@dataclass(frozen=True)
class Cut:
    """One model in one number of segments; sizes in bytes, times in seconds of running on the device."""

    model: str
    segments: int
    constant_budget_bytes: int | None
    session_budget_bytes: int | None
    file_bytes: int
    session_bytes: int
    run_seconds: float
    same_output: bool


def before_partitioning(model: torch.nn.Module, inputs: Any) -> bytes:
    """The model as it comes to the partition passes, as bytecode."""
    module = import_program(model, inputs)
    for name in ("torch-to-tosa", "tosa-optimize"):
        steps = parse_pipeline(PIPELINES[name](), PIPELINES, module.context)
        names = [step.name for step in steps]
        end = names.index(FIRST_PARTITION_PASS) if FIRST_PARTITION_PASS in names else len(steps)
        run_steps(steps[:end], module)
    return bytecode(module)


class Counter:
    """How many segments a budget makes of a model; the model is parsed once."""

    def __init__(self, content: bytes) -> None:
        self.module = parse_mlir(content)

    def segments(self, target: Target) -> int | None:
        """The number of segments, None when an operator is over the budget by itself."""
        attach(self.module, target)
        try:
            run_pipeline(self.module, "builtin.module(vgf-mark-segments,vgf-form-segments)")
        except CompileError:
            return None
        function = entry(self.module)
        assert function is not None
        marked = [op for op in operations(function) if SEGMENT_INDEX in op.attributes]
        return len({ir.IntegerAttr(op.attributes[SEGMENT_INDEX]).value for op in marked})


def smallest(counter: Counter, kind: str, count: int, other: Target) -> Target:
    """The target with the smallest budget of this kind, beside what `other` has, that makes at most `count` segments."""
    low, high = 0, 1 << 28
    while low < high:
        middle = (low + high) // 2
        found = counter.segments(replace(other, **{kind: middle}))  # type: ignore[arg-type]
        low, high = (middle + 1, high) if found is None or found > count else (low, middle)
    return replace(other, **{kind: low})  # type: ignore[arg-type]


def target_for(counter: Counter, count: int) -> Target | None:
    """A budget of constants, else of session memory, else of both, that makes exactly `count` segments."""
    for kind in ("constant_bytes", "session_bytes"):
        target = smallest(counter, kind, count, Target())
        if counter.segments(target) == count:
            return target
    for fewer in range(count - 1, 1, -1):
        coarse = smallest(counter, "session_bytes", fewer, Target())
        target = smallest(counter, "constant_bytes", count, coarse)
        if counter.segments(target) == count:
            return target
    return None


def cut(name: str, counts: list[int]) -> list[Cut]:
    """The model uncut and in each number of segments that a budget can make of it."""
    model, inputs, _ = models.get(name)
    content = before_partitioning(model, inputs)
    counter = Counter(content)
    whole = vgfc.compile_mlir(content)
    wanted = [array.tobytes() for array in run(whole, inputs)]
    rows = [row(name, Target(), whole, True)]
    for count in counts:
        target = target_for(counter, count)
        if target is None:
            continue
        program = vgfc.compile_mlir(content, target=target)
        same = [array.tobytes() for array in run(program, inputs)] == wanted
        rows.append(row(name, target, program, same))
    return rows


def run(program: vgfc.Program, inputs: Any) -> list[Any]:
    """The outputs on the device, as arrays."""
    outputs = program.run(*inputs, device="vulkan")
    return [output.numpy() for output in (outputs if isinstance(outputs, tuple) else (outputs,))]


def row(name: str, target: Target, program: vgfc.Program, same: bool) -> Cut:
    """The figures of one program that has run."""
    loaded = program.vulkan()
    count = len(program.report().segments)
    return Cut(
        name,
        count,
        target.constant_bytes,
        target.session_bytes,
        len(program.vgf),
        loaded.session_bytes,
        loaded.run_seconds,
        same,
    )


def main() -> int:
    """Cut the models asked for; the exit status is 1 when an output changed or a cut was not possible."""
    parser = argparse.ArgumentParser("partitioning", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("models", nargs="*", default=list(models.SPECS), metavar="model", help=", ".join(models.SPECS))
    parser.add_argument("--segments", default="2,4,8", help="numbers of segments, with commas between")
    parser.add_argument("--json", metavar="FILE", help="write the figures there as well")
    options = parser.parse_args()
    counts = [int(number) for number in options.segments.split(",")]
    table = Table("model", "segments", "constant budget", "session budget", "file", "session", "run s", "same output")
    rows: list[Cut] = []
    start = time.perf_counter()
    for name in options.models:
        found = cut(name, counts)
        rows += found
        for item in found:
            budgets = [str(number or "") for number in (item.constant_budget_bytes, item.session_budget_bytes)]
            sizes = [*budgets, str(item.file_bytes), str(item.session_bytes)]
            same = "yes" if item.same_output else "NO"
            table.add_row(item.model, str(item.segments), *sizes, f"{item.run_seconds:.3f}", same)
    Console(width=120).print(table)
    print(f"{time.perf_counter() - start:.0f} s")
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(item) for item in rows], indent=2), encoding="utf-8")
    complete = len(rows) == len(options.models) * (len(counts) + 1)
    return int(not complete or not all(item.same_output for item in rows))


if __name__ == "__main__":
    sys.exit(main())
