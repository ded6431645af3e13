"""The report as one self-contained HTML page; `page.html` beside this file draws the JSON that is put into it."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vgfc.report.graph import ProgramGraph, Segment
from vgfc.report.layout import layered
from vgfc.report.memory import MemoryReport

if TYPE_CHECKING:
    from vgfc.report import LayerError, Report

FRAME_HEIGHT_PIXELS = 720


def report_page(report: Report, title: str, layer_errors: Sequence[LayerError]) -> str:
    """The page of a report."""
    kinds = report.segments
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    segments = f"{len(kinds)} segment{'s' if len(kinds) != 1 else ''} ({counts})"
    return page(
        {
            "title": title,
            "subtitle": f"{report.operator_count} operators in {segments}",
            "figures": figures(report),
            "steps": [
                {
                    "text": step.text,
                    "seconds": step.seconds,
                    "operators": step.operators,
                    "kinds": step.kinds,
                    "constant_bytes": step.constant_bytes,
                    "value_bytes": step.value_bytes,
                }
                for step in report.steps
            ],
            **graph_data(report.graph),
            "memory": memory_data(report.memory, report.graph.segments),
            "explanations": [
                {
                    "operator": outside.operator,
                    "reason": f"{outside.reason}; {outside.remedy}" if outside.remedy else outside.reason,
                    "path": outside.module_path,
                    "source": f"{outside.file}:{outside.line}" if outside.file else None,
                }
                for outside in report.not_in_graph
            ],
            "accuracy": [asdict(error) for error in sorted(layer_errors, key=lambda error: error.sqnr_db)],
        }
    )


def memory_page(memory: MemoryReport, title: str) -> str:
    """A page with the memory alone."""
    return page({"title": title, "memory": memory_data(memory, ())})


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


def figures(report: Report) -> list[dict[str, Any]]:
    """The numbers at the top, by the names that `Report.to_json` and the benchmark commands use."""
    rows: list[tuple[str, str, str, float]] = [
        ("operator_count", "operators", "count", report.operator_count),
        ("segments", "segments", "count", len(report.segments)),
        ("constant_bytes", "constants", "bytes", report.constant_bytes),
        ("session_bytes", "sessions", "bytes", report.memory.session_bytes),
        ("vgf_bytes", "file", "bytes", report.vgf_bytes),
        ("input_bytes", "inputs", "bytes", report.input_bytes),
        ("output_bytes", "outputs", "bytes", report.output_bytes),
        ("import_seconds", "import", "seconds", report.import_seconds),
        ("pass_seconds", f"{len(report.steps)} passes", "seconds", report.pass_seconds),
        ("emit_seconds", "emit", "seconds", report.emit_seconds),
    ]
    return [{"name": name, "label": label, "unit": unit, "value": value} for name, label, unit, value in rows]


def graph_data(graph: ProgramGraph) -> dict[str, Any]:
    """Segments with their places in the drawing, links between them, constants."""
    return {
        "segments": [segment_data(segment) for segment in graph.segments],
        "links": [{"source": link.source, "target": link.target} for link in graph.links],
        "constants": [
            {
                "type": constant.type,
                "bytes": constant.size_bytes,
                "stored": constant.stored,
                "readers": constant.readers,
                "source": constant.source,
            }
            for constant in graph.constants
        ],
    }


def segment_data(segment: Segment) -> dict[str, Any]:
    """A segment as the page draws it; places are [column, layer]."""
    layout = layered(len(segment.nodes), [(edge.source, edge.target) for edge in segment.edges])
    return {
        "name": segment.name,
        "kind": segment.kind,
        "columns": layout.columns,
        "layers": layout.layers,
        "nodes": [
            {
                "kind": node.kind,
                "name": node.name,
                "results": node.results,
                "bytes": sum(node.result_bytes),
                "source": node.source,
                "path": node.path,
                "attributes": node.attributes,
                "constants": node.constants,
                "reason": node.reason,
                "place": _rounded(place),
            }
            for node, place in zip(segment.nodes, layout.places, strict=True)
        ],
        "edges": [
            {
                "source": edge.source,
                "target": edge.target,
                "type": segment.nodes[edge.source].results[edge.result],
                "route": [_rounded(place) for place in route],
            }
            for edge, route in zip(segment.edges, layout.routes, strict=True)
        ],
    }


def _rounded(place: tuple[float, int]) -> tuple[float, int]:
    return round(place[0], 3), place[1]


def memory_data(memory: MemoryReport, segments: Sequence[Segment]) -> dict[str, Any]:
    """The memory as the page draws it; `index` is the segment's number in the drawing of the graph."""
    numbers = {segment.name: number for number, segment in enumerate(segments)}
    return {
        "session_bytes": memory.session_bytes,
        "between_bytes": memory.between_bytes,
        "constant_bytes": memory.constant_bytes,
        "input_bytes": memory.input_bytes,
        "output_bytes": memory.output_bytes,
        "between_bound_bytes": memory.between_bound_bytes,
        "between": [
            {
                "segment": value.segment,
                "readers": value.readers,
                "type": value.type,
                "group": value.group,
                "lower": value.lower,
                "upper": value.upper,
                "size_bytes": value.size_bytes,
            }
            for value in memory.between
        ],
        "sessions": [
            {
                "segment": session.segment,
                "index": numbers.get(session.segment, 0),
                "size_bytes": session.size_bytes,
                "bound_bytes": session.bound_bytes,
                "peak_instant": session.peak_instant,
                "live_bytes": session.live_bytes,
                "blocks": [
                    {
                        "node": block.node,
                        "name": block.name,
                        "type": block.type,
                        "source": block.source,
                        "path": block.path,
                        "lower": block.lower,
                        "upper": block.upper,
                        "offset_bytes": block.offset_bytes,
                        "size_bytes": block.size_bytes,
                    }
                    for block in session.blocks
                ],
            }
            for session in memory.sessions
        ],
    }
