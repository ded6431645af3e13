"""One self-contained HTML page; `page.html` beside this file draws the JSON that is put into it."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

FRAME_HEIGHT_PIXELS = 720


def framed(content: str) -> str:
    """A page as a notebook shows it: in a frame of its own, so that neither's styles touch the other."""
    style = f"width:100%;height:{FRAME_HEIGHT_PIXELS}px;border:0"
    return f'<iframe srcdoc="{html.escape(content)}" style="{style}"></iframe>'


def page(data: dict[str, Any]) -> str:
    """The page that draws `data`; source lines are shortened by the folder that they have in common."""
    folder = common_folder(list(_sources(data)))
    if folder:
        data = {**_shortened(data, folder), "folder": folder}
    template = (Path(__file__).parent / "page.html").read_text(encoding="utf-8")
    text = json.dumps(data, separators=(",", ":")).replace("</", "<\\/").replace("<!--", "<\\u0021--")
    return template.replace("@data@", text)


def common_folder(sources: Sequence[str]) -> str:
    """The folder that all absolute paths are in, with its last slash; empty where there is none but the root."""
    paths = [source for source in sources if source.startswith("/")]
    folder = os.path.commonpath([os.path.dirname(path) for path in paths]) if paths else ""
    return f"{folder}/" if folder not in ("", "/") else ""


def _sources(data: Any) -> Iterator[str]:
    """The values of every key `source` that are text, at any depth."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key == "source" and isinstance(value, str):
                yield value
            else:
                yield from _sources(value)
    elif isinstance(data, list):
        for value in data:
            yield from _sources(value)


def _shortened(data: Any, folder: str) -> Any:
    if isinstance(data, dict):
        return {
            key: value.removeprefix(folder) if key == "source" and isinstance(value, str) else _shortened(value, folder)
            for key, value in data.items()
        }
    return [_shortened(value, folder) for value in data] if isinstance(data, list) else data
