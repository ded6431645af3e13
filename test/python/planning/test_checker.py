"""The checker finds every fault there can be, and none where there is none."""

from vgfc.planning import Buffer, Instruction, Program, check_groups, check_offsets, check_order

FIRST = Buffer("first", 0, 3, 8)
SECOND = Buffer("second", 2, 5, 4)
THIRD = Buffer("third", 3, 6, 8)


def test_offsets_without_fault() -> None:
    # first ends where third begins, so they share bytes; an empty buffer may be anywhere in the arena.
    assert check_offsets([FIRST, SECOND, THIRD, Buffer("empty", 0, 9, 0)], [0, 8, 0, 4], 12, 4) == []


def test_offset_faults() -> None:
    assert check_offsets([FIRST], [], 8) == ["1 buffers have 0 offsets"]
    assert check_offsets([FIRST], [4], 8) == ["buffer 'first' takes bytes 4 to 12 of an arena of 8"]
    assert check_offsets([FIRST], [-8], 8) == ["buffer 'first' takes bytes -8 to 0 of an arena of 8"]
    assert check_offsets([FIRST], [2], 16, 4) == ["buffer 'first' is at 2, not a multiple of 4"]
    assert check_offsets([THIRD, SECOND, FIRST], [0, 7, 0], 12) == [
        "buffers 'first' and 'second' are live together and share bytes 7 to 8",
        "buffers 'second' and 'third' are live together and share bytes 7 to 8",
    ]


def test_groups_without_fault() -> None:
    assert check_groups([FIRST, SECOND, THIRD], [0, 1, 0], [8, 4]) == []
    assert check_groups([FIRST, SECOND, THIRD], [-1, 0, -1], [4]) == []


def test_group_faults() -> None:
    assert check_groups([FIRST], [], [8]) == ["1 buffers have 0 groups"]
    assert check_groups([FIRST], [1], [8]) == ["buffer 'first' is in group 1 of 1"]
    assert check_groups([FIRST], [-2], [8]) == ["buffer 'first' is in group -2 of 1"]
    assert check_groups([FIRST], [0], [7]) == ["buffer 'first' has 8 bytes, its group 0 has 7"]
    assert check_groups([FIRST, SECOND], [0, 0], [8]) == ["buffers 'first' and 'second' are live together in group 0"]


def test_order_faults() -> None:
    program = Program((0, 1, 1), (Instruction((0,), (1,)), Instruction((1,), (2,))))
    assert check_order(program, [0, 1]) == []
    assert check_order(program, [1, 0]) == ["instruction 1 reads value 1 before it is written"]
    assert check_order(program, [0]) == ["instruction 1 runs 0 times"]
    assert check_order(program, [0, 1, 1]) == ["instruction 1 runs 2 times"]
    assert check_order(program, [0, 1, 2]) == ["instruction 2 of 2 does not exist"]
