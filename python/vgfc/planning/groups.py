"""The smallest set of alias groups found within a budget, with the bound that says how good it is."""

from collections.abc import Sequence
from dataclasses import dataclass

from vgfc.planning.budget import Budget
from vgfc.planning.buffers import Buffer, positional_maxima_bytes
from vgfc.planning.exact_groups import shrink_groups, smallest_groups, spread
from vgfc.planning.greedy_groups import (
    greedy_by_breadth,
    greedy_by_size,
    greedy_by_size_improved,
    group_sizes_bytes,
)

DEFAULT_STEPS = 500_000
IMPROVED_LIMIT_BUFFERS = 1500  # greedy by size improved takes cubic time; 0.3 s for 1000 buffers


@dataclass(frozen=True)
class GroupPlan:
    """A group for every buffer, in the order of the buffers, and what is known of the least possible total.

    `sizes_bytes` is the size of each group, `total_bytes` their sum. The plan is proved optimal when
    `total_bytes == lower_bound_bytes`.
    """

    groups: tuple[int, ...]
    sizes_bytes: tuple[int, ...]
    total_bytes: int
    lower_bound_bytes: int

    @property
    def optimal(self) -> bool:
        """Whether no plan can have a smaller total."""
        return self.total_bytes == self.lower_bound_bytes


def plan_groups(
    buffers: Sequence[Buffer], steps: int | None = DEFAULT_STEPS, seconds: float | None = None
) -> GroupPlan:
    """The alias groups with the smallest total found; ends with a proved optimum or after `steps` steps or `seconds`.

    With `seconds` None the result depends on the buffers and `steps` alone.
    """
    bound = sum(positional_maxima_bytes(buffers))
    budget = Budget(steps, seconds)
    heuristics = [greedy_by_size, greedy_by_breadth]
    if len(buffers) <= IMPROVED_LIMIT_BUFFERS:
        heuristics.append(greedy_by_size_improved)
    plans = sorted((heuristic(buffers) for heuristic in heuristics), key=lambda plan: _total_bytes(buffers, plan))
    best = plans[0]
    for plan in plans:
        if _total_bytes(buffers, best) > bound:
            best = _better(buffers, best, shrink_groups(buffers, group_sizes_bytes(buffers, plan), budget))
    total = _total_bytes(buffers, best)
    if total > bound:
        least, bound = smallest_groups(buffers, total, budget)
        if least is not None:
            best = _better(buffers, best, least)
    total = _total_bytes(buffers, best)
    return GroupPlan(best, group_sizes_bytes(buffers, best), total, min(bound, total))


def _total_bytes(buffers: Sequence[Buffer], groups: Sequence[int]) -> int:
    return sum(group_sizes_bytes(buffers, groups))


def _better(buffers: Sequence[Buffer], groups: tuple[int, ...], sizes_bytes: Sequence[int]) -> tuple[int, ...]:
    """The plan with groups of these sizes, which are known to suffice, if that has a smaller total than `groups`."""
    if sum(sizes_bytes) >= _total_bytes(buffers, groups):
        return groups
    found = spread(buffers, sizes_bytes, Budget())
    assert found is not None, "sizes were checked to suffice"
    numbers = {group: number for number, group in enumerate(sorted(set(found)))}
    return tuple(numbers[group] for group in found)
