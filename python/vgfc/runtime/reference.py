"""Running TOSA modules on Arm's TOSA reference model, in process.

The reference model is what the specification's own conformance tests compare with: integer results are exact, and
floating-point ones are computed in the type that the operator says. It comes with tosa-tools (`pip install vgfc[run]`).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from torch_mlir import ir

from vgfc import ir as helpers
from vgfc.diagnostics import CompileError
from vgfc.emit.tosa_flatbuffer import Watched, encode, encode_watched
from vgfc.interface import entry_function

IN_PROCESS_TYPES = frozenset(
    {"i1", "i8", "ui8", "i16", "ui16", "i32", "ui32", "f16", "bf16", "f32"}
)  # Python's binding of the model has no others at the boundary; the command reads and writes them as files
COMPLAINT = re.compile(
    r"OpFactory could not allocate op +([^\n]*?)(?:SubgraphTraverser|\n)|\(\) fails AT [^\n]*\n([^\n]+)"
)


class UnpredictableError(CompileError):
    """The specification leaves the result open for these inputs (an overflow, an index out of range)."""


def run_reference(module: ir.Module, inputs: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
    """The entry's results for `inputs`, computed by the TOSA reference model.

    The module may be whole or cut into segments (calls are expanded), and may hold vgf.quantize and vgf.dequantize. Arrays
    have the entry's own shapes and the numpy types of `vgfc.ir.NUMPY_TYPES`: ml_dtypes for bf16 and fp8, int8 for i4,
    int64 for i48.

    Raises CompileError where an input does not fit, where the module holds what TOSA has no words for, and where the
    reference model calls the graph invalid; UnpredictableError where it calls the result unpredictable.
    """
    kinds = entry_function(module).type
    prepared = _prepare(list(kinds.inputs), inputs)
    content = encode(module)
    names = [str(helpers.element_type(kind)) for kind in [*kinds.inputs, *kinds.results]]
    if IN_PROCESS_TYPES.issuperset(names):
        outputs = _run_in_process(content, prepared)
    else:
        outputs = _run_command(content, prepared, len(kinds.results))
    return [_restore(kind, output) for kind, output in zip(kinds.results, outputs, strict=True)]


@dataclass(frozen=True)
class Trace:
    """What every operation of a module computed, in execution order; `results` are the tensors that the entry returns."""

    values: list[tuple[Watched, np.ndarray[Any, Any]]]
    results: list[str]


def trace_reference(module: ir.Module, inputs: Sequence[np.ndarray[Any, Any]]) -> Trace:
    """What every operation of the module computes for `inputs`; see `encode_watched`.

    Raises CompileError as `run_reference` does, and where an input is of a type that the model takes from files only.
    """
    prepared = _prepare(list(entry_function(module).type.inputs), inputs)
    file = encode_watched(module)
    outputs = _run_in_process(file.content, prepared)
    values = [(item, _restore(item.type, output)) for item, output in zip(file.values, outputs, strict=True)]
    return Trace(values, file.results)


def _prepare(kinds: list[ir.Type], inputs: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
    if len(inputs) != len(kinds):
        raise CompileError(f"expected {len(kinds)} inputs, found {len(inputs)}")
    prepared = []
    for index, (kind, given) in enumerate(zip(kinds, inputs, strict=True)):
        wanted, array = np.dtype(helpers.numpy_type(helpers.element_type(kind))), np.asarray(given)
        if array.shape != helpers.shape(kind) or array.dtype != wanted:
            raise CompileError(
                f"input {index}: expected {wanted.name} of shape {list(helpers.shape(kind))}, "
                f"found {array.dtype.name} of shape {list(array.shape)}"
            )
        raw = array.view(np.uint16) if wanted.name == "bfloat16" else array
        prepared.append(np.ascontiguousarray(raw).reshape(array.shape))  # ascontiguousarray makes a scalar a vector
    return prepared


def _restore(kind: ir.Type, output: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An output in the numpy type that the entry's result has here, whatever the model's binding called it."""
    wanted = np.dtype(helpers.numpy_type(helpers.element_type(kind)))
    if output.dtype.itemsize != wanted.itemsize:
        raise CompileError(f"the reference model gave {output.dtype} where {wanted.name} was expected")
    array = output if output.dtype == wanted else np.ascontiguousarray(output).view(wanted)
    return array.reshape(helpers.shape(kind))


def _run_in_process(content: bytes, inputs: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
    import tosa_reference_model

    with _captured_output() as log:
        try:
            outputs, status = tosa_reference_model.run(content, list(inputs))
        except ValueError as error:
            raise CompileError(f"the TOSA reference model refuses the graph: {_complaint(log) or error}") from None
        if status != tosa_reference_model.GraphStatus.TOSA_VALID:
            reason = _complaint(log) or "it gives no reason"
            if status == tosa_reference_model.GraphStatus.TOSA_UNPREDICTABLE:
                raise UnpredictableError(f"the TOSA reference model calls the result unpredictable: {reason}")
            raise CompileError(f"the TOSA reference model calls the graph invalid: {reason}")
    return list(outputs)


def _run_command(
    content: bytes, inputs: Sequence[np.ndarray[Any, Any]], result_count: int
) -> list[np.ndarray[Any, Any]]:
    command = shutil.which(
        "tosa_reference_model", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    )
    if command is None:
        raise CompileError("cannot find the command tosa_reference_model, which pip install vgfc[run] brings")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "graph.tosa").write_bytes(content)
        for index, array in enumerate(inputs):
            np.save(root / f"input_{index}.npy", array)
        arguments = [command, f"--tosa_file={root / 'graph.tosa'}", f"--output_dir={folder}"]
        from vgfc.frontend.tosa_flatbuffer import boundary_names

        input_names, output_names = boundary_names(content)
        arguments.append(f"--ifm_name={','.join(input_names)}")
        arguments.append(f"--ifm_file={','.join(str(root / f'input_{index}.npy') for index in range(len(inputs)))}")
        arguments.append(f"--ofm_name={','.join(output_names)}")
        arguments.append(f"--ofm_file={','.join(f'output_{index}.npy' for index in range(result_count))}")
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
        log = done.stdout + done.stderr
        if "Graph result: UNPREDICTABLE" in log:
            raise UnpredictableError(
                f"the TOSA reference model calls the result unpredictable: {_first_complaint(log)}"
            )
        if done.returncode:
            raise CompileError(
                f"the TOSA reference model refuses the graph: {_first_complaint(log) or done.returncode}"
            )
        return [np.load(root / f"output_{index}.npy") for index in range(result_count)]


@contextmanager
def _captured_output() -> Iterator[IO[bytes]]:
    """Send what C code writes to standard output and error into a file: a refused graph prints a debugger's whole log."""
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as log:
        saved = os.dup(1), os.dup(2)
        try:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
            yield log
        finally:
            for number, descriptor in zip((1, 2), saved, strict=True):
                os.dup2(descriptor, number)
                os.close(descriptor)


def _complaint(log: IO[bytes]) -> str:
    log.seek(0)
    return _first_complaint(log.read().decode(errors="replace"))


def _first_complaint(text: str) -> str:
    """What the model's log first complains of, empty where it does not say."""
    match = COMPLAINT.search(text)
    if match is None:
        return ""
    return f"no operator {' '.join(match[1].split())}" if match[1] else match[2].strip()
