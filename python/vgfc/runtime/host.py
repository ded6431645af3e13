"""Running host segments: their MLIR is compiled by upstream's own passes and MLIR's execution engine, in this process."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc import ir as helpers
from vgfc.diagnostics import CompileError
from vgfc.passmanager import run_pipeline
from vgfc.pipeline import PIPELINES

Array = np.ndarray[Any, Any]
PIPELINE = "host-to-llvm"


class HostProgram:
    """A host module, compiled: its one public function can be called with numpy arrays, many times.

    Arrays have the function's shapes and the numpy types of `vgfc.ir.NUMPY_TYPES`. Raises CompileError for a module that
    upstream's passes cannot lower.
    """

    def __init__(self, module: ir.Module) -> None:
        function = helpers.entry(module)
        if function is None:
            raise CompileError("expected a host module with one public function")
        self._name = function.name.value
        self._inputs = list(function.type.inputs)
        self._outputs = list(function.type.results)
        lowered = lowered_copy(module, function)
        from torch_mlir.execution_engine import ExecutionEngine

        self._engine = ExecutionEngine(lowered, opt_level=2)

    def run(self, arrays: Sequence[Array]) -> list[Array]:
        """The function's results; raises CompileError when number, shape or type of the arrays is not the function's."""
        if len(arrays) != len(self._inputs):
            raise CompileError(f"expected {len(self._inputs)} arrays, found {len(arrays)}")
        given = []
        for index, (kind, array) in enumerate(zip(self._inputs, arrays, strict=True)):
            wanted = np.dtype(helpers.numpy_type(helpers.element_type(kind)))
            if array.shape != helpers.shape(kind) or array.dtype != wanted:
                found = f"{array.dtype.name}{list(array.shape)}"
                raise CompileError(f"array {index}: expected {wanted.name}{list(helpers.shape(kind))}, found {found}")
            given.append(np.ascontiguousarray(array))
        results = [
            np.zeros(helpers.shape(kind), helpers.numpy_type(helpers.element_type(kind))) for kind in self._outputs
        ]
        descriptors = [descriptor(array) for array in (*given, *results)]
        pointers = [ctypes.pointer(ctypes.pointer(item)) for item in descriptors]
        self._engine.invoke(self._name, *pointers)
        return results


def descriptor(array: Array) -> ctypes.Structure:
    """MLIR's descriptor of a contiguous memref that lies over an array's memory; the array has to outlive it."""
    rank = array.ndim

    class Descriptor(ctypes.Structure):
        _fields_ = (
            ("allocated", ctypes.c_void_p),
            ("aligned", ctypes.c_void_p),
            ("offset", ctypes.c_int64),
            *((("sizes", ctypes.c_int64 * rank), ("strides", ctypes.c_int64 * rank)) if rank else ()),
        )

    address = array.ctypes.data
    made = Descriptor(address, address, 0)
    if rank:
        made.sizes = (ctypes.c_int64 * rank)(*array.shape)
        made.strides = (ctypes.c_int64 * rank)(*(stride // array.itemsize for stride in array.strides))
    return made


def lowered_copy(module: ir.Module, function: func.FuncOp) -> ir.Module:
    """The module in the LLVM dialect, its public function callable through the C interface; the module stays as it is."""
    context = module.context
    with context, ir.Location.unknown():
        copy = ir.Module.create(loc=module.operation.location)
        for op in list(module.body.operations):
            made = op.operation.clone(ip=ir.InsertionPoint(copy.body))
            if op.operation == function.operation:
                made.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
    run_pipeline(copy, PIPELINES[PIPELINE](), PIPELINES)
    return copy
