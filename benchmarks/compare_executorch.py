"""vgfc and ExecuTorch's VGF backend side by side on the six models: time, memory, operators, bytes, run time and error.

    python benchmarks/compare_executorch.py [--precision fp32] [--repeat 3] [--json FILE [--resume]] [--no-page] [model ...]

Makes a virtual environment of its own for ExecuTorch (.venv-executorch; minutes and 2 GB the first time). Each compilation is
a process of its own; the two compilers take turns, so that a busy machine is busy for both, and of several turns the fastest
counts for time and the largest for memory. Both files run on the same Vulkan device. Writes docs/comparison.md when all
models and precisions are measured.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import venv
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from benchmarks import models
from benchmarks.footprint import Footprint
from benchmarks.measure import sqnr_db
from benchmarks.vgf_statistics import Statistics, statistics
from vgfc.boundary import from_file, to_file
from vgfc.interface import Port
from vgfc.runtime.vulkan import VulkanProgram
from vgfc.vgf_file import Resource, VgfFile

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv-executorch"
EXECUTORCH = "executorch==1.5.1"
# What its VGF backend needs. The converter and the emulation layer that its `vgf` extra pins want a newer C library than
# Debian 12's: the next release of both serves. Its other requirements are for other backends.
REQUIREMENTS = (
    "torch==2.13.0",
    "torchao==0.18.0",
    "tosa-tools==2026.5.0",
    "ai_ml_sdk_model_converter==0.11.0",
    "ai_ml_emulation_layer_for_vulkan==0.11.0",
    "ml_dtypes==0.5.1",
    "numpy==2.1.3",
    "flatbuffers==25.2.10",
    "packaging==26.4",
    "pandas==3.1.1",
    "pyyaml==6.0.4",
    "ruamel.yaml==0.19.1",
    "tabulate==0.10.0",
    "expecttest==0.3.0",
    "parameterized==0.9.0",
    "hypothesis==6.170.17",
    "kgb==7.3",
)
TOOLS = ("ExecuTorch", "vgfc")
PRECISIONS = {
    "fp32": "fp32",
    "int8": "int8, integer-only: the file's inputs and outputs are int8 (TOSA-1.0+INT)",
    "int8-mixed": "int8, quantised inside the file: its inputs and outputs are fp32",
}
MIB = 1024 * 1024
RUNS = 3


@dataclass(frozen=True)
class Compiled:
    """What a worker left: the file, its time and memory, and the conversions that stay outside the file."""

    vgf: bytes
    footprint: Footprint
    inputs: list[tuple[float, int] | None]
    outputs: list[tuple[float, int] | None]


@dataclass(frozen=True)
class Row:
    """One model through one compiler. Times in seconds, sizes in bytes; `peak_bytes` is above what the process had before."""

    model: str
    precision: str
    tool: str
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    operators: dict[str, int]
    operator_count: int
    segments: int
    constant_bytes: int
    vgf_bytes: int
    session_bytes: int
    run_seconds: float
    sqnr_db: float


def set_up() -> Path:
    """The interpreter of ExecuTorch's virtual environment, made when it is not there or not of these versions."""
    python = VENV / "bin" / "python"
    stamp = VENV / ".set-up"
    wanted = hashlib.sha256("\n".join((EXECUTORCH, *REQUIREMENTS, sys.version, str(ROOT))).encode()).hexdigest()
    if stamp.is_file() and stamp.read_text(encoding="ascii") == wanted:
        return python
    print(f"making {VENV.name} (minutes the first time)", file=sys.stderr, flush=True)
    venv.create(VENV, clear=True, symlinks=True, with_pip=True)
    for arguments in (REQUIREMENTS, ("--no-deps", EXECUTORCH)):
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments], check=True
        )
    stamp.write_text(wanted, encoding="ascii")
    return python


