"""Parts of operators against the whole: equal to the bit on Arm's TOSA reference model, for every rule and axis."""

from __future__ import annotations

import numpy as np
import pytest
from torch_mlir import ir

import vgfc
from vgfc.frontend.load import parse_mlir
from vgfc.ir import copy_module, entry, operations, shape
from vgfc.passmanager import parse_pipeline, run_steps
from vgfc.pipeline import PIPELINES
from vgfc.runtime.reference import run_reference
from vgfc.segments import is_constant
from vgfc.stretches import parts_of, replace_by_parts

CONV = "acc_type = f32, dilation = array<i64: {d}, {d}>, pad = array<i64: {p}>, stride = array<i64: {s}, {s}>"
ZERO = '%z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>'


def constant(name: str, dimensions: tuple[int, ...], kind: str = "f32", low: int = -9, high: int = 9) -> str:
    """A constant with values that differ along every axis."""
    count = int(np.prod(dimensions))
    numbers = [(7 * index + 3) % (high - low) + low for index in range(count)]
    scale = 0.25 if kind == "f32" else 1
    values = (np.array(numbers) * scale).reshape(dimensions).tolist()
    kind = f"tensor<{'x'.join(map(str, dimensions))}x{kind}>"
    return f'%{name} = "tosa.const"() <{{values = dense<{values}> : {kind}}}> : () -> {kind}'


def shape_constant(name: str, *numbers: int) -> str:
    """A constant of a shape type."""
    count = len(numbers)
    values = f"dense<{list(numbers)}> : tensor<{count}xindex>"
    return f"%{name} = tosa.const_shape {{values = {values}}} : () -> !tosa.shape<{count}>"


def convolution(pad: str, stride: int, dilation: int, result: str) -> str:
    """A convolution with a 3x3 window of 1x11x9x4 to 6 channels, between operators that go with every element."""
    attributes = CONV.format(d=dilation, p=pad, s=stride)
    return f"""
      {constant("w", (6, 3, 3, 4))}
      {constant("b", (6,))}
      {ZERO}
      %0 = tosa.exp %x : (tensor<1x11x9x4xf32>) -> tensor<1x11x9x4xf32>
      %1 = tosa.conv2d %0, %w, %b, %z, %z {{{attributes}}}
        : (tensor<1x11x9x4xf32>, tensor<6x3x3x4xf32>, tensor<6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<{result}xf32>
      %2 = tosa.tanh %1 : (tensor<{result}xf32>) -> tensor<{result}xf32>
    """


def resize(scale: tuple[int, ...], offset: tuple[int, int], border: tuple[int, int], result: str, mode: str) -> str:
    """A resize of 1x7x6x2."""
    return f"""
      {shape_constant("s", *scale)}
      {shape_constant("o", *offset)}
      {shape_constant("b", *border)}
      %0 = tosa.resize %x, %s, %o, %b {{mode = {mode}}}
        : (tensor<1x7x6x2xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<{result}xf32>
    """


