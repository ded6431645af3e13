"""ONNX models into the torch dialect, by torch-mlir's importer and its ONNX to torch lowering.

The importer keeps weights as resources, whose values the bindings do not give out again; here they become inline constants.
Needs the package onnx (`pip install vgfc[onnx]`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from torch_mlir import ir

from vgfc import ir as helpers
from vgfc.diagnostics import CompileError
from vgfc.dialect import make_context
from vgfc.passmanager import run_pipeline

LOWERING = "builtin.module(torch-onnx-to-torch-backend-pipeline)"
Shapes = Mapping[str, Sequence[int]]


def read_onnx(
    content: bytes, folder: str | os.PathLike[str] | None = None, input_shapes: Shapes | None = None
) -> ir.Module:
    """The model in an ONNX file, with one public function `main` in the torch dialect.

    `folder` is where tensors that the file keeps outside itself are; `input_shapes` fixes dynamic dimensions by the name of
    the input. Raises CompileError for a damaged or invalid model, an operator that torch-mlir does not lower, and when the
    package onnx is missing.
    """
    model = _checked_model(content, folder, input_shapes or {})
    context = make_context()
    module = _import(model, context)
    context.emit_error_diagnostics = False
    run_pipeline(module, LOWERING)
    left = _first_unlowered(module)
    if left is not None:
        name = ir.StringAttr(left.attributes["name"]).value.removeprefix("onnx.")
        raise CompileError(f"ONNX operator '{name}' is one that torch-mlir does not lower", left.location)
    return module


def _checked_model(content: bytes, folder: str | os.PathLike[str] | None, input_shapes: Shapes) -> Any:
    try:
        import onnx
    except ModuleNotFoundError:
        raise CompileError("reading ONNX needs the package onnx: pip install vgfc[onnx]") from None
    from google.protobuf.message import DecodeError

    try:
        model = onnx.load_model_from_string(content)
    except DecodeError:
        raise CompileError("not an ONNX file: its protocol buffer cannot be decoded") from None
    _fix_shapes(model, input_shapes)
    try:
        if folder is not None:
            onnx.external_data_helper.load_external_data_for_model(model, os.fspath(folder))
        onnx.checker.check_model(model)
        return onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError, ValueError, OSError) as error:
        raise CompileError(f"invalid ONNX model: {' '.join(str(error).split())}") from None


def _fix_shapes(model: Any, input_shapes: Shapes) -> None:
    """Write the given extents into the model's inputs; every other dynamic extent is refused."""
    initialized = {tensor.name for tensor in model.graph.initializer}
    inputs = {value.name: value for value in model.graph.input if value.name not in initialized}
    unknown = [name for name in input_shapes if name not in inputs]
    if unknown:
        raise CompileError(f"the model has no input '{unknown[0]}'; its inputs are: {', '.join(inputs)}")
    for name, value in inputs.items():
        dimensions = value.type.tensor_type.shape.dim
        wanted = input_shapes.get(name)
        if wanted is not None and len(wanted) != len(dimensions):
            raise CompileError(f"input '{name}': expected {len(dimensions)} extents, found {list(wanted)}")
        for axis, dimension in enumerate(dimensions):
            if wanted is not None:
                dimension.dim_value = wanted[axis]
            elif not dimension.HasField("dim_value"):
                raise CompileError(
                    f"input '{name}': its dimension {axis} is dynamic ('{dimension.dim_param}'); give the input's shape"
                )


def _import(model: Any, context: ir.Context) -> ir.Module:
    from torch_mlir.extras import onnx_importer

    class InlineConstants(onnx_importer.ContextCache):  # type: ignore[misc]
        def tensor_proto_to_attr(self, tensor: Any) -> ir.Attribute:
            import onnx

            kind = self.tensor_proto_to_builtin_type(tensor)
            values = np.ascontiguousarray(onnx.numpy_helper.to_array(tensor))
            return ir.DenseElementsAttr.get(values.reshape(-1).view(np.uint8), type=kind)

    info = onnx_importer.ModelInfo(model)
    module = info.create_module(context)
    try:
        importer = onnx_importer.NodeImporter.define_function(
            info.main_graph, module.operation, context_cache=InlineConstants(context)
        )
        importer.import_all()
    except onnx_importer.OnnxImportError as error:
        raise CompileError(f"the ONNX model cannot be imported: {' '.join(str(error).split())}") from None
    function = helpers.functions(module)[-1]
    with context, ir.Location.unknown():
        function.attributes["sym_name"] = ir.StringAttr.get("main")
        function.attributes["arg_attrs"] = _name_attributes(list(info.main_graph.input_map))
        function.attributes["res_attrs"] = _name_attributes([value.name for value in model.graph.output])
    return module


def _name_attributes(names: list[str]) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([ir.DictAttr.get({"vgf.name": ir.StringAttr.get(name)}) for name in names])


def _first_unlowered(module: ir.Module) -> ir.Operation | None:
    for function in helpers.functions(module):
        for op in helpers.operations(function):
            if op.name == "torch.operator":
                return op
    return None
