"""Exact placement of buffers in an arena of a given capacity: offsets, or the proof that there are none.

Works on *canonical* plans as MiniMalloc does (Moffitt, "MiniMalloc: a lightweight memory allocator for hardware-accelerated
machine learning", ASPLOS 2023): pushing every buffer down until it rests on the bottom or on another buffer keeps a plan
valid, so only such plans need be looked at. Unlike MiniMalloc, which takes buffers in the order of their offsets, the
search branches on a place: a *section* (an instant with a maximal live set) of a *pit*, a stretch of the skyline with higher
walls on both sides. The lowest buffer still to be placed over that section either lies in the pit and rests on its floor, or
there is none, the section's floor rises and the bytes below are wasted.

- A section's slack is capacity - floor - bytes still to be placed over it; placing in a pit costs none, waste costs it,
  and a section without slack has only its buffers as choices. The section with the fewest choices is taken first.
- A floor is never below the lowest offset any remaining buffer over it can have; raising it is done before branching.
- Stretches that no remaining buffer connects are solved independently; one without a solution ends the search there.
- States (remaining buffers, floors) without a solution are remembered, also from one attempt to the next.
- Of buffers equal in lifetime and size the first is placed lowest.
- Attempts take different orders of buffers, first static ones and then disturbed ones, with step limits that follow
  Luby, Sinclair and Zuckerman (1993); the limits grow without end, so an infeasible problem is proved so.
"""

import random
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

from vgfc.planning.budget import Budget, OutOfBudget
from vgfc.planning.buffers import Buffer, crowded_instants

ATTEMPT_STEPS = 1000  # of the shortest attempts, beside two for every buffer
REMEMBERED_STATES = 500_000
NOISE = 0.2  # standard deviation of the disturbance of a buffer's rank, as a part of the number of buffers
SEED = 20240229
UNBOUNDED = 1 << 62

# A search step: yields the search of a part, is sent whether that found a solution, returns whether it found one itself.
Search: TypeAlias = Generator["Search", bool | None, bool]


@dataclass(frozen=True)
class Fit:
    """Answer to whether buffers fit a capacity.

    `offsets_bytes` is None when no plan was found; then no capacity below `needed_bytes` is enough (a proof), and
    `decided` tells whether that rules out the capacity asked about.
    """

    offsets_bytes: tuple[int, ...] | None
    needed_bytes: int
    decided: bool
    steps: int


@dataclass(frozen=True)
class Choice:
    """Where to branch in a pit: the section, how many ways there are to go on, and the section's slack in bytes."""

    section: int
    ways: int
    slack_bytes: int


def fit_offsets(buffers: Sequence[Buffer], capacity_bytes: int, budget: Budget | None = None) -> Fit:
    """Offsets at which `buffers` fit in `capacity_bytes`, or the proof that none exist, unless `budget` ends first."""
    placed = [index for index, buffer in enumerate(buffers) if buffer.size_bytes > 0]
    search = _Placement([buffers[index] for index in placed], capacity_bytes)
    answer = search.run(budget or Budget())
    if answer.offsets_bytes is None:
        return answer
    offsets = [0] * len(buffers)
    for index, offset in zip(placed, answer.offsets_bytes, strict=True):
        offsets[index] = offset
    return Fit(tuple(offsets), answer.needed_bytes, True, answer.steps)


def luby(position: int) -> int:
    """Element `position` (from 1) of 1, 1, 2, 1, 1, 2, 4, 1, 1, 2, ..."""
    length = position.bit_length()
    while position != (1 << length) - 1:
        position -= (1 << (length - 1)) - 1
        length = position.bit_length()
    return 1 << (length - 1)


