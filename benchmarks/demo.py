"""The demo: MobileNetV2 from PyTorch to build/demo/mobilenet_v2.vgf, run and compared with PyTorch."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import torch

import vgfc
from benchmarks import models
from benchmarks.measure import sqnr_db
from vgfc.runtime.layers import VulkanUnavailableError, prepare

ROOT = Path(__file__).resolve().parent.parent
REQUIRED_DB = 100


def main() -> int:
    """Compile, save, run, compare; returns 1 when the result is not PyTorch's."""
    model, inputs, _ = models.get("mobilenet_v2")
    print("MobileNetV2, 1x3x224x224, fp32: torch.export ...", flush=True)
    exported = torch.export.export(model, inputs)
    start = time.perf_counter()
    program = vgfc.compile(exported)
    path = ROOT / "build" / "demo" / "mobilenet_v2.vgf"
    path.parent.mkdir(parents=True, exist_ok=True)
    program.save(path)
    print(f"compiled    {time.perf_counter() - start:.2f} s to {path.relative_to(ROOT)}")
    print(program.report())
    try:
        device = prepare()
        print(f"device      {device.name}{' (ML extensions emulated)' if device.emulated else ''}", flush=True)
        found = program.run(*inputs, device="vulkan")
        loaded = program.vulkan()
        print(f"load        {loaded.load_seconds:.2f} s")
        print(f"run         {loaded.run_seconds:.3f} s")
        print(f"session     {loaded.session_bytes} bytes")
    except VulkanUnavailableError as error:
        print(f"device      none: {error.message}; running on the TOSA reference model", flush=True)
        found = program.run(*inputs, device="reference")
    with torch.no_grad():
        wanted = model(*inputs)
    ratio = sqnr_db(wanted, found)
    print(
        f"error       SQNR {ratio:.1f} dB against PyTorch, largest difference {float((wanted - found).abs().max()):.2e}"
    )
    if ratio < REQUIRED_DB:
        print(f"demo: expected at least {REQUIRED_DB} dB", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
