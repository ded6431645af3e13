"""Running a program of several parts: VGF files on the Vulkan device and host modules in this process, in order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from torch_mlir import ir

from vgfc.boundary import from_file, to_file
from vgfc.bundle import BuiltPart, Bundle
from vgfc.bytecode import ensure_sound, is_bytecode
from vgfc.diagnostics import CompileError
from vgfc.dialect import make_context
from vgfc.runtime.host import HostProgram
from vgfc.runtime.layers import Device, prepare
from vgfc.runtime.vulkan import VulkanProgram

Array = np.ndarray[Any, Any]


class PartsProgram:
    """A bundle loaded for running; it can run many times.

    Raises VulkanUnavailableError where it has VGF files and there is no device, CompileError where a part is damaged.
    """

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self._loaded = [load(part) for part in bundle.parts]
        self._states = {port.state: port.initial for port in bundle.input_ports if port.state is not None}
        self.load_seconds = sum(part.load_seconds for part in self.device_parts)
        self.run_seconds = 0.0

    @property
    def device_parts(self) -> list[VulkanProgram]:
        """The parts that run on the device."""
        return [part for part in self._loaded if isinstance(part, VulkanProgram)]

    @property
    def device(self) -> Device:
        """The device that VGF files run on; raises VulkanUnavailableError where there is none."""
        return prepare()

    @cached_property
    def session_bytes(self) -> int:
        """Device memory of the graphs' intermediates, summed over the VGF files."""
        return sum(part.session_bytes for part in self.device_parts)

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """The outputs for these inputs, in the bundle's order, shapes and types.

        `run_seconds` is then the time on the device; host parts do not count.
        """
        if len(inputs) != len(self.bundle.inputs):
            raise CompileError(f"expected {len(self.bundle.inputs)} inputs, found {len(inputs)}")
        values: dict[int, Array] = dict(zip(self.bundle.inputs, inputs, strict=True))
        self.run_seconds = 0.0
        for part, loaded in zip(self.bundle.parts, self._loaded, strict=True):
            results = loaded.run([values[number] for number in part.inputs])
            if isinstance(loaded, VulkanProgram):
                self.run_seconds += loaded.run_seconds
            for number, result in zip(part.outputs, results, strict=True):
                values[number] = result.reshape(self.bundle.values[number].shape)  # a VGF has vectors for scalars
        return [values[number] for number in self.bundle.outputs]

    def call(self, arrays: Sequence[Array]) -> list[Array]:
        """The model's results for its own inputs, in the model's shapes and types; states go from one call to the next.

        Raises CompileError when number, shape, type or range of the arrays is not what the model takes.
        """
        ports = [port for port in self.bundle.input_ports if port.state is None]
        if len(arrays) != len(ports):
            names = ", ".join(port.name for port in ports)
            raise CompileError(f"expected {len(ports)} inputs ({names}), found {len(arrays)}")
        given = iter(arrays)
        inputs = [
            to_file(port, next(given) if port.state is None else self._states[port.state])
            for port in self.bundle.input_ports
        ]
        outputs = []
        for port, values in zip(self.bundle.output_ports, self.run(inputs), strict=True):
            result = from_file(port, values)
            if port.state is None:
                outputs.append(result)
            else:
                self._states[port.state] = result
        return outputs


def load(part: BuiltPart) -> VulkanProgram | HostProgram:
    """One part, ready to run; raises CompileError where its content is not what its kind says."""
    if part.kind == "vgf":
        return VulkanProgram(part.content, part.push_constants)
    if part.kind != "host":
        raise CompileError(f"expected a part of kind vgf or host, found '{part.kind}'")
    if not is_bytecode(part.content):
        raise CompileError("expected a host part in MLIR bytecode, found other bytes")
    ensure_sound(part.content, "host part")
    try:
        with make_context():
            module = ir.Module.parse(part.content)
    except (ir.MLIRError, RuntimeError):
        raise CompileError("expected a host part in MLIR bytecode, found bytes that do not parse") from None
    return HostProgram(module)
