"""The runtime's session plan against what Arm's planner answers for the same tensors."""

import pytest
from hypothesis import given
from planning_oracles import programs

from vgfc.planning import (
    Program,
    check_offsets,
    peak_bytes,
    plan_session,
    segment_program,
    session_buffers,
    session_bytes,
)

# (size of every value, operands of the instruction that writes it, session bytes and offsets): the last two printed by
# allocateIntervals of ai-ml-emulation-layer-for-vulkan (graph/interval_memory_planner.cpp, August 2026) for the same lifetimes.
ARM_PLANS = [
    (
        [1908, 64, 960, 64, 64, 64, 128, 64, 64, 64, 64],
        [[], [0], [0], [], [], [1, 4], [], [1, 4], [], [6], [9]],
        2944,
        [0, 1920, 1984, 1984, 1984, 2048, 2112, 2048, 1920, 1984, 2048],
    ),
    (
        [576, 192, 640, 64, 64, 64, 576, 64],
        [[], [0], [0], [], [], [3], [], [3]],
        1408,
        [0, 576, 768, 576, 640, 704, 0, 640],
    ),
    (
        [512, 1905, 772, 64, 832, 2428, 768, 256, 960],
        [[], [], [], [0, 2], [0], [], [], [5, 6], []],
        4864,
        [0, 512, 512, 1344, 512, 2432, 512, 0, 1408],
    ),
    (
        [1214, 192, 64, 64, 64, 64, 64, 64, 896, 2099, 1053, 64],
        [[], [], [0], [0], [], [], [], [2, 5], [], [], [], [7, 8]],
        3520,
        [0, 1216, 1216, 1280, 1344, 1280, 1344, 1344, 0, 1408, 1408, 1216],
    ),
]


@pytest.mark.parametrize(("sizes", "operands", "session", "offsets"), ARM_PLANS)
def test_plans_are_those_of_the_emulation_layer(
    sizes: list[int], operands: list[list[int]], session: int, offsets: list[int]
) -> None:
    program = segment_program(sizes, [(read, [value]) for value, read in enumerate(operands)])
    plan = plan_session(program)
    assert plan.size_bytes == session_bytes(program) == session
    assert [plan.offsets_bytes[value] for value in range(len(sizes))] == offsets


@given(programs(most=12))
def test_plans_are_valid_arenas(program: Program) -> None:
    plan = plan_session(program, alignment_bytes=4)
    buffers = session_buffers(program, alignment_bytes=4)
    offsets = [plan.offsets_bytes[value] for value in buffers]
    assert check_offsets(list(buffers.values()), offsets, plan.size_bytes, 4) == []
    assert plan.size_bytes >= peak_bytes(program)


def test_free_neighbours_are_not_merged() -> None:
    # Two dead tensors of 64 bytes lie side by side; one of 128 still goes on top.
    program = segment_program([64, 64, 64, 128], [([], [0]), ([], [1]), ([0, 1], [2]), ([2], [3])])
    assert plan_session(program).offsets_bytes == {0: 0, 1: 64, 2: 128, 3: 192}
    assert session_bytes(program) == 320


def test_inputs_outputs_and_constants_are_elsewhere() -> None:
    program = segment_program([0, 100, 0], [([0], [1]), ([1], [2])])
    assert session_bytes(program) == 128
    assert session_bytes(segment_program([0, 0], [([0], [1])])) == 0
