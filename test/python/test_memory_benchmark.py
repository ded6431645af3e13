"""The commands of benchmarks/memory_models.py on the smallest model, and that a missed goal is seen."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import pytest

from benchmarks import memory_models
from benchmarks.memory_planning import Row


def options(**given: Any) -> argparse.Namespace:
    """Options of a command as its parser makes them, for cnn."""
    return argparse.Namespace(
        **{"models": ["cnn"], "precision": "fp32", "stripes": False, "run": False, "count": 3} | given
    )


def missed(command: str, chosen: argparse.Namespace, rows: list[Row]) -> list[str]:
    """The goals of a command that these rows miss."""
    return [goal.what for goal in memory_models.COMMANDS[command][1](chosen, rows) if not goal.met]


def test_sessions_are_predicted() -> None:
    chosen = options()
    (row,) = memory_models.sessions(chosen)
    assert row["predicted"] == row["runtime"] == row["uncut"]  # nothing is cut in floating point
    assert missed("sessions", chosen, [row]) == []
    wrong = row | {"runtime": 1, "share": 1.5}
    assert missed("sessions", chosen, [wrong]) == ["sessions predicted to the byte", "sessions above ExecuTorch's"]


def test_stripes_have_goals_of_their_own() -> None:
    row: Row = {"model": "resnet18", "predicted": 5, "runtime": 5, "share": 0.61, "equal bits": False}
    chosen = options(stripes=True, run=True)
    assert missed("sessions", chosen, [row]) == ["resnet18, of ExecuTorch's", "results equal to the bit"]


def test_sum_is_judged_over_all_models() -> None:
    rows: list[Row] = [{"predicted": 91, "runtime": 91, "ExecuTorch": 100, "share": 0.91} for _ in range(6)]
    assert missed("sessions", options(), rows) == ["below ExecuTorch, in sum"]


def test_cheapest_cuts_save() -> None:
    rows = list(memory_models.peaks(options()))
    assert 0 < len(rows) <= 3
    for row in rows:
        assert "conv2d" in str(row["at the peak"])
        assert int(row["session then"]) < int(row["session"])
        assert int(row["operators more"]) > 0


def test_random_graphs_are_predicted() -> None:
    rows = list(memory_models.random_graphs(options()))
    assert len(rows) == 3
    assert missed("random", options(), rows) == []
    assert missed("random", options(), [rows[0] | {"predicted": 1}]) == ["sessions predicted to the byte"]


def test_segments_share_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_models, "COUNTS", (4,))
    (row,) = memory_models.segments(options())
    assert (row["model"], row["segments"]) == ("cnn", 4)
    # Three tensors between four segments, of which the first is by far the largest: the last shares its memory.
    assert (row["alone"], row["groups"], row["least"]) == (16384 + 40 + 40, 16384 + 40, 16384 + 40)
    assert row["equal bits"]
    assert "4 segments, groups: saved in sum" in missed("segments", options(), [row])
    saving = row | {"groups": 8000, "in place": 8000}
    assert missed("segments", options(), [saving]) == ["groups proved to be the smallest"]


def test_a_missed_goal_is_the_exit_status(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def wrong(_: argparse.Namespace) -> Any:
        yield {"seed": 0, "operators": 1, "predicted": 64, "runtime": 128}

    monkeypatch.setitem(memory_models.COMMANDS, "random", (wrong, memory_models.random_goals))
    monkeypatch.setattr(sys, "argv", ["memory_models", "random"])
    assert memory_models.main() == 1
    assert "MISSED sessions predicted to the byte: 0, wanted 1" in capsys.readouterr().out
