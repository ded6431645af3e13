"""Partitioning as an algorithm on plain numbers: operators with colours become the fewest segments. Imports no MLIR.

Operators are numbered in an order in which every one comes after those it reads. Operators of one colour may share a
segment; an operator of a solo colour has a segment to itself. A partition is legal when each segment has one colour and
the segments can be put in an order in which each comes after those it reads, which is to say that the graph of segments has
no cycle (and so every segment is convex).

Such a partition is the same thing as an order of the operators cut into runs of one colour. So the search goes over orders:
in any state take *all* operators of a colour that can be reached, since having done more never hurts; an operator of a
solo colour costs one segment whenever it is done, and so is done as soon as it can be. What is left to choose is the colour
of each next segment. For two colours without solo operators that leaves the first colour alone. In general the problem is
that of a shortest common supersequence, which is NP-hard; a best-first search settles it, and where that takes too long its
place is taken by the greedy order whose next colour is the one with the longest way to go.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass

SEARCH_LIMIT = 4_000_000  # operator visits of the exact search, about half a second
CUT_WINDOW = 64  # places looked at for each cut of a segment that is over its budget


@dataclass(frozen=True)
class Graph:
    """Operators to partition.

    `reads` lists, per operator, the operators whose results it reads, all of them earlier; `sizes_bytes` what crosses to
    another segment when an operator's results do. `colours` may be anything that compares equal and sorts.
    """

    reads: Sequence[frozenset[int]]
    colours: Sequence[str]
    sizes_bytes: Sequence[int]
    solo: frozenset[str] = frozenset()

    def readers(self) -> list[list[int]]:
        """Per operator, the operators that read it, in order."""
        found: list[list[int]] = [[] for _ in self.reads]
        for index, sources in enumerate(self.reads):
            for source in sources:
                assert source < index, "operators have to come after those they read"
                found[source].append(index)
        return found


@dataclass(frozen=True)
class Partition:
    """Segments in dispatch order, each a list of operators in order; `proven` when none has fewer segments."""

    segments: list[list[int]]
    proven: bool


def partition(graph: Graph, search_limit: int = SEARCH_LIMIT) -> Partition:
    """The fewest segments for these colours; among as many, few bytes between them.

    Deterministic, and independent of the order in which an operator lists what it reads. Takes time linear in the graph
    where the greedy order meets the lower bound, and stops searching for a better one after `search_limit` visits.
    """
    state = _State(graph, graph.readers())
    bound = state.bound()
    best = min((_greedy(state.copy(), first) for first in sorted(state.ready)), key=len, default=[])
    best = best or _greedy(state.copy(), None)
    proven = _run_count(best, graph) == bound
    if not proven:
        found, proven = _search(state, _run_count(best, graph), search_limit)
        best = found if found is not None else best
    return Partition(_fewest_bytes(graph, best), proven)


def _run_count(runs: list[list[int]], graph: Graph) -> int:
    return sum(graph.colours[run[0]] not in graph.solo for run in runs)


class _State:
    """What is done so far, and what of each colour can be done next."""

    def __init__(self, graph: Graph, readers: list[list[int]]) -> None:
        self.graph = graph
        self.readers = readers
        self.waiting = [len(sources) for sources in graph.reads]
        self.ready: dict[str, list[int]] = {}
        self.done = 0
        self.tails = _tails(graph, readers)
        for index, count in enumerate(self.waiting):
            if not count:
                self.ready.setdefault(graph.colours[index], []).append(index)

    def copy(self) -> _State:
        other = _State.__new__(_State)
        other.graph, other.readers, other.tails = self.graph, self.readers, self.tails
        other.waiting = self.waiting.copy()
        other.ready = {colour: members.copy() for colour, members in self.ready.items()}
        other.done = self.done
        return other

    def bound(self) -> int:
        """A number of segments, solo ones apart, that whatever is left cannot go below."""
        return max((self.tails[index] for members in self.ready.values() for index in members), default=0)

    def take_one(self, index: int) -> None:
        for reader in self.readers[index]:
            self.waiting[reader] -= 1
            if not self.waiting[reader]:
                self.ready.setdefault(self.graph.colours[reader], []).append(reader)
        self.done |= 1 << index

    def take_colour(self, colour: str) -> list[int]:
        """Do everything of a colour that can be reached; returns it in order."""
        taken = []
        while members := self.ready.pop(colour, None):
            for index in members:
                self.take_one(index)
            taken += members
        return sorted(taken)

    def take_solo(self) -> list[list[int]]:
        """Do every solo operator that can be reached, each a segment."""
        runs = []
        while found := sorted(index for colour in self.graph.solo for index in self.ready.pop(colour, ())):
            for index in found:
                self.take_one(index)
                runs.append([index])
        return runs

    def choices(self) -> list[str]:
        """The colours that can come next, the one with the longest way to go first."""
        length = {colour: max(self.tails[index] for index in members) for colour, members in self.ready.items()}
        return sorted(length, key=lambda colour: (-length[colour], colour))


def _tails(graph: Graph, readers: list[list[int]]) -> list[int]:
    """Per operator, the segments (solo ones apart) that the longest chain of readers from it on needs, its own included."""
    tails = [0] * len(graph.reads)
    for index in range(len(tails) - 1, -1, -1):
        colour = graph.colours[index]
        if colour in graph.solo:
            tails[index] = max((tails[reader] for reader in readers[index]), default=0)
        else:
            tails[index] = max(
                (tails[reader] + (graph.colours[reader] != colour) for reader in readers[index]), default=1
            )
            tails[index] = max(tails[index], 1)
    return tails


def _greedy(state: _State, first: str | None) -> list[list[int]]:
    """An order whose first colour is given (where it can be), each next one that with the longest way to go."""
    runs = state.take_solo()
    while state.ready:
        colour = first if first in state.ready else state.choices()[0]
        first = None
        assert colour is not None
        runs.append(state.take_colour(colour))
        runs += state.take_solo()
    return runs


def _search(start: _State, to_beat: int, limit: int) -> tuple[list[list[int]] | None, bool]:
    """Best-first search for an order of fewer than `to_beat` segments: (order or None, whether nothing is left to search)."""
    start = start.copy()
    path: list[list[int]] = start.take_solo()
    visits = 0
    serial = 0
    queue: list[tuple[int, int, int, _State, list[list[int]]]] = [(start.bound(), 0, serial, start, path)]
    seen: dict[int, int] = {start.done: 0}
    while queue:
        estimate, negative_cost, _, state, path = heapq.heappop(queue)
        if estimate >= to_beat:
            return None, True
        if not state.ready:
            return path, True
        cost = -negative_cost + 1
        for colour in state.choices():
            if visits > limit:
                return None, False
            following = state.copy()
            run = following.take_colour(colour)
            solo = following.take_solo()
            visits += len(state.waiting) // 2 + len(run) + len(solo)
            if seen.get(following.done, cost + 1) <= cost:
                continue
            seen[following.done] = cost
            serial += 1
            total = cost + following.bound()
            heapq.heappush(queue, (total, -cost, serial, following, [*path, run, *solo]))
    return None, True


def _fewest_bytes(graph: Graph, runs: list[list[int]]) -> list[list[int]]:
    """The same sequence of segments with operators moved between those of one colour until no move saves a byte."""
    colour_of_run = [graph.colours[run[0]] for run in runs]
    place = [0] * len(graph.reads)
    for number, run in enumerate(runs):
        for index in run:
            place[index] = number
    by_colour: dict[str, list[int]] = {}
    for number, colour in enumerate(colour_of_run):
        by_colour.setdefault(colour, []).append(number)
    population = [len(run) for run in runs]
    readers = graph.readers()

    def crossing(source: int) -> int:
        return graph.sizes_bytes[source] if any(place[reader] != place[source] for reader in readers[source]) else 0

    movable = [
        index
        for index in range(len(place) - 1, -1, -1)
        if graph.colours[index] not in graph.solo and len(by_colour[graph.colours[index]]) > 1
    ]
    changed = True
    while changed:
        changed = False
        for index in movable:
            home = place[index]
            if population[home] == 1:
                continue
            low = max((place[source] for source in graph.reads[index]), default=0)
            high = min((place[reader] for reader in readers[index]), default=len(runs) - 1)
            best_cost, best_place = None, home
            for number in by_colour[graph.colours[index]]:
                if not low <= number <= high:
                    continue
                place[index] = number
                cost = (
                    crossing(index) + sum(crossing(source) for source in graph.reads[index]),
                    number != home,
                    number,
                )
                if best_cost is None or cost < best_cost:
                    best_cost, best_place = cost, number
            place[index] = best_place
            if best_place != home:
                population[home] -= 1
                population[best_place] += 1
                changed = True
    result: list[list[int]] = [[] for _ in runs]
    for index, number in enumerate(place):
        result[number].append(index)
    return result


def split_by_budget(
    members: Sequence[int],
    graph: Graph,
    fits: Callable[[Sequence[int]], bool],
) -> list[list[int]] | int:
    """A segment's operators cut, in order, into the fewest pieces that fit; few bytes cross where there is a choice.

    `fits` says whether a stretch of operators is within the budget. The pieces are the fewest when every part of a stretch
    that fits fits too. The result is the operator that does not fit by itself where there is one.
    """
    count = len(members)
    ends = []  # per piece, the furthest it can end when every piece before it went as far as it could
    start = 0
    while start < count:
        if not fits(members[start : start + 1]):
            return members[start]
        low, high = start + 1, start + 2
        while high <= count and fits(members[start:high]):
            low, high = high, high + (high - start)
        high = min(high, count + 1)
        while low + 1 < high:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(members[start:middle]) else (low, middle)
        ends.append(low)
        start = low
    pieces = len(ends)
    cut_bytes = _cut_bytes(members, graph)
    # cheapest[end] is (bytes, cuts) for the pieces so far when the last of them ends at `end`
    cheapest: dict[int, tuple[int, tuple[int, ...]]] = {0: (0, ())}
    for number, furthest in enumerate(ends):
        nearest = max(number + 1, furthest - CUT_WINDOW) if number + 1 < pieces else count
        following: dict[int, tuple[int, tuple[int, ...]]] = {}
        for end in range(furthest, nearest - 1, -1):
            options = []
            for begin in sorted((begin for begin in cheapest if begin < end), reverse=True):
                if not fits(members[begin:end]):
                    break
                bytes_so_far, cuts = cheapest[begin]
                options.append((bytes_so_far + cut_bytes[end], (*cuts, end)))
            if options:
                following[end] = min(options)
        cheapest = following
    _, cuts = cheapest.get(count, (0, tuple(ends)))
    return [list(members[begin:end]) for begin, end in zip((0, *cuts[:-1]), cuts, strict=True)]


def _cut_bytes(members: Sequence[int], graph: Graph) -> list[int]:
    """Per position, the bytes of what is made before it and read after it, within the segment."""
    position = {index: place for place, index in enumerate(members)}
    last_read = list(range(len(members)))
    for place, index in enumerate(members):
        for source in graph.reads[index]:
            if source in position:
                last_read[position[source]] = max(last_read[position[source]], place)
    change = [0] * (len(members) + 2)
    for place, index in enumerate(members):
        change[place + 1] += graph.sizes_bytes[index]
        change[last_read[place] + 1] -= graph.sizes_bytes[index]
    total, result = 0, []
    for place in range(len(members) + 1):
        total += change[place]
        result.append(total)
    return result
