"""ONNX models go through the torch dialect to TOSA, and compute what ONNX's own evaluator computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from vgfc.diagnostics import CompileError
from vgfc.frontend.load import load
from vgfc.frontend.onnx import read_onnx
from vgfc.interface import ports
from vgfc.numerics import run_model
from vgfc.passmanager import run_pipeline
from vgfc.pipeline import PIPELINES
from vgfc.tools import vgf_translate


def model(batch: int | str = 1, operator: str = "Relu") -> onnx.ModelProto:
    generator = np.random.default_rng(0)
    weights = {
        "w": generator.normal(size=(8, 3, 3, 3)).astype(np.float32),
        "b": generator.normal(size=8).astype(np.float32),
        "g": generator.normal(size=(8 * 16, 5)).astype(np.float32),
        "shape": np.array([-1, 128], np.int64),
        "keep": np.array([True, False, True, True, False]),
        "zero": np.zeros((), np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["image", "w", "b"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node(operator, ["c"], ["r"]),
        helper.make_node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Reshape", ["p", "shape"], ["f"]),
        helper.make_node("MatMul", ["f", "g"], ["m"]),
        helper.make_node("Where", ["keep", "m", "zero"], ["k"]),
        helper.make_node("Softmax", ["k"], ["scores"], axis=-1),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [batch, 3, 8, 8])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [batch, 5])],
        [numpy_helper.from_array(values, name) for name, values in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_what_is_imported_computes_the_same() -> None:
    module = read_onnx(model().SerializeToString())
    run_pipeline(module, PIPELINES["torch-to-tosa"](), PIPELINES)
    inputs, outputs = ports(module)
    assert [port.name for port in (*inputs, *outputs)] == ["image", "scores"]
    image = np.random.default_rng(1).normal(size=(1, 3, 8, 8)).astype(np.float32)
    (wanted,) = ReferenceEvaluator(model()).run(None, {"image": image})
    np.testing.assert_allclose(run_model(module, [image])[0], wanted, rtol=1e-5, atol=1e-6)


def test_a_dynamic_input_needs_its_shape(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(model("N").SerializeToString())
    with pytest.raises(
        CompileError, match=r"input 'image': its dimension 0 is dynamic \('N'\); give the input's shape"
    ):
        load(path)
    assert ports_of(path, {"image": [2, 3, 8, 8]}) == [("image", (2, 3, 8, 8))]
    with pytest.raises(CompileError, match="the model has no input 'x'; its inputs are: image"):
        load(path, {"x": [1]})
    with pytest.raises(CompileError, match=r"input 'image': expected 4 extents, found \[1, 3\]"):
        load(path, {"image": [1, 3]})


def ports_of(path: Path, shapes: dict[str, list[int]]) -> list[tuple[str, tuple[int, ...]]]:
    module = load(path, shapes)
    run_pipeline(module, PIPELINES["torch-to-tosa"](), PIPELINES)
    return [(port.name, port.shape) for port in ports(module)[0]]


def test_weights_outside_the_file_are_found(tmp_path: Path) -> None:
    onnx.save_model(
        model(), str(tmp_path / "net.onnx"), save_as_external_data=True, location="weights.bin", size_threshold=0
    )
    module = load(tmp_path / "net.onnx")
    run_pipeline(module, PIPELINES["torch-to-tosa"](), PIPELINES)
    image = np.ones((1, 3, 8, 8), np.float32)
    (wanted,) = ReferenceEvaluator(model()).run(None, {"image": image})
    np.testing.assert_allclose(run_model(module, [image])[0], wanted, rtol=1e-5, atol=1e-6)
    (tmp_path / "weights.bin").unlink()
    with pytest.raises(CompileError, match="invalid ONNX model"):
        load(tmp_path / "net.onnx")


def test_what_cannot_be_read_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CompileError, match=r"invalid ONNX model: .*NoSuchOperator"):
        read_onnx(model(operator="NoSuchOperator").SerializeToString())
    path = tmp_path / "broken.onnx"
    path.write_bytes(model().SerializeToString()[:200])
    assert vgf_translate.main(["--import-onnx", str(path)]) == 1
    assert "not an ONNX file: its protocol buffer cannot be decoded" in capsys.readouterr().err
