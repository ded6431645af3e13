"""A headless Chromium that looks at report pages: what it finds wrong, how long a page takes, what its figures say."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Without a network of its own Chromium would only log what it cannot reach.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass
class Opened:
    """A page in the browser: `problems` are console messages, errors and requests for anything but the file itself."""

    page: Any
    seconds: float
    problems: list[str] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        """The page's figures by name."""
        script = "cards => cards.map(card => [card.dataset.name, Number(card.dataset.value)])"
        return dict(self.page.locator("#figures .card").evaluate_all(script))


def find_chromium() -> str | None:
    """The browser, None where none is installed (Debian: apt-get install chromium)."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def browser() -> Iterator[Any]:
    """A running browser; its pages are made by `opened`."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        try:
            yield running
        finally:
            running.close()


def opened(running: Any, path: Path, width: int = 1280, height: int = 900, scheme: str = "light") -> Opened:
    """A file opened in a window of this size and colour scheme, without a network; seconds until it is drawn."""
    context = running.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, offline=True)
    page = context.new_page()
    result = Opened(page, 0.0)
    page.on("console", lambda message: result.problems.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: result.problems.append(f"error: {error}"))

    def note(request: Any) -> None:
        if not request.url.startswith(("data:", path.as_uri())):
            result.problems.append(f"request: {request.url}")

    page.on("request", note)
    start = time.perf_counter()
    page.goto(path.as_uri())
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    result.seconds = time.perf_counter() - start
    return result
