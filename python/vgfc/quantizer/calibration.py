"""Post-training quantisation in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import torch
from rich.progress import track
from torch.fx import GraphModule
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from vgfc.diagnostics import CompileError
from vgfc.quantizer.configuration import QuantizationConfig, configuration
from vgfc.quantizer.quantizer import VgfQuantizer

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
    measured on them. `config` is a configuration or its name (int8, int8_per_tensor, int16x8, int8x4), or a quantizer set
    up by hand; `modules` overrides it by module path, None leaving a module in floating point. Raises CompileError when
    there are no calibration inputs, when a name is unknown or when the model cannot be exported.
    """
    samples = [sample if isinstance(sample, tuple | list) else (sample,) for sample in calibration_inputs]
    if not samples:
        raise CompileError("quantisation needs at least one calibration input, found none")
    quantizer = config if isinstance(config, VgfQuantizer) else VgfQuantizer().set_global(configuration(config))
    for path, override in (modules or {}).items():
        quantizer.set_module_name(path, None if override is None else configuration(override))
    if isinstance(model, torch.nn.Module):
        from vgfc.frontend.torch import exported_program

        program = exported_program(model, tuple(samples[0]))
    else:
        program = model
    prepared = prepare_pt2e(program.module(check_guards=False), quantizer)
    with torch.no_grad():
        for sample in track(samples, "calibrating", disable=not progress):
            prepared(*sample)
    return convert_pt2e(prepared)  # type: ignore[no-any-return]
