"""Running VGF files on a Vulkan device, in this process, through Arm's scenario runner."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import ml_dtypes  # noqa: F401 - makes numpy know bfloat16 and the fp8 types by name
import numpy as np

from vgfc.diagnostics import CompileError
from vgfc.runtime.layers import Device, VulkanUnavailableError, prepare
from vgfc.vgf_file import FORMAT_TYPES, Resource, VgfFile, decode

SESSION_LOG = re.compile(rb"session memory requirement: (\d+)")
_capture_lock = threading.Lock()

# The scenario runner's Format names for the formats that tensors have.
FORMAT_NAMES = {
    13: "R8Uint",
    14: "R8Sint",
    74: "R16Uint",
    75: "R16Sint",
    76: "R16Sfloat",
    98: "R32Uint",
    99: "R32Sint",
    100: "R32Sfloat",
    111: "R64Sint",
    1000460000: "R8BoolArm",
    1000460001: "R16Bfloat16Arm",
    1000460002: "R8Float8E4M3Arm",
    1000460003: "R8Float8E5M2Arm",
}
# What the runner uploads for a format whose values numpy has no type of its own for.
UPLOAD_TYPES = {1000460000: "uint8", 1000460001: "uint16", 1000460002: "uint8", 1000460003: "uint8"}


class VulkanProgram:
    """A VGF file loaded on the device; it can run many times.

    `load_seconds` is the time that making the pipelines took, `run_seconds` that of the last run. Raises
    VulkanUnavailableError where there is no device, CompileError for a damaged file or one that the device refuses.
    """

    def __init__(self, content: bytes, push_constants: Mapping[str, bytes] | None = None) -> None:
        """`push_constants` holds bytes by the name of a compute segment's module; the file says only how many it wants."""
        self.device: Device = prepare()
        runner = _import_runner()
        self._content = content
        self.file: VgfFile = decode(content)
        self.run_seconds = 0.0
        start = time.perf_counter()
        builder = runner.ScenarioBuilder()
        info = runner.VgfInfo()
        with tempfile.TemporaryDirectory(prefix="vgfc-") as folder, _captured_output() as log:
            path = Path(folder) / "program.vgf"
            path.write_bytes(content)
            info.load_source(str(path))
            if push_constants:
                info.push_constants_size = max(len(values) for values in push_constants.values())
            dispatch = runner.DispatchVgfData(builder.add_vgf(info))
            tensors = {}
            bindings = []
            for slot in (*self.file.inputs, *self.file.outputs):
                resource = self.file.resources[slot.resource]
                tensor_format = getattr(runner.Format, _format_names(resource)[0])
                tensors[slot.binding] = builder.add_tensor(list(resource.shape), tensor_format)
                kind = runner.DescriptorType.TensorArm
                bindings.append(runner.TypedBinding(0, slot.binding, tensors[slot.binding], kind))
            dispatch.bindings = bindings
            dispatch.push_constants = [
                runner.PushConstantMap(_add_raw_data(runner, builder, values, Path(folder) / f"{name}.npy"), name)
                for name, values in (push_constants or {}).items()
            ]
            builder.add_dispatch_vgf(dispatch)
            try:
                self._scenario = builder.build()
            except RuntimeError as error:
                raise CompileError(f"the device refused the program: {error}{_last_error(log())}") from None
        self._tensors = tensors
        self.load_seconds = time.perf_counter() - start

    @cached_property
    def session_bytes(self) -> int:
        """Device memory of the graphs' intermediates, summed over the segments, as the runner reports it.

        Only the runner's command tells it, so this loads the program once more, in a process of its own.
        """
        return session_bytes(self._content, self.file)

    def run(self, inputs: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        """The outputs for these inputs, in the file's order, shapes and types.

        Raises CompileError when number, shape or type of the inputs is not the file's.
        """
        if len(inputs) != len(self.file.inputs):
            raise CompileError(f"expected {len(self.file.inputs)} inputs, found {len(inputs)}")
        for index, (slot, values) in enumerate(zip(self.file.inputs, inputs, strict=True)):
            name = self.file.input_names[index] if index < len(self.file.input_names) else f"input_{index}"
            resource = self.file.resources[slot.resource]
            self._scenario.upload(self._tensors[slot.binding], _to_device(name, resource, values))
        start = time.perf_counter()
        with _captured_output() as log:
            try:
                self._scenario.run()
            except RuntimeError as error:
                raise CompileError(f"the device failed to run the program: {error}{_last_error(log())}") from None
        self.run_seconds = time.perf_counter() - start
        return [
            _from_device(self.file.resources[slot.resource], self._scenario.download(self._tensors[slot.binding]))
            for slot in self.file.outputs
        ]


def session_bytes(content: bytes, file: VgfFile) -> int:
    """Device memory of the intermediates of a file's graphs, from the scenario runner's log of a dry run.

    Raises CompileError when the runner refuses the file.
    """
    prepare()
    executable = shutil.which("scenario_runner", path=str(Path(sys.executable).parent)) or "scenario_runner"
    with tempfile.TemporaryDirectory(prefix="vgfc-") as folder:
        (Path(folder) / "program.vgf").write_bytes(content)
        resources: list[dict[str, Any]] = [{"graph": {"uid": "program", "src": "program.vgf"}}]
        bindings = []
        for slot in (*file.inputs, *file.outputs):
            resource = file.resources[slot.resource]
            name = f"tensor_{slot.binding}"
            bindings.append({"set": 0, "id": slot.binding, "resource_ref": name})
            tensor = {"uid": name, "dims": list(resource.shape), "format": _format_names(resource)[1]}
            resources.append({"tensor": {**tensor, "shader_access": "readwrite"}})
        command = {"dispatch_vgf": {"graph_ref": "program", "bindings": bindings}}
        scenario = json.dumps({"commands": [command], "resources": resources})
        (Path(folder) / "scenario.json").write_text(scenario, encoding="utf-8")
        done = subprocess.run(
            [executable, "--scenario", "scenario.json", "--output", ".", "--dry-run"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode:
        raise CompileError(f"the device refused the program{_last_error(done.stdout)}")
    return sum(int(number) for number in SESSION_LOG.findall(done.stdout))


def _add_raw_data(runner: Any, builder: Any, values: bytes, path: Path) -> Any:
    np.save(path, np.frombuffer(values, np.uint8))
    info = runner.RawDataInfo()
    info.debug_name, info.src = path.stem, str(path)
    return builder.add_raw_data(info)


def _format_names(resource: Resource) -> tuple[str, str]:
    """The runner's two names of a resource's format: in process, and in its JSON."""
    if resource.vk_format not in FORMAT_NAMES:
        raise CompileError(f"the runner has no tensors of VkFormat {resource.vk_format}")
    return FORMAT_NAMES[resource.vk_format], f"VK_FORMAT_{FORMAT_TYPES[resource.vk_format][1]}"


def _to_device(name: str, resource: Resource, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if values.ndim == 0 and resource.shape == (1,):
        values = values.reshape(1)  # VK_ARM_tensors has no rank 0; files of other compilers say so nevertheless
    if values.shape != resource.shape or values.dtype.name != resource.dtype:
        wanted = f"{resource.dtype}{list(resource.shape)}"
        raise CompileError(f"input '{name}': expected {wanted}, found {values.dtype.name}{list(values.shape)}")
    contiguous = np.ascontiguousarray(values)
    upload = UPLOAD_TYPES.get(resource.vk_format)
    return contiguous.view(upload) if upload else contiguous


def _from_device(resource: Resource, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    wanted = np.dtype(FORMAT_TYPES[resource.vk_format][0])
    if values.dtype != wanted:
        values = values.view(wanted) if values.dtype.itemsize == wanted.itemsize else values.astype(wanted)
    return values.reshape(resource.shape)


def _import_runner() -> Any:
    try:
        import scenario_runner_py
    except ImportError:
        raise VulkanUnavailableError("the scenario runner is not installed (extra: run)") from None
    return scenario_runner_py


@contextmanager
def _captured_output() -> Iterator[Any]:
    """What the native runner writes to the process's standard output and error meanwhile; nothing of it is shown.

    Yields a function that returns the bytes written so far. The runner has no other way to tell the session memory.
    """
    with _capture_lock, tempfile.TemporaryFile() as sink:
        sys.stdout.flush()
        sys.stderr.flush()
        saved = os.dup(1), os.dup(2)
        os.dup2(sink.fileno(), 1)
        os.dup2(sink.fileno(), 2)

        def content() -> bytes:
            return os.pread(sink.fileno(), os.fstat(sink.fileno()).st_size, 0)

        try:
            yield content
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for number, copy in enumerate(saved, start=1):
                os.dup2(copy, number)
                os.close(copy)


def _last_error(log: bytes) -> str:
    lines = [line for line in log.decode(errors="replace").splitlines() if "ERROR" in line.upper()]
    return f" ({lines[-1].strip()})" if lines else ""
