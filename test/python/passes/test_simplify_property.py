"""Random graphs compute the same numbers, in no more operators, after layouts are propagated and after all of simplify."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_graphs import graphs
from torch_mlir import ir

from vgfc.dialect import make_context
from vgfc.interface import entry_function
from vgfc.ir import Array, operations, shape
from vgfc.passmanager import run_pipeline
from vgfc.pipeline import PIPELINES
from vgfc.runtime.reference import run_reference

PIPELINE_TEXTS = {
    "layouts": "builtin.module(vgf-propagate-layouts)",
    "all": PIPELINES["tosa-simplify"](),
}
FREE = ("tosa.const", "tosa.const_shape")


def operator_count(module: ir.Module) -> int:
    return sum(op.name not in FREE for op in operations(entry_function(module)))


def inputs_of(module: ir.Module, seed: int) -> list[Array]:
    generator = np.random.default_rng(seed)
    kinds = entry_function(module).type.inputs
    return [generator.integers(-4, 5, shape(kind)).astype(np.float32) for kind in kinds]


def check(text: str, pipeline: str, seed: int) -> None:
    module = ir.Module.parse(text, make_context())
    run_pipeline(module, "builtin.module(func.func(cse))")
    inputs = inputs_of(module, seed)
    expected = run_reference(module, inputs)
    before = operator_count(module)
    run_pipeline(module, pipeline)
    found = run_reference(module, inputs)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert operator_count(module) <= before


@pytest.mark.parametrize("pipeline", PIPELINE_TEXTS.values(), ids=PIPELINE_TEXTS.keys())
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(text=graphs(), seed=st.integers(0, 99))
def test_random_graphs(pipeline: str, text: str, seed: int) -> None:
    check(text, pipeline, seed)


@pytest.mark.long
@pytest.mark.parametrize("pipeline", PIPELINE_TEXTS.values(), ids=PIPELINE_TEXTS.keys())
@settings(max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=graphs(), seed=st.integers(0, 99))
def test_many_random_graphs(pipeline: str, text: str, seed: int) -> None:
    check(text, pipeline, seed)
