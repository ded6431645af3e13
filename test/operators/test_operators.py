"""Every operator of the table against PyTorch eager, on the TOSA reference model."""

from __future__ import annotations

import pytest
import torch
from cases import CASES, Case
from running import TOLERANCES, run

from vgfc.runtime.layers import VulkanUnavailableError

PAIRS = [(case, dtype) for case in CASES for dtype in case.dtypes]


def name(value: object) -> str:
    """What pytest calls a parameter."""
    if isinstance(value, Case):
        return f"{value.api}{f' ({value.label})' if value.label else ''}".replace("torch.", "")
    return str(value).removeprefix("torch.")


@pytest.mark.parametrize(("case", "dtype"), PAIRS, ids=name)
def test_operator(case: Case, dtype: torch.dtype) -> None:
    try:
        found = run(case, dtype)
    except VulkanUnavailableError as reason:
        pytest.skip(f"a shader needs a Vulkan device: {reason.message}")
    assert found <= TOLERANCES[dtype], f"error {found:.3g} of the largest magnitude"
