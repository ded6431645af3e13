"""Faults planted in passes are found by the numbers, with the pass and the operator named; sound passes are left in peace."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from torch_mlir import ir

from vgfc import ir as helpers
from vgfc.bisect import bisect_model
from vgfc.compiler import compile as compile_model
from vgfc.dialect import make_context
from vgfc.interface import Port, ports
from vgfc.numerics import NumericsError, VerifyNumerics, compare, generate_inputs, relative_error
from vgfc.passmanager import Pass, find_pass, parse_pipeline, run_steps
from vgfc.pipeline import PIPELINES
from vgfc.tools import vgf_bisect, vgf_opt

# Line numbers matter: each operator that a fault is planted in has a line of its own.
MODEL = """\
func.func @main(%x: tensor<1x4x4x2xf32>, %q: tensor<2x3xi8>) -> (tensor<1x4x4x3xf32>, tensor<2x3xi8>) {
  %w = "tosa.const"() {values = dense<[[[[0.5, -1.0]]], [[[2.0, 0.25]]], [[[-0.75, 1.5]]]]> : tensor<3x1x1x2xf32>}
    : () -> tensor<3x1x1x2xf32>
  %b = "tosa.const"() {values = dense<[0.1, 0.2, -0.3]> : tensor<3xf32>} : () -> tensor<3xf32>
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %c = tosa.conv2d %x, %w, %b, %z, %z {
    acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>
  } : (tensor<1x4x4x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x3xf32>
  %s = tosa.sigmoid %c : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %d = tosa.sub %c, %s : (tensor<1x4x4x3xf32>, tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %e = tosa.exp %d : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %m = "tosa.const"() {values = dense<1300000000> : tensor<1xi32>} : () -> tensor<1xi32>
  %h = "tosa.const"() {values = dense<31> : tensor<1xi8>} : () -> tensor<1xi8>
  %p = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.rescale %q, %m, %h, %p, %p {
    scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false
  } : (tensor<2x3xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x3xi8>
  %t = tosa.reverse %r {axis = 1 : i32} : (tensor<2x3xi8>) -> tensor<2x3xi8>
  return %e, %t : tensor<1x4x4x3xf32>, tensor<2x3xi8>
}
"""


def every(module: ir.Module, name: str) -> list[ir.Operation]:
    return [op for function in helpers.functions(module) for op in helpers.operations(function) if op.name == name]


def wrong_constant(module: ir.Module) -> None:
    """One weight of the convolution moves a little."""
    (convolution,) = every(module, "tosa.conv2d")
    constant = helpers.defining(convolution.operands[1])
    assert constant is not None
    values = helpers.array_of(constant.attributes["values"]).copy()
    values.reshape(-1)[3] += 0.01
    constant.attributes["values"] = helpers.dense(values, helpers.element_type(constant.results[0]))


def swapped_operand(module: ir.Module) -> None:
    """a - b becomes b - a."""
    (subtraction,) = every(module, "tosa.sub")
    left, right = subtraction.operands
    subtraction.operands[0], subtraction.operands[1] = right, left


def dropped_rescale(module: ir.Module) -> None:
    """A rescale whose types happen to agree goes away."""
    (rescale,) = every(module, "tosa.rescale")
    rescale.results[0].replace_all_uses_with(rescale.operands[0])
    rescale.erase()


Plant = Callable[[Callable[[ir.Module], None], str], None]

# fault, the pass it is planted in, the operator and the line that have to be named
FAULTS = [
    (wrong_constant, "vgf-shrink-constants", "tosa.conv2d", 6),
    (swapped_operand, "vgf-fold-clamps", "tosa.sub", 10),
    (dropped_rescale, "vgf-fold-slices", "tosa.rescale", 15),
]


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Plant:
    """Makes a registered pass do its work and then some harm, once."""

    def plant_fault(fault: Callable[[ir.Module], None], name: str) -> None:
        cls = find_pass(name)
        assert cls is not None
        sound = cls.run
        done = []

        def run(self: Pass, module: ir.Module) -> None:
            sound(self, module)
            if not done:
                done.append(True)
                fault(module)

        monkeypatch.setattr(cls, "run", run)

    return plant_fault


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)  # a reproducer is left in the current folder
    path = tmp_path / "model.mlir"
    path.write_text(MODEL)
    return str(path)


@dataclass(frozen=True)
class Planted:
    """A pass that does its work and then some harm, once, and the operator and the line that have to be named."""

    pass_name: str
    operator: str
    line: int


@pytest.fixture(params=FAULTS, ids=[fault.__name__ for fault, *_ in FAULTS])
def planted(request: pytest.FixtureRequest, plant: Plant) -> Planted:
    fault, name, operator, line = request.param
    plant(fault, name)
    return Planted(name, operator, line)


def test_vgf_opt_names_pass_and_operator(planted: Planted, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert vgf_opt.main([model, "--vgf-pipeline=tosa-optimize", "--verify-numerics", "-o", "out.mlir"]) == 1
    message = capsys.readouterr().err
    assert f"pass '{planted.pass_name}" in message
    assert f"'{planted.operator}' ({model}:{planted.line}" in message
    assert not Path("out.mlir").exists()
    reproducer = Path(f"{planted.pass_name}.reproducer.mlir")
    assert f"reproducer written to {reproducer}" in message
    # the reproducer is the module before the pass, and that pass: its fault is planted only once, so that it is sound now
    assert planted.pass_name in reproducer.read_text()
    assert vgf_opt.main(["--run-reproducer", str(reproducer), "--verify-numerics", "-o", "out.mlir"]) == 0


def test_vgf_bisect_names_pass_and_operator(planted: Planted, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert vgf_bisect.main([model, "--no-vulkan", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["jump"].startswith(f"after {planted.pass_name}")
    named = [found["first_different"], found["first_gone"]]
    assert {"operation": planted.operator, "source": f"{model}:{planted.line}:8"} in named


def test_sound_passes_are_left_in_peace(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert vgf_opt.main([model, "--vgf-pipeline=tosa-to-vgf", "--verify-numerics", "-o", "out.mlir"]) == 0
    assert "passes checked" in capsys.readouterr().err


def test_a_fault_in_lowering_is_found_in_what_is_written(
    plant: Plant, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """After the last pass the module is encoded and read back, so that lowering is checked as a whole."""

    def wrong_attribute(module: ir.Module) -> None:
        for op in module.body.operations:
            if op.operation.name == "builtin.module":
                (function,) = op.operation.regions[0].blocks[0].operations
                (convolution,) = [found for found in helpers.operations(function) if found.name == "tosa.conv2d"]
                convolution.operands[1] = convolution.operands[1]
                (subtraction,) = [found for found in helpers.operations(function) if found.name == "tosa.sub"]
                left, right = subtraction.operands
                subtraction.operands[0], subtraction.operands[1] = right, left

    plant(wrong_attribute, "vgf-isolate-graph-segments")
    assert vgf_opt.main([model, "--vgf-pipeline=tosa-to-vgf", "--verify-numerics", "-o", "out.mlir"]) == 1
    assert "pass 'vgf-isolate-graph-segments' changes the result" in capsys.readouterr().err


def test_inputs_can_be_given(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", np.zeros((1, 4, 4, 2), np.float32))
    np.save(tmp_path / "q.npy", np.zeros((2, 3), np.int8))
    inputs = ["--numerics-input", str(tmp_path / "x.npy"), "--numerics-input", str(tmp_path / "q.npy")]
    arguments = [model, "-p", "vgf-fold-clamps", "--verify-numerics=1e-6", "-o", "out.mlir"]
    assert vgf_opt.main([*arguments, *inputs]) == 0
    assert "1 passes checked" in capsys.readouterr().err
    assert vgf_opt.main([*arguments, *inputs[:2]]) == 1
    assert "expected 2 inputs (input_0, input_1) to verify numerics with, found 1" in capsys.readouterr().err


def test_nothing_that_can_be_run_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "torch.mlir"
    path.write_text(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %0 = math.exp %x : tensor<2xf32>\n"
        "  return %0 : tensor<2xf32>\n}\n"
    )
    assert vgf_opt.main([str(path), "-p", "vgf-fold-clamps", "--verify-numerics", "-o", "-"]) == 1
    assert "numerics could not be verified: no module of TOSA" in capsys.readouterr().err


def test_a_tolerance_of_zero_wants_the_same_bits(plant: Plant, model: str) -> None:
    def last_bit(module: ir.Module) -> None:
        (convolution,) = every(module, "tosa.conv2d")
        constant = helpers.defining(convolution.operands[1])
        assert constant is not None
        values = helpers.array_of(constant.attributes["values"]).copy()
        values[0, 0, 0, 0] = np.nextafter(values[0, 0, 0, 0], np.float32(1))
        constant.attributes["values"] = helpers.dense(values, helpers.element_type(constant.results[0]))

    plant(last_bit, "vgf-fold-clamps")
    module = ir.Module.parse(MODEL, make_context())
    steps = parse_pipeline("builtin.module(vgf-fold-clamps)", PIPELINES, module.context)
    with pytest.raises(NumericsError, match="pass 'vgf-fold-clamps' changes the result: output 'output_0'"):
        run_steps(steps, module, [VerifyNumerics(0.0)])


def test_pytorch_is_the_first_stage() -> None:
    import torch

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(4, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.sigmoid(self.linear(x))

    torch.manual_seed(0)
    model, inputs = Model().eval(), (torch.randn(2, 4),)
    assert compile_model(model, inputs, verify_numerics=True).vgf
    found = bisect_model(model, inputs, use_vulkan=False)
    assert [stage.name for stage in found.stages][:2] == ["PyTorch eager", "exported program"]
    assert found.stages[2].name.startswith("TOSA after import")
    assert found.jump is None


def test_a_fault_of_the_import_names_the_operator(plant: Plant) -> None:
    """Between PyTorch and TOSA the values of the exported graph's nodes are compared with TOSA's."""
    import torch

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.exp(x - torch.sigmoid(x))

    plant(swapped_operand, "vgf-finish-torch-conversion")
    inputs = (torch.randn(2, 4, generator=torch.Generator().manual_seed(0)),)
    with pytest.raises(NumericsError, match=r"one of the .* to 'vgf-finish-torch-conversion' changes"):
        compile_model(Model(), inputs, verify_numerics=True)


def test_bisect_finds_a_fault_of_the_import(plant: Plant) -> None:
    import torch

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.exp(x - torch.sigmoid(x))

    plant(swapped_operand, "vgf-finish-torch-conversion")
    found = bisect_model(Model(), (torch.randn(2, 4, generator=torch.Generator().manual_seed(0)),), use_vulkan=False)
    assert found.jump is not None
    assert found.stages[found.jump].name.startswith("TOSA after import")
    assert found.culprit is not None and found.culprit.name == "tosa.sub"
    assert found.lost is not None and found.lost.name == "aten.sub.Tensor"


def test_the_vulkan_run_is_the_last_stage(model: str) -> None:
    found = bisect_model(model)
    assert found.stages[-1].name == "VGF on Vulkan"
    assert found.jump is None
    trace = found.stages[-1].trace
    assert trace is not None
    names = [item.name for item, _ in trace().values]
    assert names.count("tosa.conv2d") == 1 and names.count("tosa.rescale") == 1


# Comparing and generating


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        (np.array([1, 2], np.int8), np.array([1, 2], np.int8), True),
        (np.array([1, 2], np.int8), np.array([1, 3], np.int8), False),
        (np.array([1.0, 2.0], np.float32), np.array([1.0, 2.0001], np.float32), True),
        (np.array([1.0, 2.0], np.float32), np.array([1.0, 2.001], np.float32), False),
        (np.array([1e-9, 2e-9], np.float32), np.array([1e-9, 2.1e-9], np.float32), False),
        (np.array([np.nan, 2.0], np.float32), np.array([np.nan, 2.0], np.float32), True),
        (np.array([np.nan, 2.0], np.float32), np.array([0.0, 2.0], np.float32), False),
        (np.array([np.inf, 2.0], np.float32), np.array([-np.inf, 2.0], np.float32), False),
        (np.array([1.0, 2.0], ml_dtypes.bfloat16), np.array([1.0, 2.03125], ml_dtypes.bfloat16), True),
        (np.array([1.0], np.float32), np.array([[1.0]], np.float32), False),
        (np.zeros(0, np.float32), np.zeros(0, np.float32), True),
    ],
)
def test_compare(before: np.ndarray, after: np.ndarray, wanted: bool) -> None:
    assert (compare(before, after, None, "y") is None) == wanted


def test_slack_is_for_passes_that_round_anew() -> None:
    before = np.full(64, 100, np.int8)
    one, two, many = before.copy(), before.copy(), before - 1
    one[5], two[5] = 99, 98
    assert compare(before, one.astype(np.int8), None, "y", slack=0.01) is None
    assert compare(before, two.astype(np.int8), None, "y", slack=0.01) is not None  # too far
    assert compare(before, many.astype(np.int8), None, "y", slack=0.01) is not None  # everywhere


def test_relative_error_is_that_of_the_worst_output() -> None:
    left = [np.array([1.0, -4.0], np.float32), np.array([10, 20], np.int32)]
    right = [np.array([1.0, -4.0], np.float32), np.array([10, 19], np.int32)]
    assert relative_error(left, right) == pytest.approx(1 / 20)
    assert relative_error(left, left) == 0.0


def test_generated_inputs_are_the_same_each_time() -> None:
    input_ports, _ = ports(ir.Module.parse(MODEL, make_context()))
    first, second = generate_inputs(input_ports, 5), generate_inputs(input_ports, 5)
    assert all(np.array_equal(one, other) for one, other in zip(first, second, strict=True))
    assert not np.array_equal(first[0], generate_inputs(input_ports, 6)[0])
    index = Port("i", (100,), "int64", (100,), "int32")
    assert generate_inputs([index])[0].max() < 8 and generate_inputs([index])[0].min() >= 0
