"""Every case of the simplify passes' lit tests computes the same numbers before and after, on Arm's reference model."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from torch_mlir import ir

from vgfc.dialect import make_context
from vgfc.interface import entry_function
from vgfc.ir import Array, element_type, numpy_type, shape
from vgfc.passmanager import run_pipeline
from vgfc.runtime.reference import UnpredictableError, run_reference

ROOT = Path(__file__).parents[2] / "passes" / "simplify"
RUN = re.compile(r"^// RUN: vgf-opt %s -p '?([^'\s]+(?:\{[^}]*\})?)'?", re.MULTILINE)
SPLIT = re.compile(r"^// -----[^\n]*\n", re.MULTILINE)
NAME = re.compile(r"func\.func @(\w+)")
REARRANGING = ("propagate-layouts", "fold-slices", "fold-pads", "fold-transpose-pairs", "sink-clamps", "fold-clamps")


def cases() -> list[tuple[str, str, str]]:
    """(id, pass, module) for each function of each test."""
    found = []
    for path in sorted(ROOT.glob("*.mlir")):
        text = path.read_text(encoding="utf-8")
        if "-invalid" in path.stem:
            continue
        for name in RUN.findall(text):
            for piece in SPLIT.split(text):
                for match in re.finditer(r"^func\.func .*?^}", piece, re.MULTILINE | re.DOTALL):
                    function = NAME.search(match[0])
                    assert function is not None
                    found.append((f"{path.stem}:{function[1]}:{name}", name, match[0]))
    return found


def values(kind: ir.Type, generator: np.random.Generator, positive: bool) -> Array:
    """Random values of a tensor type, small enough that no integer overflows."""
    extents, element = shape(kind), element_type(kind)
    wanted = np.dtype(numpy_type(element))
    if wanted == np.bool_:
        return generator.integers(0, 2, extents).astype(np.bool_)
    if wanted.kind in "iu":
        return generator.integers(-100, 100, extents).astype(wanted)
    numbers = generator.normal(size=extents).astype(wanted)
    return np.abs(numbers) if positive else numbers


def outputs(text: str, pipeline: str | None) -> list[Array]:
    """The results of the module's entry, with the passes of `pipeline` run on it before."""
    context = make_context()
    module = ir.Module.parse(text, context)
    if pipeline is not None:
        run_pipeline(module, f"builtin.module({pipeline})")
    generator = np.random.default_rng(sum(text.encode()))
    positive = "tosa.pow" in text  # whose result is open for a negative base
    return run_reference(module, [values(kind, generator, positive) for kind in entry_function(module).type.inputs])


@pytest.mark.parametrize(("name", "text"), [pytest.param(*case[1:], id=case[0]) for case in cases()])
def test_same_numbers(name: str, text: str) -> None:
    if "@overflow" in text:  # TOSA leaves its result open, so that there is none to compare with
        with pytest.raises(UnpredictableError):
            outputs(text, name)
        return
    expected = outputs(text, None)
    found = outputs(text, name)
    assert len(found) == len(expected)
    exact = any(part in name for part in REARRANGING)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        if exact or one.dtype.kind in "iub":
            np.testing.assert_array_equal(one, other)
        else:
            np.testing.assert_allclose(one.astype(np.float64), other.astype(np.float64), rtol=2e-5, atol=2e-5)


def test_there_are_cases() -> None:
    assert len(cases()) > 50
