"""vgfc: an MLIR-native compiler from PyTorch models to Arm VGF files.

    program = vgfc.compile(model, (example_input,))
    program.save("model.vgf")
    outputs = program.run(example_input)

Importing this package is cheap: torch and the runtimes are imported by the functions that need them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vgfc import shaders as shaders
    from vgfc import target as target
    from vgfc.compiler import compile, compile_mlir
    from vgfc.diagnostics import CompileError
    from vgfc.dialect import register
    from vgfc.passmanager import add_pass
    from vgfc.program import Program
    from vgfc.quantizer import VgfQuantizer, quantize

__version__ = "0.1.0"
__all__ = [
    "CompileError",
    "Program",
    "VgfQuantizer",
    "add_pass",
    "compile",
    "compile_mlir",
    "quantize",
    "register",
    "run_pipeline",
]

_HOMES = {
    "quantize": "vgfc.quantizer",
    "VgfQuantizer": "vgfc.quantizer",
    "compile": "vgfc.compiler",
    "compile_mlir": "vgfc.compiler",
    "run_pipeline": "vgfc.compiler",
    "add_pass": "vgfc.passmanager",
    "CompileError": "vgfc.diagnostics",
    "register": "vgfc.dialect",
    "Program": "vgfc.program",
}


_MODULES = ("shaders", "target")


def __getattr__(name: str) -> Any:
    if name not in _HOMES and name not in _MODULES:
        raise AttributeError(f"module 'vgfc' has no attribute '{name}'")
    import importlib

    if name in _MODULES:
        return importlib.import_module(f"vgfc.{name}")
    return getattr(importlib.import_module(_HOMES[name]), name)