# name: (input, body, axes of the result that can be cut)
CASES: dict[str, tuple[str, str, tuple[int, ...]]] = {
    "convolution": ("1x11x9x4xf32", convolution("1, 1, 1, 1", 1, 1, "1x11x9x6"), (1, 2)),
    "strided convolution": ("1x11x9x4xf32", convolution("1, 1, 0, 0", 2, 1, "1x6x4x6"), (1, 2)),
    "dilated convolution": ("1x11x9x4xf32", convolution("2, 0, 2, 2", 1, 2, "1x9x9x6"), (1, 2)),
    "output channels": (
        "1x5x4x3xf32",
        f"""
        {constant("w", (5, 1, 1, 3))}
        {constant("b", (5,))}
        {constant("m", (1, 1, 1, 5))}
        {ZERO}
        %0 = tosa.conv2d %x, %w, %b, %z, %z {{{CONV.format(d=1, p="0, 0, 0, 0", s=1)}}}
          : (tensor<1x5x4x3xf32>, tensor<5x1x1x3xf32>, tensor<5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x5x4x5xf32>
        %1 = tosa.maximum %0, %m : (tensor<1x5x4x5xf32>, tensor<1x1x1x5xf32>) -> tensor<1x5x4x5xf32>
        """,
        (1, 2, 3),
    ),
    "depthwise convolution": (
        "1x11x9x4xf32",
        f"""
        {constant("w", (3, 3, 4, 1))}
        {constant("b", (4,))}
        {ZERO}
        %0 = tosa.depthwise_conv2d %x, %w, %b, %z, %z {{{CONV.format(d=1, p="1, 1, 1, 1", s=2)}}}
          : (tensor<1x11x9x4xf32>, tensor<3x3x4x1xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x5x4xf32>
        """,
        (1, 2, 3),
    ),
    "max pool": (
        "1x11x9x4xf32",
        """
        %0 = tosa.max_pool2d %x {kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>}
          : (tensor<1x11x9x4xf32>) -> tensor<1x6x5x4xf32>
        """,
        (1, 2, 3),
    ),
    # the count of elements in a window leaves padding out, so the edge has to stay where it is
    "average pool": (
        "1x11x9x4xf32",
        f"""
        {ZERO}
        %0 = tosa.avg_pool2d %x, %z, %z {{acc_type = f32, kernel = array<i64: 3, 2>, pad = array<i64: 1, 1, 1, 0>,
          stride = array<i64: 2, 2>}} : (tensor<1x11x9x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x5x4xf32>
        """,
        (1, 2, 3),
    ),
    "bilinear": ("1x7x6x2xf32", resize((4, 2, 4, 2), (-1, -1), (1, 1), "1x14x12x2", "BILINEAR"), (1, 2, 3)),
    # thirteenths are not exact, and the weights of two rows depend on how they are rounded: not along the height
    "bilinear corners": ("1x7x6x2xf32", resize((13, 6, 2, 1), (0, 0), (0, 0), "1x14x11x2", "BILINEAR"), (2, 3)),
    "bilinear down": ("1x7x6x2xf32", resize((4, 6, 4, 6), (1, 1), (1, -1), "1x5x4x2", "BILINEAR"), (1, 2, 3)),
    "nearest": ("1x7x6x2xf32", resize((4, 2, 4, 2), (-1, -1), (1, 1), "1x14x12x2", "NEAREST_NEIGHBOR"), (1, 2, 3)),
    # 6 rows of 2: parts along the merged axis begin at pairs only, so a wish for 5 rows computes 6
    "merged axes": (
        "1x6x2x3xf32",
        f"""
        {shape_constant("s", 1, 12, 3)}
        %0 = tosa.exp %x : (tensor<1x6x2x3xf32>) -> tensor<1x6x2x3xf32>
        %1 = tosa.reshape %0, %s : (tensor<1x6x2x3xf32>, !tosa.shape<3>) -> tensor<1x12x3xf32>
        %2 = tosa.tanh %1 : (tensor<1x12x3xf32>) -> tensor<1x12x3xf32>
        """,
        (1, 2),
    ),
    "split axes": (
        "1x12x3xf32",
        f"""
        {shape_constant("s", 1, 6, 2, 3)}
        %0 = tosa.exp %x : (tensor<1x12x3xf32>) -> tensor<1x12x3xf32>
        %1 = tosa.reshape %0, %s : (tensor<1x12x3xf32>, !tosa.shape<4>) -> tensor<1x6x2x3xf32>
        """,
        (1, 3),
    ),
    "transpose": (
        "2x3x4x5xf32",
        """
        %0 = tosa.exp %x : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
        %1 = tosa.transpose %0 {perms = array<i32: 3, 1, 0, 2>} : (tensor<2x3x4x5xf32>) -> tensor<5x3x2x4xf32>
        """,
        (0, 1, 2, 3),
    ),
    "concat and residual": (
        "1x8x4x2xf32",
        f"""
        {constant("w", (2, 3, 3, 4))}
        {constant("b", (2,))}
        {ZERO}
        %0 = tosa.exp %x : (tensor<1x8x4x2xf32>) -> tensor<1x8x4x2xf32>
        %1 = tosa.concat %0, %x {{axis = 3 : i32}} : (tensor<1x8x4x2xf32>, tensor<1x8x4x2xf32>) -> tensor<1x8x4x4xf32>
        %2 = tosa.conv2d %1, %w, %b, %z, %z {{{CONV.format(d=1, p="1, 1, 1, 1", s=1)}}}
          : (tensor<1x8x4x4xf32>, tensor<2x3x3x4xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x4x2xf32>
        %3 = tosa.add %2, %0 : (tensor<1x8x4x2xf32>, tensor<1x8x4x2xf32>) -> tensor<1x8x4x2xf32>
        """,
        (1, 2),
    ),
    "reduction": (
        "3x4x5xf32",
        "%0 = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<3x4x5xf32>) -> tensor<3x1x5xf32>",
        (0, 2),
    ),
    "matmul": (
        "2x3x4xf32",
        f"""
        {ZERO}
        %0 = tosa.transpose %x {{perms = array<i32: 0, 2, 1>}} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
        %1 = tosa.matmul %x, %0, %z, %z
          : (tensor<2x3x4xf32>, tensor<2x4x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x3x3xf32>
        """,
        (0, 2),
    ),
    "rescale": (
        "1x4x3x5xi32",
        f"""
        {constant("m", (5,), "i32", 1073741824, 1073741924)}
        {constant("s", (5,), "i8", 30, 34)}
        %i = "tosa.const"() <{{values = dense<0> : tensor<1xi32>}}> : () -> tensor<1xi32>
        %z = "tosa.const"() <{{values = dense<3> : tensor<1xi8>}}> : () -> tensor<1xi8>
        {constant("t", (256,), "i8", -128, 127)}
        %0 = tosa.rescale %x, %m, %s, %i, %z {{input_unsigned = false, output_unsigned = false, per_channel = true,
          rounding_mode = SINGLE_ROUND, scale32 = true}}
          : (tensor<1x4x3x5xi32>, tensor<5xi32>, tensor<5xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x4x3x5xi8>
        %1 = tosa.table %0, %t : (tensor<1x4x3x5xi8>, tensor<256xi8>) -> tensor<1x4x3x5xi8>
        """,
        (1, 2, 3),
    ),
    "multiplication": (
        "2x3x4xf32",
        f"""
        %k = "tosa.const"() <{{values = dense<0> : tensor<1xi8>}}> : () -> tensor<1xi8>
        {constant("c", (2, 1, 4))}
        %0 = tosa.mul %x, %c, %k : (tensor<2x3x4xf32>, tensor<2x1x4xf32>, tensor<1xi8>) -> tensor<2x3x4xf32>
        """,
        (0, 1, 2),
    ),
}


