"""The vgf dialect, loaded from the IRDL file that stock MLIR tools take as well, and contexts that have it."""

from __future__ import annotations

from pathlib import Path

from torch_mlir import ir
from torch_mlir._mlir_libs import _mlir
from torch_mlir._mlir_libs import _mlirDialectsIRDL as irdl
from torch_mlir._mlir_libs import _torchMlir as torch_bindings  # the dialect without its op classes: 40 ms less
from torch_mlir.passmanager import PassManager

_mlir.globals.dialect_search_modules = ["vgfc.bindings", *_mlir.globals.dialect_search_modules]

IRDL_FILE = "vgf.irdl.mlir"


def irdl_text() -> str:
    """The IRDL definition of the vgf dialect, as `mlir-opt --irdl-file` reads it."""
    return (Path(__file__).parent / IRDL_FILE).read_text(encoding="utf-8")


def register(context: ir.Context) -> None:
    """Make the vgf and torch dialects known to `context`; does nothing where they are known already."""
    torch_bindings.register_dialect(context)
    _load_tm_tensor(context)
    if not context.is_registered_operation("vgf.quantize"):
        with context, ir.Location.unknown():
            irdl.load_dialects(ir.Module.parse(irdl_text()))


def _load_tm_tensor(context: ir.Context) -> None:
    """Make torch-mlir's tm_tensor dialect known, which host segments sort and scatter with: only a pass of its own loads it."""
    with context, ir.Location.unknown():
        PassManager.parse("builtin.module(func.func(tm-tensor-bufferize))").run(ir.Module.create().operation)


def make_context() -> ir.Context:
    """A new context that knows every dialect a vgfc module can hold, and that reports errors to its handlers."""
    context = ir.Context()
    register(context)
    return context
