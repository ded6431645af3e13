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


@dataclass(frozen=True)
class Figures:
    """Times in seconds, sizes in bytes; `sqnr_db` compares the VGF's output on Vulkan with PyTorch's fp32 output."""

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


def sqnr_db(reference: torch.Tensor, found: torch.Tensor) -> float:
    """Signal to quantisation noise ratio in decibels; 999 for equal tensors."""
    signal = reference.double()
    noise = signal - found.double()
    power = float((noise**2).sum())
    return 999.0 if power == 0 else float(10 * np.log10(float((signal**2).sum()) / power))


def measure(name: str, precision: str = "fp32") -> Figures:
    """Compile one of the six models, run it on Vulkan and compare with PyTorch."""
    model, inputs, _ = models.get(name)
    with torch.no_grad():
        wanted = model(*inputs)
    kind = FLOAT_TYPES[precision]
    model, inputs = model.to(kind), tuple(tensor.to(kind) for tensor in inputs)
    start = time.perf_counter()
    exported = torch.export.export(model, inputs)
    export_seconds = time.perf_counter() - start
    return figures_of(name, precision, export_seconds, vgfc.compile(exported), inputs, wanted)


def figures_of(
    name: str,
    precision: str,
    export_seconds: float,
    program: Any,
    inputs: tuple[torch.Tensor, ...],
    wanted: torch.Tensor,
) -> Figures:
    """Run a compiled program on Vulkan and gather its figures."""
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
    )
