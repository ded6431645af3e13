"""SPIR-V bytes of a `spirv.module`, through MLIR's own serialiser."""

from __future__ import annotations

from typing import Any, cast

from torch_mlir import ir
from torch_mlir._mlir_libs._mlirDialectsGPU import ObjectAttr  # torch_mlir.dialects.gpu: 10 ms of operation classes

from vgfc.passmanager import run_pipeline


def serialize(spirv_module: ir.Operation) -> bytes:
    """The binary of one `spirv.module` (left unchanged); little-endian 32-bit words.

    Raises CompileError when MLIR's serialiser refuses the module.
    """
    context = spirv_module.context
    with context, spirv_module.location:
        module = ir.Module.create()
        module.operation.attributes["gpu.container_module"] = ir.UnitAttr.get()
        holder = ir.Operation.create(
            "gpu.module",
            regions=1,
            attributes={
                "sym_name": ir.StringAttr.get("graph"),
                "targets": ir.ArrayAttr.get([spirv_module.attributes["spirv.target_env"]]),
            },
            ip=ir.InsertionPoint(module.body),
        )
        block = holder.regions[0].blocks.append()
        spirv_module.clone(ip=ir.InsertionPoint(block))
        run_pipeline(module, "builtin.module(gpu-module-to-binary)")
        binary = next(iter(module.body.operations)).operation
        objects = ir.ArrayAttr(binary.attributes["objects"])
        return cast(bytes, cast(Any, ObjectAttr(objects[0])).object)
