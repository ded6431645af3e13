"""torch.compile(backend="vgf") on the six models: programs made, time, and agreement with eager PyTorch.

    python -m benchmarks.torch_compile [--device auto] [--json FILE] [model ...]

Fails where a model agrees with eager to less than 100 dB, or does not become one program.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from benchmarks import models
from benchmarks.measure import sqnr_db
from vgfc.program import DEVICES, Program

REQUIRED_DB = 100.0


def run(name: str, device: str) -> dict[str, Any]:
    """Compile and run one model both ways."""
    torch._dynamo.reset()
    model, inputs, _ = models.get(name)
    programs: list[Program] = []
    compiled = torch.compile(model, backend="vgf", options={"programs": programs, "device": device})
    with torch.no_grad():
        start = time.perf_counter()
        found = compiled(*inputs)
        first_seconds = time.perf_counter() - start
        start = time.perf_counter()
        compiled(*inputs)
        second_seconds = time.perf_counter() - start
        wanted = model(*inputs)
    return {
        "model": name,
        "programs": len(programs),
        "operators": sum(program.report().operator_count for program in programs),
        "first_seconds": first_seconds,
        "second_seconds": second_seconds,
        "sqnr_db": sqnr_db(wanted, found),
    }


def main() -> int:
    """Run the models asked for."""
    parser = argparse.ArgumentParser("torch_compile", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("models", nargs="*", default=list(models.SPECS), metavar="model", help=", ".join(models.SPECS))
    parser.add_argument("--device", choices=DEVICES, default="auto")
    parser.add_argument("--json", metavar="FILE", help="write the figures there as well")
    options = parser.parse_args()
    rows = [run(name, options.device) for name in options.models]
    table = Table("model", "programs", "operators", "first call s", "second call s", "SQNR dB")
    for row in rows:
        times = [f"{row[key]:.2f}" for key in ("first_seconds", "second_seconds")]
        table.add_row(row["model"], str(row["programs"]), str(row["operators"]), *times, f"{row['sqnr_db']:.1f}")
    Console(width=120).print(table)
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return int(any(row["sqnr_db"] < REQUIRED_DB or row["programs"] != 1 for row in rows))


if __name__ == "__main__":
    sys.exit(main())
