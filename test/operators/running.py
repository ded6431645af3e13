"""Running a case of `cases.py`: compile, execute, compare with PyTorch eager."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from cases import Case

import vgfc

# The largest error allowed, relative to the largest magnitude of the result
TOLERANCES = {torch.float32: 2e-6, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


def prepare(case: Case, dtype: torch.dtype) -> tuple[torch.nn.Module, tuple[Any, ...]]:
    """The model in evaluation mode and of this type, and inputs for it; always the same ones."""
    torch.manual_seed(11)
    model = case.build().eval().to(dtype)
    return model, case.inputs(dtype, torch.Generator().manual_seed(7))


def run(case: Case, dtype: torch.dtype, device: str = "reference") -> float:
    """The largest error of a case, relative to the largest finite magnitude of what PyTorch gives.

    Raises AssertionError where shapes, types, or the places of NaN and infinities differ.
    """
    model, inputs = prepare(case, dtype)
    with torch.no_grad():
        expected = copy.deepcopy(model)(*[copy.deepcopy(tensor) for tensor in inputs])
    program = vgfc.compile(model, inputs)
    found = program.run(*inputs, device="vulkan" if case.shader else device)
    return compare(expected, found)


def compare(expected: Any, found: Any) -> float:
    """The largest error over all results."""
    wanted = list(expected) if isinstance(expected, Sequence) and not isinstance(expected, torch.Tensor) else [expected]
    given = list(found) if isinstance(found, tuple) else [found]
    assert len(wanted) == len(given), f"{len(given)} results, expected {len(wanted)}"
    return max(error(want, have) for want, have in zip(wanted, given, strict=True))


def error(want: torch.Tensor, have: torch.Tensor) -> float:
    """The largest error of one result."""
    assert want.shape == have.shape, f"shape {list(have.shape)}, expected {list(want.shape)}"
    assert want.dtype == have.dtype, f"type {have.dtype}, expected {want.dtype}"
    if not want.dtype.is_floating_point:
        return float((want != have).sum())
    wide, other = want.double().numpy(), have.double().numpy()
    assert np.array_equal(np.isnan(wide), np.isnan(other)), f"NaN elsewhere: {other}, expected {wide}"
    infinite = np.isinf(wide) | np.isinf(other)
    assert np.array_equal(wide[infinite], other[infinite]), f"infinities elsewhere: {other}, expected {wide}"
    finite = np.isfinite(wide)
    if not finite.any():
        return 0.0
    largest = np.abs(wide[finite]).max()
    return float(np.abs(wide[finite] - other[finite]).max() / (largest if largest > 0 else 1.0))