def compile_once(python: Path, worker: str, model: str, precision: str, folder: Path) -> Compiled:
    """Run one worker; its output is shown only when it fails."""
    done = subprocess.run(
        [python, ROOT / "benchmarks" / worker, model, precision, folder],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{done.stdout[-3000:]}\ncompare_executorch: {worker} failed on {model}, {precision}")
    result = json.loads((folder / f"{model}_{precision}.json").read_text(encoding="utf-8"))
    content = (folder / f"{model}_{precision}.vgf").read_bytes()
    return Compiled(content, Footprint(**result["footprint"]), result["inputs"], result["outputs"])


def run(compiled: Compiled, inputs: tuple[torch.Tensor, ...], wanted: torch.Tensor) -> tuple[int, float, float]:
    """Session bytes, seconds of the fastest run on Vulkan, and SQNR against PyTorch's fp32 result."""
    program = VulkanProgram(compiled.vgf)
    takes = ports(program.file, compiled.inputs, inputs=True)
    gives = ports(program.file, compiled.outputs, inputs=False)
    arrays = [to_file(port, tensor) for port, tensor in zip(takes, inputs, strict=True)]
    seconds = []
    for _ in range(RUNS):
        (result,) = program.run(arrays)
        seconds.append(program.run_seconds)
    found = torch.from_numpy(np.ascontiguousarray(from_file(gives[0], result)).reshape(wanted.shape))
    return program.session_bytes, min(seconds), sqnr_db(wanted, found)


def ports(file: VgfFile, conversions: list[Any], inputs: bool) -> list[Port]:
    """The file's inputs or outputs as ports that take and give fp32."""
    found = []
    for index, slot in enumerate(file.inputs if inputs else file.outputs):
        resource: Resource = file.resources[slot.resource]
        scale, zero_point = conversions[index] or (None, None)
        dtype = resource.dtype if scale is None else "float32"
        shape = resource.shape
        found.append(Port(f"{index}", shape, dtype, shape, resource.dtype, scale, zero_point))
    return found


def measure(python: Path, model: str, precision: str, repeat: int, folder: Path) -> list[Row]:
    """Both compilers on one model, in turns."""
    turns: dict[str, list[Compiled]] = {tool: [] for tool in TOOLS}
    for _ in range(repeat):
        for tool, interpreter, worker in (
            ("ExecuTorch", python, "executorch_worker.py"),
            ("vgfc", Path(sys.executable), "vgfc_worker.py"),
        ):
            place = folder / tool.lower()
            place.mkdir(parents=True, exist_ok=True)
            turns[tool].append(compile_once(interpreter, worker, model, precision, place))
    reference, inputs, _ = models.get(model)
    with torch.no_grad():
        wanted = reference(*inputs)
    rows = []
    for tool in TOOLS:
        footprints = [compiled.footprint for compiled in turns[tool]]
        compiled = turns[tool][-1]
        content: Statistics = statistics(compiled.vgf)
        session_bytes, run_seconds, ratio = run(compiled, inputs, wanted)
        rows.append(
            Row(
                model=model,
                precision=precision,
                tool=tool,
                seconds=min(footprint.seconds for footprint in footprints),
                cpu_seconds=min(footprint.cpu_seconds for footprint in footprints),
                peak_bytes=max(footprint.peak_bytes - footprint.baseline_bytes for footprint in footprints),
                operators=content.operators,
                operator_count=content.operator_count,
                segments=content.segments,
                constant_bytes=content.constant_bytes,
                vgf_bytes=content.vgf_bytes,
                session_bytes=session_bytes,
                run_seconds=run_seconds,
                sqnr_db=ratio,
            )
        )
    return rows


COLUMNS = (
    "model",
    "compiler",
    "compile s",
    "CPU s",
    "peak MiB",
    "operators",
    "constant bytes",
    "file bytes",
    "session bytes",
    "run s",
    "SQNR dB",
)


def cells(row: Row) -> list[str]:
    """A row as text."""
    return [
        row.model,
        row.tool,
        f"{row.seconds:.2f}",
        f"{row.cpu_seconds:.2f}",
        f"{row.peak_bytes / MIB:.0f}",
        str(row.operator_count),
        str(row.constant_bytes),
        str(row.vgf_bytes),
        str(row.session_bytes),
        f"{row.run_seconds:.3f}",
        f"{row.sqnr_db:.1f}",
    ]


def versions(python: Path) -> dict[str, str]:
    """Versions of what was measured and of what it ran on."""
    listed = subprocess.run(
        [python, "-m", "pip", "list", "--format=json", "--disable-pip-version-check"],
        capture_output=True,
        text=True,
        check=True,
    )
    installed = {item["name"].lower().replace("-", "_"): item["version"] for item in json.loads(listed.stdout)}
    found = {
        name: installed[name] for name in ("executorch", "torch", "torchao", "tosa_tools", "ai_ml_sdk_model_converter")
    }
    ours = ("vgfc", "torch", "torchao", "torch-mlir", "ai_ml_sdk_vgf_library", "ai_ml_emulation_layer_for_vulkan")
    return {
        "ExecuTorch's side": ", ".join(f"{name} {number}" for name, number in found.items()),
        "vgfc's side": ", ".join(f"{name} {version(name)}" for name in ours),
        "machine": f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}, load before the run "
        f"{os.getloadavg()[2]:.1f} (processes that wanted a core, mean of 15 minutes)",
    }


def _processor() -> str:
    with contextlib.suppress(OSError):
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
        if found:
            return found[1]
    return platform.machine()


