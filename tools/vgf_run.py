"""vgf-run: run a VGF file, or a folder of VGF files and host segments, and print time, device and memory."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from vgfc.bundle import load
from vgfc.command_line import Progress, add_output_options, command, parse_arguments
from vgfc.diagnostics import CompileError
from vgfc.files import read_bytes, write_atomically
from vgfc.interface import Port
from vgfc.runtime.parts import PartsProgram
from vgfc.vgf_file import decode

EXAMPLE = "example: vgf-run model.vgf --input x.npy --output y.npy"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser("vgf-run", description=(__doc__ or "").split("\n\n")[0], epilog=EXAMPLE)
    result.add_argument("program", metavar="PROGRAM", help="a VGF file, or the folder of a program with host segments")
    result.add_argument("--input", action="append", default=[], metavar="X.npy", help="an input; once each, in order")
    result.add_argument("--output", action="append", default=[], metavar="Y.npy", help="where an output goes, in order")
    result.add_argument("--random-inputs", type=int, metavar="SEED", help="random inputs instead of files")
    result.add_argument("--repeat", type=int, default=1, metavar="N", help="run N times and print the median time")
    add_output_options(result, "print the figures as JSON")
    return result


def load_array(path: str) -> np.ndarray[Any, Any]:
    """The array of a .npy file; raises CompileError where the file holds none."""
    try:
        array = np.load(io.BytesIO(read_bytes(path)), allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise CompileError(f"'{path}': expected a .npy file with one array of numbers ({error})") from None
    if not isinstance(array, np.ndarray):
        raise CompileError(f"'{path}': expected a .npy file with one array, found an archive")
    return array


def random_arrays(ports: Sequence[Port], seed: int) -> list[np.ndarray[Any, Any]]:
    """An array for each input: normal for floating point, the whole range for integers of up to 16 bits."""
    generator = np.random.default_rng(seed)
    arrays = []
    for port in ports:
        kind = np.dtype(port.dtype)
        if kind.kind in "iu":
            limits = np.iinfo(kind)
            low, high = (limits.min, limits.max) if kind.itemsize <= 2 else (0, 127)
            arrays.append(generator.integers(low, high, port.shape, dtype=kind, endpoint=True))
        elif kind.kind == "b":
            arrays.append(generator.integers(0, 2, port.shape).astype(kind))
        else:
            arrays.append(generator.standard_normal(port.shape).astype(kind))
    return arrays


def run_tool(arguments: argparse.Namespace) -> dict[str, Any]:
    """Run the program; returns the figures to print."""
    bundle = load(arguments.program)
    ports = [port for port in bundle.input_ports if port.state is None]
    if arguments.random_inputs is not None:
        inputs = random_arrays(ports, arguments.random_inputs)
    else:
        inputs = [load_array(path) for path in arguments.input]
    if len(inputs) != len(ports):
        names = ", ".join(port.name for port in ports)
        raise CompileError(f"'{arguments.program}' has {len(ports)} inputs ({names}), found {len(inputs)} --input")
    outputs_wanted = sum(port.state is None for port in bundle.output_ports)
    if len(arguments.output) > outputs_wanted:
        raise CompileError(f"expected at most {outputs_wanted} --output, found {len(arguments.output)}")
    times = []
    outputs: list[np.ndarray[Any, Any]] = []
    repeats = max(1, arguments.repeat)
    with Progress(not (arguments.quiet or arguments.json), "making the device's pipelines") as progress:
        program = PartsProgram(bundle)
        for number in range(repeats):
            progress.show(f"running {number + 1} of {repeats}")
            outputs = program.call(inputs)
            times.append(program.run_seconds)
    for path, values in zip(arguments.output, outputs, strict=False):
        stream = io.BytesIO()
        np.save(stream, values)
        write_atomically(path, stream.getvalue())
    files = [decode(part.content) for part in bundle.parts if part.kind == "vgf"]
    return {
        "device": program.device.name,
        "emulated": program.device.emulated,
        "load_seconds": program.load_seconds,
        "run_seconds": float(np.median(times)),
        "session_bytes": program.session_bytes,
        "constant_bytes": sum(len(constant.data) for file in files for constant in file.constants),
    }


@command
def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool; returns the exit status."""
    arguments = parse_arguments(parser(), argv)
    try:
        figures = run_tool(arguments)
    except CompileError as error:
        print(f"vgf-run: {error}", file=sys.stderr)
        return 1
    if arguments.json:
        print(json.dumps(figures, indent=2))
    elif not arguments.quiet:
        emulated = " (ML extensions emulated)" if figures["emulated"] else ""
        print(f"device      {figures['device']}{emulated}")
        print(f"load        {figures['load_seconds']:.3f} s")
        print(f"run         {figures['run_seconds']:.6f} s")
        print(f"session     {figures['session_bytes']} bytes")
        print(f"constants   {figures['constant_bytes']} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
