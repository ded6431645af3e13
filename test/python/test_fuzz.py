"""Short runs of `benchmarks.fuzz`: random graphs keep their numbers, damaged modules and files are refused or read."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from torch_mlir import ir

from benchmarks import fuzz
from benchmarks.random_graphs import random_graph
from vgfc.dialect import make_context
from vgfc.runtime.reference import run_reference
from vgfc.tosa_encoding import OPERATORS

# Not in the random graphs: complex transforms, whose sums cancel, and what is no operator of a graph.
LEFT_OUT = {"fft2d", "rfft2d"}


@pytest.mark.parametrize("seed", range(1000, 1030))
def test_random_graphs_keep_their_numbers(seed: int) -> None:
    assert fuzz.check_graph(seed, on_vulkan=seed % 10 == 0) == "equal"


def test_random_graphs_have_every_operator() -> None:
    found = {name for seed in range(400) for name in re.findall(r"tosa\.(\w+) %", random_graph(seed).text)}
    assert {operator.name.lower() for operator in OPERATORS} - found == LEFT_OUT


def test_a_random_graph_is_that_of_its_seed() -> None:
    one, other = random_graph(5), random_graph(5)
    assert one.text == other.text
    assert all(np.array_equal(left, right) for left, right in zip(one.inputs, other.inputs, strict=True))


def test_a_planted_fault_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(1000)
    wrong = [
        np.zeros_like(values) for values in run_reference(ir.Module.parse(graph.text, make_context()), graph.inputs)
    ]
    monkeypatch.setattr(fuzz, "run_reference", lambda module, inputs: wrong)
    with pytest.raises(fuzz.FaultError, match="Vulkan: output"):
        fuzz.check_graph(1000, on_vulkan=True)


def test_damaged_modules_pass_or_are_refused() -> None:
    outcomes = Counter(fuzz.check_module(seed) for seed in range(60))
    assert outcomes["compiled"] > 10 and outcomes["not parsed"] > 10  # the damage is real, and not always fatal


def test_damaged_files_are_read_or_refused() -> None:
    outcomes = Counter(fuzz.check_file(seed) for seed in range(400))
    assert all(outcomes[f"{kind} refused"] > 10 for kind in fuzz.READERS)
