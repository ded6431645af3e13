"""What quantisation costs, layer by layer: each quantised tensor of a model beside its floating-point original."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node

from vgfc.diagnostics import CompileError

ORIGINAL = "vgf_original"  # key in the quantised graph's meta of the floating-point graph that it was made from
QUANTIZE = "quantized_decomposed.quantize_per_tensor"


@dataclass(frozen=True)
class LayerAccuracy:
    """One quantised tensor: `module` is the path of the module that makes it, `node` its name in the exported graph.

    SQNR is the ratio of the original's power to that of the difference, in decibels (infinite without difference);
    `cosine` that of the angle between the two; `largest_error` the largest difference of an element.
    """

    module: str
    node: str
    operator: str
    sqnr_db: float
    cosine: float
    largest_error: float


@dataclass(frozen=True)
class AccuracyReport:
    """All quantised tensors of a model, worst first."""

    layers: tuple[LayerAccuracy, ...]

    def __str__(self) -> str:
        width = max([len(layer.module or layer.node) for layer in self.layers] + [6])
        lines = [f"{'layer':<{width}}  {'operator':<24} {'SQNR dB':>8} {'cosine':>8} {'largest error':>14}"]
        lines += [
            f"{layer.module or layer.node:<{width}}  {layer.operator:<24} {layer.sqnr_db:8.1f} {layer.cosine:8.5f} "
            f"{layer.largest_error:14.6g}"
            for layer in self.layers
        ]
        return "\n".join(lines)

    def to_json(self) -> str:
        """The layers as a JSON list; a layer without any difference has null for its SQNR."""
        rows = [asdict(layer) for layer in self.layers]
        for row in rows:
            row["sqnr_db"] = row["sqnr_db"] if math.isfinite(row["sqnr_db"]) else None
        return json.dumps(rows, indent=2)


class _Recorder(Interpreter):
    """Runs a graph and keeps the results of some of its nodes."""

    def __init__(self, graph: GraphModule, wanted: set[str]) -> None:
        super().__init__(graph)
        self.wanted = wanted
        self.found: dict[str, torch.Tensor] = {}

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        if n.name in self.wanted:
            self.found[n.name] = result.detach().clone()
        return result


def layer_accuracy(quantized: GraphModule, inputs: Sequence[torch.Tensor]) -> AccuracyReport:
    """Run a model that `vgfc.quantize` returned beside its original and compare what is quantised in it.

    The quantised side is the PT2E graph, which the compiled one agrees with to a code. Raises CompileError for a model
    that does not carry its original.
    """
    original = quantized.meta.get(ORIGINAL)
    if original is None:
        raise CompileError("the model carries no floating-point original; quantize it with vgfc.quantize")
    points: dict[str, Node] = {}
    for node in quantized.graph.nodes:
        if node.op == "call_function" and str(node.target).startswith(QUANTIZE):
            source = node.args[0]
            reader = next((user for user in node.users if "dequantize" in str(user.target)), None)
            if isinstance(source, Node) and reader is not None:
                points[source.name] = reader
    exact = _Recorder(original, set(points))
    rounded = _Recorder(quantized, {reader.name for reader in points.values()})
    with torch.no_grad():
        exact.run(*inputs)
        rounded.run(*inputs)
    nodes = {node.name: node for node in original.graph.nodes}
    layers = [
        _compare(nodes[name], exact.found[name], rounded.found[reader.name])
        for name, reader in points.items()
        if name in exact.found
    ]
    return AccuracyReport(tuple(sorted(layers, key=lambda layer: layer.sqnr_db)))


def _compare(node: Node, wanted: torch.Tensor, found: torch.Tensor) -> LayerAccuracy:
    wanted, found = wanted.double().flatten(), found.double().flatten()
    error = wanted - found
    power, noise = float(wanted.square().sum()), float(error.square().sum())
    norms = float(wanted.norm() * found.norm())
    stack = node.meta.get("nn_module_stack") or {}
    paths = [path.removeprefix("L['self']").lstrip(".") for path, _ in stack.values()]
    operator = str(node.target).removeprefix("aten.").split(".")[0] if node.op == "call_function" else "input"
    return LayerAccuracy(
        module=next((path for path in reversed(paths) if path), ""),
        node=node.name,
        operator=operator,
        sqnr_db=math.inf if noise == 0 else 10 * math.log10(power / noise) if power else -math.inf,
        cosine=float(wanted @ found) / norms if norms else 1.0,
        largest_error=float(error.abs().max()) if error.numel() else 0.0,
    )
