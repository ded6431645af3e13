"""Figures of one model compiled by vgfc: what the benchmark commands and the demo print."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import vgfc
from benchmarks import models
from vgfc.runtime.vulkan import VulkanProgram

FLOAT_TYPES = {"fp32": torch.float32, "fp16": torch.float16}
# What each quantisation is compiled for: integers alone, with the extensions that its widths need.
INTEGER_TARGETS = {
    "int8": "TOSA-1.0+INT",
    "int8_per_tensor": "TOSA-1.0+INT",
    "int16x8": "TOSA-1.0+INT+int16",
    "int8x4": "TOSA-1.0+INT+int4",
}
PRECISIONS = (*FLOAT_TYPES, *INTEGER_TARGETS)
EQUAL_DB = 999.0  # the ratio that stands for equal tensors


@dataclass(frozen=True)
class Figures:
    """Times in seconds, sizes in bytes; `sqnr_db` compares the VGF's output on Vulkan with PyTorch's fp32 output.

    `graph_sqnr_db` compares it with the quantised graph that it was compiled from, run by PyTorch; None for floating point.
    """

    model: str
    precision: str
    export_seconds: float
    import_seconds: float
    pass_seconds: float
    emit_seconds: float
    operator_count: int
    operators: dict[str, int]
    segments: int
    constant_bytes: int
    vgf_bytes: int
    session_bytes: int
    load_seconds: float
    run_seconds: float
    sqnr_db: float
    graph_sqnr_db: float | None = None


def sqnr_db(reference: torch.Tensor, found: torch.Tensor) -> float:
    """Signal to quantisation noise ratio in decibels; 999 for equal tensors."""
    signal = reference.double()
    noise = signal - found.double()
    power = float((noise**2).sum())
    return EQUAL_DB if power == 0 else float(10 * np.log10(float((signal**2).sum()) / power))


def measure(name: str, precision: str = "fp32") -> Figures:
    """Compile one of the six models, run it on Vulkan and compare with PyTorch.

    `precision` is a floating-point type or a configuration of `vgfc.quantize`, which is calibrated on the model's 8 inputs and
    compiled for a target without floating point.
    """
    model, inputs, samples = models.get(name)
    with torch.no_grad():
        wanted = model(*inputs)
    if precision in FLOAT_TYPES:
        kind = FLOAT_TYPES[precision]
        model, inputs = model.to(kind), tuple(tensor.to(kind) for tensor in inputs)
        target = None
    else:
        model, target = vgfc.quantize(model, samples, precision), INTEGER_TARGETS[precision]
    start = time.perf_counter()
    exported = torch.export.export(model, inputs)
    export_seconds = time.perf_counter() - start
    program = vgfc.compile(exported, target=target)
    with torch.no_grad():
        graph = None if precision in FLOAT_TYPES else model(*inputs)
    return figures_of(name, precision, export_seconds, program, inputs, wanted, graph)


def figures_of(
    name: str,
    precision: str,
    export_seconds: float,
    program: Any,
    inputs: tuple[torch.Tensor, ...],
    wanted: torch.Tensor,
    graph: torch.Tensor | None = None,
) -> Figures:
    """Run a compiled program on Vulkan and gather its figures; `graph` is what PyTorch gives for the quantised graph."""
    report = program.report()
    found = program.run(*inputs, device="vulkan")
    loaded: VulkanProgram = program.vulkan()
    return Figures(
        model=name,
        precision=precision,
        export_seconds=export_seconds,
        import_seconds=report.import_seconds,
        pass_seconds=report.pass_seconds,
        emit_seconds=report.emit_seconds,
        operator_count=report.operator_count,
        operators=report.operators,
        segments=len(report.segments),
        constant_bytes=report.constant_bytes,
        vgf_bytes=report.vgf_bytes,
        session_bytes=loaded.session_bytes,
        load_seconds=loaded.load_seconds,
        run_seconds=loaded.run_seconds,
        sqnr_db=sqnr_db(wanted, found),
        graph_sqnr_db=None if graph is None else sqnr_db(graph, found),
    )