def page(rows: list[Row], used: dict[str, str], repeat: int) -> str:
    """docs/comparison.md."""
    turns = "measured once" if repeat == 1 else f"the fastest of {repeat} turns"
    parts = [
        "# vgfc and ExecuTorch side by side",
        "",
        "Written by `python benchmarks/compare_executorch.py`; edit that file, not this one.",
        "",
        "*compile s* is the wall time from the result of `torch.export` to the VGF on disk and *CPU s* the processor time of",
        f"the same step, in a fresh process each; {turns}. *peak MiB* is the largest resident memory",
        "during that step above what the process had before it (model-converter, which ExecuTorch starts, is not in it).",
        "Operators are counted in the SPIR-V of the file, constants are none. *session bytes* is the device memory of the",
        "intermediates, as the scenario runner reports it. Files run on the same Vulkan device; *SQNR* is against PyTorch's",
        "fp32 result for the same input. int8 models are quantised by each project's own `VgfQuantizer`, weights per channel,",
        "on the same 8 inputs.",
        "",
    ]
    for precision, title in PRECISIONS.items():
        chosen = [row for row in rows if row.precision == precision]
        if not chosen:
            continue
        parts += [f"## {title}", "", f"| {' | '.join(COLUMNS)} |", f"|{'|'.join(['---', '---', *['---:'] * 9])}|"]
        parts += [f"| {' | '.join(cells(row))} |" for row in chosen]
        parts += ["", ratios(chosen), ""]
    parts += ["## Versions", ""] + [f"- {what}: {text}" for what, text in used.items()]
    return "\n".join(parts) + "\n"


def ratios(rows: list[Row]) -> str:
    """One sentence: how much faster, and how many operators and session bytes against ExecuTorch's."""
    theirs = [row for row in rows if row.tool == "ExecuTorch"]
    ours = [row for row in rows if row.tool == "vgfc"]
    speed = [other.seconds / own.seconds for other, own in zip(theirs, ours, strict=True)]
    operators = sum(row.operator_count for row in ours), sum(row.operator_count for row in theirs)
    sessions = sum(row.session_bytes for row in ours), sum(row.session_bytes for row in theirs)
    return (
        f"vgfc compiles {min(speed):.1f} to {max(speed):.1f} times as fast; in sum {operators[0]} operators against "
        f"{operators[1]} and {sessions[0]} session bytes against {sessions[1]}."
    )


def earlier_rows(path: Path) -> list[Row]:
    """The rows that a run which was broken off has left; none when there is no such file."""
    if not path.is_file():
        return []
    return [Row(**row) for row in json.loads(path.read_text(encoding="utf-8"))["rows"]]


def main() -> int:
    """Measure what was asked for, print the table and write the page when it is whole."""
    arguments = argparse.ArgumentParser("compare_executorch", description=(__doc__ or "").split("\n\n")[0])
    arguments.add_argument(
        "models", nargs="*", default=list(models.SPECS), metavar="model", help=", ".join(models.SPECS)
    )
    arguments.add_argument(
        "--precision", action="append", choices=list(PRECISIONS), help="may be repeated; all when not given"
    )
    arguments.add_argument("--repeat", type=int, default=3, metavar="N", help="compilations of each (default: 3)")
    arguments.add_argument("--json", metavar="FILE", help="write the figures there as well")
    arguments.add_argument("--resume", action="store_true", help="take what the file of --json has already from there")
    arguments.add_argument("--keep", metavar="FOLDER", default="build/comparison", help="where the VGF files stay")
    arguments.add_argument("--no-page", action="store_true", help="leave docs/comparison.md as it is")
    options = arguments.parse_args()
    unknown = [name for name in options.models if name not in models.SPECS]
    if unknown:
        arguments.error(f"no model is named '{unknown[0]}'; there are: {', '.join(models.SPECS)}")
    if options.repeat < 1:
        arguments.error(f"expected at least one turn, found --repeat {options.repeat}")
    if options.resume and not options.json:
        arguments.error("--resume needs --json, whose file holds what was measured")
    python = set_up()
    used = versions(python)
    rows: list[Row] = []
    earlier = earlier_rows(Path(options.json)) if options.resume else []
    console = Console(width=140)
    for precision in options.precision or PRECISIONS:
        table = Table(*COLUMNS, title=PRECISIONS[precision])
        for name in options.models:
            print(f"{name}, {precision} ...", file=sys.stderr, flush=True)
            found = [row for row in earlier if (row.model, row.precision) == (name, precision)]
            if not found:
                found = measure(python, name, precision, options.repeat, Path(options.keep).resolve())
            rows += found
            if options.json:  # after every model: a long run that is broken off is not lost
                content = json.dumps({"versions": used, "rows": [asdict(row) for row in rows]}, indent=2)
                Path(options.json).write_text(content + "\n", encoding="utf-8")
            for row in found:
                table.add_row(*cells(row))
        console.print(table)
        console.print(ratios([row for row in rows if row.precision == precision]), highlight=False)
    whole = options.precision is None and options.models == list(models.SPECS)
    if whole and not options.no_page:
        (ROOT / "docs" / "comparison.md").write_text(page(rows, used, options.repeat), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
