"""The module that Model Explorer loads: an adapter for models, and providers of data for their operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from model_explorer import (
    Adapter,
    AdapterMetadata,
    ModelExplorerGraphs,
    graph_builder,
    node_data_builder,
)
from model_explorer.node_data_provider import (
    GetConfigEditorsResult,
    NodeDataProvider,
    NodeDataProviderFilter,
    NodeDataProviderMetadata,
    NodeDataProviderResult,
)

from vgfc.diagnostics import CompileError
from vgfc.frontend.load import load
from vgfc.passmanager import run_pipeline
from vgfc.pipeline import PIPELINES
from vgfc.report import LayerError
from vgfc.report.graph import ProgramGraph, Segment, graph_of
from vgfc.report.memory import session_memory

ADAPTER = "vgfc"
FILE_EXTENSIONS = ["vgf", "mlir", "mlirbc", "tosa"]
GRADIENT = ("#ffffff", "#f4a261")


def read_graph(path: str) -> ProgramGraph:
    """The segments in a file; raises CompileError where it cannot be read.

    A module that is not cut into segments is shown as one graph. The torch dialect is converted to TOSA first.
    """
    module = load(path)
    if Path(path).suffix in (".mlir", ".mlirbc") and "torch." in str(module.operation.get_asm(large_elements_limit=8)):
        run_pipeline(module, PIPELINES["torch-to-tosa"](), PIPELINES)
    return graph_of(module)


def node_id(segment: int, node: int) -> str:
    """How Model Explorer knows a node."""
    return f"{segment}/{node}"


class VgfcAdapter(Adapter):  # type: ignore[misc]
    """Converts .vgf and TOSA files to Model Explorer's graphs."""

    metadata = AdapterMetadata(
        id=ADAPTER,
        name="vgfc",
        description="VGF files and TOSA modules, with segments as groups",
        fileExts=FILE_EXTENSIONS,
    )

    def convert(self, model_path: str, settings: dict[str, Any]) -> ModelExplorerGraphs:
        """One graph with all segments."""
        graph = read_graph(model_path)
        nodes = [
            explorer_node(graph, segment, number, index)
            for number, segment in enumerate(graph.segments)
            for index in range(len(segment.nodes))
        ]
        by_id = {node.id: node for node in nodes}
        for link in graph.links:
            edge = graph_builder.IncomingEdge(sourceNodeId=node_id(*link.source))
            by_id[node_id(*link.target)].incomingEdges.append(edge)
        attributes = {
            group_of(segment): {
                "kind": segment.kind,
                "operators": str(sum(node.kind == "operator" for node in segment.nodes)),
                **({"session bytes": str(session_memory(segment).size_bytes)} if segment.kind == "graph" else {}),
            }
            for segment in graph.segments
        }
        shown = graph_builder.Graph(id=Path(model_path).stem, nodes=nodes, groupNodeAttributes=attributes)
        return {"graphs": [shown]}


def group_of(segment: Segment) -> str:
    """The group that a segment's nodes are in."""
    return f"{segment.name} ({segment.kind})"


def explorer_node(graph: ProgramGraph, segment: Segment, number: int, index: int) -> graph_builder.GraphNode:
    """A node with its edges from nodes of the same segment."""
    node = segment.nodes[index]
    texts = {
        "module": node.path,
        "source": node.source,
        "on the host because": node.reason,
        "constants": ", ".join(graph.constants[constant].type for constant in node.constants),
        **dict(node.attributes),
    }
    sources = [edge for edge in segment.edges if edge.target == index]
    key_value = graph_builder.KeyValue
    return graph_builder.GraphNode(
        id=node_id(number, index),
        label=node.name,
        namespace=group_of(segment),
        attrs=[key_value(key=key, value=text) for key, text in texts.items() if text],
        incomingEdges=[
            graph_builder.IncomingEdge(
                sourceNodeId=node_id(number, edge.source),
                sourceNodeOutputId=str(edge.result),
                targetNodeInputId=str(place),
            )
            for place, edge in enumerate(sources)
        ],
        outputsMetadata=[
            graph_builder.MetadataItem(
                id=str(result),
                attrs=[
                    key_value(key="tensor_shape", value=text),
                    key_value(key="bytes", value=str(node.result_bytes[result])),
                ],
            )
            for result, text in enumerate(node.results)
        ],
    )


def _provider(name: str, label: str, description: str) -> NodeDataProviderMetadata:
    where = NodeDataProviderFilter(modelFileExts=FILE_EXTENSIONS, adapterIds=[ADAPTER])
    return NodeDataProviderMetadata(id=name, name=label, description=description, icon="memory", filter=where)


class VgfcNodeData(NodeDataProvider):  # type: ignore[misc]
    """Bytes for each operator."""

    metadata = [  # noqa: RUF012 - how Model Explorer declares it
        _provider("vgfc_result_bytes", "Result bytes", "what each operator's results take"),
        _provider("vgfc_constant_bytes", "Constant bytes", "what the constants that each operator reads take"),
        _provider("vgfc_live_bytes", "Live bytes", "what is live in the session while each operator runs"),
    ]

    def get_config_editors(self, provider_id: str) -> GetConfigEditorsResult:
        """There is nothing to choose."""
        return GetConfigEditorsResult(configEditors=[])

    def run(
        self, provider_id: str, model_path: str, graph_id: str, config_values: dict[str, Any], graph: Any
    ) -> NodeDataProviderResult:
        """The numbers of one provider for the file's operators."""
        try:
            found = read_graph(model_path)
        except CompileError as error:
            return NodeDataProviderResult(error=error.message)
        label = next(data.name for data in self.metadata if data.id == provider_id)
        return NodeDataProviderResult(result=node_data(label, operator_bytes(found, provider_id)))


def operator_bytes(graph: ProgramGraph, provider_id: str) -> dict[str, int]:
    """Bytes by node id, for operators alone."""
    values = {}
    for number, segment in enumerate(graph.segments):
        operators = [index for index, node in enumerate(segment.nodes) if node.kind == "operator"]
        live = session_memory(segment).live_bytes if provider_id == "vgfc_live_bytes" else ()
        for place, index in enumerate(operators):
            node = segment.nodes[index]
            if provider_id == "vgfc_live_bytes":
                value = live[place] if segment.kind == "graph" else 0
            elif provider_id == "vgfc_constant_bytes":
                value = sum(graph.constants[constant].size_bytes for constant in node.constants)
            else:
                value = sum(node.result_bytes)
            values[node_id(number, index)] = value
    return values


def layer_error_data(graph: ProgramGraph, layer_errors: Sequence[LayerError]) -> node_data_builder.GraphNodeData:
    """The SQNR in dB of each layer on its operators; `save_to_file` writes what Model Explorer loads as node data."""
    by_path = {error.layer: error.sqnr_db for error in layer_errors}
    values = {
        node_id(number, index): by_path[node.path]
        for number, segment in enumerate(graph.segments)
        for index, node in enumerate(segment.nodes)
        if node.path in by_path
    }
    return node_data("SQNR dB", values)


def node_data(label: str, values: Mapping[str, float]) -> node_data_builder.GraphNodeData:
    """Numbers by node id as Model Explorer shows them, from white to orange."""
    return node_data_builder.GraphNodeData(
        name=label,
        results={key: node_data_builder.NodeDataResult(value=value) for key, value in values.items()},
        gradient=[
            node_data_builder.GradientItem(stop=stop, bgColor=colour, textColor="#000000")
            for stop, colour in enumerate(GRADIENT)
        ],
    )
