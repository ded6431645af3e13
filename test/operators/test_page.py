"""docs/operators.md is what measured.json says, and measured.json has every case."""

from __future__ import annotations

import json

from measure import MEASURED, PAGE, key, page, pairs


def test_every_case_is_measured_and_shown() -> None:
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    assert {key(case, dtype) for case, dtype in pairs()} == set(measured)
    assert PAGE.read_text(encoding="utf-8") == page(measured), "stale; run python test/operators/measure.py"
