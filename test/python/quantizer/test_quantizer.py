"""What VgfQuantizer quantises, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e
from torchao.quantization.pt2e.quantizer.x86_inductor_quantizer import (
    X86InductorQuantizer,
    get_default_x86_inductor_quantization_config,
)
from torchao.testing.pt2e import _xnnpack_quantizer as xnnpack

import vgfc
from vgfc.quantizer import (
    VgfQuantizer,
    get_symmetric_quantization_config,
    layer_accuracy,
    load_calibration,
)

INT = "TOSA-1.0+INT"


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.second = nn.Conv2d(8, 8, 3, padding=1)
        self.head = nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        x = torch.relu(x + self.second(x))
        return self.head(x.mean((2, 3)))


def sample(seed: int) -> tuple[torch.Tensor]:
    return (torch.randn(1, 3, 8, 8, generator=torch.Generator().manual_seed(seed)),)


@pytest.fixture
def net() -> Net:
    torch.manual_seed(0)
    return Net().eval()


def quantize_nodes(model: torch.fx.GraphModule) -> list[str]:
    """The nodes whose results are quantised."""
    found = []
    for node in model.graph.nodes:
        if str(node.target) == "quantized_decomposed.quantize_per_tensor.default":
            found.append(node.args[0].name)
    return found


def test_each_tensor_is_quantised_once_where_it_is_made(net: Net) -> None:
    model = vgfc.quantize(net, [sample(seed) for seed in range(4)])
    # Neither the convolution that is added in 32 bits nor what comes before a clamp.
    assert quantize_nodes(model) == ["x", "relu", "relu_1", "mean", "linear"]


def test_none_leaves_a_module_in_floating_point(net: Net) -> None:
    model = vgfc.quantize(net, [sample(seed) for seed in range(4)], "int8", modules={"head": None})
    assert quantize_nodes(model) == ["x", "relu", "relu_1", "mean"]
    program = vgfc.compile(model, sample(9))
    assert program.outputs[0].dtype == "float32"
    found = program.run(*sample(9), device="reference")
    assert float((found - model(*sample(9))).detach().abs().max()) < 1e-5
    with pytest.raises(vgfc.CompileError, match="floating point"):
        vgfc.compile(model, sample(9), target=INT)


@pytest.mark.parametrize(
    "configure",
    [
        lambda quantizer, config: quantizer.set_module_type(nn.Linear, None),
        lambda quantizer, config: quantizer.set_node_name("linear", None),
        lambda quantizer, config: quantizer.set_node_target(torch.ops.aten.linear.default, None),
    ],
)
def test_every_way_to_leave_the_head_out(net: Net, configure: object) -> None:
    config = get_symmetric_quantization_config()
    quantizer = VgfQuantizer().set_global(config)
    configure(quantizer, config)  # type: ignore[operator]
    model = vgfc.quantize(net, [sample(0)], quantizer)
    assert "linear" not in quantize_nodes(model)


def test_only_the_boundary(net: Net) -> None:
    quantizer = VgfQuantizer().set_io(get_symmetric_quantization_config())
    model = vgfc.quantize(net, [sample(0)], quantizer)
    assert quantize_nodes(model) == ["x", "mean", "linear"], "the operator that makes the output reads codes as well"


def test_a_quantised_island_after_floating_point(net: Net) -> None:
    model = vgfc.quantize(net, [sample(seed) for seed in range(4)], "int8", modules={"first": None})
    nodes = quantize_nodes(model)
    assert "relu" in nodes, "the addition reads what a floating-point part makes"
    program = vgfc.compile(model, sample(9))
    found = program.run(*sample(9), device="reference")
    scale = float(model(*sample(9)).unique().diff().min())
    assert float((found - model(*sample(9))).detach().abs().max()) <= 1.01 * scale


def test_no_calibration_inputs(net: Net) -> None:
    with pytest.raises(vgfc.CompileError, match="at least one calibration input"):
        vgfc.quantize(net, [])


def test_calibration_that_is_not_finite(net: Net) -> None:
    with pytest.raises(vgfc.CompileError, match="calibration input 1 makes the model compute infinities or NaN"):
        vgfc.quantize(net, [sample(0), (torch.full((1, 3, 8, 8), float("nan")),)])


def test_unknown_configuration(net: Net) -> None:
    with pytest.raises(vgfc.CompileError, match="unknown quantisation 'int7', expected one of int8"):
        vgfc.quantize(net, [sample(0)], "int7")


def test_quantization_aware_training_compiles_to_its_own_numbers() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 4, 3))
    exported = torch.export.export(net, sample(0)).module(check_guards=False)
    prepared = prepare_qat_pt2e(exported, VgfQuantizer().set_global(get_symmetric_quantization_config(is_qat=True)))
    optimizer = torch.optim.SGD(prepared.parameters(), lr=0.01)
    for seed in range(4):
        optimizer.zero_grad()
        prepared(*sample(seed)).square().mean().backward()
        optimizer.step()
    model = convert_pt2e(prepared)
    program = vgfc.compile(model, sample(9), target=INT)
    found, wanted = program.run(*sample(9), device="reference"), model(*sample(9))
    assert program.outputs[0].scale is not None
    assert np.abs(np.rint((found - wanted).detach().numpy() / program.outputs[0].scale)).max() <= 1


def test_another_quantizer_folds_as_well() -> None:
    """The X86 quantizer makes unsigned activation codes and knows nothing of TOSA."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 4, 3), nn.ReLU()).eval()
    exported = torch.export.export(net, sample(0)).module(check_guards=False)
    quantizer = X86InductorQuantizer().set_global(get_default_x86_inductor_quantization_config())
    prepared = prepare_pt2e(exported, quantizer)
    for seed in range(4):
        prepared(*sample(seed))
    model = convert_pt2e(prepared)
    program = vgfc.compile(model, sample(9))
    operators = program.report().operators
    assert operators["conv2d"] == 2 and operators["rescale"] >= 1
    found, wanted = program.run(*sample(9), device="reference"), model(*sample(9))
    assert float((found - wanted).detach().abs().max()) < 0.05 * float(wanted.detach().abs().max())


