"""Checking passes by numbers: a module computes the same before and after each of them, or the pass is named.

Modules of TOSA (with vgf.quantize and vgf.dequantize, whole or cut into segments) run on Arm's reference model; lowered ones
are encoded to VGF, read back and run the same way. Between the torch dialect and TOSA nothing can be run: a difference is
then blamed on all passes since the last module that could.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch_mlir import ir

from vgfc import ir as helpers
from vgfc.boundary import from_file, to_file
from vgfc.diagnostics import CompileError, source_line
from vgfc.emit.tosa_flatbuffer import Watched
from vgfc.emit.vgf import emit
from vgfc.frontend.vgf import read_vgf
from vgfc.interface import Port, ports
from vgfc.passmanager import Instrumentation, Step
from vgfc.runtime.reference import Trace, UnpredictableError, run_reference, trace_reference

Array = np.ndarray[Any, Any]

# How far results of a floating-point type may move, relative to the largest magnitude of the output: passes may put sums
# and products in another order, and these are some hundred units in the last place of each type.
TOLERANCES = {"float64": 1e-4, "float32": 1e-4, "float16": 1e-2, "bfloat16": 4e-2}
# The same for a module with vgf.quantize: where floating-point sums end in a rounding to codes, one bit of a sum can move a
# result by a whole step (1/255 of the range), and by some of them after a few layers. Such results may be this far off at one
# place, and a quarter of it in the root mean square. Once vgf.quantize is gone, all is integers, and bits have to agree.
QUANTIZED_SLACK = 0.05
INPUT_ATTEMPTS = 3


class NumericsError(CompileError):
    """A pass changed what the module computes; `steps_back` passes before it could not be checked alone."""

    def __init__(self, message: str, location: ir.Location | None, steps_back: int) -> None:
        super().__init__(message, location)
        self.steps_back = steps_back


@dataclass(frozen=True)
class Difference:
    """Where an output is furthest from what it was: its index, both values there, and the distance.

    `error` is relative to the output's largest magnitude (infinite where a NaN, an infinity or an integer differs).
    """

    output: str
    index: tuple[int, ...]
    before: Any
    after: Any
    error: float

    def __str__(self) -> str:
        place = f"[{', '.join(str(number) for number in self.index)}]"
        error = f", {self.error:.2g} of its largest value" if np.isfinite(self.error) else ""
        return f"output '{self.output}' at {place} was {self.before} and is {self.after}{error}"


@dataclass(frozen=True)
class Culprit:
    """The first operation whose value is not among those of the other module, and where it comes from."""

    name: str
    location: ir.Location

    def __str__(self) -> str:
        source = source_line(self.location)
        return f"'{self.name}'" + (f" ({source})" if source else "")


# Running a module of whatever stage


def runnable(module: ir.Module) -> ir.Module | None:
    """The module as one that the reference model can run: itself, or a lowered one read back; None for other stages.

    Raises CompileError for a lowered module that cannot be encoded or read back.
    """
    names = {op.operation.name for op in module.body.operations}
    if "builtin.module" in names:
        spirv = _spirv_modules(module)
        if spirv and all("vce_triple" in op.attributes for op in spirv):  # the last thing that lowering adds
            return read_vgf(emit(module), module.context)
        return None if spirv else module
    for function in helpers.functions(module):
        for op in helpers.operations(function):
            if not op.name.startswith(("tosa.", "vgf.", "func.")):
                return None
    return module


def _spirv_modules(module: ir.Module) -> list[ir.Operation]:
    return [
        inner.operation
        for op in module.body.operations
        if op.operation.name == "builtin.module"
        for inner in op.operation.regions[0].blocks[0].operations
        if inner.operation.name == "spirv.module"
    ]


def run_model(module: ir.Module, inputs: Sequence[Array]) -> list[Array]:
    """What a runnable module gives for tensors in the model's own shapes and types; raises CompileError."""
    input_ports, output_ports = ports(module)
    arrays = [to_file(port, value) for port, value in zip(input_ports, inputs, strict=True)]
    results = run_reference(module, arrays)
    return [from_file(port, value) for port, value in zip(output_ports, results, strict=True)]


def trace_model(module: ir.Module, inputs: Sequence[Array]) -> Trace:
    """What every operation of a runnable module computes for tensors in the model's own shapes and types."""
    input_ports, _ = ports(module)
    return trace_reference(module, [to_file(port, value) for port, value in zip(input_ports, inputs, strict=True)])


