"""Alias groups with the least total size, by looking for the sizes of the groups instead of their members.

Given group sizes, largest first, whether the buffers can be spread over groups of these sizes is a question with a quick
answer: take the buffers as they begin, give each the smallest group that is free and large enough, and when there is none go
back to the latest choice that took a group the buffer could have had (conflict-directed backjumping, Prosser 1993).

- `shrink_groups` lowers one group size after the other as far as the buffers still fit.
- `smallest_groups` finds the least total and proves it. Size vectors are taken in the order of their sums, from the positional
  maxima up. One that does not suffice is raised as far as it still does not; every vector below that one is ruled out with it,
  so the next candidate is the cheapest that exceeds each ruled-out vector in some place (an implicit hitting set, as in
  Chandrasekaran, Karp, Moreno-Centeno and Vempala 2011). The first that suffices is optimal.
"""

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from vgfc.planning.budget import Budget, OutOfBudget
from vgfc.planning.buffers import Buffer, positional_maxima_bytes

CHECK_STEPS = 50_000
SHRINK_CHECK_STEPS = 1000  # beside four for every buffer: what fits at all mostly fits without much going back


def spread(buffers: Sequence[Buffer], sizes_bytes: Sequence[int], budget: Budget) -> tuple[int, ...] | None:
    """The group of every buffer, with group sizes given largest first, or None as a proof that these do not suffice.

    Raises OutOfBudget when neither is known after as many steps (buffers placed) as `budget` has.
    """
    order = sorted(range(len(buffers)), key=lambda index: (buffers[index].lower, -buffers[index].size_bytes, index))
    occupants: list[list[int]] = [[] for _ in sizes_bytes]  # places in `order`, the latest last
    choices: list[list[int]] = []
    conflicts: list[int] = []  # sets of earlier places that stand in the way, as bits
    taken: list[int] = []
    place = 0
    while place < len(order):
        buffer = buffers[order[place]]
        if len(choices) == place:
            budget.step()
            blocked = 0
            free: list[int] = []
            for group in range(len(sizes_bytes) - 1, -1, -1):
                if sizes_bytes[group] < buffer.size_bytes:
                    continue
                if occupants[group] and buffers[order[occupants[group][-1]]].upper > buffer.lower:
                    blocked |= 1 << occupants[group][-1]
                elif not free or sizes_bytes[free[-1]] != sizes_bytes[group]:
                    free.append(group)
            free.reverse()
            choices.append(free)
            conflicts.append(blocked)
        if choices[place]:
            group = choices[place].pop()
            occupants[group].append(place)
            taken.append(group)
            place += 1
            continue
        blocked = conflicts[place]
        if not blocked:
            return None
        culprit = blocked.bit_length() - 1
        while len(taken) > culprit:
            occupants[taken.pop()].pop()
        conflicts[culprit] |= blocked & ~(1 << culprit)
        del choices[culprit + 1 :], conflicts[culprit + 1 :]
        place = culprit
    groups = [0] * len(buffers)
    for index, group in zip(order, taken, strict=True):
        groups[index] = group
    return tuple(groups)


def _suffices(
    buffers: Sequence[Buffer], sizes_bytes: Sequence[int], budget: Budget, steps: int = CHECK_STEPS
) -> bool | None:
    """Whether groups of these sizes can hold the buffers; None when that took more than `steps` to tell."""
    try:
        return spread(buffers, sizes_bytes, budget.part(steps)) is not None
    except OutOfBudget:
        return None


def shrink_groups(buffers: Sequence[Buffer], sizes_bytes: Sequence[int], budget: Budget) -> tuple[int, ...]:
    """Smaller group sizes, largest first, that still hold the buffers; `sizes_bytes` has to."""
    maxima = positional_maxima_bytes(buffers)
    check_steps = SHRINK_CHECK_STEPS + 4 * len(buffers)
    if _suffices(buffers, maxima, budget, check_steps):
        return maxima
    sizes = sorted(sizes_bytes, reverse=True)
    steps_bytes = sorted({0} | {buffer.size_bytes for buffer in buffers})
    shrunk = True
    while shrunk and not budget.spent():
        shrunk = False
        for position in range(len(sizes)):
            floor = maxima[position] if position < len(maxima) else 0
            low = bisect_left(steps_bytes, floor)
            high = enough = bisect_left(steps_bytes, sizes[position])
            while low < high:
                middle = (low + high) // 2
                others = sizes[:position] + sizes[position + 1 :]
                if _suffices(buffers, sorted([*others, steps_bytes[middle]], reverse=True), budget, check_steps):
                    high = middle
                else:
                    low = middle + 1
            if high < enough:
                sizes = sorted([*sizes[:position], *sizes[position + 1 :], steps_bytes[high]], reverse=True)
                shrunk = True
    return tuple(size for size in sizes if size > 0)


def smallest_groups(buffers: Sequence[Buffer], below_bytes: int, budget: Budget) -> tuple[tuple[int, ...] | None, int]:
    """(group sizes with the least total, that total), the sizes None if the total is proved to be at least `below_bytes`.

    When the budget ends first the sizes are None too, and the second is the highest total proved to be a lower bound.
    """
    steps_bytes = sorted({buffer.size_bytes for buffer in buffers if buffer.size_bytes > 0})
    start = tuple(size for size in positional_maxima_bytes(buffers) if size > 0)
    ruled_out: list[tuple[int, ...]] = []
    waiting = [(sum(start), start)]
    seen = {start}
    bound = sum(start)
    while waiting:
        bound, sizes = heapq.heappop(waiting)
        if bound >= below_bytes:
            return None, below_bytes
        try:
            budget.step()
        except OutOfBudget:
            return None, bound
        blocker = next((other for other in ruled_out if _below(sizes, other)), None)
        if blocker is None:
            enough = _suffices(buffers, sizes, budget)
            if enough:
                return sizes, bound
            if enough is None:
                return None, bound
            blocker = _raise(buffers, sizes, steps_bytes, budget)
            ruled_out.append(blocker)
        for position in range(len(sizes) + 1):
            least = blocker[position] if position < len(blocker) else 0
            larger = bisect_right(steps_bytes, least)
            if larger == len(steps_bytes):
                continue
            raised = [max(size, steps_bytes[larger]) for size in sizes[:position]]
            candidate = (*raised, steps_bytes[larger], *sizes[position + 1 :])
            if candidate not in seen:
                seen.add(candidate)
                heapq.heappush(waiting, (sum(candidate), candidate))
    return None, bound


def _below(sizes: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether groups of sizes `other` could do whatever groups of `sizes` can."""
    return len(sizes) <= len(other) and all(size <= bound for size, bound in zip(sizes, other, strict=False))


def _raise(
    buffers: Sequence[Buffer], sizes: tuple[int, ...], steps_bytes: list[int], budget: Budget
) -> tuple[int, ...]:
    """Group sizes that do not suffice either, none smaller than in `sizes`, each as large as the search could show."""
    raised = list(sizes)
    for position in range(len(raised)):
        low = bisect_left(steps_bytes, raised[position])
        high = len(steps_bytes) - 1 if position == 0 else bisect_left(steps_bytes, raised[position - 1])
        while low < high:
            middle = (low + high + 1) // 2
            candidate = [*raised[:position], steps_bytes[middle], *raised[position + 1 :]]
            if _suffices(buffers, candidate, budget) is False:
                low = middle
            else:
                high = middle - 1
        raised[position] = steps_bytes[low]
    return tuple(raised)
