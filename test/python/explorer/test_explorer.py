"""Model Explorer with vgfc's extension: its server converts the files and gives data for the operators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from model_explorer.extension_manager import ExtensionManager

import vgfc
from vgfc.explorer.main import layer_error_data
from vgfc.program import Program
from vgfc.report import LayerError

TEXT = """
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = tosa.abs %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = "tosa.const"() {values = dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 9.0]]> : tensor<4x8xf32>}
    : () -> tensor<4x8xf32>
  %1 = tosa.add %0, %c : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = tosa.exp %1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
"""


@pytest.fixture(scope="module")
def manager() -> Any:
    found = ExtensionManager(["vgfc.explorer"])
    found.load_extensions()
    return found


def convert(manager: Any, path: Path) -> dict[str, Any]:
    command = {"cmdId": "convert", "modelPath": str(path), "settings": {}, "extensionId": "vgfc"}
    (graph,) = manager.run_cmd({**command, "deleteAfterConversion": False})["graphs"]
    found: dict[str, Any] = graph
    return found


def provided(manager: Any, provider: str, path: Path) -> Any:
    extension = next(item for item in manager.extensions if item.metadata.id == provider)
    return extension.ext_class().run(provider, str(path), "model", {}, None)


@pytest.fixture(scope="module")
def program() -> Program:
    return vgfc.compile_mlir(TEXT)


@pytest.fixture(scope="module")
def vgf(program: Program, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explorer") / "model.vgf"
    program.save(path)
    return path


def test_it_is_loaded_for_its_files(manager: Any) -> None:
    (found,) = [item for item in manager.get_extensions_metadata() if item["id"] == "vgfc"]
    assert found["fileExts"] == ["vgf", "mlir", "mlirbc", "tosa"]


def test_a_vgf_becomes_a_graph_with_segments_as_groups(manager: Any, vgf: Path) -> None:
    graph = convert(manager, vgf)
    labels = [node["label"] for node in graph["nodes"]]
    assert labels[1:4] == ["abs", "add", "exp"]
    assert len({node["namespace"] for node in graph["nodes"]}) == 1
    nodes = {node["id"]: node for node in graph["nodes"]}
    (add,) = [node for node in graph["nodes"] if node["label"] == "add"]
    assert [nodes[edge["sourceNodeId"]]["label"] for edge in add["incomingEdges"]] == ["abs"]
    assert {"key": "constants", "value": "4x8xf32"} in add["attrs"]
    ((group, attributes),) = graph["groupNodeAttributes"].items()
    assert group.endswith("(graph)") and attributes["session bytes"] == "256"


def test_a_tosa_module_is_shown_as_it_is(manager: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.mlir"
    path.write_text(TEXT, encoding="utf-8")
    assert [node["label"] for node in convert(manager, path)["nodes"]] == ["input_0", "abs", "add", "exp", "output_0"]


def test_values_between_segments_are_edges(manager: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.mlir"
    path.write_text(str(vgfc.compile_mlir(TEXT, segment_of="exp:host").module), encoding="utf-8")
    graph = convert(manager, path)
    assert len({node["namespace"] for node in graph["nodes"]}) == 2
    crossing = [
        (edge["sourceNodeId"], node["id"])
        for node in graph["nodes"]
        for edge in node["incomingEdges"]
        if edge["sourceNodeId"].split("/")[0] != node["id"].split("/")[0]
    ]
    assert len(crossing) == 1


@pytest.mark.parametrize(
    ("provider", "wanted"),
    [
        ("vgfc_result_bytes", {"abs": 128, "add": 128, "exp": 128}),
        ("vgfc_constant_bytes", {"abs": 0, "add": 128, "exp": 0}),
        ("vgfc_live_bytes", {"abs": 128, "add": 256, "exp": 128}),
    ],
)
def test_providers_give_bytes_for_each_operator(manager: Any, vgf: Path, provider: str, wanted: dict[str, int]) -> None:
    labels = {node["id"]: node["label"] for node in convert(manager, vgf)["nodes"]}
    result = provided(manager, provider, vgf)
    assert result.error == ""
    assert {labels[key]: data.value for key, data in result.result.results.items()} == wanted


def test_errors_of_layers_are_on_their_operators() -> None:
    text = TEXT.replace(
        "tosa.exp %1 : (tensor<4x8xf32>) -> tensor<4x8xf32>",
        'tosa.exp %1 : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("head.exp")',
    )
    report = vgfc.compile_mlir(text).report()
    data = layer_error_data(
        report.graph, [LayerError("head.exp", 31.5, 0.99, 0.25), LayerError("tail", 60.0, 1.0, 0.0)]
    )
    ((key, result),) = data.results.items()
    number, index = map(int, key.split("/"))
    assert report.graph.segments[number].nodes[index].name == "exp"
    assert result.value == 31.5


def test_a_damaged_file_is_a_message(manager: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.vgf"
    path.write_bytes(b"nothing")
    assert "not a VGF file" in provided(manager, "vgfc_result_bytes", path).error
