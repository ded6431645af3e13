"""Results that are one value, an input or a constant: each arrives on Vulkan."""

from __future__ import annotations

import numpy as np
import pytest

import vgfc
from vgfc.diagnostics import CompileError
from vgfc.emit.vgf import emit
from vgfc.frontend.load import parse_mlir
from vgfc.passmanager import run_pipeline
from vgfc.pipeline import LOWER

DTYPES = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i1": np.bool_}


@pytest.mark.parametrize("kind", DTYPES)
def test_one_value_twice_an_input_and_a_constant(kind: str) -> None:
    t = f"tensor<2x3x{kind}>"
    constant = {"i": "[[1, 2, 3], [4, 5, 6]]", "f": "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]"}[kind[0]]
    constant = "[[true, false, true], [false, true, true]]" if kind == "i1" else constant
    program = vgfc.compile(
        parse_mlir(
            f"func.func @main(%x: {t}) -> ({t}, {t}, {t}, {t}) {{\n"
            f'  %c = "tosa.const"() {{values = dense<{constant}> : {t}}} : () -> {t}\n'
            f"  %0 = tosa.reverse %x {{axis = 1 : i32}} : ({t}) -> {t}\n"
            f"  return %0, %0, %x, %c : {t}, {t}, {t}, {t}\n}}\n"
        )
    )
    x = np.array([[1, 0, 2], [0, 4, 0]]).astype(DTYPES[kind])
    found = program.run(x, device="vulkan")
    wanted = program.run(x, device="reference")
    np.testing.assert_array_equal(wanted[0], x[:, ::-1])
    np.testing.assert_array_equal(wanted[2], x)
    assert wanted[3].any()
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("second", ["%0", "%1"], ids=["twice", "identity"])
def test_a_graph_that_would_leave_an_output_unwritten_is_refused(second: str) -> None:
    t = "tensor<2xf32>"
    module = parse_mlir(
        f"func.func @main(%x: {t}) -> ({t}, {t}) {{\n"
        f"  %0, %1 = call @segment_0(%x) : ({t}) -> ({t}, {t})\n  return %0, %1 : {t}, {t}\n}}\n"
        f'func.func private @segment_0(%x: {t}) -> ({t}, {t}) attributes {{vgf.segment = "graph"}} {{\n'
        f"  %0 = tosa.abs %x : ({t}) -> {t}\n  %1 = tosa.identity %0 : ({t}) -> {t}\n"
        f"  return %0, {second} : {t}, {t}\n}}\n"
    )
    run_pipeline(module, f"builtin.module({','.join(LOWER)})")
    with pytest.raises(CompileError, match="output 1 of a graph is another output, expected a value of its own"):
        emit(module)


@pytest.mark.parametrize(("kind", "dtype"), [("i4", np.int8), ("i48", np.int64)])
def test_an_input_of_a_type_that_no_operator_copies(kind: str, dtype: type) -> None:
    """Nothing in a graph but its input, which the runtime copies."""
    t = f"tensor<2x3x{kind}>"
    text = f"func.func @main(%x: {t}) -> {t} {{\n  %0 = tosa.identity %x : ({t}) -> {t}\n  return %0 : {t}\n}}\n"
    program = vgfc.compile_mlir(text, target="TOSA-1.0+INT+FP+int4+int16")
    x = np.array([[1, 0, -7], [3, 7, -5]], dtype)
    assert program.report().segments == ["graph"]
    np.testing.assert_array_equal(program.run(x, device="vulkan"), x)
