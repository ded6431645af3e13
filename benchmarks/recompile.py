"""VGF files of other compilers, read back and compiled again: the same bits on Vulkan, with how many operators.

    python -m benchmarks.recompile                          # the six models; makes ExecuTorch's environment (minutes)
    python -m benchmarks.recompile --models cnn --json recompile.json

Each model comes as ExecuTorch's file (fp32, int8 integer-only, int8 with fp32 at its boundary) and as model-converter's, from
the TOSA that torch-mlir makes of the fp32 model. Both files, the one that came and the one that `vgfc.compile` makes of it, run
on the same Vulkan device with the same random inputs. The exit status is 1 where a bit differs or an operator was added.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

import vgfc
from benchmarks import models
from benchmarks.compare_executorch import PRECISIONS, compile_once, set_up
from benchmarks.vgf_statistics import statistics
from vgfc.emit.tosa_flatbuffer import encode
from vgfc.frontend.torch import import_program
from vgfc.runtime.vulkan import VulkanProgram

ROOT = Path(__file__).resolve().parent.parent
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Row:
    """One file: operators, constants and session of it as it came and compiled again, and how many values differ."""

    model: str
    origin: str
    operators_before: int
    operators_after: int
    constant_bytes_before: int
    constant_bytes_after: int
    session_bytes_before: int
    session_bytes_after: int
    values: int
    different_values: int

    @property
    def good(self) -> bool:
        """Equal to the bit, and no operator more."""
        return self.different_values == 0 and self.operators_after <= self.operators_before


def files(python: Path, name: str, folder: Path) -> dict[str, Path]:
    """The model's files by origin; those that `folder` has already are not made again."""
    found = {}
    for precision in PRECISIONS:
        path = folder / f"{name}_{precision}.vgf"
        if not path.exists():
            compile_once(python, "executorch_worker.py", name, precision, folder)
        found[f"ExecuTorch {precision}"] = path
    path = folder / f"{name}_model-converter.vgf"
    if not path.exists():
        convert(python.parent / "model-converter", name, path)
    found["model-converter fp32"] = path
    return found


def convert(converter: Path, name: str, path: Path) -> None:
    """Write torch-mlir's TOSA of a model through model-converter."""
    model, inputs, _ = models.get(name)
    module = import_program(torch.export.export(model, inputs))
    vgfc.run_pipeline(module, "builtin.module(torch-to-tosa)")
    tosa = path.with_suffix(".tosa")
    tosa.write_bytes(encode(module))
    subprocess.run([converter, "--input", tosa, "--output", path], check=True, capture_output=True)


def random_inputs(program: VulkanProgram) -> list[Array]:
    """Seeded inputs over the range of their type: normal for floating point, all codes for integers."""
    generator = np.random.default_rng(0)
    found: list[Array] = []
    for slot in program.file.inputs:
        resource = program.file.resources[slot.resource]
        kind = np.dtype(resource.dtype)
        if kind.kind == "f":
            found.append(generator.standard_normal(resource.shape).astype(kind))
        else:
            limits = np.iinfo(kind)
            found.append(generator.integers(limits.min, limits.max, resource.shape, kind, endpoint=True))
    return found


def compare(name: str, origin: str, path: Path) -> Row:
    """Compile a file again and run both."""
    before = path.read_bytes()
    after = vgfc.compile(path).vgf
    old, new = VulkanProgram(before), VulkanProgram(after)
    inputs = random_inputs(old)
    wanted, found = old.run(inputs), new.run(inputs)
    different = sum(
        int((left.view(np.uint8) != right.view(np.uint8)).reshape(left.size, -1).any(axis=1).sum())
        for left, right in zip(wanted, found, strict=True)
    )
    was, now = statistics(before), statistics(after)
    return Row(
        model=name,
        origin=origin,
        operators_before=was.operator_count,
        operators_after=now.operator_count,
        constant_bytes_before=was.constant_bytes,
        constant_bytes_after=now.constant_bytes,
        session_bytes_before=old.session_bytes,
        session_bytes_after=new.session_bytes,
        values=sum(array.size for array in wanted),
        different_values=different,
    )


def table(rows: list[Row]) -> str:
    """A Markdown table."""
    lines = [
        "| model | file of | operators | again | constant bytes | again | session bytes | again | values that differ |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        numbers = (
            *(row.operators_before, row.operators_after, row.constant_bytes_before, row.constant_bytes_after),
            *(row.session_bytes_before, row.session_bytes_after),
        )
        figures = " | ".join(str(number) for number in numbers)
        lines.append(f"| {row.model} | {row.origin} | {figures} | {row.different_values} of {row.values} |")
    return "\n".join(lines)


def main() -> int:
    """Make the files, compile them again, print the table."""
    arguments = argparse.ArgumentParser("benchmarks.recompile", description=(__doc__ or "").split("\n\n")[0])
    arguments.add_argument(
        "--models", nargs="+", default=list(models.SPECS), choices=list(models.SPECS), metavar="NAME"
    )
    arguments.add_argument("--keep", type=Path, default=ROOT / "build" / "recompile", help="where the files stay")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    options = arguments.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    python = set_up()
    rows = []
    for name in options.models:
        for origin, path in files(python, name, options.keep.resolve()).items():
            rows.append(compare(name, origin, path))
            print(f"{name}, {origin}: {'good' if rows[-1].good else 'NOT good'}", file=sys.stderr, flush=True)
    print(table(rows))
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))
    return 0 if all(row.good for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
