"""The typed helpers over the bindings: constants of every element type survive, splats stay small, shapes read back."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_mlir import ir

from vgfc import ir as helpers
from vgfc.dialect import make_context

CONTEXT = make_context()
TYPES = ["f32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "i1", "i4", "i8", "ui8", "i16", "i32", "i48", "i64", "f64"]
RANGES = {"i4": (-8, 7), "i48": (-(1 << 47), (1 << 47) - 1)}


def parse(text: str) -> ir.Type:
    with CONTEXT:
        return ir.Type.parse(text)


def random_values(name: str, shape: tuple[int, ...], seed: int) -> np.ndarray[Any, Any]:
    generator = np.random.default_rng(seed)
    wanted = np.dtype(helpers.NUMPY_TYPES[name])
    if name == "i1":
        return generator.integers(0, 2, shape).astype(bool)
    if wanted.kind in "iu":
        low, high = RANGES.get(name, (np.iinfo(wanted).min, np.iinfo(wanted).max))
        return generator.integers(low, high, shape, dtype=wanted, endpoint=True)
    return generator.standard_normal(shape).astype(wanted)


@pytest.mark.parametrize("name", TYPES)
@settings(max_examples=20, deadline=None)
@given(shape=st.lists(st.integers(1, 7), max_size=4).map(tuple), seed=st.integers(0, 1000))
def test_constants_survive(name: str, shape: tuple[int, ...], seed: int) -> None:
    values = random_values(name, shape, seed)
    with CONTEXT, ir.Location.unknown():
        attribute = helpers.dense(values, parse(name))
        found = helpers.array_of(ir.Attribute.parse(str(attribute)))
    assert found.dtype == values.dtype and found.shape == shape
    assert found.tobytes() == values.tobytes()


@pytest.mark.parametrize("name", ["f32", "f16", "bf16", "f64", "f8E5M2"])
def test_special_values_keep_their_bits(name: str) -> None:
    wanted = np.dtype(helpers.NUMPY_TYPES[name])
    values = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5], wanted)
    with CONTEXT, ir.Location.unknown():
        found = helpers.array_of(helpers.dense(values, parse(name)))
        splat = helpers.array_of(helpers.dense(np.full((3,), -0.0, wanted), parse(name)))
    assert found.tobytes() == values.tobytes()
    assert np.signbit(splat.astype(np.float64)).all()


def test_equal_values_become_a_splat_but_zeros_of_both_signs_do_not() -> None:
    with CONTEXT, ir.Location.unknown():
        assert helpers.dense(np.full((2, 3), 7, np.int8), parse("i8")).is_splat
        assert not helpers.dense(np.array([0.0, -0.0], np.float32), parse("f32")).is_splat


def test_a_large_constant_is_read_whole() -> None:
    values = np.arange(3000, dtype=np.float32).astype(ml_dtypes.bfloat16).reshape(30, 100)
    with CONTEXT, ir.Location.unknown():
        assert (helpers.array_of(helpers.dense(values, parse("bf16"))) == values).all()


def test_resources_are_refused() -> None:
    with CONTEXT, pytest.raises(ValueError, match="found dense_resource"):
        helpers.array_of(ir.Attribute.parse("dense_resource<blob> : tensor<4xf32>"))


@pytest.mark.parametrize(
    ("text", "size"), [("tensor<2x3xf32>", 24), ("tensor<3xi4>", 2), ("tensor<i48>", 6), ("tensor<5xi1>", 5)]
)
def test_size_bytes(text: str, size: int) -> None:
    assert helpers.size_bytes(parse(text)) == size


def test_shapes() -> None:
    assert helpers.shape(parse("tensor<2x?xf32>")) == (2, -1)
    assert helpers.shape(parse("tensor<f32>")) == ()
    with CONTEXT, ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            assert helpers.shape_value(helpers.const_shape([4, 0, 2])) == (4, 0, 2)
            assert helpers.shape_value(helpers.const_shape([])) == ()
            value = helpers.constant(np.full((2, 2), 3, np.int32), parse("i32"))
            assert helpers.splat_value(value) == 3
            assert helpers.constant_value(helpers.const_shape([1])) is None
