"""Any file that holds a model, as a module; the file's suffix says which reader it needs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from torch_mlir import ir

from vgfc.bytecode import ensure_sound, is_bytecode
from vgfc.diagnostics import CompileError, source_line
from vgfc.dialect import make_context
from vgfc.files import read_bytes

Shapes = Mapping[str, Sequence[int]]


def load(path: str | os.PathLike[str], input_shapes: Shapes | None = None) -> ir.Module:
    """The model in a file, as a module in a context of its own.

    `input_shapes` fixes dynamic dimensions by the name of the input, where the format has such. Raises CompileError for
    a suffix that no reader takes, and for a missing or malformed file.
    """
    suffix = Path(path).suffix
    if suffix not in READERS:
        known = ", ".join(sorted(READERS))
        raise CompileError(f"'{path}': expected a file that ends in one of {known}, found '{suffix or 'no suffix'}'")
    return READERS[suffix](path, input_shapes)


def parse_mlir(content: bytes | str, name: str = "-", is_trusted: bool = False) -> ir.Module:
    """MLIR text or bytecode as a module in a context of its own; `name` is the file that it was read from.

    Bytecode that this process did not write itself (`is_trusted`) is read by a child process first. Raises CompileError
    where it does not parse.
    """
    if isinstance(content, bytes) and is_bytecode(content) and not is_trusted:
        ensure_sound(content, name)
    context = make_context()
    try:
        with context:
            if Path(name).is_file():
                return ir.Module.parseFile(name)  # locations then name the file
            return ir.Module.parse(content if isinstance(content, str) or is_bytecode(content) else content.decode())
    except (UnicodeDecodeError, RuntimeError):  # the latter where MLIR's own message is no text
        raise CompileError(f"'{name}': expected MLIR text or bytecode, found other bytes") from None
    except ir.MLIRError as error:
        first = error.error_diagnostics[0] if error.error_diagnostics else None
        source = source_line(first.location) if first else None
        where = str(source).replace("-:", f"{name}:", 1) if source and source.file == "-" else str(source or name)
        raise CompileError(f"{where}: {first.message if first else 'the module cannot be parsed'}") from None


def _read_mlir(path: str | os.PathLike[str], input_shapes: Shapes | None) -> ir.Module:
    if input_shapes:
        raise CompileError(
            f"'{path}': input shapes can be given for PyTorch and ONNX models only; an MLIR module has its own"
        )
    return parse_mlir(read_bytes(path), str(path))


def _read_torch(path: str | os.PathLike[str], input_shapes: Shapes | None) -> ir.Module:
    from vgfc.frontend.torch import import_program  # torch takes seconds to import

    return import_program(path, input_shapes=input_shapes)


def _read_onnx(path: str | os.PathLike[str], input_shapes: Shapes | None) -> ir.Module:
    from vgfc.frontend.onnx import read_onnx  # onnx is an extra

    return read_onnx(read_bytes(path), Path(path).parent, input_shapes)


def _read_tosa(path: str | os.PathLike[str], input_shapes: Shapes | None) -> ir.Module:
    from vgfc.frontend.tosa_flatbuffer import read_tosa

    if input_shapes:
        raise CompileError(f"'{path}': input shapes can be given for PyTorch and ONNX models only; TOSA has its own")
    return read_tosa(read_bytes(path), make_context())


def _read_vgf(path: str | os.PathLike[str], input_shapes: Shapes | None) -> ir.Module:
    """The file's graphs as one function, so that they are optimised over the borders of its segments.

    The module is marked as exact: who optimises a finished file again expects its very numbers.
    """
    from vgfc.frontend.vgf import GRAPH_CONSTANT_ID, read_vgf
    from vgfc.ir import functions, operations
    from vgfc.passmanager import EXACT, run_pipeline

    if input_shapes:
        raise CompileError(f"'{path}': input shapes can be given for PyTorch and ONNX models only; a VGF has its own")
    module = read_vgf(read_bytes(path), make_context())
    run_pipeline(module, "builtin.module(inline,symbol-dce)")
    for function in functions(module):
        for op in operations(function):
            if GRAPH_CONSTANT_ID in op.attributes:
                del op.attributes[GRAPH_CONSTANT_ID]  # equal constants are one again
    module.operation.attributes[EXACT] = ir.UnitAttr.get(module.context)
    return module


READERS: dict[str, Callable[[str | os.PathLike[str], Shapes | None], ir.Module]] = {
    ".mlir": _read_mlir,
    ".mlirbc": _read_mlir,
    ".pt2": _read_torch,
    ".onnx": _read_onnx,
    ".tosa": _read_tosa,
    ".vgf": _read_vgf,
}
