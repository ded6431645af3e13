"""The target model against MLIR's own tosa-validate: every operator, every type, every profile and extension."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from torch_mlir import ir

from vgfc.diagnostics import CompileError, source_line
from vgfc.dialect import make_context
from vgfc.passmanager import run_pipeline
from vgfc.target import EXTENSIONS, LEVELS, Target, attach, graph_reason, illegal_reason, parse_target, target_of
from vgfc.tosa_types import OPERATORS, Operator

TYPES = ["i1", "i4", "i8", "i16", "i32", "i48", "i64", "f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2"]
CONV_ATTRIBUTES = "pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>"
POOL_ATTRIBUTES = "kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>"

# Shapes of operands and results and the attributes that make each operator verify; "s" is a tosa.const_shape of the
# numbers after it. An operator that is not listed takes 2x3 in and out.
FORMS: dict[str, tuple[list[str], list[str], str]] = {
    "argmax": (["2x3"], ["2"], "axis = 1 : i32"),
    "avg_pool2d": (["1x4x4x2", "1", "1"], ["1x4x4x2"], POOL_ATTRIBUTES),
    "max_pool2d": (["1x4x4x2"], ["1x4x4x2"], POOL_ATTRIBUTES),
    "conv2d": (["1x4x4x2", "3x1x1x2", "3", "1", "1"], ["1x4x4x3"], CONV_ATTRIBUTES),
    "conv3d": (
        ["1x4x4x4x2", "3x1x1x1x2", "3", "1", "1"],
        ["1x4x4x4x3"],
        "pad = array<i64: 0, 0, 0, 0, 0, 0>, stride = array<i64: 1, 1, 1>, dilation = array<i64: 1, 1, 1>",
    ),
    "depthwise_conv2d": (["1x4x4x2", "1x1x2x1", "2", "1", "1"], ["1x4x4x2"], CONV_ATTRIBUTES),
    "transpose_conv2d": (
        ["1x4x4x2", "3x1x1x2", "3", "1", "1"],
        ["1x4x4x3"],
        "out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>",
    ),
    "fft2d": (["1x4x8", "1x4x8"], ["1x4x8", "1x4x8"], "inverse = false"),
    "rfft2d": (["1x4x8"], ["1x4x5", "1x4x5"], ""),
    "matmul": (["1x2x3", "1x3x4", "1", "1"], ["1x2x4"], ""),
    "arithmetic_right_shift": (["2x3", "2x3"], ["2x3"], "round = false"),
    "mul": (["2x3", "2x3", "1"], ["2x3"], ""),
    "negate": (["2x3", "1", "1"], ["2x3"], ""),
    "table": (["2x3", "256"], ["2x3"], ""),
    "reduce_all": (["2x3"], ["2x1"], "axis = 1 : i32"),
    "reduce_any": (["2x3"], ["2x1"], "axis = 1 : i32"),
    "reduce_max": (["2x3"], ["2x1"], "axis = 1 : i32"),
    "reduce_min": (["2x3"], ["2x1"], "axis = 1 : i32"),
    "reduce_product": (["2x3"], ["2x1"], "axis = 1 : i32"),
    "reduce_sum": (["2x3"], ["2x1"], "axis = 1 : i32"),
    "concat": (["2x3", "2x3"], ["4x3"], "axis = 0 : i32"),
    "pad": (["2x3", "s0,0,1,1", "1"], ["2x5"], ""),
    "reshape": (["2x3", "s3,2"], ["3x2"], ""),
    "reverse": (["2x3"], ["2x3"], "axis = 1 : i32"),
    "slice": (["2x3", "s0,1", "s2,2"], ["2x2"], ""),
    "tile": (["2x3", "s2,1"], ["4x3"], ""),
    "transpose": (["2x3"], ["3x2"], "perms = array<i32: 1, 0>"),
    "gather": (["1x4x2", "1x3"], ["1x3x2"], ""),
    "scatter": (["1x4x2", "1x3", "1x3x2"], ["1x4x2"], ""),
    "resize": (["1x4x4x2", "s2,1,2,1", "s0,0", "s0,0"], ["1x7x7x2"], "mode = #tosa.resize_mode<NEAREST_NEIGHBOR>"),
    "rescale": (
        ["2x3", "1", "1", "1", "1"],
        ["2x3"],
        "rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, per_channel = false, "
        "input_unsigned = false, output_unsigned = false",
    ),
    "variable_read": ([], ["2x3"], 'name = "v"'),
    "variable_write": (["2x3"], [], 'name = "v"'),
}
BINARY = set(
    re.findall(
        r"\w+",
        """add sub maximum minimum pow intdiv equal greater greater_equal logical_and logical_or logical_xor
    bitwise_and bitwise_or bitwise_xor logical_left_shift logical_right_shift""",
    )
)


def form_of(name: str) -> tuple[list[str], list[str], str]:
    if name == "select":
        return ["2x3"] * 3, ["2x3"], ""
    if name == "const":
        return [], ["2x3"], ""
    return FORMS.get(name) or (["2x3"] * (2 if name in BINARY else 1), ["2x3"], "")


def type_tuples(operator: Operator) -> Iterator[tuple[str, ...]]:
    """All type combinations of up to two columns; of more, every row and every row with one type changed."""
    if len(operator.columns) <= 2:
        yield from product(TYPES, repeat=len(operator.columns))
        return
    seen = set()
    for row in operator.rows:
        for index, name in product(range(len(row.types)), TYPES):
            changed = (*row.types[:index], name, *row.types[index + 1 :])
            if changed not in seen:
                seen.add(changed)
                yield changed


def zero(element: str) -> str:
    return "false" if element == "i1" else "0" if element.startswith("i") else "0.0"


def text_of(name: str, operator: Operator, types: tuple[str, ...]) -> str:
    """A function in generic form that applies the operator to arguments and constants of these element types."""
    operands, results, attributes = form_of(name)
    column_type = dict(zip(operator.columns, types, strict=True))
    lines, uses, kinds, arguments = [], [], [], []
    for index, form in enumerate(operands):
        column = operator.column_of_operand(index)
        if form.startswith("s"):
            count = form.count(",") + 1
            kind = f"!tosa.shape<{count}>"
            values = f"dense<[{form[1:]}]> : tensor<{count}xindex>"
            lines.append(f'%c{index} = "tosa.const_shape"() {{values = {values}}} : () -> {kind}')
            uses.append(f"%c{index}")
        else:
            element = column_type.get(column, column)
            kind = f"tensor<{form}x{element}>"
            if name == "table" and index == 1 and element == "i16":
                kind = f"tensor<513x{element}>"
            if index in operator.constants:
                lines.append(f'%c{index} = "tosa.const"() {{values = dense<{zero(element)}> : {kind}}} : () -> {kind}')
                uses.append(f"%c{index}")
            else:
                arguments.append(f"%a{index}: {kind}")
                uses.append(f"%a{index}")
        kinds.append(kind)
    outputs = [
        f"tensor<{form}x{column_type.get(column, column)}>"
        for form, column in zip(results, operator.results, strict=True)
    ]
    if "acc" in operator.columns:
        attributes += f", acc_type = {column_type['acc']}"
    if name == "clamp":
        low = column_type["a"]
        attributes = f"min_val = {zero(low)} : {low}, max_val = {zero(low)} : {low}".replace("false : i1", "false")
    if name == "const":
        attributes = f"values = dense<{zero(types[0])}> : tensor<2x3x{types[0]}>"
    if name == "rescale":
        attributes += f", scale32 = {str(column_type['multiplier'] == 'i32').lower()}"
    prologue = ""
    if name.startswith("variable_"):
        shape = "dense<[2, 3]> : tensor<2xindex>"
        prologue = f'"tosa.variable"() {{sym_name = "v", type = {types[0]}, var_shape = {shape}}} : () -> ()\n'
    left = ", ".join(f"%r{index}" for index in range(len(outputs)))
    lines.append(
        f'{left + " = " if left else ""}"tosa.{name}"({", ".join(uses)}) {{{attributes}}} : '
        f"({', '.join(kinds)}) -> ({', '.join(outputs)})"
    )
    body = "\n".join(lines)
    return f"{prologue}func.func @f({', '.join(arguments)}) {{\n{body}\nreturn\n}}"


@pytest.fixture(scope="module")
def context() -> Iterator[ir.Context]:
    with make_context() as made, ir.Location.unknown():
        yield made


TARGETS = [
    Target(("INT",)),
    Target(("FP",)),
    Target(("INT", "FP")),
    *(Target(tuple(needs[:1]), (name,)) for name, needs in EXTENSIONS.items()),
    Target(("FP",), ("bf16", "fp8e4m3", "fp8e5m2")),
    parse_target("vgf"),
]


def run_validation(module: ir.Module, target: Target) -> list[tuple[int, str]]:
    """What tosa-validate says of the module: (line of the operation, message) for each operation that it refuses."""
    profiles = ",".join(f"pro_{name.lower()}" for name in target.profiles)
    extensions = f" extensions={','.join(target.extensions)}" if target.extensions else ""
    attached = f"tosa-attach-target{{level={target.level.lower()} profiles={profiles}{extensions}}}"
    found: list[tuple[int, str]] = []

    def collect(diagnostic: ir.Diagnostic) -> bool:
        source = source_line(diagnostic.location)
        assert source is not None
        found.append((source.line, diagnostic.message))
        return True

    module.context.emit_error_diagnostics = True
    handler = module.context.attach_diagnostic_handler(collect)
    try:
        run_pipeline(module, f"builtin.module({attached},tosa-validate{{strict-op-spec-alignment}})", verify=False)
    except CompileError:
        assert found
    finally:
        handler.detach()
        module.context.emit_error_diagnostics = False
    return found


def tosa_operations(block: ir.Block) -> Iterator[ir.Operation]:
    """The operations of the tosa dialect in a block and in the functions it holds."""
    for op in list(block.operations):
        if op.operation.name.startswith("tosa."):
            yield op.operation
        elif op.operation.name == "func.func":
            yield from tosa_operations(op.operation.regions[0].blocks[0])


def compare(module: ir.Module, target: Target) -> list[str]:
    """Where we and tosa-validate do not agree about an operation of the module, one sentence each."""
    theirs = dict(run_validation(module, target))
    disagreements = []
    for op in tosa_operations(module.body):
        source = source_line(op.location)
        assert source is not None
        ours = illegal_reason(op, target)
        if bool(ours) != (source.line in theirs):
            disagreements.append(f"{op} on {target}: ours {ours}, tosa-validate {theirs.get(source.line)}")
    return disagreements


@pytest.mark.parametrize("name", sorted(set(OPERATORS) - {"variable"}))
def test_agrees_with_tosa_validate(name: str, context: ir.Context) -> None:
    """`variable` itself is in the modules of variable_read and variable_write."""
    operator = OPERATORS[name]
    verified: list[str] = []
    for types in type_tuples(operator):
        text = text_of(name, operator, types)
        try:
            ir.Module.parse(text)
        except ir.MLIRError as error:
            assert not any(row.types == types for row in operator.rows), f"{types} is in the table, but {error}"
            continue
        verified.append(text.replace("@f", f"@f{len(verified)}").replace('"v"', f'"v{len(verified)}"'))
    legal_on: set[str] = set()
    module = ir.Module.parse("\n".join(verified))
    for target in TARGETS:
        disagreements = compare(module, target)
        assert not disagreements, "\n".join(disagreements[:10]) + f"\n({len(disagreements)})"
        operations = [op for op in tosa_operations(module.body) if op.name == f"tosa.{name}"]
        if any(illegal_reason(op, target) is None for op in operations):
            legal_on.add(str(target))
    assert len(operations) == len(verified) >= len(operator.rows)
    assert legal_on


UNTYPED_FORMS = """
func.func @shape() {
  %0 = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  return
}
func.func @custom(%x: tensor<2xf32>) {
  %0 = tosa.custom %x {domain_name = "d", implementation_attrs = "", operator_name = "o"} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
func.func @if(%c: tensor<i1>, %x: tensor<2xf32>) {
  %0 = tosa.cond_if %c (%y = %x) : tensor<i1> (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%y: tensor<2xf32>):
    tosa.yield %y : tensor<2xf32>
  } else {
  ^bb0(%y: tensor<2xf32>):
    tosa.yield %y : tensor<2xf32>
  }
  return
}
func.func @while(%x: tensor<i32>) {
  %0 = tosa.while_loop (%a = %x) : (tensor<i32>) -> tensor<i32> {
    %1 = tosa.greater_equal %a, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %1 : tensor<i1>
  } do {
  ^bb0(%b: tensor<i32>):
    tosa.yield %b : tensor<i32>
  }
  return
}
"""


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_operators_without_types_agree(target: Target, context: ir.Context) -> None:
    assert compare(ir.Module.parse(UNTYPED_FORMS), target) == []


NOT_IN_1_0 = """
func.func @f(%a: tensor<2x3x4xf32>, %b: tensor<2x5x4xf32>, %z: tensor<1xf32>) {
  %0 = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %1 = tosa.add_shape %0, %0 : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  %2 = tosa.dim %a {axis = 0 : i32} : (tensor<2x3x4xf32>) -> !tosa.shape<1>
  return
}
"""


def test_operators_of_a_later_version(context: ir.Context) -> None:
    reasons = [illegal_reason(op, parse_target("vgf")) for op in tosa_operations(ir.Module.parse(NOT_IN_1_0).body)]
    assert reasons == [None, "add_shape is no operator of TOSA 1.0", "dim is no operator of TOSA 1.0"]


def image(rows: int) -> str:
    return f'%i = "test.source"() : () -> tensor<1x{rows}x1x1xf32>\n'


def pool(kernel: int, stride: int) -> str:
    """A max_pool2d down an image on which it has two places."""
    rows = kernel + stride
    return (
        f"{image(rows)}%0 = tosa.max_pool2d %i {{kernel = array<i64: {kernel}, 1>, stride = array<i64: {stride}, 1>, "
        f"pad = array<i64: 0, 0, 0, 0>}} : (tensor<1x{rows}x1x1xf32>) -> tensor<1x2x1x1xf32>"
    )


def convolution(kernel: int, dilation: int, stride: int) -> str:
    """A conv2d down an image on which it has two places; its weights are no constant."""
    rows = (kernel - 1) * dilation + 1 + stride
    kind = f"tensor<1x{kernel}x1x1xf32>"
    return (
        f'{image(rows)}%w = "test.source"() : () -> {kind}\n'
        f"%0 = tosa.conv2d %i, %w, %z, %z, %z {{acc_type = f32, pad = array<i64: 0, 0, 0, 0>, "
        f"stride = array<i64: {stride}, 1>, dilation = array<i64: {dilation}, 1>}} : "
        f"(tensor<1x{rows}x1x1xf32>, {kind}, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x1x1xf32>"
    )


def resize(up: int, rows: int) -> str:
    """A nearest resize of a column of `rows` rows, `up` times as high."""
    return (
        f"%s = tosa.const_shape {{values = dense<[{up}, 1, 1, 1]> : tensor<4xindex>}} : () -> !tosa.shape<4>\n"
        "%o = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>\n"
        f"{image(rows)}"
        "%0 = tosa.resize %i, %s, %o, %o {mode = NEAREST_NEIGHBOR} : (tensor<1x"
        f"{rows}x1x1xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x{(rows - 1) * up + 1}x1x1xf32>"
    )


def unary(kind: str) -> str:
    return f'%i = "test.source"() : () -> {kind}\n%0 = tosa.abs %i : ({kind}) -> {kind}'


def concat(count: int) -> str:
    kinds = ", ".join(["tensor<1xf32>"] * count)
    return f"%0 = tosa.concat {', '.join(['%z'] * count)} {{axis = 0 : i32}} : ({kinds}) -> tensor<{count}xf32>"


def fft(extent: int) -> str:
    return (
        f'%i = "test.source"() : () -> tensor<1x1x{extent}xf32>\n'
        f"%0, %1 = tosa.rfft2d %i : (tensor<1x1x{extent}xf32>) -> "
        f"(tensor<1x1x{extent // 2 + 1}xf32>, tensor<1x1x{extent // 2 + 1}xf32>)"
    )


# An operation on each side of each limit of level 8K: (text, what is said of it on 8K, or None).
LEVEL_CASES: list[tuple[str, str | None]] = [
    (unary("tensor<1x1x1x1x1x2xf32>"), None),
    (unary("tensor<1x1x1x1x1x1x2xf32>"), "rank 7"),
    (unary("tensor<?x2xf32>"), "dynamic shape"),
    (unary("tensor<*xf32>"), "no rank"),
    (pool(8192, 1), None),
    (pool(8193, 1), "kernel [8193, 1]"),
    (pool(1, 8192), None),
    (pool(1, 8193), "stride [8193, 1]"),
    (convolution(8192, 1, 1), None),
    (convolution(8193, 1, 1), "MAX_KERNEL of 8192"),
    (convolution(4, 2048, 1), None),
    (convolution(4, 2049, 1), "MAX_KERNEL of 8192"),
    (convolution(1, 1, 8192), None),
    (convolution(1, 1, 8193), "MAX_STRIDE of 8192"),
    (resize(256, 3), None),
    (resize(257, 3), "MAX_SCALE of 256"),
    (concat(64), None),
    (concat(65), "MAX_TENSOR_LIST_SIZE of 64"),
    (fft(8192), None),
    (fft(16384), "MAX_KERNEL of 8192"),
]


@pytest.mark.parametrize(("text", "reason"), LEVEL_CASES)
def test_limits_agree(text: str, reason: str | None, context: ir.Context) -> None:
    context.allow_unregistered_dialects = True
    constant = '%z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>\n'
    module = ir.Module.parse(f"func.func @f() {{\n{constant}{text}\nreturn\n}}")
    target = parse_target("vgf")
    *_, last = tosa_operations(module.body)
    found = illegal_reason(last, target)
    assert found is None if reason is None else found is not None and reason in found
    assert compare(module, target) == []
    if reason not in ("dynamic shape", "no rank"):  # upstream calls checking shapes a level; the specification does not
        assert compare(module, Target(level="none", limits=LEVELS["none"])) == []


def test_a_device_below_its_level(context: ir.Context) -> None:
    module = ir.Module.parse(
        "func.func @f(%x: tensor<1x2x3xf32>) {\n%0 = tosa.abs %x : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>\nreturn\n}"
    )
    (op,) = tosa_operations(module.body)
    target = Target(limits=replace(LEVELS["8K"], max_rank=2))
    assert illegal_reason(op, target) == "abs: operand 0 has rank 3 (tensor<1x2x3xf32>), expected 0 to 2"


def test_reasons_name_type_and_extension(context: ir.Context) -> None:
    module = ir.Module.parse(text_of("add", OPERATORS["add"], ("bf16",)))
    (op,) = tosa_operations(module.body)
    assert illegal_reason(op, Target()) == "add of bf16 needs bf16, the target has FP, INT"
    module = ir.Module.parse(text_of("add", OPERATORS["add"], ("i64",)))
    (op,) = tosa_operations(module.body)
    assert illegal_reason(op, Target()) == "TOSA has no add of i64; its inputs are bf16, f16, f32, i32"


def test_no_instruction_in_a_graph(context: ir.Context) -> None:
    target = Target(extensions=("controlflow",))
    module = ir.Module.parse(UNTYPED_FORMS)
    reasons = {op.name: graph_reason(op, target) for op in tosa_operations(module.body)}
    assert reasons["tosa.custom"] == "custom has no instruction in a VGF's graphs (TOSA.001000.1)"
    assert reasons["tosa.cond_if"] == "cond_if has no instruction in a VGF's graphs (TOSA.001000.1)"
    assert reasons["tosa.const_shape"] is None


# Writing targets


def test_text_of_targets() -> None:
    assert str(parse_target("TOSA-1.0+INT+FP+int16")) == "TOSA-1.0+INT+FP+int16"
    assert str(parse_target("TOSA-1.0+FP+INT+cf+none")) == "TOSA-1.0+INT+FP+controlflow+none"
    assert parse_target("TOSA-1.0+INT+8k") == Target(("INT",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tpu", "expected TOSA-1.0+INT+FP+..., a preset (vgf, int, fp, mixed) or the path of a .toml file"),
        ("TOSA-2.0+INT", "expected TOSA version 1.0, found 2.0"),
        ("TOSA-1.0", "expected at least one profile, INT or FP"),
        ("TOSA-1.0+INT+bf16", "extension bf16 needs profile FP"),
        ("TOSA-1.0+INT+int9", "unknown profile or extension 'int9'"),
        ("absent.toml", "cannot read 'absent.toml'"),
    ],
)
def test_text_that_is_no_target(text: str, message: str) -> None:
    with pytest.raises(CompileError) as error:
        parse_target(text)
    assert message in str(error.value)


def test_file(tmp_path: Path) -> None:
    path = tmp_path / "device.toml"
    path.write_text(
        'tosa = "TOSA-1.0+INT"\nlevel = "none"\ncompute = false\n[limits]\nmax_rank = 5\n[budgets]\nconstant_bytes = 1_000\n'
    )
    target = parse_target(str(path))
    assert target == Target(
        ("INT",), level="none", limits=replace(LEVELS["none"], max_rank=5), compute=False, constant_bytes=1000
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("tosa = 1", "key 'tosa' expects str, found 1"),
        ("", 'expected tosa = "TOSA-1.0+..."'),
        ('tosa = "int"\nspeed = 3', "unknown key 'speed'"),
        ('tosa = "int"\nlevel = "9K"', "unknown level '9K'"),
        ('tosa = "int"\n[limits]\nmax_rank = -1', "limits.max_rank expects a positive integer, found -1"),
        ('tosa = "int"\n[budgets]\nbytes = 1', "unknown key 'budgets.bytes'"),
        ("tosa = ", "target file"),
    ],
)
def test_bad_file(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "device.toml"
    path.write_text(content)
    with pytest.raises(CompileError) as error:
        parse_target(str(path))
    assert message in str(error.value)


@pytest.mark.parametrize(
    "target",
    [
        *TARGETS,
        Target(compute=False, constant_bytes=10, session_bytes=20),
        Target(limits=replace(LEVELS["8K"], max_rank=4, max_scale=8)),
        Target(level="none", limits=LEVELS["none"]),
    ],
    ids=str,
)
def test_a_module_carries_its_target(target: Target, context: ir.Context) -> None:
    module = ir.Module.parse("module {}")
    attach(module, target)
    assert target_of(ir.Module.parse(str(module))) == target


def test_a_module_with_upstreams_attribute_alone(context: ir.Context) -> None:
    module = ir.Module.parse(
        'module attributes {tosa.target_env = #tosa.target_env<specification_version = "1.0", level = "none", '
        "profiles = [pro_int], extensions = [int16, int4]>} {}"
    )
    assert target_of(module) == Target(("INT",), ("int16", "int4"), level="none", limits=LEVELS["none"])
    assert target_of(ir.Module.parse("module {}")) == parse_target("vgf")


def test_contradicting_attributes(context: ir.Context) -> None:
    module = ir.Module.parse("module {}")
    attach(module, parse_target("mixed"))
    module.operation.attributes["vgf.target"] = ir.Attribute.parse('{tosa = "TOSA-1.0+FP"}')
    with pytest.raises(CompileError, match=r"vgf.target is TOSA-1.0\+FP, its tosa.target_env is TOSA-1.0\+INT"):
        target_of(module)
