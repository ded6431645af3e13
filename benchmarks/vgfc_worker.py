"""One model through vgfc, in a process of its own; `compare_executorch.py` starts it.

    python benchmarks/vgfc_worker.py MODEL PRECISION FOLDER

Leaves MODEL_PRECISION.vgf in FOLDER, and beside it what was measured, as JSON (see `compare_executorch.Compiled`).
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torch

import vgfc
from benchmarks import models
from benchmarks.footprint import measured
from vgfc.interface import Port

# The target of each precision; None is the default, which takes floating point and integers.
TARGETS = {"fp32": None, "int8": "TOSA-1.0+INT", "int8-mixed": None}


def boundary(ports: list[Port]) -> list[tuple[float, int] | None]:
    """(scale, zero point) of each input or output whose conversion stays outside the VGF, None for the others."""
    return [
        (port.scale, port.zero_point or 0) if port.scale is not None and port.dtype != port.file_dtype else None
        for port in ports
    ]


def main() -> None:
    """Compile and write the files."""
    name, precision, folder = sys.argv[1:]
    path = Path(folder) / f"{name}_{precision}.vgf"
    model, inputs, calibration_inputs = models.get(name)
    if precision != "fp32":
        from vgfc.quantizer import quantize  # imports torchao, which fp32 does not need

        model = quantize(model, calibration_inputs, "int8")
    program = torch.export.export(model, inputs)
    with measured() as footprint:
        compiled = vgfc.compile(program, target=TARGETS[precision])
        compiled.save(path)
    result = {
        "footprint": asdict(footprint),
        "inputs": boundary(compiled.inputs),
        "outputs": boundary(compiled.outputs),
    }
    path.with_suffix(".json").write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
