"""The best offset plan found within a budget, with the bound that says how good it is.

Greedy plans come first; they often reach the bound. Then capacities between the bound and the best plan so far are tried with
the exact search, the smallest first: it either finds a plan there or proves that none exists, and the bound rises.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from vgfc.planning.budget import Budget
from vgfc.planning.buffers import Buffer, aligned, largest_live_sum_bytes
from vgfc.planning.exact_offsets import fit_offsets
from vgfc.planning.greedy_offsets import by_area, by_lifetime, by_size, height_bytes, place_in_order

DEFAULT_STEPS = 100_000
FIRST_PROBE_STEPS = 3000


@dataclass(frozen=True)
class OffsetPlan:
    """An offset for every buffer, in the order of the buffers, and what is known of the least possible height.

    All in bytes. The plan is proved optimal when `height_bytes == lower_bound_bytes`.
    """

    offsets_bytes: tuple[int, ...]
    height_bytes: int
    lower_bound_bytes: int

    @property
    def optimal(self) -> bool:
        """Whether no plan can be lower."""
        return self.height_bytes == self.lower_bound_bytes


def plan_offsets(
    buffers: Sequence[Buffer],
    alignment_bytes: int = 1,
    steps: int | None = DEFAULT_STEPS,
    seconds: float | None = None,
) -> OffsetPlan:
    """The lowest offset plan found; every offset is a multiple of `alignment_bytes`, and every size counts rounded up to one.

    The search ends with a proved optimum, or after `steps` steps or `seconds`, whichever comes first. With `seconds` None
    the result depends on the buffers and `steps` alone.
    """
    rounded = [
        Buffer(buffer.name, buffer.lower, buffer.upper, aligned(buffer.size_bytes, alignment_bytes))
        for buffer in buffers
    ]
    bound = largest_live_sum_bytes(rounded)
    best: tuple[int, ...] = ()
    height = -1
    for order in (by_size, by_lifetime, by_area):
        offsets = place_in_order(rounded, order(rounded))
        if height < 0 or height_bytes(rounded, offsets) < height:
            best, height = offsets, height_bytes(rounded, offsets)
        if height == bound:
            return OffsetPlan(best, height, bound)

    budget = Budget(steps, seconds)
    probe_steps = FIRST_PROBE_STEPS + 4 * len(buffers)
    while bound < height and not budget.spent():
        # Undecided at the bound: a plan anywhere below the best one is worth having, so look halfway, then again closer.
        capacity = bound
        while capacity < height and not budget.spent():
            fit = fit_offsets(rounded, capacity, budget.part(probe_steps))
            if fit.offsets_bytes is not None:
                best, height = fit.offsets_bytes, height_bytes(rounded, fit.offsets_bytes)
                break
            bound = max(bound, fit.needed_bytes)
            if fit.decided:
                break
            capacity += max(alignment_bytes, (height - capacity) // 2)
        probe_steps *= 2
    return OffsetPlan(best, height, min(bound, height))
