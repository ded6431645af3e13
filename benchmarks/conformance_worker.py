"""One conformance test after the other, in a process of its own: a crash costs one test, the Vulkan device is opened once.

Reads a JSON object a line from standard input ({"folder": ..., "converter": path or null, "negative": bool}) and answers each
with one.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, TextIO

import ml_dtypes
import numpy as np
from checker.verifier import VerifierLibrary

import vgfc
from vgfc.diagnostics import CompileError
from vgfc.dialect import make_context
from vgfc.frontend.vgf import read_vgf
from vgfc.ir import element_type, entry, numpy_type, shape
from vgfc.program import Program
from vgfc.runtime.reference import run_reference
from vgfc.runtime.vulkan import VulkanProgram

TARGET = "TOSA-1.0+INT+FP+int4+int16+bf16+fft"
VERIFY_LIBRARY = "libtosa_reference_verify_lib.so"
CONVERTER_TIMEOUT_SECONDS = 120

Array = np.ndarray[Any, Any]


class Test:
    """A generated test: its graph, inputs, the reference model's results, and how these are to be compared."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.description = json.loads((folder / "desc.json").read_text())
        self.graph = folder / self.description["tosa_file"]
        self.inputs = [load(folder / name) for name in self.description["ifm_file"]]
        self.needs_bounds = self.description["test_requirements"]["bounds_file_required"]

    def make_reference(self) -> str | None:
        """Run the reference model in its precise mode, once; returns what it complains of, None when all is well."""
        marker = self.folder / "reference.done"
        if not marker.exists():
            tool = Path(sys.executable).parent / "tosa_reference_model"
            arguments = [str(tool), f"--test_desc={self.folder / 'desc.json'}", "--precise_mode=1"]
            done = subprocess.run(arguments, capture_output=True, text=True, check=False)
            marker.write_text(str(done.returncode))
        status = int(marker.read_text())
        return {0: None, 1: "the reference model calls the graph invalid", 2: "the result is unpredictable"}.get(
            status, f"the reference model ended with status {status}"
        )

    def disagreement(self, results: list[Array], library: VerifierLibrary) -> str | None:
        """In which output the results are not compliant, None where all are."""
        names, files = self.description["ofm_name"], self.description["ofm_file"]
        if len(results) != len(names):
            return f"{len(results)} outputs instead of {len(names)}"
        for name, file, result in zip(names, files, results, strict=True):
            reference = load(self.folder / file)
            bounds = load(self.folder / f"bounds_{file}") if self.needs_bounds else None
            shaped = np.ascontiguousarray(result).reshape(reference.shape)  # which makes a scalar a vector
            plain = shaped.view("V2") if shaped.dtype == ml_dtypes.bfloat16 else shaped  # the verifier's name for it
            if not library.verify_data(name, self.description["meta"]["compliance"], plain, reference, bounds):
                return f"output {name}: {describe(shaped, reference)}"
        return None


def load(path: Path) -> Array:
    """A .npy file; numpy knows bfloat16 there only as two bytes."""
    array: Array = np.load(path)
    return array.view(ml_dtypes.bfloat16) if array.dtype.kind == "V" and array.dtype.itemsize == 2 else array


def describe(found: Array, wanted: Array) -> str:
    """How far the results are apart, in a few words; where the reference is more precise, rounding alone differs as well."""
    left, right = found.astype(np.float64).reshape(-1), wanted.astype(np.float64).reshape(-1)
    different = ~((left == right) | (np.isnan(left) & np.isnan(right)))
    with np.errstate(invalid="ignore"):
        distance = np.where(different, np.abs(left - right), 0)
    place = int(np.nan_to_num(distance, nan=np.inf).argmax()) if different.size else 0
    count = f"{int(different.sum())} of {different.size} values differ"
    return (
        f"{count}, most {left[place]:.9g} for {right[place]:.9g}" if different.any() else f"{count} but in their type"
    )


def judge(test: Test, results: list[Array], library: VerifierLibrary) -> dict[str, Any]:
    """The outcome; of wrong results a digest as well, to tell whether two programs fail in the same way."""
    problem = test.disagreement(results, library)
    if problem is None:
        return {"outcome": "passed"}
    digest = hashlib.sha256(b"".join(result.tobytes() for result in results)).hexdigest()
    return {"outcome": "failed", "reason": problem, "digest": digest}


def as_list(results: Any) -> list[Array]:
    return list(results) if isinstance(results, tuple) else [results]


def run_on_reference(content: bytes, inputs: list[Array]) -> list[Array]:
    """What the reference model gives for the graphs in a VGF."""
    module = read_vgf(content, make_context())
    function = entry(module)
    assert function is not None, "a module that is read back has one entry"
    arrays = [
        array.astype(numpy_type(element_type(kind))).reshape(shape(kind))
        for array, kind in zip(inputs, function.type.inputs, strict=True)
    ]
    return run_reference(module, arrays)


