"""Post-training quantisation in one call, and calibration inputs from files."""

from __future__ import annotations

import copy
import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from rich.progress import track
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.utils import _fuse_conv_bn_, _fuse_linear_bn_

from vgfc.diagnostics import CompileError
from vgfc.frontend.control_flow import without_control_flow
from vgfc.frontend.counting import writes
from vgfc.quantizer.accuracy import ORIGINAL
from vgfc.quantizer.configuration import QuantizationConfig, configuration
from vgfc.quantizer.quantizer import VgfQuantizer
from vgfc.quantizer.rewrites import fold_parameters, without_shared_writes

if TYPE_CHECKING:
    from torch.export import ExportedProgram


def quantize(
    model: torch.nn.Module | ExportedProgram,
    calibration_inputs: Iterable[Any],
    config: str | QuantizationConfig | VgfQuantizer = "int8",
    modules: Mapping[str, str | QuantizationConfig | None] | None = None,
    progress: bool = False,
) -> GraphModule:
    """The model with its activations and weights quantised, ready for `vgfc.compile`.

    `calibration_inputs` are typical inputs (a tuple of tensors, or one tensor, each); the ranges of all activations are
    measured on them. A model that keeps a state sees them one after another, and begins at its own state again. `config` is
    a configuration or its name (int8, int8_per_tensor, int16x8, int8x4), or a quantizer set up by hand; `modules` overrides
    it by module path, None leaving a module in floating point. Branches and counted loops are taken apart, writes in place
    become functional. The result carries its original, for `vgfc.quantizer.layer_accuracy`. Raises CompileError when there
    are no calibration inputs, when a name is unknown, when the model cannot be exported and when it computes what is not
    finite.
    """
    samples = [sample if isinstance(sample, tuple | list) else (sample,) for sample in calibration_inputs]
    if not samples:
        raise CompileError("quantisation needs at least one calibration input, found none")
    quantizer = config if isinstance(config, VgfQuantizer) else VgfQuantizer().set_global(configuration(config))
    for path, override in (modules or {}).items():
        quantizer.set_module_name(path, None if override is None else configuration(override))
    if isinstance(model, torch.nn.Module):
        from vgfc.frontend.torch import exported_program

        model = exported_program(model, tuple(samples[0]))
    graph = without_shared_writes(without_control_flow(model)).module(check_guards=False)
    assert isinstance(graph, GraphModule), "an exported program's module is a graph"
    fold_parameters(graph)
    original = _original(graph, quantizer)
    prepared = prepare_pt2e(graph, quantizer)
    states = _states(prepared)
    with torch.no_grad():
        for index, sample in enumerate(track(samples, "calibrating", disable=not progress)):
            _observe(prepared, sample, index)
        for state, value in states:
            state.copy_(value)
    quantized: GraphModule = convert_pt2e(prepared)
    quantized.meta[ORIGINAL] = original
    return quantized


def _states(prepared: GraphModule) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The buffers that the model changes when it runs, each with its values before."""
    written = {node.args[0] for node in prepared.graph.nodes if writes(node)}
    targets = {str(node.target) for node in written if isinstance(node, Node) and node.op == "get_attr"}
    states = [operator.attrgetter(target)(prepared) for target in sorted(targets)]
    return [(state, state.clone()) for state in states]


def _observe(prepared: GraphModule, sample: Sequence[Any], index: int) -> None:
    try:
        prepared(*sample)
    except (RuntimeError, AssertionError) as error:
        if "not finite" not in str(error) and "nan" not in str(error):
            raise
        raise CompileError(
            f"calibration input {index} makes the model compute infinities or NaN, which no code stands for"
        ) from None


def _original(graph: GraphModule, quantizer: VgfQuantizer) -> GraphModule:
    """The floating-point graph as PT2E prepares it, with batch norms folded and attention taken apart; shares weights."""
    original = GraphModule(graph, copy.deepcopy(graph.graph))
    _fuse_conv_bn_(original)
    _fuse_linear_bn_(original)
    return quantizer.transform_for_annotation(original)


def load_calibration(path: str | os.PathLike[str], names: Sequence[str]) -> list[tuple[torch.Tensor, ...]]:
    """Calibration inputs from an .npz file: for each of the model's inputs an array with one more axis, that of the samples.

    Raises CompileError for a file that cannot be read, for missing or unknown names and for unequal numbers of samples.
    """
    try:
        with np.load(path) as content:
            arrays = {name: content[name] for name in content.files}
    except (OSError, ValueError, EOFError) as error:
        raise CompileError(f"cannot read '{path}': {str(error).splitlines()[0].lower()}") from None
    if set(arrays) != set(names):
        raise CompileError(f"calibration '{path}' holds {', '.join(sorted(arrays))}, expected {', '.join(names)}")
    counts = {name: len(arrays[name]) for name in names}
    if len(set(counts.values())) != 1 or 0 in counts.values():
        listed = ", ".join(f"{count} of {name}" for name, count in counts.items())
        raise CompileError(f"calibration '{path}' holds {listed}, expected as many samples of each input")
    return [
        tuple(torch.from_numpy(np.ascontiguousarray(arrays[name][index])) for name in names)
        for index in range(counts[names[0]])
    ]
