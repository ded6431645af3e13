"""What the page of a report draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from vgfc.report.graph import ProgramGraph, Segment
from vgfc.report.html import page
from vgfc.report.layout import layered
from vgfc.report.memory import memory_data

if TYPE_CHECKING:
    from vgfc.report import LayerError, Report


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
