"""A compiled program: its VGF bytes, what it takes and gives, running it, and what it cost."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import ml_dtypes  # noqa: F401 - makes numpy know bfloat16 and the fp8 types by name
import numpy as np
from torch_mlir import ir

from vgfc.boundary import from_file, is_torch, to_file, to_torch
from vgfc.bundle import Bundle
from vgfc.bundle import write as write_bundle
from vgfc.diagnostics import CompileError
from vgfc.files import write_atomically
from vgfc.interface import Port, ports
from vgfc.parts import Part
from vgfc.report import Report, StepRecord, count_operators
from vgfc.report.explain import explain, segment_kinds
from vgfc.vgf_file import Resource, decode

if TYPE_CHECKING:
    from torch.fx import GraphModule

    from vgfc.quantizer.accuracy import AccuracyReport
    from vgfc.report.memory import MemoryReport
    from vgfc.runtime.parts import PartsProgram

Array = np.ndarray[Any, Any]
DEVICES = ("auto", "vulkan", "reference")


class Program:
    """What `vgfc.compile` returns.

    `vgf` holds the file's bytes (`bundle` the parts of a program that one file cannot hold), `module` the segmented TOSA
    module that was lowered to them. `inputs` and `outputs` list
    what the model takes and gives (`name`, `shape`, `dtype`; see `vgfc.interface.Port`); buffers that the model changes
    are not among them, `run` carries them over.
    """

    def __init__(
        self,
        module: ir.Module,
        bundle: Bundle,
        parts: Sequence[Part],
        steps: list[StepRecord],
        import_seconds: float,
        emit_seconds: float,
    ) -> None:
        self.module = module
        self.bundle = bundle
        self._parts = parts
        self._steps = steps
        self._times = (import_seconds, emit_seconds)
        self.all_inputs, self.all_outputs = ports(module)
        self._state = {port.name: port.initial for port in self.all_inputs if port.state is not None}
        self._loaded: PartsProgram | None = None
        self._quantized: GraphModule | None = None

    @property
    def vgf(self) -> bytes:
        """The bytes of the VGF file; raises CompileError for a program that one file cannot hold (see `save`)."""
        if self.bundle.is_one_file:
            return self.bundle.parts[0].content
        hosts = [reason for part in self.bundle.parts for reason in part.reasons]
        why = (
            f"parts of it run on the host ({hosts[0]})" if hosts else "it has push constants, whose values no VGF holds"
        )
        raise CompileError(f"a single VGF file cannot hold this program: {why}; save it to a folder")

    @property
    def inputs(self) -> list[Port]:
        """What the model takes, in order, without the states that `run` carries over."""
        return [port for port in self.all_inputs if port.state is None]

    @property
    def outputs(self) -> list[Port]:
        """What the model gives, in order, without states."""
        return [port for port in self.all_outputs if port.state is None]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the program: a VGF file, or a folder where one file cannot hold it (docs/bundle.md).

        Raises CompileError when it cannot be written, and then leaves nothing behind; and for a path that ends in .vgf
        where a folder is needed.
        """
        if self.bundle.is_one_file:
            write_atomically(path, *self.bundle.parts[0].pieces)
        elif str(path).endswith(".vgf"):
            write_atomically(path, self.vgf)
        else:
            write_bundle(self.bundle, path)

    def reset(self) -> None:
        """Give the buffers that the model changes their first values again."""
        self._state = {port.name: port.initial for port in self.all_inputs if port.state is not None}

    def run(self, *tensors: Any, device: str = "auto") -> Any:
        """The model's result for these tensors: one tensor, or a tuple when the model gives several.

        Takes and returns torch tensors or numpy arrays in the model's shapes and types. `device` is "vulkan", "reference"
        (Arm's TOSA reference model), or "auto": Vulkan where there is a device, else the reference model with a warning.
        Raises CompileError when number, shape, type or range of the tensors is not what the model takes.
        """
        if device not in DEVICES:
            raise CompileError(f"expected a device of {', '.join(DEVICES)}, found '{device}'")
        if len(tensors) != len(self.inputs):
            names = ", ".join(port.name for port in self.inputs)
            raise CompileError(f"expected {len(self.inputs)} inputs ({names}), found {len(tensors)}")
        given = dict(zip((port.name for port in self.inputs), tensors, strict=True))
        arrays = [to_file(port, given.get(port.name, self._state.get(port.name))) for port in self.all_inputs]
        results = self._execute(arrays, device)
        returned = []
        wants_torch = any(is_torch(tensor) for tensor in tensors)
        state_inputs = {port.state: port.name for port in self.all_inputs if port.state is not None}
        for port, values in zip(self.all_outputs, results, strict=True):
            value = from_file(port, values)
            if port.state is not None:
                self._state[state_inputs[port.state]] = value
            else:
                returned.append(to_torch(value) if wants_torch else value)
        return returned[0] if len(returned) == 1 else tuple(returned)

    def vulkan(self) -> PartsProgram:
        """The program loaded on the Vulkan device, once; raises VulkanUnavailableError where there is none."""
        from vgfc.runtime.parts import PartsProgram

        if self._loaded is None:
            self._loaded = PartsProgram(self.bundle)
        return self._loaded

    def _execute(self, arrays: list[Array], device: str) -> list[Array]:
        from vgfc.runtime.layers import VulkanUnavailableError

        if device != "reference":
            try:
                return self.vulkan().run(arrays)
            except VulkanUnavailableError as error:
                if device == "vulkan":
                    raise
                warnings.warn(f"running on the TOSA reference model: {error.message}", stacklevel=3)
        return self._run_reference(arrays)

    def _run_reference(self, arrays: list[Array]) -> list[Array]:
        from vgfc.runtime.reference import run_reference

        if len(self._parts) == 1 and self._parts[0].kind == "device":
            return list(run_reference(self.module, arrays))
        from vgfc.runtime.host import HostProgram

        values = dict(zip(self.bundle.inputs, arrays, strict=True))
        for part in self._parts:
            given = [values[number] for number in part.inputs]
            results = (
                run_reference(part.module, given) if part.kind == "device" else HostProgram(part.module).run(given)
            )
            values.update(zip(part.outputs, results, strict=True))
        return [values[number] for number in self.bundle.outputs]

    def remember_quantized(self, model: GraphModule) -> None:
        """Keep the quantised graph that the program was compiled from, for `accuracy`."""
        self._quantized = model

    def accuracy(self, *inputs: Any) -> AccuracyReport:
        """Each quantised layer beside its floating-point original, for torch tensors as inputs; worst first.

        Raises CompileError for a program that was not compiled from what `vgfc.quantize` returned.
        """
        from vgfc.quantizer.accuracy import layer_accuracy

        if self._quantized is None:
            raise CompileError("expected a program compiled from what vgfc.quantize returned")
        return layer_accuracy(self._quantized, inputs)

    def io_metadata(self) -> str:
        """What the file takes and gives, as JSON: names, shapes, types, and the scale and zero point of integer codes."""
        import json

        def entry(port: Port) -> dict[str, Any]:
            found: dict[str, Any] = {"name": port.name, "shape": list(port.file_shape), "dtype": port.file_dtype}
            if port.scale is not None:
                found |= {"scale": port.scale, "zero_point": port.zero_point, "model_dtype": port.dtype}
            return found

        sides = {"inputs": self.inputs, "outputs": self.outputs}
        return json.dumps({side: [entry(port) for port in ports] for side, ports in sides.items()}, indent=2)

    def report(self) -> Report:
        """Operators, segments, sizes and times; see `vgfc.report.Report`."""
        from vgfc.report.graph import graph_of
        from vgfc.report.memory import between_segments, memory_of

        files = [decode(part.tables) for part in self.bundle.parts if part.kind == "vgf"]
        graph = graph_of(self.module)
        input_bytes = sum(_size(port) for port in self.all_inputs)
        output_bytes = sum(_size(port) for port in self.all_outputs)
        between = [
            (None if resource.alias_group is None else (number, resource.alias_group), _resource_bytes(resource))
            for number, file in enumerate(files)
            for resource in file.resources
            if resource.category == "INTERMEDIATE"
        ]
        return Report(
            operators=dict(count_operators(self.module)),
            segments=segment_kinds(self.module),
            constant_bytes=sum(
                _resource_bytes(resource)
                for file in files
                for resource in file.resources
                if resource.category == "CONSTANT"
            ),
            vgf_bytes=sum(part.size_bytes for part in self.bundle.parts if part.kind == "vgf"),
            input_bytes=input_bytes,
            output_bytes=output_bytes,
            import_seconds=self._times[0],
            pass_seconds=sum(step.seconds for step in self._steps),
            emit_seconds=self._times[1],
            steps=self._steps,
            not_in_graph=explain(self.module),
            graph=graph,
            memory=memory_of(graph, between, (input_bytes, output_bytes), between_segments(self.module)),
        )

    def memory(self) -> MemoryReport:
        """What the program needs of device memory, and when; see `vgfc.report.memory.MemoryReport`."""
        return self.report().memory

    def _repr_html_(self) -> str:
        """What a notebook shows: the report's page."""
        return self.report()._repr_html_()


def _resource_bytes(resource: Resource) -> int:
    return prod(resource.shape) * np.dtype(resource.dtype).itemsize


def _size(port: Port) -> int:
    return int(np.prod(port.file_shape, dtype=np.int64)) * np.dtype(port.file_dtype).itemsize
