"""Offset plans: valid by the checker, optimal by brute force and on real instances."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning_oracles import buffer_lists, crowded_lists, naive_height_bytes

from vgfc.planning import Budget, Buffer, check_offsets, fit_offsets, largest_live_sum_bytes, plan_offsets, read_csv
from vgfc.planning.exact_offsets import luby
from vgfc.planning.greedy_offsets import by_area, by_lifetime, by_size, height_bytes, place_in_order

DATA = Path(__file__).parents[3] / "benchmarks" / "data" / "memplan"

# Four bytes are live at every instant, yet no plan has a height of four: a forces c, and h forces g, to the bottom or the
# top, on different sides; b beside c then forces e next to c, and f beside g forces e next to g.
CROSSED = [
    Buffer("a", 0, 1, 3),
    Buffer("b", 1, 2, 2),
    Buffer("c", 0, 3, 1),
    Buffer("d", 2, 3, 1),
    Buffer("e", 1, 4, 1),
    Buffer("f", 3, 4, 2),
    Buffer("g", 2, 5, 1),
    Buffer("h", 4, 5, 3),
]


@settings(max_examples=150, deadline=None)
@given(buffer_lists())
def test_plans_are_optimal(buffers: list[Buffer]) -> None:
    plan = plan_offsets(buffers)
    assert check_offsets(buffers, plan.offsets_bytes, plan.height_bytes) == []
    assert plan.optimal
    assert plan.height_bytes == naive_height_bytes(buffers)


@settings(max_examples=150, deadline=None)
@given(buffer_lists(most=6, latest=5, largest=9))
def test_exact_search_decides_every_capacity(buffers: list[Buffer]) -> None:
    least = naive_height_bytes(buffers)
    for capacity in range(least + 2):
        fit = fit_offsets(buffers, capacity)
        assert fit.decided
        if capacity < least:
            assert fit.offsets_bytes is None
            assert capacity < fit.needed_bytes <= least
        else:
            assert fit.offsets_bytes is not None
            assert check_offsets(buffers, fit.offsets_bytes, capacity) == []


@settings(max_examples=50, deadline=None)
@given(buffer_lists(most=20, latest=12, largest=40), st.sampled_from([1, 4, 64]))
def test_alignment(buffers: list[Buffer], alignment_bytes: int) -> None:
    plan = plan_offsets(buffers, alignment_bytes=alignment_bytes, steps=2000)
    assert check_offsets(buffers, plan.offsets_bytes, plan.height_bytes, alignment_bytes) == []
    assert plan.height_bytes % alignment_bytes == 0
    assert largest_live_sum_bytes(buffers) <= plan.lower_bound_bytes <= plan.height_bytes


@settings(max_examples=50, deadline=None)
@given(buffer_lists(most=30, latest=12, largest=40))
def test_greedy_plans_are_valid(buffers: list[Buffer]) -> None:
    for order in (by_size, by_lifetime, by_area):
        offsets = place_in_order(buffers, order(buffers), 4)
        assert check_offsets(buffers, offsets, height_bytes(buffers, offsets), 4) == []


def test_a_bound_that_no_plan_reaches_is_raised() -> None:
    assert largest_live_sum_bytes(CROSSED) == 4
    fit = fit_offsets(CROSSED, 4)
    assert (fit.offsets_bytes, fit.needed_bytes, fit.decided) == (None, 5, True)
    plan = plan_offsets(CROSSED)
    assert (plan.height_bytes, plan.lower_bound_bytes) == (5, 5)
    assert check_offsets(CROSSED, plan.offsets_bytes, 5) == []


@settings(max_examples=60, deadline=None)
@given(crowded_lists())
def test_crowded_plans_are_proved_optimal(buffers: list[Buffer]) -> None:
    """Every instant is as full as every other, so few plans reach the bound and some problems have none that do."""
    plan = plan_offsets(buffers)
    assert check_offsets(buffers, plan.offsets_bytes, plan.height_bytes) == []
    assert plan.height_bytes == plan.lower_bound_bytes == naive_height_bytes(buffers)


def test_best_fit_takes_the_smallest_gap() -> None:
    # Placed in this order: two gaps are left, of 4 bytes at 2 and of 2 bytes at 8; the last buffer goes into the smaller.
    buffers = [
        Buffer("bottom", 0, 2, 2),
        Buffer("lower gap", 0, 1, 4),
        Buffer("middle", 0, 2, 2),
        Buffer("upper gap", 0, 1, 2),
        Buffer("top", 0, 2, 2),
        Buffer("last", 1, 2, 2),
    ]
    assert place_in_order(buffers, range(6)) == (0, 2, 6, 8, 10, 8)


def test_no_buffers_and_no_bytes() -> None:
    assert plan_offsets([]).height_bytes == 0
    assert plan_offsets([]).optimal
    fit = fit_offsets([Buffer("empty", 0, 1, 0), Buffer("full", 0, 1, 3)], 3)
    assert fit.offsets_bytes == (0, 0)


def test_a_budget_that_ends_leaves_the_answer_open() -> None:
    buffers = read_csv(DATA / "minimalloc" / "K.1048576.csv")
    fit = fit_offsets(buffers, 1048576, Budget(steps=100))
    assert fit.offsets_bytes is None
    assert not fit.decided
    assert fit.needed_bytes == 1048576
    plan = plan_offsets(buffers, steps=100)
    assert check_offsets(buffers, plan.offsets_bytes, plan.height_bytes) == []
    assert plan.lower_bound_bytes == 1048576 < plan.height_bytes


def test_the_same_steps_give_the_same_plan() -> None:
    buffers = read_csv(DATA / "minimalloc" / "C.1048576.csv")
    assert plan_offsets(buffers, steps=4000) == plan_offsets(buffers, steps=4000)


def test_the_restart_sequence() -> None:
    assert [luby(position) for position in range(1, 16)] == [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]


@pytest.mark.parametrize("instance", ["A", "B", "D", "F", "I", "J"])
def test_minimalloc_instances_fit(instance: str) -> None:
    buffers = read_csv(DATA / "minimalloc" / f"{instance}.1048576.csv")
    fit = fit_offsets(buffers, 1048576)
    assert fit.offsets_bytes is not None
    assert check_offsets(buffers, fit.offsets_bytes, 1048576) == []


@pytest.mark.parametrize("network", ["mobilenet_v2", "resnet18", "shufflenet_v2_x1_0", "squeezenet1_1"])
def test_networks_reach_the_bound(network: str) -> None:
    buffers = read_csv(DATA / "networks" / f"{network}.csv")
    plan = plan_offsets(buffers)
    assert plan.height_bytes == largest_live_sum_bytes(buffers)
    assert check_offsets(buffers, plan.offsets_bytes, plan.height_bytes) == []
