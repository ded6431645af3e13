"""The six models through vgfc: times, operators, bytes and error of each, as a table and in JSON.

python -m benchmarks.run_models [--precision fp32] [--json FILE] [model ...]
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.measure import FLOAT_TYPES, Figures, measure
from benchmarks.models import SPECS

COLUMNS = (
    "model",
    "import s",
    "passes s",
    "emit s",
    "ops",
    "constants",
    "file",
    "session",
    "load s",
    "run s",
    "SQNR dB",
)


def row(figures: Figures) -> list[str]:
    """A model's row of the table."""
    return [
        figures.model,
        f"{figures.import_seconds:.2f}",
        f"{figures.pass_seconds:.2f}",
        f"{figures.emit_seconds:.2f}",
        str(figures.operator_count),
        str(figures.constant_bytes),
        str(figures.vgf_bytes),
        str(figures.session_bytes),
        f"{figures.load_seconds:.2f}",
        f"{figures.run_seconds:.3f}",
        f"{figures.sqnr_db:.1f}",
    ]


def main() -> int:
    """Measure the models asked for."""
    arguments = argparse.ArgumentParser("run_models", description=(__doc__ or "").split("\n\n")[0])
    arguments.add_argument("models", nargs="*", default=list(SPECS), metavar="model", help=", ".join(SPECS))
    arguments.add_argument("--precision", choices=list(FLOAT_TYPES), default="fp32")
    arguments.add_argument("--json", metavar="FILE", help="write the figures there as well")
    options = arguments.parse_args()
    unknown = [name for name in options.models if name not in SPECS]
    if unknown:
        arguments.error(f"no model is named '{unknown[0]}'; there are: {', '.join(SPECS)}")
    table = Table(*COLUMNS, title=f"vgfc, {options.precision}")
    found = []
    for name in options.models:
        figures = measure(name, options.precision)
        found.append(figures)
        table.add_row(*row(figures))
    console = Console(width=140)
    console.print(table)
    for figures in found:
        kinds = ", ".join(
            f"{count} {kind}" for kind, count in sorted(figures.operators.items(), key=lambda item: -item[1])
        )
        console.print(f"{figures.model}: {kinds}", highlight=False)
    if options.json:
        Path(options.json).write_text(
            json.dumps([asdict(figures) for figures in found], indent=2) + "\n", encoding="utf-8"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
