"""Checks plans against what they have to be, sharing no code with what made them.

Every function returns the faults found, one sentence each; an empty list means that the plan is right. Only the descriptions of
the problem (buffers, programs) and the plain numbers of the plan are read.
"""

from collections.abc import Sequence

from vgfc.planning.buffers import Buffer
from vgfc.planning.program import Program


def check_offsets(
    buffers: Sequence[Buffer], offsets_bytes: Sequence[int], height_bytes: int, alignment_bytes: int = 1
) -> list[str]:
    """Faults of an offset plan: a buffer without a place, outside the arena, misaligned, or sharing bytes with a live one."""
    if len(offsets_bytes) != len(buffers):
        return [f"{len(buffers)} buffers have {len(offsets_bytes)} offsets"]
    faults = []
    for buffer, offset in zip(buffers, offsets_bytes, strict=True):
        if offset < 0 or offset + buffer.size_bytes > height_bytes:
            faults.append(
                f"buffer '{buffer.name}' takes bytes {offset} to {offset + buffer.size_bytes} of an arena of {height_bytes}"
            )
        if offset % alignment_bytes != 0:
            faults.append(f"buffer '{buffer.name}' is at {offset}, not a multiple of {alignment_bytes}")
    for earlier, later in _live_together(buffers):
        begin = max(offsets_bytes[earlier], offsets_bytes[later])
        end = min(
            offsets_bytes[earlier] + buffers[earlier].size_bytes, offsets_bytes[later] + buffers[later].size_bytes
        )
        if begin < end:
            faults.append(
                f"buffers '{buffers[earlier].name}' and '{buffers[later].name}' are live together "
                f"and share bytes {begin} to {end}"
            )
    return faults


def check_groups(buffers: Sequence[Buffer], groups: Sequence[int], sizes_bytes: Sequence[int]) -> list[str]:
    """Faults of a plan of alias groups: no group, a group too small, or two members of a group live together.

    A group of -1 is none: the buffer has storage of its own, which is no fault.
    """
    if len(groups) != len(buffers):
        return [f"{len(buffers)} buffers have {len(groups)} groups"]
    faults = []
    for buffer, group in zip(buffers, groups, strict=True):
        if group < -1 or group >= len(sizes_bytes):
            faults.append(f"buffer '{buffer.name}' is in group {group} of {len(sizes_bytes)}")
        elif group >= 0 and buffer.size_bytes > sizes_bytes[group]:
            faults.append(
                f"buffer '{buffer.name}' has {buffer.size_bytes} bytes, its group {group} has {sizes_bytes[group]}"
            )
    for earlier, later in _live_together(buffers):
        if groups[earlier] == groups[later] >= 0:
            faults.append(
                f"buffers '{buffers[earlier].name}' and '{buffers[later].name}' are live together in group {groups[later]}"
            )
    return faults


def check_order(program: Program, order: Sequence[int]) -> list[str]:
    """Faults of an order: an instruction left out or run twice, or run before one that writes what it reads."""
    faults = []
    runs = [0] * len(program.instructions)
    available = [True] * len(program.sizes_bytes)
    for instruction in program.instructions:
        for value in instruction.results:
            available[value] = False
    for index in order:
        if not 0 <= index < len(runs):
            faults.append(f"instruction {index} of {len(runs)} does not exist")
            continue
        runs[index] += 1
        for value in program.instructions[index].operands:
            if not available[value]:
                faults.append(f"instruction {index} reads value {value} before it is written")
        for value in program.instructions[index].results:
            available[value] = True
    faults.extend(f"instruction {index} runs {times} times" for index, times in enumerate(runs) if times != 1)
    return faults


def _live_together(buffers: Sequence[Buffer]) -> list[tuple[int, int]]:
    """Pairs of buffers that are live at some instant together; buffers without bytes are with none."""
    pairs: list[tuple[int, int]] = []
    live: list[int] = []
    for index in sorted(range(len(buffers)), key=lambda index: buffers[index].lower):
        if buffers[index].size_bytes == 0:
            continue
        live = [other for other in live if buffers[other].upper > buffers[index].lower]
        pairs.extend((other, index) for other in live)
        live.append(index)
    return pairs
