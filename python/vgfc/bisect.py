"""Where a model's numbers go wrong: every stage of a compilation run on the same inputs and compared with the first.

The stages are PyTorch's own (the model, the exported program, the quantised program), TOSA as it is after each pass, and the
VGF file on Vulkan. The stage at which the error jumps is the one to look at, and the first operation in it whose value the
stage before does not have is named.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from torch_mlir import ir

from vgfc import ir as helpers
from vgfc.diagnostics import CompileError, source_line
from vgfc.emit.vgf import emit
from vgfc.interface import ports
from vgfc.numerics import (
    QUANTIZED_SLACK,
    Array,
    Culprit,
    compare,
    find_culprit,
    relative_error,
    rounds_to_codes,
    run_model,
    runnable,
    step_slack,
    trace_model,
    usable_inputs,
)
from vgfc.passmanager import Instrumentation, Step, run_steps
from vgfc.runtime.reference import Trace

if TYPE_CHECKING:
    from torch.export import ExportedProgram

Tracer = Callable[[], Trace]


@dataclass
class Stage:
    """One row: what ran, its results, and how to find out what each of its operations computed (None: it cannot tell)."""

    name: str
    outputs: list[Array]
    trace: Tracer | None
    slack: float = 0.0
    error: float = 0.0  # against the first stage, relative to each output's largest magnitude
    step_error: float = 0.0  # against the stage before


@dataclass
class Bisection:
    """The stages in order; `jump` is the index of the first whose error against the one before is too large."""

    stages: list[Stage]
    skipped: list[tuple[str, str]]
    jump: int | None = None
    culprit: Culprit | None = None
    lost: Culprit | None = None

    def to_json(self) -> dict[str, Any]:
        """The table and the verdict as plain data; infinite errors are the string "inf"."""

        def number(value: float) -> float | str:
            return value if np.isfinite(value) else "inf"

        def operation(found: Culprit | None) -> dict[str, str] | None:
            return {"operation": found.name, "source": str(source_line(found.location) or "")} if found else None

        return {
            "stages": [
                {"stage": stage.name, "error": number(stage.error), "step_error": number(stage.step_error)}
                for stage in self.stages
            ],
            "not_run": [{"stage": name, "reason": reason} for name, reason in self.skipped],
            "jump": None if self.jump is None else self.stages[self.jump].name,
            "first_different": operation(self.culprit),
            "first_gone": operation(self.lost),
        }

    def __str__(self) -> str:
        width = max(len(stage.name) for stage in self.stages)
        lines = [f"{'stage':{width}}  {'error':>9}  {'step':>9}"]
        for index, stage in enumerate(self.stages):
            mark = "  <- jumps here" if index == self.jump else ""
            lines.append(f"{stage.name:{width}}  {stage.error:9.2e}  {stage.step_error:9.2e}{mark}")
        lines += [f"not run: {name} ({reason})" for name, reason in self.skipped]
        lines.append(
            "error: largest difference relative to the largest value, against the first stage and the one before"
        )
        if self.jump is None:
            lines.append("no stage changes the results")
        else:
            lines.append(f"the results change at '{self.stages[self.jump].name}'")
            if self.culprit is not None:
                lines.append(f"the first operation that computes something new is {self.culprit}")
            if self.lost is not None:
                lines.append(f"the first whose value is gone is {self.lost}")
        return "\n".join(lines)


def judge(stages: list[Stage], skipped: list[tuple[str, str]], tolerance: float | None) -> Bisection:
    """Fill in the errors, find the jump, and the operation behind it."""
    found = Bisection(stages, skipped)
    for previous, stage in itertools.pairwise(stages):
        stage.error = relative_error(stages[0].outputs, stage.outputs)
        stage.step_error = relative_error(previous.outputs, stage.outputs)
        if found.jump is None and _differs(previous, stage, tolerance):
            found.jump = stages.index(stage)
            _find_operation(found, previous, stage, tolerance)
    return found


def _differs(previous: Stage, stage: Stage, tolerance: float | None) -> bool:
    return any(_output_differs(previous, stage, index, tolerance) for index in range(len(stage.outputs)))


def _output_differs(previous: Stage, stage: Stage, index: int, tolerance: float | None) -> bool:
    return compare(previous.outputs[index], stage.outputs[index], tolerance, "", stage.slack) is not None


def _find_operation(found: Bisection, previous: Stage, stage: Stage, tolerance: float | None) -> None:
    if previous.trace is None or stage.trace is None:
        return
    differing = [index for index in range(len(stage.outputs)) if _output_differs(previous, stage, index, tolerance)]
    before, after = previous.trace(), stage.trace()
    found.culprit = find_culprit(after, before, differing, tolerance, stage.slack)
    found.lost = find_culprit(before, after, differing, tolerance, stage.slack)


@dataclass
class Recorder(Instrumentation):
    """Keeps a stage for every state of the module that can be run and differs from the one before."""

    inputs: list[Array] | None = None
    stages: list[Stage] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    _print: list[object] = field(default_factory=list, init=False)
    _module: ir.Module | None = field(default=None, init=False)
    _pending: list[Step] = field(default_factory=list, init=False)
    _parts: int = field(default=0, init=False)
    _rounds: bool = field(default=False, init=False)

    def before_step(self, step: Step, module: ir.Module) -> None:
        if module is not self._module:
            self._module = module
            self._parts += 1
            self._pending.clear()
            if self._parts == 1:
                self._look(module, "TOSA as given")
            else:  # the parts that are lowered on their own, first as the last stage left them
                self._print = helpers.fingerprint(module)

    def after_step(self, step: Step, module: ir.Module, seconds: float) -> None:
        self._pending.append(step)
        if helpers.fingerprint(module) != self._print:
            self._look(module, f"after {step.text}")

    def failed_step(self, step: Step, module: ir.Module) -> None:
        self.skipped.append((f"after {step.text}", "the pass failed"))

    def _look(self, module: ir.Module, name: str) -> None:
        self._print = helpers.fingerprint(module)
        try:
            target = runnable(module)
            if target is None:
                return
            if self._parts > 1 and not self._same_ports(target):
                return  # one of several parts, which does not take the model's inputs
            arrays = self._arrays(target)
            outputs = run_model(target, arrays)
        except CompileError as error:
            self.skipped.append((name, error.message))
            return
        copy = helpers.copy_module(target)
        slack = max((step_slack(step) for step in self._pending), default=0.0)
        rounds = rounds_to_codes(target)
        if self._rounds or (not self.stages and rounds):  # the stage before rounds, or is PyTorch's and does as well
            slack = max(slack, QUANTIZED_SLACK)
        self._rounds = rounds
        if not any(stage.trace for stage in self.stages) and self._pending:
            name = f"TOSA after import ({self._pending[-1].name})"
        self._pending.clear()
        kept = [index for index, port in enumerate(ports(target)[1]) if port.state is None]
        self.stages.append(Stage(name, [outputs[index] for index in kept], lambda: trace_model(copy, arrays), slack))

    def _same_ports(self, module: ir.Module) -> bool:
        input_ports, _ = ports(module)
        return self.inputs is not None and [port.shape for port in input_ports if port.state is None] == [
            array.shape for array in self.inputs
        ]

    def _arrays(self, module: ir.Module) -> list[Array]:
        """Inputs and the first values of states, in the entry's order."""
        input_ports, _ = ports(module)
        if self.inputs is None:
            arrays = usable_inputs(module)
            self.inputs = [array for port, array in zip(input_ports, arrays, strict=True) if port.state is None]
            return arrays
        taken = [port for port in input_ports if port.state is None]
        if len(taken) != len(self.inputs):
            raise CompileError(f"expected {len(taken)} inputs, found {len(self.inputs)}")
        given = iter(self.inputs)
        return [np.asarray(port.initial) if port.state is not None else next(given) for port in input_ports]