def module_of(case: str) -> ir.Module:
    """A case's module, its entry not cut into segments."""
    kind, body, _ = CASES[case]
    last = body.strip().rpartition("-> ")[2].strip()
    name = next(line.split("=")[0].strip() for line in reversed(body.splitlines()) if line.strip().startswith("%"))
    return parse_mlir(f"func.func @main(%x: tensor<{kind}>) -> {last} {{\n{body}\nreturn {name} : {last}\n}}")


def striped(module: ir.Module, axis: int, count: int) -> bool:
    """Compute the entry's result in parts; False where that is not possible."""
    with module.context:
        function = entry(module)
        assert function is not None
        ops = [op for op in operations(function) if not is_constant(op)]
        parts = parts_of(ops, axis, count)
        if parts is None:
            return False
        replace_by_parts(function, ops, axis, parts)
        return True


@pytest.mark.parametrize("case", CASES)
def test_parts_give_the_same_bits(case: str) -> None:
    module = module_of(case)
    kind = CASES[case][0]
    extents = [int(extent) for extent in kind.split("x")[:-1]]
    generator = np.random.default_rng(0)
    if kind.endswith("i32"):
        given = generator.integers(-1000, 1000, extents).astype(np.int32)
    else:
        given = generator.standard_normal(extents).astype(np.float32)
    (wanted,) = run_reference(module, [given])
    with module.context:
        function = entry(module)
        assert function is not None
        result = shape(list(function.entry_block.operations)[-1].operands[0])
    possible = set()
    for axis, extent in enumerate(result):
        for count in range(2, min(extent, 5) + 1):
            changed = copy_module(module)
            if not striped(changed, axis, count):
                continue
            possible.add(axis)
            assert changed.operation.verify()
            (found,) = run_reference(changed, [given])
            assert found.tobytes() == wanted.tobytes(), f"axis {axis} in {count} parts"
    assert possible == set(CASES[case][2])


