"""One model through ExecuTorch's VGF backend, in a process of its own; `compare_executorch.py` starts it.

    python benchmarks/executorch_worker.py MODEL PRECISION FOLDER

Runs in the virtual environment that `compare_executorch.py` makes and imports nothing of vgfc. Leaves MODEL_PRECISION.vgf in
FOLDER, and beside it what was measured, as JSON (see `compare_executorch.Compiled`).
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ["PATH"] = (
    f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # where it looks for model-converter
)

import torch
from executorch.backends.arm.quantizer import VgfQuantizer, get_symmetric_quantization_config
from executorch.backends.arm.vgf import VgfCompileSpec, VgfPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.lowered_backend_module import LoweredBackendModule
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from benchmarks import models
from benchmarks.footprint import measured

# The TOSA specification of each precision: the backend's own default, and the integer-only profile.
SPECIFICATIONS = {"fp32": None, "int8": "TOSA-1.0+INT", "int8-mixed": None}


def exported(name: str, specification: VgfCompileSpec, quantized: bool) -> torch.export.ExportedProgram:
    """The exported program; quantised as ExecuTorch's own documentation does it, weights per channel."""
    model, inputs, calibration_inputs = models.get(name)
    program = torch.export.export(model, inputs)
    if not quantized:
        return program
    quantizer = VgfQuantizer(specification)
    quantizer.set_global(get_symmetric_quantization_config(is_per_channel=True))
    prepared = prepare_pt2e(program.module(check_guards=False), quantizer)
    with torch.no_grad():
        for sample in calibration_inputs:
            prepared(*sample)
    return torch.export.export(convert_pt2e(prepared), inputs)


def boundary(graph: torch.fx.Graph) -> tuple[list[Any], list[Any]]:
    """(scale, zero point) of each input and output whose conversion stays outside the VGF, None for the others."""
    (delegate,) = (node for node in graph.nodes if node.target is torch.ops.higher_order.executorch_call_delegate)
    inputs: list[Any] = []
    for node in delegate.args[1:]:
        inputs.append(_quantization(node))
    outputs: list[Any] = []
    for item in sorted(delegate.users, key=lambda node: node.args[1]):
        (user,) = item.users
        outputs.append(_quantization(user))
    return inputs, outputs


def _quantization(node: torch.fx.Node) -> tuple[float, int] | None:
    name = str(node.target)
    if node.op != "call_function" or "quantize_per_tensor" not in name:
        return None
    return float(node.args[1]), int(node.args[2])


def main() -> None:
    """Compile and write the files; a model that does not go into one VGF as a whole is an error."""
    name, precision, folder = sys.argv[1:]
    specification = VgfCompileSpec(SPECIFICATIONS[precision])
    program = exported(name, specification, precision != "fp32")
    path = Path(folder) / f"{name}_{precision}.vgf"
    with measured() as footprint:
        edge = to_edge_transform_and_lower(program, partitioner=[VgfPartitioner(specification)])
        module = edge.exported_program().graph_module
        delegates = [child for child in module.children() if isinstance(child, LoweredBackendModule)]
        path.write_bytes(delegates[0].processed_bytes)
    left = [
        str(node.target)
        for node in module.graph.nodes
        if node.op == "call_function"
        and "quantize_per_tensor" not in str(node.target)
        and "getitem" not in str(node.target)
    ]
    if left != ["executorch_call_delegate"]:
        raise RuntimeError(f"expected the whole model in one delegate, found {left}")
    inputs, outputs = boundary(module.graph)
    result = {"footprint": asdict(footprint), "inputs": inputs, "outputs": outputs}
    path.with_suffix(".json").write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
