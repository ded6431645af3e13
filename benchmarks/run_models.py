"""The six models through vgfc: times, operators, bytes and error of each, as a table and in JSON.

    python -m benchmarks.run_models [--precision fp32 int8 ...] [--json FILE] [--markdown FILE] [model ...]

A precision is a floating-point type, or a configuration of `vgfc.quantize` that is compiled for integers alone; those have
the ratio to PyTorch's quantised graph beside the one to its fp32 result.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.measure import EQUAL_DB, PRECISIONS, Figures, measure
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
    "to graph dB",
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
        decibels(figures.graph_sqnr_db),
    ]


def decibels(ratio_db: float | None) -> str:
    """The ratio to PyTorch's quantised graph as text."""
    if ratio_db is None:
        return ""
    return "equal" if ratio_db == EQUAL_DB else f"{ratio_db:.1f}"


def markdown(found: list[Figures]) -> str:
    """The figures that do not depend on the machine as a Markdown table, a row for each model and precision."""
    columns = ("model", "precision", "operators", "constant bytes", "session bytes", "SQNR dB", "to PyTorch's graph dB")
    lines = [f"| {' | '.join(columns)} |", f"|---|---|{'---:|' * (len(columns) - 2)}"]
    for figures in found:
        cells = (
            figures.model,
            figures.precision,
            str(figures.operator_count),
            str(figures.constant_bytes),
            str(figures.session_bytes),
            f"{figures.sqnr_db:.1f}",
            decibels(figures.graph_sqnr_db),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure the models asked for."""
    arguments = argparse.ArgumentParser("run_models", description=(__doc__ or "").split("\n\n")[0])
    arguments.add_argument("models", nargs="*", default=list(SPECS), metavar="model", help=", ".join(SPECS))
    arguments.add_argument(
        "--precision", nargs="+", choices=PRECISIONS, default=["fp32"], help="several may be given (default: fp32)"
    )
    arguments.add_argument("--json", metavar="FILE", help="write the figures there as well")
    arguments.add_argument(
        "--markdown", metavar="FILE", help="write what does not depend on the machine there as a table"
    )
    options = arguments.parse_args()
    unknown = [name for name in options.models if name not in SPECS]
    if unknown:
        arguments.error(f"no model is named '{unknown[0]}'; there are: {', '.join(SPECS)}")
    console = Console(width=150)
    found: list[Figures] = []
    for precision in options.precision:
        table = Table(*COLUMNS, title=f"vgfc, {precision}")
        for name in options.models:
            found.append(measure(name, precision))
            table.add_row(*row(found[-1]))
        console.print(table)
    for figures in found:
        kinds = ", ".join(
            f"{count} {kind}" for kind, count in sorted(figures.operators.items(), key=lambda item: -item[1])
        )
        console.print(f"{figures.model}, {figures.precision}: {kinds}", highlight=False)
    if options.json:
        Path(options.json).write_text(
            json.dumps([asdict(figures) for figures in found], indent=2) + "\n", encoding="utf-8"
        )
    if options.markdown:
        Path(options.markdown).write_text(markdown(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
