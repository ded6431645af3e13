"""The operators that constants are folded with, against Arm's reference model: each in every type it is folded in."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_mlir import ir

from vgfc.dialect import make_context
from vgfc.interface import entry_function
from vgfc.ir import Array, constant_value, element_type, numpy_type, operations, shape, shape_value
from vgfc.runtime.reference import run_reference
from vgfc.tosa_numpy import EVALUATORS, evaluate, round_to

FLOATS = ("f32", "f16", "bf16")
SHIFT = '%shift = "tosa.const"() <{values = dense<SHIFT> : tensor<1xi8>}> : () -> tensor<1xi8>\n'
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, np.inf, -np.inf, np.nan]
TENSORS = {"conv2d", "depthwise", "depthwise_conv2d", "matmul", "reduce_sum", "reduce_product"}
EXTREMES = {
    "maximum",
    "minimum",
    "reduce_max",
    "reduce_min",
}  # the specification does not say which of two zeros they give
CURVED = {"cos", "erf", "exp", "log", "pow", "reciprocal", "rsqrt", "sigmoid", "sin", "tanh"}


def simple(name: str, operands: list[str], result: str, attributes: str = "", before: str = "", extra: str = "") -> str:
    """A function of one operator; `extra` are operands that `before` makes, as `name: type`."""
    arguments = ", ".join(f"%a{index}: tensor<{kind}>" for index, kind in enumerate(operands))
    more = [item.split(": ") for item in extra.split("; ") if item]
    names = ", ".join([*(f"%a{index}" for index in range(len(operands))), *(name for name, _ in more)])
    types = ", ".join([*(f"tensor<{kind}>" for kind in operands), *(kind for _, kind in more)])
    return (
        f"func.func @main({arguments}) -> tensor<{result}> {{\n{before}"
        f"  %r = tosa.{name} {names} {attributes} : ({types}) -> tensor<{result}>\n  return %r : tensor<{result}>\n}}"
    )


def const(name: str, kind: str, values: str) -> str:
    return f'  {name} = "tosa.const"() <{{values = dense<{values}> : tensor<{kind}>}}> : () -> tensor<{kind}>\n'


def dims(name: str, *numbers: int) -> str:
    count = len(numbers)
    values = f"dense<{list(numbers)}> : tensor<{count}xindex>"
    return f"  {name} = tosa.const_shape {{values = {values}}} : () -> !tosa.shape<{count}>\n"


def elementwise() -> dict[str, str]:
    found = {}
    for kind in FLOATS:
        for name in (
            "abs",
            "ceil",
            "cos",
            "erf",
            "exp",
            "floor",
            "log",
            "reciprocal",
            "rsqrt",
            "sigmoid",
            "sin",
            "tanh",
        ):
            found[f"{name} {kind}"] = simple(name, [f"2x8x{kind}"], f"2x8x{kind}")
        for name in ("add", "sub", "pow", "maximum", "minimum"):
            found[f"{name} {kind}"] = simple(name, [f"2x8x{kind}", f"1x8x{kind}"], f"2x8x{kind}")
        for name in ("maximum", "minimum"):
            mode = "{nan_mode = IGNORE}"
            found[f"{name} {kind} ignoring"] = simple(name, [f"2x8x{kind}", f"1x8x{kind}"], f"2x8x{kind}", mode)
        for name in ("equal", "greater", "greater_equal"):
            found[f"{name} {kind}"] = simple(name, [f"2x8x{kind}", f"1x8x{kind}"], "2x8xi1")
        shift = const("%s", "1xi8", "0")
        found[f"mul {kind}"] = simple(
            "mul", [f"2x8x{kind}", f"1x8x{kind}"], f"2x8x{kind}", "", shift, "%s: tensor<1xi8>"
        )
        zeros = const("%z", f"1x{kind}", "0.0")
        extra = f"%z: tensor<1x{kind}>; %z: tensor<1x{kind}>"
        found[f"negate {kind}"] = simple("negate", [f"2x8x{kind}"], f"2x8x{kind}", "", zeros, extra)
        for mode in ("PROPAGATE", "IGNORE"):
            clamp = f"{{min_val = -0.5 : {kind}, max_val = 1.5 : {kind}, nan_mode = {mode}}}"
            found[f"clamp {kind} {mode}"] = simple("clamp", [f"2x8x{kind}"], f"2x8x{kind}", clamp)
        found[f"select {kind}"] = simple("select", ["2x8xi1", f"2x1x{kind}", f"1x8x{kind}"], f"2x8x{kind}")
        for other in ("i8", "i16", "i32", *FLOATS):
            if other != kind and {kind, other} != {"f16", "bf16"}:
                found[f"cast {kind} {other}"] = simple("cast", [f"2x8x{kind}"], f"2x8x{other}")
            if other[0] == "i":
                found[f"cast {other} {kind}"] = simple("cast", [f"2x8x{other}"], f"2x8x{kind}")
    for name in ("add", "sub", "maximum", "minimum", "intdiv"):
        found[f"{name} i32"] = simple(name, ["2x8xi32", "1x8xi32"], "2x8xi32")
    for name in ("equal", "greater", "greater_equal"):
        found[f"{name} i32"] = simple(name, ["2x8xi32", "1x8xi32"], "2x8xi1")
    found["abs i32"] = simple("abs", ["2x8xi32"], "2x8xi32")
    found["clz i32"] = simple("clz", ["2x8xi32"], "2x8xi32")
    for kind in ("i8", "i16", "i32"):
        for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
            found[f"{name} {kind}"] = simple(name, [f"2x8x{kind}", f"1x8x{kind}"], f"2x8x{kind}")
        found[f"bitwise_not {kind}"] = simple("bitwise_not", [f"2x8x{kind}"], f"2x8x{kind}")
        found[f"select {kind}"] = simple("select", ["2x8xi1", f"2x1x{kind}", f"1x8x{kind}"], f"2x8x{kind}")
        amounts = const("%n", f"1x8x{kind}", "[[0, 1, 2, 3, 4, 5, 6, 7]]")
        for name in ("logical_left_shift", "logical_right_shift"):
            text = simple(name, [f"2x8x{kind}"], f"2x8x{kind}", "", amounts, f"%n: tensor<1x8x{kind}>")
            found[f"{name} {kind}"] = text
        for mode in ("true", "false"):
            attributes = f"{{round = {mode}}}"
            text = simple(
                "arithmetic_right_shift", [f"2x8x{kind}"], f"2x8x{kind}", attributes, amounts, f"%n: tensor<1x8x{kind}>"
            )
            found[f"arithmetic_right_shift {kind} {mode}"] = text
        shift = const("%s", "1xi8", "3" if kind == "i32" else "0")
        found[f"mul {kind}"] = simple("mul", [f"2x8x{kind}", f"1x8x{kind}"], "2x8xi32", "", shift, "%s: tensor<1xi8>")
        for other in ("i8", "i16", "i32", "i1"):
            if other != kind:
                found[f"cast {kind} {other}"] = simple("cast", [f"2x8x{kind}"], f"2x8x{other}")
                found[f"cast {other} {kind}"] = simple("cast", [f"2x8x{other}"], f"2x8x{kind}")
    zero_points = const("%i", "1xi8", "3") + const("%o", "1xi8", "-5")
    found["negate i8"] = simple("negate", ["2x8xi8"], "2x8xi8", "", zero_points, "%i: tensor<1xi8>; %o: tensor<1xi8>")
    for kind, low, high in (("i8", -7, 100), ("i16", -70, 1000)):
        found[f"clamp {kind}"] = simple(
            "clamp", [f"2x8x{kind}"], f"2x8x{kind}", f"{{min_val = {low} : {kind}, max_val = {high} : {kind}}}"
        )
    for name in ("logical_and", "logical_or", "logical_xor"):
        found[f"{name} i1"] = simple(name, ["2x8xi1", "1x8xi1"], "2x8xi1")
    found["logical_not i1"] = simple("logical_not", ["2x8xi1"], "2x8xi1")
    numbers = ", ".join(str((index * 37) % 255 - 127) for index in range(256))
    table = const("%t", "256xi8", f"[{numbers}]")
    found["table i8"] = simple("table", ["2x8xi8"], "2x8xi8", "", table, "%t: tensor<256xi8>")
    numbers = ", ".join(str((index * 371) % 60000 - 30000) for index in range(513))
    table = const("%t", "513xi16", f"[{numbers}]")
    found["table i16"] = simple("table", ["2x8xi16"], "2x8xi32", "", table, "%t: tensor<513xi16>")
    return found


def movement() -> dict[str, str]:
    found = {}
    for kind in ("i1", "i8", "i16", "i32", *FLOATS):
        tensor = f"2x3x4x{kind}"
        found[f"transpose {kind}"] = simple("transpose", [tensor], f"4x2x3x{kind}", "{perms = array<i32: 2, 0, 1>}")
        found[f"reshape {kind}"] = simple(
            "reshape", [tensor], f"6x4x{kind}", "", dims("%s", 6, 4), "%s: !tosa.shape<2>"
        )
        found[f"reverse {kind}"] = simple("reverse", [tensor], tensor, "{axis = 1 : i32}")
        found[f"concat {kind}"] = simple("concat", [tensor, f"2x1x4x{kind}"], f"2x4x4x{kind}", "{axis = 1 : i32}")
        cut = dims("%s", 0, 1, 2) + dims("%n", 2, 2, 1)
        found[f"slice {kind}"] = simple(
            "slice", [tensor], f"2x2x1x{kind}", "", cut, "%s: !tosa.shape<3>; %n: !tosa.shape<3>"
        )
        found[f"tile {kind}"] = simple("tile", [tensor], f"2x6x4x{kind}", "", dims("%m", 1, 2, 1), "%m: !tosa.shape<3>")
        value = {"i1": "true"}.get(kind, "3" if kind[0] == "i" else "3.0")
        pads = dims("%p", 0, 1, 2, 0, 0, 0) + const("%c", f"1x{kind}", value)
        extra = f"%p: !tosa.shape<6>; %c: tensor<1x{kind}>"
        found[f"pad {kind}"] = simple("pad", [tensor], f"3x5x4x{kind}", "", pads, extra)
        if kind != "i1":
            rows = const("%i", "2x2xi32", "[[0, 2], [1, 1]]")
            found[f"gather {kind}"] = simple("gather", [tensor], f"2x2x4x{kind}", "", rows, "%i: tensor<2x2xi32>")
    for kind in FLOATS:
        scatter = const("%i", "2x2xi32", "[[0, 2], [1, 0]]")
        text = simple("scatter", [f"2x3x4x{kind}", f"2x2x4x{kind}"], f"2x3x4x{kind}", "", scatter)
        text = text.replace("%a0, %a1", "%a0, %i, %a1").replace(
            f"(tensor<2x3x4x{kind}>, tensor", f"(tensor<2x3x4x{kind}>, tensor<2x2xi32>, tensor"
        )
        found[f"scatter {kind}"] = text
    return found


def reductions() -> dict[str, str]:
    found = {}
    for kind in ("i32", *FLOATS):
        names = ["reduce_sum", "reduce_max", "reduce_min"] + (["reduce_product"] if kind != "i32" else [])
        for name in names:
            found[f"{name} {kind}"] = simple(name, [f"2x3x4x{kind}"], f"2x1x4x{kind}", "{axis = 1 : i32}")
        if kind != "i32":
            for name in ("reduce_max", "reduce_min"):
                mode = "{axis = 1 : i32, nan_mode = IGNORE}"
                found[f"{name} {kind} ignoring"] = simple(name, [f"2x3x4x{kind}"], f"2x1x4x{kind}", mode)
            found[f"argmax {kind}"] = simple("argmax", [f"2x3x4x{kind}"], "2x4xi32", "{axis = 1 : i32}")
    for name in ("reduce_all", "reduce_any"):
        found[f"{name} i1"] = simple(name, ["2x3x4xi1"], "2x1x4xi1", "{axis = 1 : i32}")
    return found


def tensors() -> dict[str, str]:
    found = {}
    for kind, out in (("f32", "f32"), ("f16", "f16"), ("bf16", "bf16"), ("i8", "i32")):
        zp = const("%z", f"1x{kind}", "0.0" if kind[0] != "i" else "3")
        accumulator = "i32" if kind == "i8" else "f32"
        two = f"%z: tensor<1x{kind}>; %z: tensor<1x{kind}>"
        window = (
            "{{acc_type = {}, dilation = array<i64: 2, 1>, pad = array<i64: 1, 2, 0, 1>, stride = array<i64: 1, 2>}}"
        )
        if kind in ("f32", "f16", "i8"):
            matmul_out = "f16" if kind == "f16" else out
            found[f"matmul {kind}"] = simple(
                "matmul", [f"2x3x4x{kind}", f"2x4x2x{kind}"], f"2x3x2x{matmul_out}", "", zp, two
            )
        operands = [f"1x5x6x3x{kind}", f"4x2x3x3x{kind}", f"4x{out}"]
        found[f"conv2d {kind}"] = simple("conv2d", operands, f"1x6x3x4x{out}", window.format(accumulator), zp, two)
        operands = [f"1x5x6x3x{kind}", f"2x3x3x2x{kind}", f"6x{out}"]
        found[f"depthwise {kind}"] = simple(
            "depthwise_conv2d", operands, f"1x6x3x6x{out}", window.format(accumulator), zp, two
        )
    for rounding in ("SINGLE_ROUND", "DOUBLE_ROUND"):
        for source, result in (("i8", "i8"), ("i32", "i8"), ("i32", "i16"), ("i8", "i32"), ("i16", "i32")):
            before = const("%m", "4xi32", "[1073741824, 1700000000, 1234567890, 2147483647]")
            before += const("%s", "4xi8", "[32, 35, 38, 33]")
            before += const("%i", f"1x{source}", "3" if source == "i8" else "0")
            before += const("%o", f"1x{result}", "-5" if result == "i8" else "0")
            extra = f"%m: tensor<4xi32>; %s: tensor<4xi8>; %i: tensor<1x{source}>; %o: tensor<1x{result}>"
            attributes = (
                "{scale32 = true, per_channel = true, input_unsigned = false, output_unsigned = false, "
                f"rounding_mode = {rounding}}}"
            )
            found[f"rescale {source} {result} {rounding}"] = simple(
                "rescale", [f"2x3x4x{source}"], f"2x3x4x{result}", attributes, before, extra
            )
    return found


CASES = {**elementwise(), **movement(), **reductions(), **tensors()}


def random_values(kind: ir.Type, name: str, generator: np.random.Generator) -> Array:
    extents, element = shape(kind), element_type(kind)
    wanted = np.dtype(numpy_type(element))
    if wanted == np.bool_:
        return generator.integers(0, 2, extents).astype(np.bool_)
    if wanted.kind in "iu":
        large = name.startswith(("bitwise", "logical", "clz", "arithmetic", "cast", "equal", "greater", "select"))
        reach = int(np.iinfo(wanted).max) if large or wanted.itemsize < 4 else 30000
        values = generator.integers(-reach, reach + 1, extents).astype(wanted)
        return np.where(values == 0, 1, values).astype(wanted) if name.startswith("intdiv") else values
    values = generator.normal(scale=3, size=extents)
    if name.split(maxsplit=1)[0] in ("log", "pow", "rsqrt"):
        values = np.abs(values)
    elif name.split(maxsplit=1)[0] not in TENSORS | {"cos", "sin", "argmax"} and not name.endswith(
        ("i8", "i16", "i32")
    ):
        flat = values.reshape(-1)
        places = generator.choice(flat.size, min(len(SPECIAL), flat.size), replace=False)
        flat[places] = SPECIAL[: len(places)]
    return values.astype(wanted)


@pytest.mark.parametrize("name", CASES)
def test_against_reference_model(name: str) -> None:
    module = ir.Module.parse(CASES[name], make_context())
    function = entry_function(module)
    generator = np.random.default_rng(len(name))
    inputs = [random_values(kind, name, generator) for kind in function.type.inputs]
    (expected,) = run_reference(module, inputs)
    op = list(operations(function))[-1]
    operands = []
    arguments = list(function.arguments)
    for operand in op.operands:
        if operand in arguments:
            operands.append(inputs[arguments.index(operand)])
        elif (numbers := shape_value(operand)) is not None:
            operands.append(np.array(numbers, np.int64))
        else:
            values = constant_value(operand)
            assert values is not None
            operands.append(values)
    found = evaluate(op, operands)
    assert found is not None, "TOSA defines this result"
    assert found.dtype == expected.dtype
    if found.dtype.kind in "iub":
        np.testing.assert_array_equal(found, expected)
        return
    one, other = found.astype(np.float64), expected.astype(np.float64)
    operator = name.split(maxsplit=1)[0]
    if operator in CURVED or op.name.removeprefix("tosa.") in TENSORS:
        resolution = {4: 1e-6, 2: 2e-3}[found.dtype.itemsize] * (4 if str(found.dtype) == "bfloat16" else 1)
        np.testing.assert_allclose(one, other, rtol=resolution, atol=resolution)
    else:
        np.testing.assert_array_equal(one, other)
        signed = ~np.isnan(one) if operator not in EXTREMES else (one != 0) & ~np.isnan(one)
        np.testing.assert_array_equal(np.signbit(one[signed]), np.signbit(other[signed]))


def test_every_operator_has_a_case() -> None:
    tested = {ir_name(text) for text in CASES.values()}
    assert set(EVALUATORS) - tested == {"tosa.identity"}  # which the reference model's format has no word for


def ir_name(text: str) -> str:
    module = ir.Module.parse(text, make_context())
    return list(operations(entry_function(module)))[-1].name


@pytest.mark.parametrize(
    "text",
    [
        simple("add", ["1xi32"], "1xi32", "", const("%c", "1xi32", "2147483647"), "%c: tensor<1xi32>"),
        simple("intdiv", ["1xi32"], "1xi32", "", const("%c", "1xi32", "0"), "%c: tensor<1xi32>"),
        simple("logical_left_shift", ["1xi32"], "1xi32", "", const("%c", "1xi32", "32"), "%c: tensor<1xi32>"),
        simple("gather", ["1x1x1xi32"], "1x1x1xi32", "", const("%c", "1x1xi32", "1"), "%c: tensor<1x1xi32>"),
    ],
    ids=["overflow", "division by zero", "shift", "index"],
)
def test_undefined_is_not_folded(text: str) -> None:
    module = ir.Module.parse(text, make_context())
    op = list(operations(entry_function(module)))[-1]
    known = constant_value(op.operands[1])
    assert known is not None
    assert evaluate(op, [np.ones(shape(op.operands[0]), np.int32), known]) is None


@settings(max_examples=500, deadline=None)
@given(st.floats(width=64, allow_nan=False))
def test_rounding_to_bfloat16_is_single(value: float) -> None:
    """The nearest bf16, ties to even: no other bf16 is nearer, which rounding through f32 does not always give."""
    result = round_to(np.array([value]), ml_dtypes.bfloat16)[0]
    if not np.isfinite(float(result)):
        assert abs(value) > 3.38e38
        return
    bits = int(np.array([result]).view(np.uint16)[0])
    for neighbour in (bits - 1, bits + 1):
        if 0 <= neighbour < 1 << 16:
            other = float(np.array([neighbour], np.uint16).view(ml_dtypes.bfloat16)[0])
            if np.isfinite(other):
                mine, theirs = abs(float(result) - value), abs(other - value)
                assert mine < theirs or (mine == theirs and bits % 2 == 0)


def test_rounding_to_bfloat16_where_two_roundings_err() -> None:
    value = 1 + 2.0**-8 + 2.0**-40  # a little above the middle between 1 and the next bf16, the middle itself in f32
    assert float(round_to(np.array([value]), ml_dtypes.bfloat16)[0]) == 1 + 2.0**-7
    assert float(np.array([value]).astype(np.float32).astype(ml_dtypes.bfloat16)[0]) == 1.0
