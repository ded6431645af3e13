"""Running a case of `cases.py` quantised: how many codes the integers are away from PyTorch's quantised graph.

    python test/operators/quantized.py            # what quantized.json has no numbers for
    python test/operators/quantized.py --all      # everything again

The cases are calibrated on 8 draws of their own inputs (NaN and infinities taken out, which no code stands for) and run on
the TOSA reference model for a target without floating point. ExecuTorch's VGF backend (1.5) documents 8x8 for most of these
APIs, and 16x8 and 8x4 for those listed here.
"""

from __future__ import annotations

import argparse
import copy
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from cases import CASES, Case

import vgfc

MEASURED = Path(__file__).parent / "quantized.json"
SAMPLES = 8
TARGET = "TOSA-1.0+INT+int16+int4"
WIDTHS = {"8x8": "int8", "16x8": "int16x8", "8x4": "int8x4"}
SIXTEEN_BITS = (
    "torch.add / +",
    "torch.amax",
    "torch.amin",
    "torch.clamp",
    "torch.conv2d",
    "torch.conv3d",
    "torch.conv_transpose2d",
    "torch.eq / ==",
    "torch.ge / >=",
    "torch.gt / >",
    "torch.le / <=",
    "torch.lt / <",
    "torch.max_pool2d",
    "torch.maximum",
    "torch.minimum",
    "torch.neg / unary -",
    "torch.nn.AvgPool2d / torch.nn.functional.avg_pool2d",
    "torch.nn.Conv2d / torch.nn.functional.conv2d",
    "torch.nn.functional.pad",
    "torch.repeat_interleave",
    "torch.rsqrt",
    "torch.sub / -",
    "torch.Tensor.repeat",
    "torch.where",
)
FOUR_BITS = (
    "torch.conv1d",
    "torch.conv2d",
    "torch.conv3d",
    "torch.conv_transpose2d",
    "torch.nn.Conv2d / torch.nn.functional.conv2d",
    "torch.nn.Linear / torch.nn.functional.linear",
)
NOT_MINE = ("computed weight", "special values")  # no quantised weight; values that no code stands for


def pairs() -> Iterable[tuple[Case, str]]:
    """Every case that is measured, at each width."""
    for case in CASES:
        if torch.float32 not in case.dtypes or case.shader or any(word in case.label for word in NOT_MINE):
            continue
        yield case, "8x8"
        if case.api in SIXTEEN_BITS:
            yield case, "16x8"
        if case.api in FOUR_BITS:
            yield case, "8x4"


def key(case: Case, width: str) -> str:
    """What identifies a measurement."""
    return f"{case.api} | {case.label} | {width}"


def codes_apart(case: Case, width: str) -> int:
    """The largest difference to PyTorch's quantised graph in codes of the output; 0 for equal integers and booleans.

    Raises vgfc.CompileError where the model has no integer form, AssertionError where integers or booleans differ.
    """
    torch.manual_seed(11)
    model = case.build().eval()
    generator = torch.Generator().manual_seed(7)
    samples = [tuple(_finite(value) for value in case.inputs(torch.float32, generator)) for _ in range(SAMPLES)]
    quantized = vgfc.quantize(model, samples, WIDTHS[width])
    program = vgfc.compile(quantized, samples[0], target=TARGET)
    with torch.no_grad():
        wanted = _listed(quantized(*copy.deepcopy(samples[0])))
    found = _listed(program.run(*samples[0], device="reference"))
    worst = 0
    for want, have, port in zip(wanted, found, program.outputs, strict=True):
        assert want.shape == have.shape, f"shape {list(have.shape)}, expected {list(want.shape)}"
        if port.scale is None:
            assert torch.equal(want, have), f"{int((want != have).sum())} elements differ"
        else:
            worst = max(
                worst, int(np.abs(np.rint((want.double() - have.double()).numpy() / port.scale)).max(initial=0))
            )
    return worst


def _finite(value: Any) -> Any:
    return torch.nan_to_num(value, 0.0, 1.0, -1.0) if value.is_floating_point() else value


def _listed(values: Any) -> list[torch.Tensor]:
    return list(values) if isinstance(values, Sequence) else [values]


def measure_all(everything: bool) -> dict[str, Any]:
    """Measure what is missing, or everything: codes, or in words why there is no integer form."""
    measured: dict[str, Any] = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
    wanted = {key(case, width) for case, width in pairs()}
    measured = {name: number for name, number in measured.items() if name in wanted}
    for case, width in pairs():
        name = key(case, width)
        if everything or name not in measured:
            try:
                measured[name] = codes_apart(case, width)
            except vgfc.CompileError as problem:
                measured[name] = problem.message
            print(name, measured[name], flush=True)
            MEASURED.write_text(json.dumps(measured, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return measured


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="measure again what was measured before")
    measure_all(parser.parse_args().all)
