"""Every operator of the table against PyTorch eager, on the TOSA reference model."""

from __future__ import annotations

import pytest
import torch
from cases import CASES, Case
from running import run, tolerance

PAIRS = [(case, dtype) for case in CASES for dtype in case.dtypes]


def name(value: object) -> str:
    """What pytest calls a parameter."""
    if isinstance(value, Case):
        return f"{value.api}{f' ({value.label})' if value.label else ''}".replace("torch.", "")
    return str(value).removeprefix("torch.")


@pytest.mark.parametrize(("case", "dtype"), PAIRS, ids=name)
def test_operator(case: Case, dtype: torch.dtype) -> None:
    found = run(case, dtype)
    assert found <= tolerance(case, dtype), f"error {found:.3g} of the largest magnitude"
