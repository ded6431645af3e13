"""From a model to a program: import, the pipelines of `vgfc.pipeline`, and the emitter."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from torch_mlir import ir

from vgfc.diagnostics import CompileError
from vgfc.emit.vgf import emit
from vgfc.frontend.load import load, parse_mlir
from vgfc.passmanager import Instrumentation, parse_pipeline, run_steps
from vgfc.passmanager import run_pipeline as run_textual_pipeline
from vgfc.pipeline import PIPELINES
from vgfc.program import Program
from vgfc.report import StepRecorder

DEFAULT_STAGES = ("torch-to-tosa", "tosa-optimize", "tosa-lower")


def compile(
    model: Any,
    inputs: Sequence[Any] | None = None,
    *,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    instrumentations: Sequence[Instrumentation] = (),
) -> Program:
    """Compile a model to a program.

    `model` is a torch.nn.Module (exported with the example `inputs`, a tuple of tensors), a torch ExportedProgram, or the
    path of a file: .pt2, .mlir (TOSA or torch dialect), .mlirbc, and what else `vgfc.frontend.load` reads. `input_shapes`
    fixes dynamic dimensions, by the name of the input. Raises CompileError for a model that cannot be compiled; the
    message names the operator and the user's source line.
    """
    start = time.perf_counter()
    if isinstance(model, ir.Module):
        module = parse_mlir(_bytecode(model))
    elif isinstance(model, str | os.PathLike):
        module = load(model, input_shapes)
    else:
        from vgfc.frontend.torch import import_program

        module = import_program(model, inputs, input_shapes)
    return _compile_module(module, time.perf_counter() - start, instrumentations)


def compile_mlir(content: bytes | str, *, instrumentations: Sequence[Instrumentation] = ()) -> Program:
    """Compile MLIR text or bytecode (TOSA or torch dialect); raises CompileError as `compile` does."""
    start = time.perf_counter()
    module = parse_mlir(content)
    return _compile_module(module, time.perf_counter() - start, instrumentations)


def run_pipeline(module: ir.Module, text: str) -> None:
    """Run a textual pipeline on a module of the caller's, in place; vgfc's pipeline names may stand in it.

    The caller's context must know the dialects (`vgfc.register`). Raises PipelineError and CompileError; diagnostics go
    to the context's handlers when `context.emit_error_diagnostics` is set.
    """
    run_textual_pipeline(module, text, PIPELINES)


def _compile_module(module: ir.Module, import_seconds: float, instrumentations: Sequence[Instrumentation]) -> Program:
    context = module.context
    recorder = StepRecorder()
    optimized: ir.Module | None = None
    for stage in DEFAULT_STAGES:
        if stage == "tosa-lower":
            optimized = _clone(module)
        steps = parse_pipeline(PIPELINES[stage](), PIPELINES, context)
        run_steps(steps, module, [recorder, *instrumentations])
    assert optimized is not None
    start = time.perf_counter()
    content = emit(module)
    return Program(optimized, content, recorder.records, import_seconds, time.perf_counter() - start)


def _clone(module: ir.Module) -> ir.Module:
    """A copy in the same context; constants are shared."""
    with module.context, ir.Location.unknown():
        copy = ir.Module.create(loc=module.operation.location)
        for op in module.body.operations:
            copy.body.append(op.operation.clone())
        for name in module.operation.attributes:
            copy.operation.attributes[name] = module.operation.attributes[name]
    return copy


def _bytecode(module: ir.Module) -> bytes:
    import io

    stream = io.BytesIO()
    module.operation.write_bytecode(stream)
    return stream.getvalue()


__all__ = ["CompileError", "compile", "compile_mlir", "run_pipeline"]