def test_whole_program_on_request() -> None:
    # a segment of two large tensors between small ones; the file gives the same numbers with and without
    text = f"""
    func.func @main(%x: tensor<1x16x16x4xf32>) -> tensor<1x16x16x4xf32> {{
      {constant("w", (32, 1, 1, 4))}
      {constant("b", (32,))}
      {constant("v", (4, 1, 1, 32))}
      {constant("c", (4,))}
      {ZERO}
      %0 = tosa.conv2d %x, %w, %b, %z, %z {{{CONV.format(d=1, p="0, 0, 0, 0", s=1)}}}
        : (tensor<1x16x16x4xf32>, tensor<32x1x1x4xf32>, tensor<32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x16x32xf32>
      %1 = tosa.tanh %0 : (tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32>
      %2 = tosa.conv2d %1, %v, %c, %z, %z {{{CONV.format(d=1, p="0, 0, 0, 0", s=1)}}}
        : (tensor<1x16x16x32xf32>, tensor<4x1x1x32xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x16x4xf32>
      return %2 : tensor<1x16x16x4xf32>
    }}
    """
    plain, cut = vgfc.compile_mlir(text), vgfc.compile_mlir(text, stripes=True)
    assert cut.memory().session_bytes < 0.6 * plain.memory().session_bytes
    given = np.random.default_rng(1).standard_normal((1, 16, 16, 4)).astype(np.float32)
    assert cut.run(given, device="reference").tobytes() == plain.run(given, device="reference").tobytes()


def test_integer_sums_are_split_unless_refused() -> None:
    # half a megabyte of sums beside their codes
    text = f"""
    func.func @main(%x: tensor<1x64x64x3xi8>) -> tensor<1x32x32x32xi8> {{
      {constant("w", (32, 3, 3, 3), "i8", -90, 90)}
      {constant("b", (32,), "i32", -500, 500)}
      {constant("m", (32,), "i32", 1073741824, 1173741824)}
      {constant("s", (32,), "i8", 38, 41)}
      %i = "tosa.const"() <{{values = dense<0> : tensor<1xi32>}}> : () -> tensor<1xi32>
      %z = "tosa.const"() <{{values = dense<3> : tensor<1xi8>}}> : () -> tensor<1xi8>
      %k = "tosa.const"() <{{values = dense<0> : tensor<1xi8>}}> : () -> tensor<1xi8>
      %0 = tosa.conv2d %x, %w, %b, %z, %k {{acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>,
        stride = array<i64: 1, 1>}} : (tensor<1x64x64x3xi8>, tensor<32x3x3x3xi8>, tensor<32xi32>, tensor<1xi8>, tensor<1xi8>)
        -> tensor<1x64x64x32xi32>
      %1 = tosa.rescale %0, %m, %s, %i, %z {{input_unsigned = false, output_unsigned = false, per_channel = true,
        rounding_mode = SINGLE_ROUND, scale32 = true}}
        : (tensor<1x64x64x32xi32>, tensor<32xi32>, tensor<32xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x64x64x32xi8>
      %2 = tosa.max_pool2d %1 {{kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}}
        : (tensor<1x64x64x32xi8>) -> tensor<1x32x32x32xi8>
      return %2 : tensor<1x32x32x32xi8>
    }}
    """
    split, whole, exact = (vgfc.compile_mlir(text, **wish) for wish in ({}, {"stripes": False}, {"exact": True}))
    assert split.memory().session_bytes < 0.8 * whole.memory().session_bytes
    assert exact.memory().session_bytes == whole.memory().session_bytes
    given = np.random.default_rng(2).integers(-128, 128, (1, 64, 64, 3)).astype(np.int8)
    wanted = whole.run(given, device="reference")
    assert len(np.unique(wanted)) > 100
    assert split.run(given, device="reference").tobytes() == wanted.tobytes()


def test_nothing_changes_without_a_request() -> None:
    text = PIPELINES["tosa-optimize"]()
    module = module_of("convolution")
    before = copy_module(module)
    run_steps(parse_pipeline(text, PIPELINES, module.context), module, [])
    run_steps(parse_pipeline(text.replace("vgf-stripe{on-request=true},", ""), PIPELINES, before.context), before, [])
    assert str(module) == str(before)