def bisect_module(
    module: ir.Module, steps: Sequence[Step], inputs: list[Array] | None = None, tolerance: float | None = None
) -> Bisection:
    """The stages of a pipeline on a module (TOSA), and where they part; the module is changed as the steps say.

    Raises CompileError where nothing could be run, and where a step fails.
    """
    recorder = Recorder(inputs)
    run_steps(steps, module, [recorder])
    if not recorder.stages:
        reason = recorder.skipped[-1][1] if recorder.skipped else "no state of it is a TOSA module"
        raise CompileError(f"nothing of this pipeline can be run: {reason}")
    return judge(recorder.stages, recorder.skipped, tolerance)


def bisect_model(
    model: Any,
    inputs: Sequence[Any] | None = None,
    *,
    float_model: Any = None,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    arrays: list[Array] | None = None,
    tolerance: float | None = None,
    use_vulkan: bool = True,
    options: Mapping[str, Any] | None = None,
) -> Bisection:
    """Every stage from PyTorch to Vulkan for a model that `vgfc.compile` takes.

    `float_model` is the model before it was quantised, for a row of its own. `arrays` are the inputs to run with, instead
    of those that the program was exported with. `options` go to `vgfc.compile`. Raises CompileError as `vgfc.compile`
    does.
    """
    from vgfc.compiler import compile as compile_model

    stages: list[Stage] = []
    is_torch = not isinstance(model, ir.Module) and not (isinstance(model, str) and not str(model).endswith(".pt2"))
    if is_torch:
        stages, arrays = _torch_stages(model, inputs, float_model, input_shapes, arrays)
    recorder = Recorder(arrays)
    program = compile_model(
        model, inputs, input_shapes=input_shapes, instrumentations=[recorder], **dict(options or {})
    )
    stages += recorder.stages
    skipped = recorder.skipped
    if use_vulkan and recorder.inputs is not None:
        from vgfc.runtime.layers import VulkanUnavailableError

        try:
            results = program.run(*recorder.inputs, device="vulkan")
            outputs = list(results) if isinstance(results, tuple) else [results]
            stages.append(Stage("VGF on Vulkan", outputs, _vulkan_tracer(program.module, recorder.inputs)))
        except VulkanUnavailableError as error:
            skipped.append(("VGF on Vulkan", error.message))
    if len(stages) < 2:
        raise CompileError("fewer than two stages of this model could be run")
    return judge(stages, skipped, tolerance)


