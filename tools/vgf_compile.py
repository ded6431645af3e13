"""vgf-compile: compile a model to a VGF file.

The model is a file (.pt2, .mlir, ...) or package.module:callable, where the callable returns the module and its example
inputs.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

from vgfc.command_line import Progress, add_output_options, command, parse_arguments
from vgfc.compiler import compile as compile_model
from vgfc.diagnostics import CompileError
from vgfc.files import write_atomically
from vgfc.program import Program

EXAMPLE = "example: vgf-compile benchmarks.zoo:mobilenet_v2 -o mobilenet_v2.vgf"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser("vgf-compile", description=(__doc__ or "").split("\n\n")[0], epilog=EXAMPLE)
    result.add_argument("model", help="model.pt2, model.mlir, ... or package.module:callable")
    result.add_argument(
        "-o",
        dest="output",
        metavar="FILE",
        required=True,
        help="the VGF file to write, or the folder for a program with host segments",
    )
    result.add_argument(
        "--input-shape",
        metavar="NAME=1x3x224x224",
        action="append",
        default=[],
        help="the shape of an input whose dimensions are dynamic; once for each such input",
    )
    result.add_argument(
        "--target", metavar="TEXT", help="what the device takes: TOSA-1.0+INT+FP+int16, a preset, a .toml file"
    )
    result.add_argument(
        "--segment-of",
        metavar="PATTERN:KIND,...",
        default="",
        help="what runs where, by module path, operator or place: 'decoder.*:host,resize:host,tail.*:graph/tail'",
    )
    result.add_argument("--require-full-graph", action="store_true", help="fail where an operator needs the host")
    result.add_argument(
        "--stripes",
        action=argparse.BooleanOptionalAction,
        help="compute large tensors part by part: less memory, more operators (default: only integer sums, where it pays)",
    )
    result.add_argument(
        "--exact",
        action=argparse.BooleanOptionalAction,
        help="round every floating-point result as the model's TOSA does (default: for .vgf files)",
    )
    result.add_argument(
        "--explain", action="store_true", help="print why operators are in no graph, and what would help"
    )
    result.add_argument(
        "--verify-numerics", action="store_true", help="run the model after every pass and compare, with PyTorch first"
    )
    result.add_argument("--quantize", metavar="NAME", help="quantize first: int8, int8_per_tensor, int16x8 or int8x4")
    result.add_argument(
        "--calibration",
        metavar="FILE.npz",
        help="typical inputs to quantize with: NAME -> samples x shape, for each input",
    )
    result.add_argument(
        "--accuracy-report", action="store_true", help="print what quantisation costs each layer, on the first sample"
    )
    result.add_argument(
        "--io-metadata",
        metavar="FILE.json",
        help="write names, shapes, types, scales and zero points of the file's boundary",
    )
    result.add_argument("--report", metavar="FILE.html", help="write the report as a page to look at")
    result.add_argument("--memory-report", metavar="FILE.html", help="write what the program needs of memory as a page")
    add_output_options(result, "print the report as JSON")
    return result


def parse_shapes(texts: Sequence[str]) -> dict[str, list[int]]:
    """NAME=1x3x224x224 as a dictionary; raises CompileError for anything else."""
    shapes = {}
    for text in texts:
        name, _, extents = text.partition("=")
        if not name or not all(extent.isdigit() for extent in extents.split("x")):
            raise CompileError(f"--input-shape: expected NAME=1x3x224x224, found '{text}'")
        shapes[name] = [int(extent) for extent in extents.split("x")]
    return shapes


def resolve(text: str) -> tuple[Any, Any]:
    """The model that the command line names, and its example inputs (None for a file)."""
    if ":" not in text or os.path.exists(text):
        return text, None
    module_name, _, attribute = text.partition(":")
    sys.path.insert(0, os.getcwd())
    try:
        found = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise CompileError(f"'{text}': cannot import '{module_name}': no module named '{error.name}'") from None
    function = getattr(found, attribute, None)
    if not callable(function):
        raise CompileError(f"'{text}': expected a callable named '{attribute}' in '{module_name}', found none")
    result = function()
    if not isinstance(result, tuple) or len(result) < 2:
        kind = type(result).__name__
        raise CompileError(f"'{text}': expected the callable to return (module, example inputs), found {kind}")
    return result[0], result[1]


def quantized(model: Any, inputs: Any, arguments: argparse.Namespace) -> tuple[Any, Any]:
    """The model quantised as the command line asks, and the first calibration sample as its example inputs."""
    from torch.export.graph_signature import InputKind

    from vgfc.frontend.torch import exported_program
    from vgfc.quantizer import load_calibration, quantize

    if arguments.calibration is None:
        raise CompileError("--quantize needs --calibration FILE.npz, typical inputs to measure ranges on")
    program = exported_program(model, inputs, parse_shapes(arguments.input_shape) or None)
    names = [spec.arg.name for spec in program.graph_signature.input_specs if spec.kind == InputKind.USER_INPUT]
    samples = load_calibration(arguments.calibration, names)
    return quantize(program, samples, arguments.quantize, progress=not arguments.quiet), samples[0]


def run_tool(arguments: argparse.Namespace) -> Program:
    """Compile and write what the command line asks for."""
    shapes = parse_shapes(arguments.input_shape)
    model, inputs = resolve(arguments.model)
    if arguments.quantize:
        model, inputs = quantized(model, inputs, arguments)
        shapes = {}
    elif arguments.calibration or arguments.accuracy_report:
        raise CompileError("--calibration and --accuracy-report need --quantize NAME")
    with Progress(not arguments.quiet) as progress:
        program = compile_model(
            model,
            inputs,
            input_shapes=shapes or None,
            target=arguments.target,
            segment_of=arguments.segment_of,
            require_full_graph=arguments.require_full_graph,
            stripes=arguments.stripes,
            exact=arguments.exact,
            instrumentations=[progress],
            verify_numerics=arguments.verify_numerics,
        )
    program.save(arguments.output)
    if arguments.io_metadata:
        write_atomically(arguments.io_metadata, program.io_metadata().encode())
    if arguments.accuracy_report and not arguments.quiet:
        accuracy = program.accuracy(*inputs)
        print(accuracy.to_json() if arguments.json else accuracy)
    if arguments.report:
        write_atomically(arguments.report, program.report().to_html(arguments.model).encode())
    if arguments.memory_report:
        write_atomically(arguments.memory_report, program.memory().to_html(f"Memory of {arguments.model}").encode())
    return program


@command
def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool; returns the exit status."""
    arguments = parse_arguments(parser(), argv)
    try:
        program = run_tool(arguments)
    except CompileError as error:
        print(f"vgf-compile: {error}" if error.source is None else str(error), file=sys.stderr)
        return 1
    if not arguments.quiet:
        report = program.report()
        print(report.to_json() if arguments.json else report.explain() if arguments.explain else report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