@pytest.mark.parametrize("is_per_channel", [True, False])
@pytest.mark.parametrize("target", [INT, None])
def test_a_model_of_torchaos_xnnpack_quantizer_is_bit_for_bit_its_graph(
    is_per_channel: bool, target: str | None
) -> None:
    torch.manual_seed(0)
    net = nn.Sequential(
        *(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU()),
        *(nn.Conv2d(8, 8, 3, padding=1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4)),
    ).eval()
    exported = torch.export.export(net, sample(0)).module(check_guards=False)
    config = xnnpack.get_symmetric_quantization_config(is_per_channel=is_per_channel)
    prepared = prepare_pt2e(exported, xnnpack.XNNPACKQuantizer().set_global(config))
    for seed in range(4):
        prepared(*sample(seed))
    model = convert_pt2e(prepared)
    program = vgfc.compile(model, sample(9), target=target)
    operators = program.report().operators
    assert operators["conv2d"] == 3 and "sub" not in operators, "the convolutions and the linear are integer arithmetic"
    assert {port.file_dtype for port in program.inputs + program.outputs} == {"float32" if target is None else "int8"}
    assert torch.equal(program.run(*sample(9), device="reference"), model(*sample(9)))


def test_accuracy_names_the_worst_layer(net: Net) -> None:
    with torch.no_grad():
        net.second.weight[0] *= 1000  # one channel that leaves the sum's other channels few codes
    model = vgfc.quantize(net, [sample(seed) for seed in range(4)])
    report = vgfc.compile(model, sample(9), target=INT).accuracy(*sample(9))
    assert [layer.sqnr_db for layer in report.layers] == sorted(layer.sqnr_db for layer in report.layers)
    assert {layer.module for layer in report.layers} >= {"first.2", "head"}
    assert report == layer_accuracy(model, sample(9))
    assert "SQNR dB" in str(report).splitlines()[0]


def test_accuracy_needs_a_quantised_model(net: Net) -> None:
    with pytest.raises(vgfc.CompileError, match=r"vgfc\.quantize"):
        vgfc.compile(net, sample(0)).accuracy(*sample(0))


def test_calibration_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "samples.npz"
    np.savez(path, x=np.arange(6, dtype=np.float32).reshape(3, 2), y=np.zeros((3, 1), np.float32))
    samples = load_calibration(path, ["x", "y"])
    assert [sample[0].tolist() for sample in samples] == [[0, 1], [2, 3], [4, 5]]
    with pytest.raises(vgfc.CompileError, match="holds x, y, expected x, z"):
        load_calibration(path, ["x", "z"])
    np.savez(path, x=np.zeros((3, 2), np.float32), y=np.zeros((2, 1), np.float32))
    with pytest.raises(vgfc.CompileError, match="3 of x, 2 of y"):
        load_calibration(path, ["x", "y"])
    with pytest.raises(vgfc.CompileError, match="cannot read"):
        load_calibration(tmp_path / "none.npz", ["x"])


