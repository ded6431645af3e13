"""From a model to a program: import, the pipelines of `vgfc.pipeline`, and the emitter."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from torch_mlir import ir

from vgfc.bundle import BuiltPart, Bundle, Value
from vgfc.diagnostics import CompileError
from vgfc.emit.vgf import emit_pieces, push_constants_of
from vgfc.frontend.load import load, parse_mlir
from vgfc.interface import dtype_name, notes, ports
from vgfc.ir import bytecode, copy_module, element_type, shape
from vgfc.parts import Part, Split, split
from vgfc.passmanager import EXACT, Instrumentation, parse_pipeline, run_steps
from vgfc.passmanager import run_pipeline as run_textual_pipeline
from vgfc.pipeline import PIPELINES
from vgfc.program import Program
from vgfc.report import StepRecorder
from vgfc.report.explain import explain
from vgfc.segments import REQUIRE_FULL_GRAPH, SEGMENT_OF, STRIPE
from vgfc.target import Target, attach, read_target

if TYPE_CHECKING:
    from vgfc.numerics import VerifyNumerics

BEFORE_LOWERING = ("torch-to-tosa", "tosa-optimize")
LOWERING = "tosa-lower"
ORIGINAL_GRAPH = "vgf_original"  # what vgfc.quantize leaves in the meta of its result


def compile(
    model: Any,
    inputs: Sequence[Any] | None = None,
    *,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    target: Target | str | None = None,
    segment_of: str = "",
    require_full_graph: bool = False,
    stripes: bool | None = None,
    exact: bool | None = None,
    instrumentations: Sequence[Instrumentation] = (),
    verify_numerics: bool | float = False,
) -> Program:
    """Compile a model to a program.

    `model` is a torch.nn.Module (exported with the example `inputs`, a tuple of tensors), a torch ExportedProgram, or the
    path of a file: .pt2, .mlir (TOSA or torch dialect), .mlirbc, and what else `vgfc.frontend.load` reads. `input_shapes`
    fixes dynamic dimensions, by the name of the input. `target` says what the device takes (see `vgfc.target`); None means
    what an MLIR module says, else the default. `segment_of` steers what runs where, as in "decoder.*:host,resize:host" (see
    the pass vgf-mark-segments); with `require_full_graph` an operator that no graph can hold is an error. With `stripes`
    large tensors are computed part by part, which needs less memory and more operators (vgf-stripe); with False none is,
    and None means integer sums only, where a few operators more save much (vgf-split-accumulators). With `exact` no pass
    rounds floating-point results otherwise than the TOSA that comes in, which leaves more operators; None means so for a
    .vgf file and not for other models. `verify_numerics` (True, or a tolerance) runs the module before and after each pass
    on the TOSA reference model, starting from PyTorch's own results where the model is one of PyTorch's.

    Raises CompileError for a model that cannot be compiled; the message names the operator and the user's source line. A
    pass that changes results raises `vgfc.numerics.NumericsError`.
    """
    verification = None
    if verify_numerics is not False:
        verification = _verification(model, inputs, input_shapes, verify_numerics)
        instrumentations = [*instrumentations, verification]
    start = time.perf_counter()
    if isinstance(model, ir.Module):
        module = parse_mlir(bytecode(model), is_trusted=True)
    elif isinstance(model, str | os.PathLike):
        module = load(model, input_shapes)
    else:
        from vgfc.frontend.torch import import_program

        module = import_program(model, inputs, input_shapes)
    _write_wishes(module, target, segment_of, require_full_graph, stripes, exact)
    program = _compile_module(module, time.perf_counter() - start, instrumentations)
    if verification is not None:
        verification.ensure_checked()
    if ORIGINAL_GRAPH in getattr(model, "meta", {}):
        program.remember_quantized(model)
    return program


def compile_mlir(
    content: bytes | str,
    *,
    target: Target | str | None = None,
    segment_of: str = "",
    require_full_graph: bool = False,
    stripes: bool | None = None,
    exact: bool | None = None,
    instrumentations: Sequence[Instrumentation] = (),
) -> Program:
    """Compile MLIR text or bytecode (TOSA or torch dialect); options and errors are those of `compile`."""
    start = time.perf_counter()
    module = parse_mlir(content)
    _write_wishes(module, target, segment_of, require_full_graph, stripes, exact)
    return _compile_module(module, time.perf_counter() - start, instrumentations)


def run_pipeline(module: ir.Module, text: str) -> None:
    """Run a textual pipeline on a module of the caller's, in place; vgfc's pipeline names may stand in it.

    The caller's context must know the dialects (`vgfc.register`). Raises PipelineError and CompileError; diagnostics go
    to the context's handlers when `context.emit_error_diagnostics` is set.
    """
    run_textual_pipeline(module, text, PIPELINES)


def _write_wishes(
    module: ir.Module,
    target: Target | str | None,
    segment_of: str,
    require_full_graph: bool,
    stripes: bool | None,
    exact: bool | None,
) -> None:
    """Write what the caller asked for into the module, where the passes read it."""
    if target is not None:
        attach(module, read_target(target))
    attributes = module.operation.attributes
    with module.context:
        if segment_of:
            attributes[SEGMENT_OF] = ir.StringAttr.get(segment_of)
        if require_full_graph:
            attributes[REQUIRE_FULL_GRAPH] = ir.UnitAttr.get()
        if stripes is not None:
            attributes[STRIPE] = ir.BoolAttr.get(stripes)
        if exact:
            attributes[EXACT] = ir.UnitAttr.get()
        elif exact is False and EXACT in attributes:
            del attributes[EXACT]


def _compile_module(module: ir.Module, import_seconds: float, instrumentations: Sequence[Instrumentation]) -> Program:
    recorder = StepRecorder()
    watchers = [recorder, *instrumentations]
    for stage in BEFORE_LOWERING:
        run_steps(parse_pipeline(PIPELINES[stage](), PIPELINES, module.context), module, watchers)
    for note in notes(module):
        warnings.warn(note, stacklevel=4)
    parted = split(module)
    emit_seconds = 0.0
    built = []
    for part in parted.parts:
        lowered = copy_module(part.module)
        if part.kind == "device":
            run_steps(parse_pipeline(PIPELINES[LOWERING](), PIPELINES, module.context), lowered, watchers)
        start = time.perf_counter()
        built.append(_build(part, lowered))
        emit_seconds += time.perf_counter() - start
    return Program(module, _bundle(module, parted, built), parted.parts, recorder.records, import_seconds, emit_seconds)


def _build(part: Part, lowered: ir.Module) -> BuiltPart:
    """What is written for a part, from its lowered module."""
    if part.kind == "host":
        reasons = [f"{found.operator}: {found.reason}" for found in explain(part.module)]
        return BuiltPart("host", (bytecode(lowered),), part.inputs, part.outputs, reasons=tuple(dict.fromkeys(reasons)))
    return BuiltPart("vgf", tuple(emit_pieces(lowered)), part.inputs, part.outputs, push_constants_of(lowered))


def _bundle(module: ir.Module, parted: Split, built: list[BuiltPart]) -> Bundle:
    inputs, outputs = ports(module)
    values = tuple(Value(shape(kind), dtype_name(element_type(kind))) for kind in parted.types)
    return Bundle(values, parted.inputs, parted.outputs, tuple(built), tuple(inputs), tuple(outputs))


def _verification(
    model: Any, inputs: Sequence[Any] | None, input_shapes: Mapping[str, Sequence[int]] | None, tolerance: bool | float
) -> VerifyNumerics:
    """What runs the module between passes; starts from PyTorch's own results where there are any."""
    from vgfc.numerics import VerifyNumerics

    verification = VerifyNumerics(None if isinstance(tolerance, bool) else tolerance)
    is_torch = not isinstance(model, ir.Module | str | os.PathLike) or str(model).endswith(".pt2")
    if is_torch:
        from vgfc.eager import example_arrays, results_of
        from vgfc.frontend.torch import exported_program

        program = exported_program(model, inputs, input_shapes)
        verification.inputs = example_arrays(program)
        verification.expected = results_of(program.module(check_guards=False), program, verification.inputs)
    return verification


__all__ = ["CompileError", "compile", "compile_mlir", "run_pipeline"]
