"""Budgets: what a part uses is gone from the whole, at every depth."""

import pytest

from vgfc.planning.budget import Budget, OutOfBudget


def test_parts_draw_on_all_wholes() -> None:
    whole = Budget(steps=10)
    part = whole.part(8)
    smallest = part.part(100)
    assert smallest.limit_steps == 8
    smallest.step(8)
    assert (smallest.spent(), part.spent(), whole.spent()) == (True, True, False)
    assert whole.part(100).limit_steps == 2
    with pytest.raises(OutOfBudget):
        smallest.step()


def test_without_limits_nothing_ends() -> None:
    budget = Budget()
    budget.step(10**9)
    assert not budget.spent()


def test_time_ends_a_budget_and_its_parts() -> None:
    budget = Budget(seconds=0)
    assert budget.spent()
    with pytest.raises(OutOfBudget):
        budget.part(1000).step(64)
