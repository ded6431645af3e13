"""The goals of the planning benchmark that do not depend on the clock, on its quick instances."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "memory_planning.py"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("memory_planning_benchmark", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("command", ["mobilenets", "wired"])
def test_goals_are_met(benchmark: ModuleType, command: str) -> None:
    report = getattr(benchmark, command)()
    missed = [goal.what for goal in report.goals if not goal.met and "cpu s" not in goal.what]
    assert missed == []


def test_a_missed_goal_is_the_exit_status(
    benchmark: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missed = benchmark.Report([{"network": "one", "bytes": 3}], [benchmark.Goal("bytes", 3, "<= 2", False)])
    monkeypatch.setattr(benchmark, "mobilenets", lambda: missed)
    for arguments, shown in (
        (["mobilenets"], "MISSED bytes: 3, wanted <= 2"),
        (["mobilenets", "--json"], '"met": false'),
    ):
        monkeypatch.setattr(sys, "argv", ["memory_planning.py", *arguments])
        assert benchmark.main() == 1
        assert shown in capsys.readouterr().out
