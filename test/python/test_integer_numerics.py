"""The numbers behind integer arithmetic, against PyTorch and against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch
import torch.ao.quantization.fx._decomposed  # registers the operators that PT2E graphs call
from hypothesis import given
from hypothesis import strategies as st

from vgfc.integer.numerics import (
    entries_of,
    interpolate,
    multiplier_and_shift,
    quantize,
    rescale,
    table_codes,
    table_error,
)


@given(st.floats(2.0**-31, 2.0**28), st.sampled_from([15, 31]))
def test_a_scale_is_as_near_as_its_bits_allow(ratio: float, bits: int) -> None:
    found = multiplier_and_shift(ratio, bits)
    if found is None:
        assert ratio >= 2.0 ** (bits - 2), "only what needs a shift below 2 has none"
        return
    multiplier, shift = found
    assert 2 <= shift <= 62 and 0 < multiplier < 2**bits
    assert abs(Fraction(multiplier, 2**shift) / Fraction(ratio) - 1) <= Fraction(1, 2 ** (bits - 1))


@pytest.mark.parametrize("ratio", [0.0, -1.0, float("inf"), float("nan"), 2.0**30])
def test_no_scale(ratio: float) -> None:
    assert multiplier_and_shift(ratio) is None


def test_powers_of_two_are_exact() -> None:
    for exponent in range(-31, 29):
        multiplier, shift = multiplier_and_shift(2.0**exponent) or (0, 0)
        assert Fraction(multiplier, 2**shift) == Fraction(2) ** exponent


@given(st.integers(-(2**20), 2**20), st.integers(2**30, 2**31 - 1), st.integers(22, 62))
def test_rescale_rounds_halves_up(code: int, multiplier: int, shift: int) -> None:
    exact = Fraction(code * multiplier, 2**shift)
    wanted = (exact + Fraction(1, 2)).__floor__()
    assert int(rescale(np.array([code]), multiplier, shift)[0]) == wanted


@given(
    st.lists(st.floats(-1000, 1000, width=32), min_size=1, max_size=20),
    st.floats(2.0**-13, 8, width=32),
    st.integers(-128, 127),
)
def test_quantize_is_pytorchs(values: list[float], scale: float, zero_point: int) -> None:
    tensor = torch.tensor(values)
    wanted = torch.ops.quantized_decomposed.quantize_per_tensor(tensor, scale, zero_point, -128, 127, torch.int8)
    found = quantize(tensor.numpy(), np.array(scale), np.array(zero_point), -128, 127)
    assert found.tolist() == wanted.tolist()


def test_halves_go_to_even_codes() -> None:
    found = quantize(np.array([0.5, 1.5, 2.5, -0.5, -1.5]), np.array(1.0), np.array(0), -128, 127)
    assert found.tolist() == [0, 2, 2, 0, -2]


def test_interpolation_is_exact_at_the_entries() -> None:
    table = np.arange(513) * 7 - 1000
    inside = table_codes()[:-1]
    assert (interpolate(table, inside) == table[:-1] * 128).all()
    assert int(interpolate(table, np.array([64]))[0]) == (table[256] * 128 + table[257] * 128) // 2


def test_entries_use_all_their_bits() -> None:
    entries, scale = entries_of(np.array([0.25, -1.0, 0.5]))
    assert entries.tolist() == [8192, -32767, 16384]
    assert scale * 32767 == 1.0


def test_table_error_sees_what_a_table_cannot_follow() -> None:
    points = table_codes() / 32767
    for steep, fits in ((1.0, True), (400.0, False)):
        values = np.exp(-steep * np.abs(points))
        error = table_error(lambda x, steep=steep: np.exp(-steep * np.abs(x)), values, 1 / 32767, -1.0, 1.0, False)
        assert (error < 2**-10) is fits
