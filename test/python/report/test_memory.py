"""Memory over time: what the report says is what the planner and the runtime say."""

from __future__ import annotations

import json

import vgfc
from vgfc.program import Program
from vgfc.report.memory import SessionMemory
from vgfc.runtime.vulkan import VulkanProgram

# Two branches from one value: exp (1200 bytes) stays live while the other is made and used.
BRANCHES = """
func.func @main(%x: tensor<10x30xf32>) -> tensor<10x30xf32> {
  %0 = tosa.exp %x : (tensor<10x30xf32>) -> tensor<10x30xf32>
  %1 = tosa.tanh %x : (tensor<10x30xf32>) -> tensor<10x30xf32>
  %2 = tosa.sigmoid %1 : (tensor<10x30xf32>) -> tensor<10x30xf32>
  %3 = tosa.add %0, %2 : (tensor<10x30xf32>, tensor<10x30xf32>) -> tensor<10x30xf32>
  %4 = tosa.abs %3 : (tensor<10x30xf32>) -> tensor<10x30xf32>
  return %4 : tensor<10x30xf32>
}
"""
ALIGNED = 1216  # 1200 bytes in units of 64


def program() -> Program:
    return vgfc.compile_mlir(BRANCHES)


def session() -> SessionMemory:
    (found,) = program().memory().sessions
    return found


def test_blocks_live_from_where_they_are_made_to_their_last_reader() -> None:
    spans = {block.name: (block.lower, block.upper) for block in session().blocks}
    assert spans == {"exp": (0, 4), "tanh": (1, 3), "sigmoid": (2, 4), "add": (3, 5)}


def test_blocks_that_live_together_do_not_overlap() -> None:
    blocks = session().blocks
    assert {block.size_bytes for block in blocks} == {ALIGNED}
    for index, block in enumerate(blocks):
        for other in blocks[:index]:
            together = block.lower < other.upper and other.lower < block.upper
            apart = (
                block.offset_bytes + block.size_bytes <= other.offset_bytes
                or other.offset_bytes + other.size_bytes <= block.offset_bytes
            )
            assert apart or not together


def test_peak_and_live_bytes() -> None:
    found = session()
    assert found.live_bytes == (ALIGNED, 2 * ALIGNED, 3 * ALIGNED, 3 * ALIGNED, ALIGNED)
    assert (found.peak_instant, found.bound_bytes) == (2, 3 * ALIGNED)
    assert [block.name for block in found.peak_blocks] == ["exp", "tanh", "sigmoid"]


def test_session_is_what_the_runtime_reports() -> None:
    compiled = program()
    assert compiled.memory().session_bytes == VulkanProgram(compiled.vgf).session_bytes


def test_constants_are_those_of_the_file() -> None:
    text = """
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %c = "tosa.const"() {values = dense_values} : () -> tensor<4x8xf32>
      %one = "tosa.const"() {values = dense<1.5> : tensor<1x1xf32>} : () -> tensor<1x1xf32>
      %0 = tosa.add %x, %c : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
      %1 = tosa.pow %0, %one : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
      %2 = tosa.maximum %1, %c : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
      return %2 : tensor<4x8xf32>
    }
    """
    values = ", ".join(f"[{', '.join(str(float(8 * row + column)) for column in range(8))}]" for row in range(4))
    report = vgfc.compile_mlir(text.replace("dense_values", f"dense<[{values}]> : tensor<4x8xf32>")).report()
    assert report.memory.constant_bytes == report.constant_bytes == 128
    stored = {constant.type: (constant.stored, len(constant.readers)) for constant in report.graph.constants}
    assert stored == {"4x8xf32": ("file", 2), "1x1xf32": ("code", 1)}


def test_text_and_json_say_the_same() -> None:
    memory = program().memory()
    data = json.loads(memory.to_json())
    assert data["session_bytes"] == memory.session_bytes == 3 * ALIGNED
    assert data["device_bytes"] == memory.device_bytes
    assert "peak at operator 2 of 5" in str(memory)
    assert memory._repr_html_().startswith("<iframe srcdoc=")


# Four segments in a row, cut by name: what lies between them takes turns in one alias group.
CHAIN = """
func.func @main(%x: tensor<40xf32>) -> tensor<40xf32> {
  %0 = tosa.exp %x {vgf.segment_name = "a"} : (tensor<40xf32>) -> tensor<40xf32>
  %1 = tosa.abs %0 {vgf.segment_name = "b"} : (tensor<40xf32>) -> tensor<40xf32>
  %2 = tosa.ceil %1 {vgf.segment_name = "c"} : (tensor<40xf32>) -> tensor<40xf32>
  %3 = tosa.tanh %2 {vgf.segment_name = "d"} : (tensor<40xf32>) -> tensor<40xf32>
  return %3 : tensor<40xf32>
}
"""


def test_values_between_segments() -> None:
    memory = vgfc.compile_mlir(CHAIN).memory()
    found = [(value.segment, value.readers, value.group, value.lower, value.upper) for value in memory.between]
    assert found == [
        ("segment_0", ("segment_1",), 0, 0, 2),
        ("segment_1", ("segment_2",), None, 1, 3),
        ("segment_2", ("segment_3",), 0, 2, 4),
    ]
    assert memory.between_bytes == memory.between_bound_bytes == 2 * 160
    assert "group 0" in str(memory)
    assert json.loads(memory.to_json())["between"][1]["type"] == "40xf32"
