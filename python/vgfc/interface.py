"""What a compiled module takes and gives: names, shapes and types, of the model and of the file.

The two differ where a file cannot hold what the model says (64-bit integers, scalars) or should not (a quantised boundary).
The entry function's argument and result attributes say so; see `Port`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc import ir as helpers
from vgfc.diagnostics import CompileError


@dataclass(frozen=True)
class Port:
    """One input or output.

    `shape` and `dtype` are the model's (dtype by its numpy name), `file_shape` and `file_dtype` those of the VGF resource.
    `scale` and `zero_point` are given for a quantised boundary whose file side holds integer codes. `state` names the
    buffer that an extra input and output carry from one run to the next, `initial` its first value.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    file_shape: tuple[int, ...]
    file_dtype: str
    scale: float | None = None
    zero_point: int | None = None
    state: str | None = None
    initial: np.ndarray[Any, Any] | None = None


def notes(module: ir.Module) -> list[str]:
    """What a compiled module's user should know and cannot see, one sentence each (`vgf.notes`)."""
    attributes = module.operation.attributes
    return [str(ir.StringAttr(text).value) for text in attributes["vgf.notes"]] if "vgf.notes" in attributes else []


def entry_function(module: ir.Module) -> func.FuncOp:
    """The model's entry; raises CompileError when the module has none, or several."""
    found = helpers.entry(module)
    if found is None:
        names = [op.name.value for op in helpers.functions(module) if "sym_visibility" not in op.attributes]
        raise CompileError(f"expected one public function, the model's entry, found {', '.join(names) or 'none'}")
    return found


def ports(module: ir.Module) -> tuple[list[Port], list[Port]]:
    """Inputs and outputs of the module's entry, in order; names default to input_0, ... and output_0, ..."""
    function = entry_function(module)
    kinds = function.type
    inputs = _ports(list(kinds.inputs), _attributes(function, "arg_attrs"), "input")
    return inputs, _ports(list(kinds.results), _attributes(function, "res_attrs"), "output")


def _attributes(function: func.FuncOp, name: str) -> list[Any]:
    return list(ir.ArrayAttr(function.attributes[name])) if name in function.attributes else []


def _ports(kinds: list[ir.Type], attributes: list[Any], word: str) -> list[Port]:
    found = []
    for index, kind in enumerate(kinds):
        given = attributes[index] if index < len(attributes) else {}
        model_kind = ir.TypeAttr(given["vgf.model_type"]).value if "vgf.model_type" in given else kind
        found.append(
            Port(
                name=ir.StringAttr(given["vgf.name"]).value if "vgf.name" in given else f"{word}_{index}",
                shape=helpers.shape(model_kind),
                dtype=dtype_name(helpers.element_type(model_kind)),
                file_shape=helpers.shape(kind),
                file_dtype=dtype_name(helpers.element_type(kind)),
                scale=ir.FloatAttr(given["vgf.scale"]).value if "vgf.scale" in given else None,
                zero_point=ir.IntegerAttr(given["vgf.zero_point"]).value if "vgf.zero_point" in given else None,
                state=ir.StringAttr(given["vgf.state"]).value if "vgf.state" in given else None,
                initial=helpers.array_of(given["vgf.initial"]) if "vgf.initial" in given else None,
            )
        )
    return found


def dtype_name(element: ir.Type) -> str:
    """The numpy (or ml_dtypes) name of an element type: float32, bfloat16, int8, bool, ..."""
    return np.dtype(helpers.numpy_type(element)).name
