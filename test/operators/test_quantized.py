"""Every operator of the table in integers against PyTorch's quantised graph, as far off as quantized.json says."""

from __future__ import annotations

import json

import pytest
from cases import Case
from quantized import MEASURED, codes_apart, key, pairs

import vgfc

KNOWN = json.loads(MEASURED.read_text(encoding="utf-8"))
PAIRS = list(pairs())


def name(value: object) -> str:
    """What pytest calls a parameter."""
    return f"{value.api} ({value.label})".replace("torch.", "") if isinstance(value, Case) else str(value)


def test_every_case_is_measured() -> None:
    assert {key(case, width) for case, width in PAIRS} == set(KNOWN), "stale; run python test/operators/quantized.py"


@pytest.mark.parametrize(("case", "width"), PAIRS, ids=name)
def test_quantized_operator(case: Case, width: str) -> None:
    known = KNOWN[key(case, width)]
    if isinstance(known, int):
        assert codes_apart(case, width) <= known
        return
    with pytest.raises(vgfc.CompileError) as refusal:
        codes_apart(case, width)
    assert refusal.value.message == known
