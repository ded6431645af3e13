"""Alias groups by greedy assignment: the three heuristics of Pisarchyk and Lee ("Efficient memory management for deep neural
net inference", 2020), which calls the groups shared objects.

All members of a group start at its first byte, so no two may be live at once and it is as large as its largest member.
Each function returns the group of every buffer, numbered from 0.
"""

from bisect import bisect_left, insort
from collections.abc import Sequence

from vgfc.planning.buffers import Buffer, crowded_instants, positional_maxima_bytes


class _Groups:
    """Groups under construction: size, and lifetimes of the members in order."""

    def __init__(self, buffers: Sequence[Buffer]) -> None:
        self.buffers = buffers
        self.sizes_bytes: list[int] = []
        self.lifetimes: list[list[tuple[int, int]]] = []
        self.group_of = [-1] * len(buffers)

    def idle_instants(self, group: int, index: int) -> int | None:
        """Instants between a buffer and its nearest neighbour in time in a group; None when it overlaps one."""
        buffer = self.buffers[index]
        lifetimes = self.lifetimes[group]
        position = bisect_left(lifetimes, (buffer.lower, buffer.upper))
        idle: list[int] = []
        if position > 0:
            idle.append(buffer.lower - lifetimes[position - 1][1])
        if position < len(lifetimes):
            idle.append(lifetimes[position][0] - buffer.upper)
        return None if min(idle) < 0 else min(idle)

    def fitting(self, index: int) -> list[int]:
        """Groups without a member that is live together with a buffer."""
        return [group for group in range(len(self.sizes_bytes)) if self.idle_instants(group, index) is not None]

    def add(self, index: int, group: int | None) -> None:
        """Puts a buffer into a group, or into a new one."""
        buffer = self.buffers[index]
        if group is None:
            group = len(self.sizes_bytes)
            self.sizes_bytes.append(0)
            self.lifetimes.append([])
        self.sizes_bytes[group] = max(self.sizes_bytes[group], buffer.size_bytes)
        insort(self.lifetimes[group], (buffer.lower, buffer.upper))
        self.group_of[index] = group


def greedy_by_size(buffers: Sequence[Buffer]) -> tuple[int, ...]:
    """Largest buffer first, each into the smallest group it fits, else into a new one."""
    groups = _Groups(buffers)
    for index in sorted(range(len(buffers)), key=lambda index: (-buffers[index].size_bytes, buffers[index].lower)):
        groups.add(index, min(groups.fitting(index), key=lambda group: groups.sizes_bytes[group], default=None))
    return tuple(groups.group_of)


def greedy_by_size_improved(buffers: Sequence[Buffer]) -> tuple[int, ...]:
    """By size in stages, and within a stage the pair of buffer and group that leaves the group idle the shortest.

    Buffers between two consecutive positional maxima form a stage: their exact order hardly matters for the total, so they
    are paired by time. Of equally good pairs the larger buffer goes first.
    """
    groups = _Groups(buffers)
    maxima = sorted(set(positional_maxima_bytes(buffers)))
    stages: dict[int, list[int]] = {}
    for index, buffer in enumerate(buffers):
        # Sizes equal to a maximum are a stage of their own, between that of the larger and that of the smaller sizes.
        position = 2 * bisect_left(maxima, buffer.size_bytes)
        if position < 2 * len(maxima) and maxima[position // 2] == buffer.size_bytes:
            position += 1
        stages.setdefault(position, []).append(index)
    for position in sorted(stages, reverse=True):
        waiting = set(stages[position])
        while waiting:
            best: tuple[int, int, int, int] | None = None
            for index in waiting:
                for group in range(len(groups.sizes_bytes)):
                    idle = groups.idle_instants(group, index)
                    if idle is not None:
                        pair = (idle, -buffers[index].size_bytes, index, group)
                        best = pair if best is None else min(best, pair)
            if best is None:
                index = min(waiting, key=lambda index: (-buffers[index].size_bytes, index))
                groups.add(index, None)
            else:
                index = best[2]
                groups.add(index, best[3])
            waiting.remove(index)
    return tuple(groups.group_of)


def greedy_by_breadth(buffers: Sequence[Buffer]) -> tuple[int, ...]:
    """Instants with most live bytes first, there the largest buffer first.

    A buffer goes into the smallest group that is large enough, else into the largest that fits in time, which grows.
    """
    groups = _Groups(buffers)

    def live_bytes(live: list[int]) -> int:
        return sum(buffers[index].size_bytes for index in live)

    live_sets = [live for _, live in crowded_instants(buffers)]
    for live in sorted(live_sets, key=live_bytes, reverse=True):
        for index in sorted(live, key=lambda index: (-buffers[index].size_bytes, index)):
            if groups.group_of[index] >= 0:
                continue
            fitting = groups.fitting(index)
            enough = [group for group in fitting if groups.sizes_bytes[group] >= buffers[index].size_bytes]
            if enough:
                groups.add(index, min(enough, key=lambda group: groups.sizes_bytes[group]))
            else:
                groups.add(index, max(fitting, key=lambda group: groups.sizes_bytes[group], default=None))
    return tuple(groups.group_of)


def group_sizes_bytes(buffers: Sequence[Buffer], groups: Sequence[int]) -> tuple[int, ...]:
    """Size of each group: that of its largest member."""
    sizes = [0] * (max(groups, default=-1) + 1)
    for buffer, group in zip(buffers, groups, strict=True):
        sizes[group] = max(sizes[group], buffer.size_bytes)
    return tuple(sizes)