class _Placement:
    """The search; sets of buffers are bits of an integer, offsets and sizes are in bytes."""

    def __init__(self, buffers: Sequence[Buffer], capacity_bytes: int) -> None:
        self.count = len(buffers)
        self.capacity = capacity_bytes
        self.sizes = [buffer.size_bytes for buffer in buffers]
        live_sets = [live for _, live in crowded_instants(buffers)]
        self.sections = len(live_sets)
        self.first = [self.sections] * self.count
        self.end = [0] * self.count
        self.over = [0] * self.sections  # buffers live at a section
        for section, live in enumerate(live_sets):
            for index in live:
                self.first[index] = min(self.first[index], section)
                self.end[index] = section + 1
                self.over[section] |= 1 << index
        self.begin_from = [0] * (self.sections + 1)  # buffers that begin at a section or later
        self.end_by = [0] * (self.sections + 1)  # buffers that end at a section or before
        for index in range(self.count):
            self.begin_from[self.first[index]] |= 1 << index
            self.end_by[self.end[index]] |= 1 << index
        for section in range(self.sections):
            self.begin_from[-2 - section] |= self.begin_from[-1 - section]
            self.end_by[section + 1] |= self.end_by[section]
        self.neighbours = [0] * self.count
        for index in range(self.count):
            for section in range(self.first[index], self.end[index]):
                self.neighbours[index] |= self.over[section]
        self.lower_twin = [0] * self.count  # the equal buffer to place before, as a set
        latest: dict[tuple[int, int, int], int] = {}
        for index in range(self.count):
            shape = (self.first[index], self.end[index], self.sizes[index])
            if shape in latest:
                self.lower_twin[index] = 1 << latest[shape]
            latest[shape] = index

        self.totals = [sum(self.sizes[index] for index in live) for live in live_sets]
        self.offsets = [0] * self.count
        self.rank: list[float] = []
        self.lowest_first = False
        self.shortfall = UNBOUNDED  # the least by which a branch given up exceeded the capacity
        self.dead_ends: set[tuple[int, tuple[int, ...]]] = set()
        self.choices: dict[tuple[int, int, int, int], Choice] = {}
        self.bare: dict[tuple[int, int, int], tuple[int, ...]] = {}
        self.budget = Budget()

    def run(self, budget: Budget) -> Fit:
        needed = max(self.totals, default=0)
        if needed > self.capacity:
            return Fit(None, needed, True, 0)
        orders = self.static_orders()
        shortest = ATTEMPT_STEPS + 2 * self.count
        generator = random.Random(SEED)
        for attempt in count():
            try:
                # Every static order is tried once, with either way of picking the section, before any is disturbed.
                if attempt < 2 * len(orders):
                    self.rank = orders[attempt % len(orders)]
                    self.lowest_first = attempt >= len(orders)
                    limit = shortest
                else:
                    base = generator.choice(orders)
                    spread = NOISE * self.count
                    self.rank = [rank + generator.gauss(0, spread) for rank in base]
                    self.lowest_first = generator.random() < 0.5
                    limit = shortest * luby(attempt - 2 * len(orders) + 1)
                self.budget = budget.part(limit)
                if self.drive(self.split(0, self.sections, [0] * self.sections, self.slack(), (1 << self.count) - 1)):
                    return Fit(tuple(self.offsets), needed, True, budget.used_steps)
                return Fit(None, self.capacity + self.shortfall, True, budget.used_steps)
            except OutOfBudget:
                if budget.spent():
                    return Fit(None, needed, False, budget.used_steps)
        raise AssertionError("attempts do not end")

    def slack(self) -> list[int]:
        return [self.capacity - total for total in self.totals]

    def static_orders(self) -> list[list[float]]:
        """Ranks of the buffers, lowest first to be tried, in several orders that tend to succeed."""
        widths = [self.end[index] - self.first[index] for index in range(self.count)]
        areas = [width * size for width, size in zip(widths, self.sizes, strict=True)]
        loads = [max(self.totals[self.first[index] : self.end[index]]) for index in range(self.count)]
        keys: list[list[tuple[int, ...]]] = [
            list(zip(widths, areas, loads, strict=True)),
            list(zip(loads, areas, widths, strict=True)),
            list(zip(loads, widths, areas, strict=True)),
            list(zip(areas, strict=True)),
            list(zip(self.sizes, widths, strict=True)),
        ]
        orders = []
        for key in keys:
            ranks = [0.0] * self.count
            for position, index in enumerate(sorted(range(self.count), key=key.__getitem__, reverse=True)):
                ranks[index] = float(position)
            orders.append(ranks)
        return orders

    @staticmethod
    def drive(root: Search) -> bool:
        """Runs a search and the parts it yields on a stack of its own: plans are deeper than Python's recursion limit."""
        stack = [root]
        found: bool | None = None
        while stack:
            try:
                stack.append(stack[-1].send(found))
                found = None
            except StopIteration as finished:
                stack.pop()
                found = finished.value
        return bool(found)

    def split(self, low: int, high: int, floors: list[int], slack: list[int], remaining: int) -> Search:
        """Searches each stretch of sections that remaining buffers connect, the one with least slack first."""
        stretches = []
        start = low
        before = 0
        for section in range(low, high):
            here = self.over[section] & remaining
            if not here & before:
                if before:
                    stretches.append((start, section))
                start = section
            before = here
        if before:
            stretches.append((start, high))
        if len(stretches) > 1:
            stretches.sort(key=lambda stretch: min(slack[stretch[0] : stretch[1]]))
        for first, end in stretches:
            inside = remaining & self.begin_from[first] & self.end_by[end]
            if not (yield self.branch(first, end, floors[:], slack[:], inside)):
                return False
        return True

    def branch(self, low: int, high: int, floors: list[int], slack: list[int], remaining: int) -> Search:
        """Places the remaining buffers, which lie in sections low to high; owns `floors` and `slack`."""
        self.budget.step()
        pits = self.raise_floors(low, high, floors, slack, remaining)
        if pits is None:
            return False
        state = (remaining, tuple(floors[low:high]))
        if state in self.dead_ends:
            return False
        choice, first, end = self.pick(pits, floors, slack, remaining)
        section = choice.section
        floor = floors[section]
        inside = remaining & self.begin_from[first] & self.end_by[end] & self.over[section]
        for index in sorted(members(inside), key=self.rank.__getitem__):
            if self.lower_twin[index] & remaining:
                continue
            above = floors[:]
            width = self.end[index] - self.first[index]
            above[self.first[index] : self.end[index]] = [floor + self.sizes[index]] * width
            self.offsets[index] = floor
            if (yield self.split(low, high, above, slack, remaining & ~(1 << index))):
                return True
        wasted = self.next_offset(section, first, end, floors, remaining) - floor
        if wasted <= slack[section]:
            floors[section] += wasted
            slack[section] -= wasted
            if (yield self.branch(low, high, floors, slack, remaining)):
                return True
        else:
            self.shortfall = min(self.shortfall, wasted - slack[section])
        if len(self.dead_ends) < REMEMBERED_STATES:
            self.dead_ends.add(state)
        return False

    def raise_floors(
        self, low: int, high: int, floors: list[int], slack: list[int], remaining: int
    ) -> list[tuple[int, int]] | None:
        """Raises the floor of each section to the lowest offset a buffer over it can have; None if that does not fit.

        A buffer over a section cannot go below the highest floor in its lifetime. So where no remaining buffer over a section
        lies between the nearest higher walls left and right of it, the floor rises to the lower of these walls. Returns the
        pits that are left, each with its first section and the one after its last.
        """
        raised = True
        while raised:
            raised = False
            pits = []
            for start, end, left, right in basins(floors, low, high):
                inside = remaining & self.begin_from[left] & self.end_by[right]
                bare = self.bare_sections(start, end, inside)
                if not bare:
                    if (left, right) == (start, end):
                        pits.append((start, end))
                    continue
                wall = min(
                    floors[left - 1] if left > low else UNBOUNDED,
                    floors[right] if right < high else UNBOUNDED,
                )
                rise = wall - floors[start]
                for section in bare:
                    slack[section] -= rise
                    if slack[section] < 0:
                        self.shortfall = min(self.shortfall, -slack[section])
                        return None
                    floors[section] = wall
                raised = True
        return pits

    def bare_sections(self, start: int, end: int, buffers: int) -> tuple[int, ...]:
        """Sections from start to end that none of `buffers` is over."""
        key = (start, end, buffers)
        known = self.bare.get(key)
        if known is None:
            known = tuple(section for section in range(start, end) if not self.over[section] & buffers)
            if len(self.bare) < REMEMBERED_STATES:
                self.bare[key] = known
        return known

    def pick(
        self, pits: list[tuple[int, int]], floors: list[int], slack: list[int], remaining: int
    ) -> tuple[Choice, int, int]:
        """The section with the fewest ways to go on (or that, of the lowest pit), with the bounds of its pit."""
        choices = [
            (self.pick_in_pit(start, end, floors[start], slack, remaining), floors[start], start, end)
            for start, end in pits
        ]
        if self.lowest_first:
            best = min(choices, key=lambda item: (item[0].ways, item[1], item[0].slack_bytes))
        else:
            best = min(choices, key=lambda item: (item[0].ways, item[0].slack_bytes, item[1]))
        return best[0], best[2], best[3]

    def pick_in_pit(self, start: int, end: int, floor: int, slack: list[int], remaining: int) -> Choice:
        # Slack follows from the floor and the remaining buffers that reach into the pit, so these decide the choice.
        touching = remaining & ~self.begin_from[end] & ~self.end_by[start]
        key = (start, end, floor, touching)
        known = self.choices.get(key)
        if known is None:
            inside = touching & self.begin_from[start] & self.end_by[end]
            known = min(
                (
                    Choice(section, (self.over[section] & inside).bit_count() + (slack[section] > 0), slack[section])
                    for section in range(start, end)
                ),
                key=lambda choice: (choice.ways, choice.slack_bytes),
            )
            if len(self.choices) < REMEMBERED_STATES:
                self.choices[key] = known
        return known

    def next_offset(self, section: int, first: int, end: int, floors: list[int], remaining: int) -> int:
        """The lowest offset above the floor of a pit, from first to end, that a buffer over one of its sections can have."""
        over_it = remaining & self.over[section]
        inside = over_it & self.begin_from[first] & self.end_by[end]
        lowest = UNBOUNDED
        for index in members(over_it & ~inside):
            lowest = min(lowest, max(floors[self.first[index] : self.end[index]]))
        # A buffer in the pit that does not rest on the floor rests on one that is not over the section.
        supports = 0
        for index in members(inside):
            supports |= self.neighbours[index]
        for index in members(supports & remaining & ~over_it):
            top = max(floors[self.first[index] : self.end[index]]) + self.sizes[index]
            lowest = min(lowest, top)
        return lowest


def basins(floors: list[int], low: int, high: int) -> list[tuple[int, int, int, int]]:
    """(start, end, left, right) of every run of equal floors start to end: left to right is as far as no floor is higher."""
    starts = [low]
    level = floors[low]
    for section in range(low + 1, high):
        if floors[section] != level:
            level = floors[section]
            starts.append(section)
    count = len(starts)
    bounds = [*starts, high]
    lefts = [low] * count
    rights = [high] * count
    higher: list[int] = []  # runs so far that no later run is higher than or as high as
    for run in range(count):
        level = floors[starts[run]]
        while higher and floors[starts[higher[-1]]] < level:
            rights[higher.pop()] = starts[run]
        if higher:
            last = higher[-1]
            lefts[run] = lefts[last] if floors[starts[last]] == level else bounds[last + 1]
        higher.append(run)
    return [(bounds[run], bounds[run + 1], lefts[run], rights[run]) for run in range(count)]


def members(buffers: int) -> Generator[int, None, None]:
    """Indices in a set of buffers, ascending."""
    while buffers:
        lowest = buffers & -buffers
        yield lowest.bit_length() - 1
        buffers ^= lowest
