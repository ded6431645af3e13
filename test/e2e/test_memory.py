"""What is predicted of device memory against the runtime's figures; plans that share memory against plans that do not."""

from __future__ import annotations

import numpy as np
import pytest
from torch_mlir import ir

import vgfc
from benchmarks.memory_models import between_bytes, lowered, random_graph
from vgfc.compiler import run_pipeline
from vgfc.frontend.load import parse_mlir
from vgfc.pipeline import MEMORY, PARTITION
from vgfc.runtime.vulkan import VulkanProgram, session_bytes
from vgfc.vgf_file import decode

# 48-bit sums of 16-bit products: the runtime holds them as 64-bit integers.
WIDE = """
func.func @main(%x: tensor<1x6x5x4xi16>) -> tensor<1x6x5x3xi16> {
  %w = "tosa.const"() <{values = dense<3> : tensor<3x1x1x4xi8>}> : () -> tensor<3x1x1x4xi8>
  %b = "tosa.const"() <{values = dense<5> : tensor<3xi48>}> : () -> tensor<3xi48>
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  %v = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %l = "tosa.const"() <{values = dense<0> : tensor<1xi48>}> : () -> tensor<1xi48>
  %m = "tosa.const"() <{values = dense<16384> : tensor<1xi16>}> : () -> tensor<1xi16>
  %s = "tosa.const"() <{values = dense<18> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.conv2d %x, %w, %b, %z, %v {acc_type = i48, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>,
    stride = array<i64: 1, 1>} : (tensor<1x6x5x4xi16>, tensor<3x1x1x4xi8>, tensor<3xi48>, tensor<1xi16>, tensor<1xi8>)
    -> tensor<1x6x5x3xi48>
  %1 = tosa.rescale %0, %m, %s, %l, %z {input_unsigned = false, output_unsigned = false, per_channel = false,
    rounding_mode = SINGLE_ROUND, scale32 = false}
    : (tensor<1x6x5x3xi48>, tensor<1xi16>, tensor<1xi8>, tensor<1xi48>, tensor<1xi16>) -> tensor<1x6x5x3xi16>
  return %1 : tensor<1x6x5x3xi16>
}
"""
BOOLEAN = """
func.func @main(%x: tensor<7x9xf32>) -> tensor<7x9xf32> {
  %0 = tosa.exp %x : (tensor<7x9xf32>) -> tensor<7x9xf32>
  %1 = tosa.greater %x, %0 : (tensor<7x9xf32>, tensor<7x9xf32>) -> tensor<7x9xi1>
  %2 = tosa.logical_not %1 : (tensor<7x9xi1>) -> tensor<7x9xi1>
  %3 = tosa.select %2, %0, %x : (tensor<7x9xi1>, tensor<7x9xf32>, tensor<7x9xf32>) -> tensor<7x9xf32>
  return %3 : tensor<7x9xf32>
}
"""


@pytest.mark.parametrize("text", [WIDE, BOOLEAN, random_graph(2), random_graph(7)])
def test_session_is_what_the_runtime_reports(text: str) -> None:
    program = vgfc.compile_mlir(text)
    assert program.memory().session_bytes == session_bytes(program.vgf, decode(program.vgf)) > 0


def chain() -> ir.Module:
    """Six segments in a row whose results shrink and grow, cut by name, with a value that waits for the last."""
    sizes = [40, 40, 80, 20, 20, 40]
    lines, previous = [], ("%x", 40)
    kind = "tensor<{}xf32>"
    for number, size in enumerate(sizes):
        name, before = previous
        types = f"({kind.format(before)}) -> {kind.format(size)}"
        mark = f'{{vgf.segment_name = "{number}"'
        if size == before:
            lines.append(f"  %{number} = tosa.tanh {name} {mark}}} : {types}")
        elif size > before:
            pair = f"({kind.format(before)}, {kind.format(before)}) -> {kind.format(2 * before)}"
            lines.append(f"  %{number} = tosa.concat {name}, {name} {mark}, axis = 0 : i32}} : {pair}")
        else:
            for constant, value in (("start", 0), ("size", size)):
                values = f"dense<{value}> : tensor<1xindex>"
                lines.append(f"  %{constant}{number} = tosa.const_shape {{values = {values}}} : () -> !tosa.shape<1>")
            types = f"({kind.format(before)}, !tosa.shape<1>, !tosa.shape<1>) -> {kind.format(size)}"
            lines.append(f"  %{number} = tosa.slice {name}, %start{number}, %size{number} {mark}}} : {types}")
        previous = f"%{number}", size
    lines.append('  %6 = tosa.add %5, %0 {vgf.segment_name = "6"} : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xf32>')
    body = "\n".join(lines)
    module = parse_mlir(
        f"func.func @main(%x: tensor<40xf32>) -> tensor<40xf32> {{\n{body}\n  return %6 : tensor<40xf32>\n}}"
    )
    run_pipeline(module, f"builtin.module({','.join([*PARTITION, *MEMORY])})")
    return module


def test_alias_groups_save_memory_and_change_nothing() -> None:
    module = chain()
    files = {
        plan: lowered(module, f"vgf-plan-memory{options}")
        for plan, options in (("alone", "{algorithm=none}"), ("groups", ""), ("in place", "{in-place=true}"))
    }
    assert len(decode(files["groups"]).segments) == 7
    given = np.linspace(-3, 3, 40, dtype=np.float32)
    results = {plan: VulkanProgram(file).run([given])[0].tobytes() for plan, file in files.items()}
    assert results["alone"] == results["groups"] == results["in place"]
    # 40, 40, 80, 20, 20, 40 elements between segments: the first waits, the others take turns
    assert between_bytes(files["alone"]) == 4 * (40 + 40 + 80 + 20 + 20 + 40)
    assert between_bytes(files["groups"]) == 4 * (40 + 80 + 40)
    assert between_bytes(files["in place"]) <= between_bytes(files["groups"])
