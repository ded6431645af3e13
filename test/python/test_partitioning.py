"""The partitioning algorithm against exhaustive searches that share nothing with it."""

from __future__ import annotations

import functools
import random
import time
from collections.abc import Iterator, Sequence

import pytest

from vgfc.partitioning import Graph, partition, split_by_budget


def random_graph(generator: random.Random, count: int, colours: list[str], solo: frozenset[str], width: int) -> Graph:
    """Operators that read up to three earlier ones, at most `width` back."""
    reads = []
    for index in range(count):
        candidates = range(max(0, index - width), index)
        reads.append(frozenset(generator.sample(candidates, min(len(candidates), generator.randint(0, 3)))))
    return Graph(
        reads,
        [generator.choice(colours) for _ in range(count)],
        [generator.randint(1, 100) for _ in range(count)],
        solo,
    )


def check_partition(graph: Graph, segments: Sequence[Sequence[int]]) -> list[str]:
    """What is wrong with a partition, one sentence each; empty when it is legal. Shares no code with `partition`."""
    problems = []
    counts = [0] * len(graph.reads)
    where: dict[int, int] = {}
    for number, members in enumerate(segments):
        if not members:
            problems.append(f"segment {number} is empty")
        for index in members:
            counts[index] += 1
            where[index] = number
        colours = {graph.colours[index] for index in members}
        if len(colours) > 1:
            problems.append(f"segment {number} has operators of {' and '.join(sorted(colours))}")
        if colours & graph.solo and len(members) > 1:
            problems.append(f"segment {number} has {len(members)} operators of {min(colours)}, expected one")
    problems += [f"operator {index} is in {count} segments" for index, count in enumerate(counts) if count != 1]
    for index, sources in enumerate(graph.reads):
        for source in sorted(sources):
            if where.get(source, -1) > where.get(index, len(segments)):
                problems.append(f"operator {index} of segment {where[index]} reads {source} of segment {where[source]}")
    return problems


def crossing_bytes(graph: Graph, segments: Sequence[Sequence[int]]) -> int:
    """Bytes of the results that a segment other than their own reads, each result counted once."""
    where = {index: number for number, members in enumerate(segments) for index in members}
    crossing = {
        source for index, sources in enumerate(graph.reads) for source in sources if where[source] != where[index]
    }
    return sum(graph.sizes_bytes[source] for source in crossing)


def fewest_by_orders(graph: Graph) -> int:
    """The fewest segments of any order of the operators, one operator at a time over all reachable sets of them."""
    count = len(graph.reads)
    masks = [sum(1 << source for source in sources) for sources in graph.reads]
    full = (1 << count) - 1

    @functools.cache
    def fewest(done: int, last: str) -> int:
        if done == full:
            return 0
        found = count + 1
        for index in range(count):
            if done >> index & 1 or masks[index] & ~done:
                continue
            colour = graph.colours[index]
            starts = colour != last or colour in graph.solo
            found = min(found, starts + fewest(done | 1 << index, colour))
        return found

    return fewest(0, "")


