"""Host modules, compiled and run, against numpy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from torch_mlir import ir

from vgfc.diagnostics import CompileError
from vgfc.dialect import make_context
from vgfc.runtime.host import HostProgram


@pytest.fixture
def context() -> Iterator[ir.Context]:
    with make_context() as made, ir.Location.unknown():
        yield made


def test_two_results_of_different_type(context: ir.Context) -> None:
    module = ir.Module.parse("""
    func.func @main(%x: tensor<4xi64>, %y: tensor<2x3xf32>) -> (tensor<4xi64>, tensor<2x3xf32>) {
      %0 = tosa.abs %x : (tensor<4xi64>) -> tensor<4xi64>
      %1 = tosa.exp %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
      return %0, %1 : tensor<4xi64>, tensor<2x3xf32>
    }""")
    text = str(module)
    program = HostProgram(module)
    assert str(module) == text
    x, y = np.array([-1, 2, -(2**40), 4]), np.arange(6, dtype=np.float32).reshape(2, 3)
    for _ in range(2):
        first, second = program.run([x, y])
        np.testing.assert_array_equal(first, np.abs(x))
        np.testing.assert_allclose(second, np.exp(y), rtol=1e-6)
    # a transposed view is read in its own order
    np.testing.assert_allclose(program.run([x, np.asfortranarray(y)])[1], np.exp(y), rtol=1e-6)


def test_calls_constants_and_results_that_are_inputs(context: ir.Context) -> None:
    module = ir.Module.parse("""
    func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
      %c = "tosa.const"() {values = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>} : () -> tensor<3xf32>
      %0 = call @twice(%x) : (tensor<3xf32>) -> tensor<3xf32>
      return %0, %x, %c : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
    }
    func.func private @twice(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = tosa.add %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      return %0 : tensor<3xf32>
    }""")
    x = np.array([1, -2, 3], np.float32)
    results = HostProgram(module).run([x])
    for found, wanted in zip(results, [2 * x, x, np.array([1, 2, 3])], strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("condition", [(), (1,), (1, 1)])
def test_branches(context: ir.Context, condition: tuple[int, ...]) -> None:
    kind = f"tensor<{'1x' * len(condition)}i1>"
    program = HostProgram(
        ir.Module.parse(f"""
    func.func @main(%p: {kind}, %x: tensor<3xf32>) -> tensor<3xf32> {{
      %0 = "tosa.cond_if"(%p) ({{
        tosa.yield %x : tensor<3xf32>
      }}, {{
        %1 = tosa.abs %x : (tensor<3xf32>) -> tensor<3xf32>
        tosa.yield %1 : tensor<3xf32>
      }}) : ({kind}) -> tensor<3xf32>
      return %0 : tensor<3xf32>
    }}""")
    )
    x = np.array([1, -2, 3], np.float32)
    np.testing.assert_array_equal(program.run([np.full(condition, True), x])[0], x)
    np.testing.assert_array_equal(program.run([np.full(condition, False), x])[0], np.abs(x))


def test_wrong_arrays(context: ir.Context) -> None:
    program = HostProgram(
        ir.Module.parse("""
    func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = tosa.abs %x : (tensor<3xf32>) -> tensor<3xf32>
      return %0 : tensor<3xf32>
    }""")
    )
    with pytest.raises(CompileError, match="expected 1 arrays, found 0"):
        program.run([])
    with pytest.raises(CompileError, match=r"array 0: expected float32\[3\], found float64\[3\]"):
        program.run([np.zeros(3)])


def test_what_cannot_be_lowered(context: ir.Context) -> None:
    with pytest.raises(CompileError, match=r"tosa\.custom"):
        HostProgram(
            ir.Module.parse("""
        func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
          %0 = tosa.custom %x {domain_name = "d", implementation_attrs = "", operator_name = "o"} :
              (tensor<3xf32>) -> tensor<3xf32>
          return %0 : tensor<3xf32>
        }""")
        )
