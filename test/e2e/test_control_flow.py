"""Branches and loops, in graphs and on the host: what the TOSA reference model gives for the module as it was written."""

from __future__ import annotations

import numpy as np
import pytest
from torch_mlir import ir

import vgfc
from vgfc.dialect import make_context
from vgfc.runtime.reference import run_reference

# x doubled `turns` times, then the sum or the difference of x and y; the loop's condition and the choice's have rank 1
LOOP_AND_BRANCH = """
func.func @main(%c: tensor<1xi1>, %turns: tensor<1xi32>, %x: tensor<2x3xi32>, %y: tensor<2x3xi32>) -> tensor<2x3xi32> {{
  %three = "tosa.const"() <{{values = dense<3> : tensor<1xi32>}}> : () -> tensor<1xi32>
  %0:2 = tosa.while_loop (%n = {turns}, %v = %x) : (tensor<1xi32>, tensor<2x3xi32>) -> (tensor<1xi32>, tensor<2x3xi32>) {{
    %zero = "tosa.const"() <{{values = dense<0> : tensor<1xi32>}}> : () -> tensor<1xi32>
    %more = tosa.greater %n, %zero : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1>
    tosa.yield %more : tensor<1xi1>
  }} do {{
  ^bb0(%n: tensor<1xi32>, %v: tensor<2x3xi32>):
    %one = "tosa.const"() <{{values = dense<1> : tensor<1xi32>}}> : () -> tensor<1xi32>
    %less = tosa.sub %n, %one : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
    %w = tosa.add %v, %v : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
    tosa.yield %less, %w : tensor<1xi32>, tensor<2x3xi32>
  }}
  %1 = "tosa.cond_if"(%c, %0#1, %y) ({{
  ^bb0(%a: tensor<2x3xi32>, %b: tensor<2x3xi32>):
    %2 = tosa.add %a, %b : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
    tosa.yield %2 : tensor<2x3xi32>
  }}, {{
  ^bb0(%a: tensor<2x3xi32>, %b: tensor<2x3xi32>):
    %2 = tosa.{other} %a, %b : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
    tosa.yield %2 : tensor<2x3xi32>
  }}) : (tensor<1xi1>, tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  return %1 : tensor<2x3xi32>
}}
"""


# A loop whose turns are an input, and a division that its condition may guard, cannot be in a graph.
@pytest.mark.parametrize(
    ("turns", "other", "kinds"),
    [("%three", "sub", ["graph"]), ("%turns", "sub", ["host", "graph"]), ("%three", "intdiv", ["graph", "host"])],
)
@pytest.mark.parametrize("taken", [True, False])
def test_loop_and_branch(turns: str, other: str, kinds: list[str], taken: bool) -> None:
    text = LOOP_AND_BRANCH.format(turns=turns, other=other)
    x = np.arange(-3, 3, dtype=np.int32).reshape(2, 3)
    y = np.array([[5, -7, 2], [9, 4, -1]], np.int32)
    inputs = [np.array([taken]), np.array([2], np.int32), x, y]
    with make_context(), ir.Location.unknown():
        (wanted,) = run_reference(ir.Module.parse(text), inputs)
    program = vgfc.compile_mlir(text)
    assert program.report().segments == kinds
    np.testing.assert_array_equal(program.run(*inputs, device="vulkan"), wanted)