def groupings(items: list[int]) -> Iterator[list[list[int]]]:
    """Every way to put the items into groups."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for grouping in groupings(rest):
        yield [[first], *grouping]
        for number, group in enumerate(grouping):
            yield [*grouping[:number], [first, *group], *grouping[number + 1 :]]


def is_acyclic(graph: Graph, grouping: list[list[int]]) -> bool:
    """Whether the groups can be put in order: remove groups that read no other until none is left."""
    where = {index: number for number, group in enumerate(grouping) for index in group}
    reads = {number: set() for number in range(len(grouping))}
    for index, sources in enumerate(graph.reads):
        reads[where[index]] |= {where[source] for source in sources if where[source] != where[index]}
    while reads:
        free = [number for number, sources in reads.items() if not sources & set(reads)]
        if not free:
            return False
        for number in free:
            del reads[number]
    return True


def fewest_by_groupings(graph: Graph) -> int:
    """The fewest groups of any acyclic grouping by colour."""
    best = len(graph.reads)
    for grouping in groupings(list(range(len(graph.reads)))):
        if len(grouping) >= best:
            continue
        colours = [{graph.colours[index] for index in group} for group in grouping]
        if any(len(found) > 1 for found in colours):
            continue
        if any(found & graph.solo and len(group) > 1 for found, group in zip(colours, grouping, strict=True)):
            continue
        if is_acyclic(graph, grouping):
            best = len(grouping)
    return best


KINDS = [
    (["graph", "host"], frozenset[str]()),
    (["graph", "compute"], frozenset({"compute"})),
    (["graph", "compute", "host"], frozenset({"compute"})),
    (["graph/a", "graph/b", "host", "compute"], frozenset({"compute"})),
]


@pytest.mark.parametrize("seed", range(500))
def test_no_partition_has_fewer_segments(seed: int) -> None:
    generator = random.Random(seed)
    colours, solo = KINDS[seed % len(KINDS)]
    graph = random_graph(generator, generator.randint(1, 12), colours, solo, generator.choice([2, 4, 12]))
    found = partition(graph)
    assert check_partition(graph, found.segments) == []
    assert found.proven
    assert len(found.segments) == fewest_by_orders(graph)


@pytest.mark.parametrize("seed", range(60))
def test_orders_and_acyclic_groupings_are_the_same_thing(seed: int) -> None:
    generator = random.Random(seed)
    colours, solo = KINDS[seed % len(KINDS)]
    graph = random_graph(generator, generator.randint(1, 8), colours, solo, 8)
    assert fewest_by_orders(graph) == fewest_by_groupings(graph) == len(partition(graph).segments)


@pytest.mark.parametrize("width", [3, 30, 5000])
@pytest.mark.parametrize("kinds", range(len(KINDS)))
def test_5000_operators(width: int, kinds: int) -> None:
    colours, solo = KINDS[kinds]
    graph = random_graph(random.Random(width), 5000, colours, solo, width)
    start = time.process_time()
    found = partition(graph)
    seconds = time.process_time() - start
    assert check_partition(graph, found.segments) == []
    assert seconds < 2


def test_merges_segments_that_are_no_neighbours() -> None:
    # 0 and 3 are of one colour with a whole chain of the other between them in order, which neither reads
    graph = Graph(
        [frozenset(), frozenset(), frozenset({1}), frozenset()], ["graph", "host", "host", "graph"], [1, 1, 1, 1]
    )
    assert partition(graph).segments == [[0, 3], [1, 2]]


def test_does_not_close_a_cycle() -> None:
    # 0 -> 1 -> 2 and 0 -> 2: merging 0 with 2 would make segments read each other
    graph = Graph([frozenset(), frozenset({0}), frozenset({0, 1})], ["graph", "host", "graph"], [1, 1, 1])
    assert partition(graph).segments == [[0], [1], [2]]


def test_ties_go_to_fewer_bytes() -> None:
    # 3 could run in the first graph segment or in the second; the second reads its large result, and it reads a small one
    graph = Graph(
        [frozenset(), frozenset({0}), frozenset({1}), frozenset({0}), frozenset({2, 3})],
        ["graph", "host", "host", "graph", "graph"],
        [1, 10, 10, 1000, 1],
    )
    segments = partition(graph).segments
    assert segments == [[0], [1, 2], [3, 4]]
    assert crossing_bytes(graph, segments) == 11


def test_compute_operators_have_segments_of_their_own() -> None:
    graph = Graph(
        [frozenset(), frozenset({0}), frozenset({0}), frozenset({1, 2})],
        ["graph", "compute", "compute", "graph"],
        [1] * 4,
        frozenset({"compute"}),
    )
    assert partition(graph).segments == [[0], [1], [2], [3]]


def test_nothing_to_partition() -> None:
    assert partition(Graph([], [], [])).segments == []


def test_checker_sees_what_is_wrong() -> None:
    graph = Graph([frozenset(), frozenset({0}), frozenset()], ["graph", "host", "graph"], [1, 1, 1])
    assert check_partition(graph, [[0, 2], [1]]) == []
    assert check_partition(graph, [[1], [0, 2]]) == ["operator 1 of segment 0 reads 0 of segment 1"]
    assert check_partition(graph, [[0], [1]]) == ["operator 2 is in 0 segments"]
    assert check_partition(graph, [[0, 1], [2], []]) == [
        "segment 0 has operators of graph and host",
        "segment 2 is empty",
    ]


# Budgets


def fewest_pieces(weights: list[int], budget: int) -> int:
    """The fewest consecutive pieces of at most this weight, tried from every start."""
    best = [0]
    for end in range(1, len(weights) + 1):
        best.append(min(best[begin] + 1 for begin in range(end) if sum(weights[begin:end]) <= budget))
    return best[-1]


@pytest.mark.parametrize("seed", range(200))
def test_budget_pieces_are_fewest_and_fit(seed: int) -> None:
    generator = random.Random(seed)
    count = generator.randint(1, 40)
    graph = random_graph(generator, count, ["graph"], frozenset(), 6)
    weights = [generator.randint(0, 20) for _ in range(count)]
    budget = generator.randint(max(1, *weights), 120)
    pieces = split_by_budget(list(range(count)), graph, lambda part: sum(weights[index] for index in part) <= budget)
    assert isinstance(pieces, list)
    assert [index for piece in pieces for index in piece] == list(range(count))
    assert all(sum(weights[index] for index in piece) <= budget for piece in pieces)
    assert len(pieces) == fewest_pieces(weights, budget)


def test_budget_cuts_where_few_bytes_cross() -> None:
    # three operators to a piece; a chain whose second result is small
    graph = Graph([frozenset({index - 1} if index else set()) for index in range(4)], ["graph"] * 4, [50, 1, 70, 1])
    assert split_by_budget([0, 1, 2, 3], graph, lambda part: len(part) <= 3) == [[0, 1], [2, 3]]


def test_operator_over_budget_by_itself() -> None:
    graph = Graph([frozenset()] * 3, ["graph"] * 3, [1] * 3)
    assert split_by_budget([0, 1, 2], graph, lambda part: 1 not in part) == 1
