"""The report page of each of the six models in headless Chromium: time to open, problems, figures beside the benchmark's.

    python -m benchmarks.report_pages [--json FILE] [--screenshot FILE.png] [model ...]

Fails where a page has a console message, takes 2 seconds or more, or shows another figure than `benchmarks.run_models`.
`--screenshot` writes a picture of the first model's page.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import vgfc
from benchmarks import browser, models
from benchmarks.measure import figures_of

LIMIT_SECONDS = 2.0
COMPARED = ("operator_count", "segments", "constant_bytes", "vgf_bytes", "session_bytes")


def look(name: str, folder: Path, running: Any, screenshot: Path | None) -> dict[str, Any]:
    """Compile a model, run it, open its page; what was seen, with the names of figures that differ."""
    model, inputs, _ = models.get(name)
    program = vgfc.compile(model, inputs)
    measured = figures_of(name, "fp32", 0.0, program, inputs, model(*inputs))
    path = folder / f"{name}.html"
    path.write_text(program.report().to_html(name), encoding="utf-8")
    found = browser.opened(running, path)
    shown = found.figures()
    if screenshot is not None:
        take_picture(browser.opened(running, path, width=1000).page, screenshot)
    return {
        "model": name,
        "page_bytes": path.stat().st_size,
        "open_seconds": found.seconds,
        "problems": found.problems,
        "different": [key for key in COMPARED if shown[key] != getattr(measured, key)],
        **{key: shown[key] for key in COMPARED},
    }


def take_picture(page: Any, path: Path) -> None:
    """A picture of a page from its graph to the end of the first session, with an operator chosen."""
    page.locator("#graph-search").fill("concat")
    page.locator("#graph-search").press("Enter")
    page.evaluate("window.scrollTo(0, 0)")
    first = page.locator("#graph").bounding_box()
    last = page.locator("#memory .session").first.bounding_box()
    height = last["y"] + last["height"] - first["y"] + 20
    clip = {"x": 0, "y": first["y"] - 20, "width": 1000, "height": height + 20}
    page.screenshot(path=path, clip=clip, full_page=True)


def main() -> int:
    """Look at the pages asked for; returns 1 where one is not as it should be."""
    parser = argparse.ArgumentParser("report_pages", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("models", nargs="*", default=list(models.SPECS), metavar="model", help=", ".join(models.SPECS))
    parser.add_argument("--json", metavar="FILE", help="write what was seen there as well")
    parser.add_argument("--screenshot", type=Path, metavar="FILE.png", help="write a picture of the first page")
    options = parser.parse_args()
    if browser.find_chromium() is None:
        parser.error("no Chromium here (apt-get install chromium)")
    rows = []
    with tempfile.TemporaryDirectory() as folder, browser.browser() as running:
        for number, name in enumerate(options.models):
            rows.append(look(name, Path(folder), running, options.screenshot if number == 0 else None))
    table = Table("model", "page kB", "open s", "problems", "figures that differ", *COMPARED)
    for row in rows:
        numbers = [str(int(row[key])) for key in COMPARED]
        problems, different = str(len(row["problems"])), ", ".join(row["different"]) or "none"
        table.add_row(
            row["model"], f"{row['page_bytes'] / 1000:.0f}", f"{row['open_seconds']:.2f}", problems, different, *numbers
        )
    Console(width=140).print(table)
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return int(any(row["problems"] or row["different"] or row["open_seconds"] >= LIMIT_SECONDS for row in rows))


if __name__ == "__main__":
    sys.exit(main())