def _torch_stages(
    model: Any,
    inputs: Sequence[Any] | None,
    float_model: Any,
    input_shapes: Mapping[str, Sequence[int]] | None,
    arrays: list[Array] | None,
) -> tuple[list[Stage], list[Array]]:
    """PyTorch's rows, and the inputs they ran with."""
    import torch

    from vgfc.eager import example_arrays, results_of, trace_of
    from vgfc.frontend.torch import exported_program

    stages = []
    program = exported_program(model, inputs, input_shapes)
    given = example_arrays(program) if arrays is None else arrays
    if float_model is not None:
        original = exported_program(float_model, inputs, input_shapes)
        stages.append(
            Stage(
                "exported program, not quantised",
                results_of(original.module(check_guards=False), original, given),
                None,
            )
        )
    if isinstance(model, torch.nn.Module):
        stages.append(Stage("PyTorch eager", results_of(model, program, given), None))

    def trace() -> Trace:
        return trace_of(program, given)

    name = "quantised program" if _is_quantised(program) else "exported program"
    stages.append(Stage(name, results_of(program.module(check_guards=False), program, given), trace))
    return stages, given


def _is_quantised(program: ExportedProgram) -> bool:
    return any("quantized_decomposed" in str(node.target) for node in program.graph.nodes)


def _vulkan_tracer(module: ir.Module, inputs: list[Array]) -> Tracer | None:
    """What each operation computes on Vulkan: a second file, in which all of them are outputs.

    None for modules of several segments, whose values cross from one to the next.
    """
    functions = helpers.functions(module)
    graphs = [function for function in functions if helpers.segment_kind(function) == "graph"]
    if len(graphs) != 1 or len(functions) != 2:
        return None

    def trace() -> Trace:
        from vgfc.boundary import to_file
        from vgfc.exposed import exposed_module
        from vgfc.passmanager import run_pipeline
        from vgfc.pipeline import PIPELINES
        from vgfc.runtime.vulkan import VulkanProgram

        exposed, watched, results = exposed_module(module)
        run_pipeline(exposed, PIPELINES["tosa-lower"](), PIPELINES)
        input_ports, _ = ports(module)
        given = iter(inputs)
        files = [
            to_file(port, np.asarray(port.initial) if port.state is not None else next(given)) for port in input_ports
        ]
        outputs = VulkanProgram(emit(exposed)).run(files)
        return Trace(list(zip(watched, outputs, strict=True)), results)

    return trace
