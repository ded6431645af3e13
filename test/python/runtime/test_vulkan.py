"""What goes to the device and comes back, without one."""

from __future__ import annotations

import numpy as np
import pytest

from vgfc.diagnostics import CompileError
from vgfc.runtime.vulkan import _from_device, _to_device
from vgfc.vgf_file import Resource

R32_SFLOAT = 100


def resource(*shape: int) -> Resource:
    return Resource("INPUT", R32_SFLOAT, shape, (), None, None)


@pytest.mark.parametrize("shape", [(), (1,)])
def test_a_scalar_fits_files_that_call_it_a_vector_and_files_that_do_not(shape: tuple[int, ...]) -> None:
    """vgfc writes [1] for a scalar; model-converter writes []."""
    sent = _to_device("x", resource(*shape), np.array(2.5, np.float32))
    assert sent.tolist() == [2.5]
    back = _from_device(resource(*shape), sent)
    assert (back.shape, back.item()) == (shape, 2.5)


def test_a_scalar_is_no_larger_tensor() -> None:
    with pytest.raises(CompileError, match=r"input 'x': expected float32\[2\], found float32\[\]"):
        _to_device("x", resource(2), np.array(2.5, np.float32))