class Written(torch.nn.Module):
    """A convolution whose result is changed in place."""

    def __init__(self, change: Callable[[torch.Tensor], Any]) -> None:
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 4, 3)
        self.norm = torch.nn.BatchNorm2d(4)
        self.change = change

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(self.convolution(x))
        self.change(y)
        return y * 2


def assign(y: torch.Tensor) -> None:
    y[:, 1, 2:4] = 0.25
    y[0, 0] = y[0, 2]


CHANGES = {
    "by_itself": torch.relu_,
    "through_a_view": lambda y: y[:, 0].mul_(3),
    "assigned": assign,
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_written_in_place_is_seen_by_all_readers(name: str) -> None:
    torch.manual_seed(0)
    model = Written(CHANGES[name]).eval()
    x = torch.randn(1, 3, 8, 8)
    quantised = vgfc.quantize(model, [x])
    assert not any("batch_norm" in str(node.target) for node in quantised.graph.nodes), "folded into the convolution"
    program = vgfc.compile(quantised, (x,), target=INT)
    found, wanted = program.run(x, device="reference"), model(x)
    assert (wanted.pow(2).sum() / (found - wanted).pow(2).sum()).log10() > 3
    scale = program.outputs[0].scale
    assert scale is not None
    assert (found - quantised(x)).abs().max() <= 1.01 * scale


def test_a_norm_that_no_convolution_takes_up_is_quantised_beside_a_write() -> None:
    class Normed(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = torch.nn.BatchNorm2d(3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = self.norm(torch.tanh(x))
            y[:, 0] = 0.5
            return y * 2

    model, x = Normed().eval(), torch.randn(1, 3, 4, 4)
    program = vgfc.compile(vgfc.quantize(model, [x]), (x,), target=INT)
    torch.testing.assert_close(program.run(x, device="reference"), model(x), atol=0.04, rtol=0)


def test_a_write_that_quantisation_would_lose_is_refused_in_prepare() -> None:
    exported = torch.export.export(Written(CHANGES["through_a_view"]).eval(), (torch.randn(1, 3, 8, 8),))
    with pytest.raises(
        vgfc.CompileError, match=r"'mul_' \(aten.mul_.Tensor\) writes to a tensor that other operators read"
    ):
        prepare_pt2e(exported.module(), VgfQuantizer().set_global(get_symmetric_quantization_config()))


@pytest.mark.parametrize("is_read", [True, False])
def test_a_state_begins_where_the_model_begins(is_read: bool) -> None:
    class Counted(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("sum", torch.zeros(4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if is_read:
                self.sum += x
                return torch.relu(self.sum)
            return torch.relu(self.sum.add_(x))

    samples = [torch.full((4,), 0.5)] * 8
    program = vgfc.compile(vgfc.quantize(Counted(), samples), (samples[0],))
    for turn in range(1, 4):
        found, wanted = program.run(samples[0], device="reference"), torch.full((4,), 0.5 * turn)
        torch.testing.assert_close(found, wanted, atol=0.03, rtol=0)


def test_control_flow_is_quantised_with_the_rest() -> None:
    class Controlled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            def body(n: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
                return n + 1, torch.cond(x.sum() > 0, self.linear, lambda x: x * 2 + 1, (x,))

            return torch.while_loop(lambda n, x: n < 3, body, (torch.tensor(0), x))[1]

    torch.manual_seed(0)
    model, samples = Controlled().eval(), [torch.randn(2, 4) for _ in range(8)]
    quantised = vgfc.quantize(model, samples)
    program = vgfc.compile(quantised, (samples[0],), target=INT)
    assert program.report().operators["conv2d"] == 3
    for sample in samples:
        assert torch.equal(program.run(sample, device="reference"), quantised(sample))


def test_weights_that_the_graph_computes_are_folded_before() -> None:
    class Computed(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.convolution = torch.nn.utils.parametrizations.weight_norm(torch.nn.Conv2d(3, 4, 3))
            self.register_buffer("ones", torch.linspace(0.5, 1.5, 4, dtype=torch.float16))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            ones = self.ones.float()
            return torch.nn.functional.batch_norm(self.convolution(x), ones, ones, ones, ones)

    torch.manual_seed(0)
    model, x = Computed().eval(), torch.randn(1, 3, 8, 8)
    quantised = vgfc.quantize(model, [x])
    program = vgfc.compile(quantised, (x,), target=INT)
    assert "conv2d" in program.report().operators
    found, wanted = program.run(x, device="reference"), model(x)
    assert torch.equal(found, quantised(x))
    assert (wanted.pow(2).sum() / (found - wanted).pow(2).sum()).log10() > 3