def generate_inputs(inputs: Sequence[Port], seed: int = 0, attempt: int = 0) -> list[Array]:
    """Tensors for a model's inputs, the same for the same seed; higher attempts are tamer.

    Narrow integers fill their range; wide ones, which may be indices, start at 0 and stay below 8. The second attempt takes
    positive floats and small integers, the third zeros for every integer. States get their first values.
    """
    generator = np.random.default_rng(seed)
    found = []
    for port in inputs:
        dtype = np.dtype(port.dtype)
        if port.initial is not None:
            found.append(np.asarray(port.initial))
        elif dtype.kind == "b":
            found.append(generator.random(port.shape) < 0.5)
        elif dtype.kind in "iu":
            limits = np.iinfo(dtype)
            low, high = (limits.min, limits.max + 1) if dtype.itemsize < 4 and attempt == 0 else (0, 8 >> attempt)
            found.append(generator.integers(low, max(high, 1) if attempt < 2 else 1, port.shape).astype(dtype))
        elif attempt == 0:
            found.append(generator.standard_normal(port.shape).astype(dtype))
        else:
            found.append(generator.uniform(0.05, 1.0, port.shape).astype(dtype))
    return found


def usable_inputs(module: ir.Module, seed: int = 0) -> list[Array]:
    """Generated inputs for which the specification says what the module gives; raises UnpredictableError if none is found."""
    for attempt in range(INPUT_ATTEMPTS):
        inputs = generate_inputs(ports(module)[0], seed, attempt)
        try:
            outputs = run_model(module, inputs)
        except UnpredictableError:
            if attempt + 1 == INPUT_ATTEMPTS:
                raise
            continue
        if attempt + 1 == INPUT_ATTEMPTS or all(np.isfinite(_as_float(output)).mean() > 0.5 for output in outputs):
            return inputs
    raise AssertionError("the last attempt returns or raises")


# Comparing


def _as_float(values: Array) -> Array:
    return values.astype(np.float64)


def tolerance_for(dtype: np.dtype[Any], tolerance: float | None) -> float:
    """The tolerance for values of a type: the one given, else the type's own; 0 for integers and bools."""
    if dtype.kind in "iub":
        return 0.0
    return TOLERANCES.get(dtype.name, 1e-1) if tolerance is None else tolerance


def compare(before: Array, after: Array, tolerance: float | None, name: str, slack: float = 0.0) -> Difference | None:
    """The largest difference beyond what is allowed, None where there is none.

    Integers and bools must be equal, NaNs and infinities in the same places, floats within `tolerance` (None: the type's
    own) times the largest magnitude. `slack` allows that much for every type, and a quarter of it in the root mean square:
    for a pass that rounds anew by design.
    """
    if before.shape != after.shape or before.dtype != after.dtype:
        kinds = [f"{value.dtype}{list(value.shape)}" for value in (before, after)]
        return Difference(name, (), kinds[0], kinds[1], float("inf"))
    left, right = _as_float(before), _as_float(after)
    finite = np.isfinite(left) & np.isfinite(right)
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    error = np.where(same, 0.0, np.inf)
    scale = float(np.abs(left[finite]).max(initial=0.0)) or 1.0
    error[finite] = np.abs(left[finite] - right[finite]) / scale
    if not error.size or float(error.max()) <= tolerance_for(before.dtype, tolerance):
        return None
    if float(error.max()) <= slack and float(np.sqrt(np.mean(error**2))) <= slack / 4:
        return None
    index = tuple(int(number) for number in np.unravel_index(int(error.argmax()), error.shape))
    worst = float(error.max()) if before.dtype.kind not in "iub" else float("inf")
    return Difference(name, index, before[index], after[index], worst)


def relative_error(before: Sequence[Array], after: Sequence[Array]) -> float:
    """The largest distance of any output relative to its largest magnitude; infinite where NaNs or infinities differ."""
    worst = 0.0
    for left, right in zip(before, after, strict=True):
        exact, other = _as_float(left), _as_float(right)
        if exact.shape != other.shape or not np.array_equal(np.isfinite(exact), np.isfinite(other)):
            return float("inf")
        finite = np.isfinite(exact)
        scale = float(np.abs(exact[finite]).max(initial=0.0)) or 1.0
        worst = max(worst, float(np.abs(exact[finite] - other[finite]).max(initial=0.0)) / scale)
    return worst


# Finding the operation


@dataclass(frozen=True)
class _Summary:
    """What stays the same when a value is only moved around: its values in order of size."""

    ordered: Array
    scale: float


