"""What the conformance benchmark may call a fault of the device, and which tests a run that is cut short has seen."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from benchmarks.conformance import spread
from benchmarks.conformance_page import is_the_device, page, refused, unexplained

WRONG = "output result-0: 3 of 8 values differ, first 1 for 2"


def row(ours: dict[str, Any], theirs: dict[str, Any] | None = None) -> dict[str, Any]:
    found = {"folder": "tests/add/add_2x4_f32", "operator": "ADD", "ours": {"segments": ["graph"], **ours}}
    return found if theirs is None else {**found, "theirs": theirs}


FAILED = {"outcome": "failed", "reason": WRONG, "digest": "a0", "on_reference": "failed"}


@pytest.mark.parametrize(
    ("result", "device"),
    [
        (row({**FAILED, "on_reference": "passed"}), True),
        (row(FAILED, {"outcome": "failed", "reason": WRONG, "digest": "a0"}), True),
        # theirs fails as well, but with other bits; theirs passes; neither ran
        (row(FAILED, {"outcome": "failed", "reason": WRONG, "digest": "a1"}), False),
        (row(FAILED, {"outcome": "passed"}), False),
        (row({"outcome": "failed", "reason": "no memory"}, {"outcome": "failed", "reason": "no memory"}), False),
        # the host is ours, whatever the reference model gives for the same TOSA
        (row({**FAILED, "on_reference": "passed", "segments": ["graph", "host"]}), False),
        (row({"outcome": "refused", "reason": "no"}, {"outcome": "refused", "reason": "no"}), False),
        (row({"outcome": "passed"}, {"outcome": "failed", "reason": WRONG}), False),
    ],
)
def test_what_is_the_device(result: dict[str, Any], device: bool) -> None:
    assert is_the_device(result) is device
    listed = "## Failures of the emulation layer" in page([result], 1, [], 42)
    assert listed is device
    assert ("## What vgfc fails or refuses" in page([result], 1, [], 42)) is (
        not device and result["ours"]["outcome"] != "passed"
    )


def test_a_crash_is_no_fault_of_the_device() -> None:
    crash = {"folder": "tests/add/add_2x4_f32", "operator": "ADD", "ours": {"outcome": "failed", "reason": "it ended"}}
    assert not is_the_device(crash)
    assert "it ended" in page([crash], 1, [], 42)


def test_a_negative_test_is_refused_by_a_message_and_status_1() -> None:
    def negative(name: str, **found: Any) -> dict[str, Any]:
        return {"folder": f"tests/add/add_ERRORIF_{name}_2x4", "operator": "ADD", **found}

    good = negative("RankMismatch", status=1, message="vgf-compile: error: the file's graph is invalid")
    compiled = negative("RankMismatch", status=0, message="")
    on_purpose = negative("WrongRank", status=0, message="")
    traceback = negative("WrongRank", status=1, message="Traceback: error: ...")
    crash = negative("WrongRank", ours={"outcome": "failed", "reason": "the process ended"})
    assert [refused(item) for item in (good, compiled, on_purpose, traceback, crash)] == [
        True,
        False,
        False,
        False,
        False,
    ]
    rows = [good, compiled, on_purpose, traceback, crash]
    assert unexplained(rows) == [compiled, traceback, crash]
    text = page([row({"outcome": "passed"})], 1, rows, 42)
    assert "| RankMismatch | 2 | 1 | 1 | 0 |" in text
    assert "| WrongRank | 3 | 0 | 1 | 2 |" in text


def test_every_beginning_of_a_run_is_spread_evenly() -> None:
    folders = [Path(f"tests/{operator}/{index:03}") for operator in ("abs", "add") for index in range(64)]
    ordered = spread(folders)
    assert sorted(ordered) == folders
    for length in (8, 16, 32, 64):
        begun = ordered[:length]
        for operator in ("abs", "add"):
            places = sorted(int(folder.name) for folder in begun if folder.parent.name == operator)
            assert len(places) == length // 2
            gaps = [after - before for before, after in pairwise(places)]
            assert set(gaps) == {128 // length}
