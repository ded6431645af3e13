"""Two-state minimisation against trying every choice."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from vgfc.minimum_cut import TwoStates

Costs = list[tuple[int, int, int]]


@settings(max_examples=300, deadline=None)
@given(
    st.integers(1, 7),
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 1), st.integers(0, 9)), max_size=12),
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 9)), max_size=16),
)
def test_against_all_choices(count: int, singles: Costs, pairs: Costs) -> None:
    singles = [(item % count, state, cost) for item, state, cost in singles]
    pairs = [(a % count, b % count, cost) for a, b, cost in pairs if a % count != b % count]

    def total(choice: tuple[bool, ...] | list[bool]) -> int:
        return sum(cost for item, state, cost in singles if choice[item] == bool(state)) + sum(
            cost for zero, one, cost in pairs if not choice[zero] and choice[one]
        )

    model = TwoStates()
    items = [model.add_item() for _ in range(count)]
    for item, state, cost in singles:
        model.add_cost(items[item], state, cost)
    for zero, one, cost in pairs:
        model.add_pair_cost(items[zero], items[one], cost)
    chosen = model.solve()
    best = min(total(choice) for choice in product((False, True), repeat=count))
    assert total(chosen) == best
    fewest = min(sum(choice) for choice in product((False, True), repeat=count) if total(choice) == best)
    assert sum(chosen) == fewest