def _summary(values: Array) -> _Summary:
    ordered = np.sort(_as_float(values).reshape(-1))
    finite = ordered[np.isfinite(ordered)]
    return _Summary(ordered, float(np.abs(finite).max(initial=0.0)) or 1.0)


def _alike(left: _Summary, right: _Summary, tolerance: float) -> bool:
    if left.ordered.size != right.ordered.size:
        return False
    allowed = tolerance * max(left.scale, right.scale)
    probes = np.linspace(0, left.ordered.size - 1, min(left.ordered.size, 17)).astype(int)
    if not np.allclose(left.ordered[probes], right.ordered[probes], rtol=0, atol=allowed, equal_nan=True):
        return False  # most pairs end here
    return bool(np.allclose(left.ordered, right.ordered, rtol=0, atol=allowed, equal_nan=True))


def find_culprit(
    suspect: Trace, other: Trace, outputs: Sequence[int], tolerance: float | None, slack: float = 0.0
) -> Culprit | None:
    """The first operation of `suspect` whose value `other` does not have, on the way to the outputs that differ.

    Values are compared in order of size, so that a transpose or a reshape in between does not matter. An operation is
    the first when everything that it reads is a value of the other module, an input or a constant. None where every
    value on the way has its like in the other module (outputs that were swapped).
    """
    known: dict[int, list[_Summary]] = {}
    for _, values in other.values:
        known.setdefault(values.size, []).append(_summary(values))
    watched: dict[str, tuple[int, Watched, bool]] = {}
    for position, (item, values) in enumerate(suspect.values):
        allowed = max(tolerance_for(values.dtype, tolerance), slack)
        summary = _summary(values)
        explained = any(_alike(summary, candidate, allowed) for candidate in known.get(values.size, ()))
        watched[item.tensor] = (position, item, explained)
    first: tuple[int, Watched] | None = None
    pending = [suspect.results[index] for index in outputs]
    seen = set(pending)
    while pending:
        tensor = pending.pop()
        if tensor not in watched or watched[tensor][2]:
            continue
        position, item, _ = watched[tensor]
        unexplained = [name for name in item.operands if name in watched and not watched[name][2]]
        if not unexplained and (first is None or position < first[0]):
            first = position, item
        for name in unexplained:
            if name not in seen:
                seen.add(name)
                pending.append(name)
    return Culprit(first[1].name, first[1].location) if first else None


# Watching a pipeline


@dataclass
class _Baseline:
    """The last state that could be run; whether floats are rounded to codes in it."""

    module: ir.Module | None
    outputs: list[Array]
    is_quantized: bool = False


