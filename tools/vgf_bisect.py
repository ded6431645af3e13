"""vgf-bisect: run a model at every stage of its compilation and say at which one its numbers change.

Takes what vgf-compile takes, or a reproducer that vgf-opt left. Prints the error of every stage; exits with status 1 when one
of them changes the results, and names the operator.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from vgfc.bisect import Bisection, bisect_model, bisect_module
from vgfc.command_line import add_output_options, command, parse_arguments
from vgfc.diagnostics import CompileError
from vgfc.files import read_array, read_bytes
from vgfc.frontend.load import parse_mlir
from vgfc.passmanager import parse_pipeline
from vgfc.pipeline import PIPELINES
from vgfc.tools.vgf_compile import parse_shapes, resolve
from vgfc.tools.vgf_opt import REPRODUCER

EXAMPLE = "example: vgf-bisect benchmarks.zoo:mobilenet_v2"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser("vgf-bisect", description=(__doc__ or "").split("\n\n")[0], epilog=EXAMPLE)
    result.add_argument("model", help="model.pt2, model.mlir, ..., package.module:callable, or a reproducer of vgf-opt")
    result.add_argument("--float", dest="float_model", metavar="MODEL.pt2", help="the model before it was quantised")
    result.add_argument("--pass-pipeline", metavar="TEXT", help="bisect these passes on an MLIR file, instead of all")
    result.add_argument("--input", action="append", default=[], metavar="X.npy", help="an input; once each, in order")
    result.add_argument(
        "--input-shape", metavar="NAME=1x3x224x224", action="append", default=[], help="as vgf-compile's"
    )
    result.add_argument("--tolerance", type=float, help="for floating point, instead of each type's own")
    result.add_argument("--no-vulkan", action="store_true", help="leave out the run on the Vulkan device")
    add_output_options(result, "print the table as JSON")
    return result


def bisection(arguments: argparse.Namespace) -> Bisection:
    """What the command line asks for."""
    arrays = [read_array(path) for path in arguments.input] or None
    if arguments.model.endswith(".mlir"):
        content = read_bytes(arguments.model)
        match = REPRODUCER.search(content.decode(errors="replace"))
        pipeline = arguments.pass_pipeline
        if pipeline is None and match is not None:
            pipeline = match[1].replace('\\"', '"').replace("\\\\", "\\")
        if pipeline is not None:
            module = parse_mlir(content, arguments.model)
            steps = parse_pipeline(pipeline, PIPELINES, module.context)
            return bisect_module(module, steps, arrays, arguments.tolerance)
    model, inputs = resolve(arguments.model)
    return bisect_model(
        model,
        inputs,
        float_model=arguments.float_model,
        input_shapes=parse_shapes(arguments.input_shape) or None,
        arrays=arrays,
        tolerance=arguments.tolerance,
        use_vulkan=not arguments.no_vulkan,
    )


@command
def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool; returns 0 when all stages agree, 1 when one does not, 2 when the model cannot be run."""
    arguments = parse_arguments(parser(), argv)
    try:
        found = bisection(arguments)
    except CompileError as error:
        print(f"vgf-bisect: {error}" if error.source is None else str(error), file=sys.stderr)
        return 2
    if not arguments.quiet:
        print(json.dumps(found.to_json(), indent=2) if arguments.json else found)
    return 0 if found.jump is None else 1


if __name__ == "__main__":
    sys.exit(main())