def run_ours(test: Test, library: VerifierLibrary) -> dict[str, Any]:
    """The test through this compiler."""
    try:
        program: Program = vgfc.compile(str(test.graph), target=TARGET)
    except CompileError as error:
        return {"outcome": "refused", "reason": error.message}
    segments = program.report().segments
    try:
        found = judge(test, as_list(program.run(*test.inputs, device="vulkan")), library)
    except CompileError as error:
        return {"outcome": "failed", "reason": error.message, "segments": segments}
    found["segments"] = segments
    if found["outcome"] == "failed" and set(segments) == {"graph"}:
        # the file, read back, on the reference model tells a fault of the compiler from one of the device
        try:
            found["on_reference"] = judge(test, run_on_reference(program.vgf, test.inputs), library)["outcome"]
        except CompileError as error:
            found["on_reference"] = error.message
    return found


def same_bits(array: Array, kind: Any) -> Array:
    """Integers of the same width with or without a sign: model-converter's files tell unsigned ones, TOSA's tests do not."""
    wanted = np.dtype(kind)
    if array.dtype.kind in "iu" and wanted.kind in "iu" and array.dtype.itemsize == wanted.itemsize:
        return array.view(wanted)
    return array


def run_theirs(test: Test, converter: str, library: VerifierLibrary) -> dict[str, Any]:
    """The test through model-converter; the runtime is the same."""
    file = test.folder / "theirs.vgf"
    try:
        done = subprocess.run(
            [converter, "--input", str(test.graph), "--output", str(file)],
            capture_output=True,
            text=True,
            timeout=CONVERTER_TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"outcome": "refused", "reason": "no answer in time"}
    if done.returncode or not file.exists():
        lines = [line for line in (done.stderr + done.stdout).splitlines() if "error" in line.lower()]
        return {"outcome": "refused", "reason": lines[0] if lines else f"status {done.returncode}"}
    content = file.read_bytes()
    file.unlink()
    try:
        program = VulkanProgram(content)
        resources = [program.file.resources[slot.resource] for slot in program.file.inputs]
        if len(resources) != len(test.inputs):
            return {
                "outcome": "failed",
                "reason": f"the file has {len(resources)} inputs instead of {len(test.inputs)}",
            }
        arrays = [
            same_bits(array, item.dtype).reshape(item.shape) for array, item in zip(test.inputs, resources, strict=True)
        ]
        results = program.run(arrays)
        names = test.description["ofm_file"]
        wanted = [load(test.folder / name).dtype for name in names] if len(names) == len(results) else []
        return judge(
            test, [same_bits(*pair) for pair in zip(results, wanted, strict=True)] if wanted else results, library
        )
    except CompileError as error:
        return {"outcome": "failed", "reason": error.message}


def run_test(folder: Path, converter: str | None, library: VerifierLibrary) -> dict[str, Any]:
    """Both results of one test; "reference" says why there is nothing to compare with, where that is so."""
    test = Test(folder)
    problem = test.make_reference()
    found: dict[str, Any] = {"folder": str(folder), "operator": test.description["test_details"]["operator"]}
    if problem is not None:
        return {**found, "reference": problem}
    found["ours"] = run_ours(test, library)
    if converter is not None:
        found["theirs"] = run_theirs(test, converter, library)
    return found


def run_negative(folder: Path) -> dict[str, Any]:
    """Status and message of vgf-compile for a graph that it has to refuse; a traceback ends this process."""
    from vgfc.tools.vgf_compile import main as compile_file

    description = json.loads((folder / "desc.json").read_text())
    told = io.StringIO()
    with tempfile.TemporaryDirectory() as output, contextlib.redirect_stderr(told):
        arguments = [str(folder / description["tosa_file"]), "-o", str(Path(output) / "program"), "--target", TARGET]
        status = compile_file([*arguments, "--quiet"])
    found = {"folder": str(folder), "operator": description["test_details"]["operator"]}
    return {
        **found,
        "error": description["expected_failure_desc"],
        "status": status,
        "message": told.getvalue().strip(),
    }


def main() -> None:
    """Answer one line at a time; everything that libraries print goes to standard error."""
    answers: TextIO = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    import tosa_reference_model

    library = VerifierLibrary(Path(tosa_reference_model.__file__).parent / VERIFY_LIBRARY)
    for line in sys.stdin:
        job = json.loads(line)
        folder = Path(job["folder"])
        answer = run_negative(folder) if job["negative"] else run_test(folder, job["converter"], library)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