@dataclass
class VerifyNumerics(Instrumentation):
    """Runs the module before and after each pass and raises NumericsError where results differ.

    `tolerance` replaces the tolerances of floating-point types. `inputs` are tensors in the model's own shapes and types,
    in order; without them, they are generated from `seed`. `expected` are results that the first module which can be run is
    compared with, PyTorch's for example; they go with `inputs`, and states are not among either.
    """

    tolerance: float | None = None
    inputs: list[Array] | None = None
    expected: list[Array] | None = None
    seed: int = 0
    checked: list[str] = field(default_factory=list)
    unchecked: list[tuple[str, str]] = field(default_factory=list)
    _baseline: _Baseline | None = field(default=None, init=False)
    _print: list[object] = field(default_factory=list, init=False)
    _pending: list[Step] = field(default_factory=list, init=False)
    _reason: str = field(default="the pipeline is empty", init=False)
    _module: ir.Module | None = field(default=None, init=False)
    _arrays: list[Array] | None = field(default=None, init=False)  # the inputs with the states' first values between

    def before_step(self, step: Step, module: ir.Module) -> None:
        if module is self._module:
            return
        if self._module is not None:  # a part of the model is compiled on its own now
            self._baseline = self._arrays = self.inputs = self.expected = None
            self._pending.clear()
        self._module = module
        if self.expected is not None:
            self._baseline = _Baseline(None, self.expected)
        self._look(module, None)

    def after_step(self, step: Step, module: ir.Module, seconds: float) -> None:
        self._pending.append(step)
        if helpers.fingerprint(module) == self._print:
            if self._pending == [step] and self._is_running():  # the state before it was run, and this is the same
                self.checked.append(step.name)
                self._pending.clear()
            return
        self._look(module, step)

    def summary(self) -> str:
        """What was checked and what could not be, in a sentence or two."""
        text = f"numerics: {len(self.checked)} passes checked"
        if self.unchecked:
            names = ", ".join(name for name, _ in self.unchecked)
            text += f"; not one by one: {names} ({self.unchecked[-1][1]})"
        return text

    def ensure_checked(self) -> None:
        """Raise CompileError when no state of the module could be run at all."""
        if not self._is_running():
            raise CompileError(f"numerics could not be verified: {self._reason}")

    def _is_running(self) -> bool:
        return self._baseline is not None and self._baseline.module is not None

    def _look(self, module: ir.Module, step: Step | None) -> None:
        """Run the module if it can be, and compare with the last that could."""
        self._print = helpers.fingerprint(module)
        try:
            target = runnable(module)
        except CompileError as error:
            self._postpone(step, error.message)
            return
        if target is None:
            self._postpone(step, "no module of TOSA")
            return
        self._check_inputs(target)
        try:
            if self._arrays is None:
                self._arrays = self._model_inputs(target)
            outputs = run_model(target, self._arrays)
        except CompileError as error:
            self._postpone(step, error.message)
            return
        if self._baseline is not None:
            self._compare(target, outputs)
        self.checked += [pending.name for pending in self._pending]
        self._pending.clear()
        self._baseline = _Baseline(helpers.copy_module(target), outputs, rounds_to_codes(target))

    def _check_inputs(self, module: ir.Module) -> None:
        taken = [port for port in ports(module)[0] if port.state is None]
        if self.inputs is not None and len(self.inputs) != len(taken):
            names = ", ".join(port.name for port in taken)
            raise CompileError(
                f"expected {len(taken)} inputs ({names}) to verify numerics with, found {len(self.inputs)}"
            )

    def _model_inputs(self, module: ir.Module) -> list[Array]:
        if self.inputs is None:
            return usable_inputs(module, self.seed)
        input_ports, _ = ports(module)
        given = iter(self.inputs)
        initial = generate_inputs(input_ports, self.seed)
        return [next(given) if port.state is None else first for port, first in zip(input_ports, initial, strict=True)]

    def _postpone(self, step: Step | None, reason: str) -> None:
        self._reason = reason
        if step is not None:
            self.unchecked.append((step.name, reason))

    def _compare(self, module: ir.Module, outputs: list[Array]) -> None:
        assert self._baseline is not None
        slack = max((step_slack(step) for step in self._pending), default=0.0)
        if self._baseline.is_quantized or (self._baseline.module is None and rounds_to_codes(module)):
            slack = max(slack, QUANTIZED_SLACK)
        output_ports = ports(module)[1]
        if self._baseline.module is None:  # results from outside, among which there are no states
            kept = [index for index, port in enumerate(output_ports) if port.state is None]
            outputs, output_ports = [outputs[index] for index in kept], [output_ports[index] for index in kept]
        names = [port.name for port in output_ports]
        if len(outputs) != len(self._baseline.outputs):
            raise self._error(f"the module had {len(self._baseline.outputs)} outputs and has {len(outputs)}", None)
        found = [
            compare(before, after, self.tolerance, name, slack)
            for before, after, name in zip(self._baseline.outputs, outputs, names, strict=True)
        ]
        differing = [index for index, difference in enumerate(found) if difference is not None]
        if not differing:
            return
        message, location = str(found[differing[0]]), None
        if self._baseline.module is not None:
            assert self._arrays is not None
            before, after = trace_model(self._baseline.module, self._arrays), trace_model(module, self._arrays)
            culprit = find_culprit(after, before, differing, self.tolerance, slack)
            lost = find_culprit(before, after, differing, self.tolerance, slack)
            if culprit is not None:
                location = culprit.location
                message += f"; the first operation that computes something new is {culprit}"
            if lost is not None:
                location = location or lost.location
                message += f"; the first whose value is gone is {lost}"
        raise self._error(message, location)

    def _error(self, message: str, location: ir.Location | None) -> NumericsError:
        names = [step.name for step in self._pending]
        who = "the import changes"
        if len(names) == 1:
            who = f"pass '{names[0]}' changes"
        elif names:
            who = f"one of the {len(names)} passes from '{names[0]}' to '{names[-1]}' changes"
        return NumericsError(f"{who} the result: {message}", location, max(len(names) - 1, 0))


def rounds_to_codes(module: ir.Module) -> bool:
    """Whether some operation of the module is a vgf.quantize."""
    return any(
        op.name == "vgf.quantize" for function in helpers.functions(module) for op in helpers.operations(function)
    )


def step_slack(step: Step) -> float:
    """How far a pass says that it moves results by design; see `Pass.numeric_slack`."""
    return float(getattr(step.python_pass, "numeric_slack", 0.0))
