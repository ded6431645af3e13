"""Alias groups: valid by the checker, optimal by brute force, and the figures of Pisarchyk and Lee (2020)."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from planning_oracles import buffer_lists, naive_total_bytes

from vgfc.planning import (
    Budget,
    Buffer,
    check_groups,
    greedy_by_breadth,
    greedy_by_size,
    greedy_by_size_improved,
    group_sizes_bytes,
    plan_groups,
    positional_maxima_bytes,
    read_csv,
)
from vgfc.planning.exact_groups import smallest_groups, spread

DATA = Path(__file__).parents[3] / "benchmarks" / "data" / "memplan"


@settings(max_examples=200, deadline=None)
@given(buffer_lists(most=7, latest=8))
def test_plans_are_optimal(buffers: list[Buffer]) -> None:
    plan = plan_groups(buffers)
    assert check_groups(buffers, plan.groups, plan.sizes_bytes) == []
    assert plan.total_bytes == sum(plan.sizes_bytes)
    assert plan.optimal
    assert plan.total_bytes == naive_total_bytes(buffers)


@settings(max_examples=100, deadline=None)
@given(buffer_lists(most=7, latest=8))
def test_exact_search_from_the_bound(buffers: list[Buffer]) -> None:
    """The search alone, without a heuristic that may have found the optimum before it."""
    least = naive_total_bytes(buffers)
    sizes, total = smallest_groups(buffers, least + 1, Budget())
    assert sizes is not None
    assert total == sum(sizes) == least
    assert spread(buffers, sizes, Budget()) is not None
    assert smallest_groups(buffers, least, Budget()) == (None, least)


@settings(max_examples=100, deadline=None)
@given(buffer_lists(most=25, latest=15, largest=30))
def test_heuristics_are_valid(buffers: list[Buffer]) -> None:
    for heuristic in (greedy_by_size, greedy_by_size_improved, greedy_by_breadth):
        groups = heuristic(buffers)
        sizes = group_sizes_bytes(buffers, groups)
        assert check_groups(buffers, groups, sizes) == []
        assert sum(sizes) >= sum(positional_maxima_bytes(buffers))


def test_heuristics_differ_where_they_should() -> None:
    # By size puts b, the next to begin, into a's group, and c, live with b, needs one of its own, then d another. By breadth
    # fills the crowded instant 2 first, where c and d are live, and has two groups in all, as has by size improved.
    buffers = [Buffer("a", 3, 4, 4), Buffer("b", 0, 2, 1), Buffer("c", 0, 3, 1), Buffer("d", 2, 4, 1)]
    assert greedy_by_size(buffers) == (0, 0, 1, 2)
    assert greedy_by_size_improved(buffers) == (0, 1, 0, 1)
    assert greedy_by_breadth(buffers) == (0, 1, 0, 1)
    assert plan_groups(buffers).total_bytes == 5


def test_spread_goes_back_to_the_choice_that_was_in_the_way() -> None:
    # Of two groups b takes that of 3 bytes, so a could only have that of 4, which c needs.
    buffers = [Buffer("a", 0, 9, 2), Buffer("b", 0, 2, 3), Buffer("c", 1, 3, 4)]
    assert spread(buffers, (4, 3), Budget()) is None
    assert spread(buffers, (4, 3, 2), Budget()) == (2, 1, 0)


def test_nothing_needs_nothing() -> None:
    plan = plan_groups([])
    assert (plan.groups, plan.total_bytes, plan.optimal) == ((), 0, True)


def test_a_budget_that_ends_leaves_a_valid_plan() -> None:
    buffers = read_csv(DATA / "networks" / "mnasnet0_5.csv")
    plan = plan_groups(buffers, steps=1000)
    assert check_groups(buffers, plan.groups, plan.sizes_bytes) == []
    assert plan.lower_bound_bytes <= plan.total_bytes
    assert not plan.optimal


@pytest.mark.parametrize("network", ["resnet18", "squeezenet1_1"])
def test_networks_are_proved_optimal(network: str) -> None:
    buffers = read_csv(DATA / "networks" / f"{network}.csv")
    plan = plan_groups(buffers, steps=2_000_000)
    assert plan.optimal
    assert check_groups(buffers, plan.groups, plan.sizes_bytes) == []
