"""vgf-translate: from one file format to another, changing nothing on the way.

--vgf-to-mlir      VGF to its segmented TOSA module
--vgf-to-text      VGF to text, graphs disassembled
--mlir-to-vgf      MLIR to VGF: a lowered module, or a TOSA one, which is lowered as it is
--mlir-to-tosa     MLIR to a TOSA FlatBuffer
--tosa-to-mlir     TOSA FlatBuffer to MLIR
--import-onnx      ONNX to MLIR, in the torch dialect
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence

from torch_mlir import ir

from vgfc.command_line import add_output_options, add_printing_options, command, parse_arguments, printed
from vgfc.diagnostics import CompileError
from vgfc.dialect import make_context
from vgfc.files import read_bytes, write_atomically

EXAMPLE = "example: vgf-translate --vgf-to-mlir model.vgf -o model.mlir"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(
        "vgf-translate",
        description=__doc__,
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    result.add_argument("input", nargs="?", default="-", help="the file to read; - is standard input (default)")
    result.add_argument(
        "-o", dest="output", default="-", metavar="FILE", help="where to write (default: standard output)"
    )
    what = result.add_argument_group("translations").add_mutually_exclusive_group(required=True)
    for name in TRANSLATIONS:
        what.add_argument(f"--{name}", dest="translation", action="store_const", const=name)
    add_printing_options(result)
    add_output_options(result, "say on standard error what was written, as JSON")
    return result


def parsed(content: bytes, arguments: argparse.Namespace) -> ir.Module:
    """MLIR text or bytecode as a module."""
    from vgfc.frontend.load import parse_mlir

    return parse_mlir(content, arguments.input)


def vgf_to_mlir(content: bytes, arguments: argparse.Namespace) -> bytes:
    """The segmented module of a VGF file."""
    from vgfc.frontend.vgf import read_vgf

    return printed(read_vgf(content, make_context()), arguments)


def vgf_to_text(content: bytes, arguments: argparse.Namespace) -> bytes:
    """A VGF file in words."""
    from vgfc.vgf_file import decode
    from vgfc.vgf_text import text_of

    return ("\n".join(text_of(decode(content))) + "\n").encode()


def mlir_to_vgf(content: bytes, arguments: argparse.Namespace) -> bytes:
    """The VGF file of a module; one that is not lowered yet is cut into segments, if it is not, and lowered as it is."""
    from vgfc import ir as helpers
    from vgfc.emit.vgf import emit
    from vgfc.passmanager import run_pipeline
    from vgfc.pipeline import LOWER, PARTITION

    module = parsed(content, arguments)
    if not any(op.operation.name == "builtin.module" for op in module.body.operations):
        has_segments = any("vgf.segment" in function.attributes for function in helpers.functions(module))
        passes = LOWER if has_segments else [*PARTITION, *LOWER]
        run_pipeline(module, f"builtin.module({','.join(passes)})")
    return emit(module)


def mlir_to_tosa(content: bytes, arguments: argparse.Namespace) -> bytes:
    """The TOSA FlatBuffer of a TOSA module."""
    from vgfc.emit.tosa_flatbuffer import encode

    return encode(parsed(content, arguments))


def tosa_to_mlir(content: bytes, arguments: argparse.Namespace) -> bytes:
    """The module of a TOSA FlatBuffer."""
    from vgfc.frontend.tosa_flatbuffer import read_tosa

    return printed(read_tosa(content, make_context()), arguments)


def import_onnx(content: bytes, arguments: argparse.Namespace) -> bytes:
    """The torch-dialect module of an ONNX model."""
    from vgfc.frontend.onnx import read_onnx

    return printed(read_onnx(content), arguments)


TRANSLATIONS: dict[str, Callable[[bytes, argparse.Namespace], bytes]] = {
    "vgf-to-mlir": vgf_to_mlir,
    "vgf-to-text": vgf_to_text,
    "mlir-to-vgf": mlir_to_vgf,
    "mlir-to-tosa": mlir_to_tosa,
    "tosa-to-mlir": tosa_to_mlir,
    "import-onnx": import_onnx,
}


@command
def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool; returns the exit status."""
    arguments = parse_arguments(parser(), argv)
    try:
        result = TRANSLATIONS[arguments.translation](read_bytes(arguments.input), arguments)
        write_atomically(arguments.output, result)
    except CompileError as error:
        name = {"-": "<stdin>"}.get(arguments.input, arguments.input)
        text = str(error)
        place = f"{name}{text[1:]}" if error.source is not None and error.source.file == "-" else text
        print(f"vgf-translate: {error}" if error.source is None else place, file=sys.stderr)
        return 1
    if arguments.json:
        said = {"translation": arguments.translation, "output": arguments.output, "bytes": len(result)}
        print(json.dumps(said), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
