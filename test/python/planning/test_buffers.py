"""Lifetimes, bounds and the CSV form."""

from pathlib import Path

import pytest
from hypothesis import given
from planning_oracles import buffer_lists, naive_peak_bytes, programs

from vgfc.planning import (
    Buffer,
    Instruction,
    Program,
    footprints_bytes,
    largest_live_sum_bytes,
    live_ranges,
    peak,
    peak_bytes,
    positional_maxima_bytes,
    read_csv,
)


def live_sizes_bytes(buffers: list[Buffer], instant: int) -> list[int]:
    return sorted((buffer.size_bytes for buffer in buffers if buffer.lower <= instant < buffer.upper), reverse=True)


@given(buffer_lists(most=9))
def test_bounds_are_those_of_every_instant(buffers: list[Buffer]) -> None:
    at_every_instant = [live_sizes_bytes(buffers, instant) for instant in range(8)]
    assert largest_live_sum_bytes(buffers) == max(sum(sizes) for sizes in at_every_instant)
    depth = max(len(sizes) for sizes in at_every_instant)
    padded = [sizes + [0] * (depth - len(sizes)) for sizes in at_every_instant]
    assert positional_maxima_bytes(buffers) == tuple(max(column) for column in zip(*padded, strict=True))
    instant, live = peak(buffers)
    assert sorted((buffers[index].size_bytes for index in live), reverse=True) == live_sizes_bytes(buffers, instant)


def test_nothing_needs_nothing() -> None:
    assert largest_live_sum_bytes([]) == 0
    assert positional_maxima_bytes([]) == ()
    assert peak([]) == (0, [])


@given(programs())
def test_peak_counts_what_every_instruction_needs(program: Program) -> None:
    order = tuple(range(len(program.instructions)))
    assert peak_bytes(program) == naive_peak_bytes(program, order)
    assert peak_bytes(program) == largest_live_sum_bytes(list(live_ranges(program).values()))


def test_live_ranges_end_with_the_last_reader() -> None:
    # 0 is a graph input (no storage); 1 is read twice; 2 is read by nothing but takes space while it is written; 3 is kept.
    program = Program(
        (0, 10, 20, 30),
        (
            Instruction((0,), (1,)),
            Instruction((1,), (2,)),
            Instruction((0, 1), (3,)),
            Instruction((0,), ()),
        ),
        frozenset({3}),
    )
    assert live_ranges(program) == {
        1: Buffer("1", 0, 3, 10),
        2: Buffer("2", 1, 2, 20),
        3: Buffer("3", 2, 4, 30),
    }
    assert footprints_bytes(program) == [10, 30, 40, 30]


@pytest.mark.parametrize(
    ("sizes", "instructions", "message"),
    [
        ((1,), (Instruction((), (1,)),), "instruction 0 has value 1, wanted below 1"),
        ((1,), (Instruction((), (0,)), Instruction((), (0,))), "value 0 is written by instructions 0 and 1"),
        ((1, 1), (Instruction((0,), (1,)), Instruction((), (0,))), "instruction 0 reads value 0, which 1 writes"),
    ],
)
def test_a_malformed_program_is_refused(
    sizes: tuple[int, ...], instructions: tuple[Instruction, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Program(sizes, instructions)


def test_csv_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "plan.csv"
    path.write_text("id,lower,upper,size\nb1,0,3,4\nb2,3,9,16\n")
    assert read_csv(path) == [Buffer("b1", 0, 3, 4), Buffer("b2", 3, 9, 16)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,lower,size\n", "no column 'upper'"),
        ("id,lower,upper,size\na,0,x,4\n", r"plan.csv:2: invalid literal"),
        (
            "id,lower,upper,size\na,0,1,4\nb,3,3,4\n",
            r"plan.csv:3: buffer 'b' is live from 3 to 3, wanted lower < upper",
        ),
        ("id,lower,upper,size\na,0,1,-4\n", r"plan.csv:2: buffer 'a' has -4 bytes, wanted at least 0"),
    ],
)
def test_a_malformed_csv_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "plan.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_csv(path)
