"""Arm's operator conformance tests, through this compiler and through Arm's model-converter, on the same Vulkan device.

    python -m benchmarks.conformance                 # all tests: hours; resumes where it stopped
    python -m benchmarks.conformance --operators '^(add|conv2d)$' --limit 20 --report -

tosa-tools generates the positive tests of TOSA 1.0's profiles and of the extensions INT4, INT16, BF16 and FFT (fixed seed; the
selection is the default one of the conformance configuration that tosa-tools ships). Each test's graph is compiled, run on
Vulkan, and compared with the reference model by tosa-tools' own verifier and bounds. model-converter lives in a virtual
environment of its own, which this makes. The result is docs/conformance.md.
"""

from __future__ import annotations

import argparse
import json
import platform
import queue
import re
import subprocess
import sys
import threading
import time
import venv
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import conformance
import tosa_reference_model

from vgfc.tosa_encoding import OPERATORS

ROOT = Path(__file__).parent.parent
CONVERTER = "ai_ml_sdk_model_converter==0.11.0"
CONTROL_FLOW = ("cond_if", "while_loop")
DATA_NODES = ("const", "identity")
EXTENSIONS = ("int4", "int16", "bf16", "controlflow", "fft")
TEST_TIMEOUT_SECONDS = 300
OUTCOMES = ("passed", "failed", "refused")


def operator_names() -> list[str]:
    """TOSA 1.0's operators as the test generator spells them."""
    return [operator.name.lower() for operator in OPERATORS] + [*DATA_NODES, *CONTROL_FLOW]


def generate(folder: Path, seed: int) -> None:
    """Write the tests, once; tens of minutes."""
    done = folder / "generated"
    if done.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    shipped = Path(next(iter(conformance.__path__))) / "cts-config_v1.0.json"
    configuration = json.loads(shipped.read_text())
    selection = {
        name: {"selection": entry["selection"]} for name, entry in configuration.items() if "selection" in entry
    }
    (folder / "selection.json").write_text(json.dumps(selection))
    library = Path(tosa_reference_model.__file__).parent / "libtosa_reference_generate_lib.so"
    arguments = [
        str(Path(sys.executable).parent / "tosa_verif_build_tests"),
        *("-o", str(folder / "tests"), "--seed", str(seed), "--tosa-version", "1.0", "--test-type", "positive"),
        *("--generate-lib-path", str(library), "--filter", f"^({'|'.join(operator_names())})$"),
        *("--profile", "tosa-pro-int", "tosa-pro-fp", "--extension", *(f"tosa-ext-{name}" for name in EXTENSIONS)),
        *("--test-selection-config", str(folder / "selection.json"), "--test-selection-criteria", "default"),
    ]
    with (folder / "generate.log").open("wb") as log:
        subprocess.run(arguments, stdout=log, stderr=log, check=True)
    done.touch()


def converter(folder: Path) -> str:
    """The path of model-converter, in a virtual environment of its own."""
    environment = folder / "converter"
    command = environment / "bin" / "model-converter"
    if not command.exists():
        venv.create(environment, with_pip=True)
        subprocess.run([str(environment / "bin" / "pip"), "install", "--quiet", CONVERTER], check=True)
    return str(command)


@dataclass
class Runner:
    """Worker processes that take tests from one queue; `results` grows on disk, so that a run can go on later."""

    results: Path
    converter: str | None
    jobs: queue.Queue[Path] = field(default_factory=queue.Queue)
    lock: threading.Lock = field(default_factory=threading.Lock)
    finished: int = 0

    def run(self, folders: list[Path], workers: int) -> None:
        """Run the tests that have no result yet."""
        known = {row["folder"] for row in read_results(self.results)}
        for folder in folders:
            if str(folder) not in known:
                self.jobs.put(folder)
        total = self.jobs.qsize()
        threads = [threading.Thread(target=self.serve, args=(total,)) for _ in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def serve(self, total: int) -> None:
        """Feed one worker process, and start it again when it dies."""
        worker: subprocess.Popen[str] | None = None
        while True:
            try:
                folder = self.jobs.get_nowait()
            except queue.Empty:
                break
            if worker is None:
                worker = start_worker()
            answer = ask(worker, folder, self.converter)
            if answer is None:
                worker.kill()
                worker.wait()
                worker = None
                crash = {"outcome": "failed", "reason": "the process ended, or gave no answer in time"}
                answer = {"folder": str(folder), "operator": operator_of(folder), "ours": crash}
            with self.lock:
                self.finished += 1
                with self.results.open("a") as file:
                    file.write(json.dumps(answer) + "\n")
                if self.finished % 50 == 0 or self.finished == total:
                    print(f"{self.finished} of {total}", file=sys.stderr)
        if worker is not None:
            assert worker.stdin is not None
            worker.stdin.close()
            worker.wait()


def operator_of(folder: Path) -> str:
    """The operator that a test is about."""
    description = json.loads((folder / "desc.json").read_text())
    return str(description["test_details"]["operator"])


def start_worker() -> subprocess.Popen[str]:
    """A process that runs tests."""
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks.conformance_worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
    )


def ask(worker: subprocess.Popen[str], folder: Path, converter_path: str | None) -> dict[str, Any] | None:
    """A worker's answer, None when it died or takes too long."""
    assert worker.stdin is not None and worker.stdout is not None
    timer = threading.Timer(TEST_TIMEOUT_SECONDS, worker.kill)
    timer.start()
    try:
        worker.stdin.write(json.dumps({"folder": str(folder), "converter": converter_path}) + "\n")
        worker.stdin.flush()
        line = worker.stdout.readline()
    except BrokenPipeError:
        return None
    finally:
        timer.cancel()
    return json.loads(line) if line.strip() else None


def read_results(path: Path) -> list[dict[str, Any]]:
    """All results so far."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def tests_of(folder: Path, pattern: str, limit: int | None) -> list[Path]:
    """Test folders of the operators that match, in order; at most `limit` of each, evenly spread."""
    found = []
    for operator in sorted((folder / "tests").iterdir()):
        if not re.search(pattern, operator.name):
            continue
        tests = sorted(path.parent for path in operator.glob("*/desc.json"))
        step = max(1, -(-len(tests) // limit)) if limit else 1
        found += tests[::step]
    return found


def is_the_device(row: dict[str, Any]) -> bool:
    """Whether a failure is the emulation layer's: our program is right on the reference model, or their file fails too."""
    if row["ours"].get("on_reference") == "passed":
        return True
    return row["ours"]["outcome"] == "failed" and row.get("theirs", {}).get("outcome") == "failed"


def report(rows: list[dict[str, Any]], seed: int) -> str:
    """The page: a table by operator, then every test that is not passed, with its cause."""
    compared = [row for row in rows if "reference" not in row]
    by_operator: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: {"ours": Counter(), "theirs": Counter()})
    for row in compared:
        for side in ("ours", "theirs"):
            if side in row:
                by_operator[row["operator"]][side][row[side]["outcome"]] += 1
    versions = ", ".join(f"{name} {version(name)}" for name in ("vgfc", "torch-mlir", "tosa-tools"))
    runtime = ", ".join(
        f"{name} {version(name)}" for name in ("ai_ml_sdk_scenario_runner", "ai_ml_emulation_layer_for_vulkan")
    )
    lines = [
        "# Conformance",
        "",
        "Arm's operator tests (generated by tosa-tools: TOSA 1.0, profiles PRO-INT and PRO-FP, extensions "
        f"{', '.join(name.upper() for name in EXTENSIONS)}, positive, seed {seed}), through vgfc and through Arm's "
        "model-converter. Both files run on the same Vulkan device, and tosa-tools' verifier compares them with the reference "
        "model by the specification's own rules. Written by `python -m benchmarks.conformance`.",
        "",
        f"Versions: {versions}, {CONVERTER.replace('==', ' ')}, {runtime}, Python {platform.python_version()}.",
        "",
        "| operator | tests | vgfc passed | failed | refused | model-converter passed | failed | refused |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    total = {"ours": Counter[str](), "theirs": Counter[str]()}
    for operator, sides in sorted(by_operator.items()):
        for side in total:
            total[side] += sides[side]
        lines.append(_row(operator, sides))
    lines.append(_row("**all**", total))
    skipped = [row for row in rows if "reference" in row]
    if skipped:
        lines += ["", f"{len(skipped)} tests have no result to compare with:", ""]
        lines += [f"- {reason}: {count}" for reason, count in Counter(row["reference"] for row in skipped).items()]
    lines += ["", *_failures(compared)]
    return "\n".join(lines) + "\n"


def _row(name: str, sides: dict[str, Counter[str]]) -> str:
    figures = [str(sides[side][outcome]) for side in ("ours", "theirs") for outcome in OUTCOMES]
    return f"| {name} | {sides['ours'].total()} | {' | '.join(figures)} |"


def _failures(rows: list[dict[str, Any]]) -> list[str]:
    """Every test that vgfc does not pass, under its cause."""
    device = [row for row in rows if row["ours"]["outcome"] == "failed" and is_the_device(row)]
    other = [row for row in rows if row["ours"]["outcome"] != "passed" and row not in device]
    lines = []
    if device:
        lines += [
            "## Failures of the emulation layer",
            "",
            "The program that vgfc writes for these gives the right result on the reference model, or model-converter's file "
            "fails in the same way.",
            "",
        ]
        lines += [_failure(row) for row in device]
    if other:
        lines += ["", "## What vgfc fails or refuses", "", *(_failure(row) for row in other)]
    return lines or ["vgfc passes every test."]


def _failure(row: dict[str, Any]) -> str:
    theirs = row.get("theirs", {}).get("outcome", "not run")
    ours = row["ours"]
    on_reference = f"; on the reference model: {ours['on_reference']}" if "on_reference" in ours else ""
    return (
        f"- `{Path(row['folder']).name}`: {ours['outcome']}: {ours['reason']}{on_reference}; model-converter: {theirs}"
    )


def main() -> int:
    """Generate, run, report; the exit status is 1 when vgfc fails a test for a reason of its own."""
    parser = argparse.ArgumentParser("benchmarks.conformance", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "conformance", help="where tests and results are")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--operators", default="", metavar="REGEX", help="only these operators")
    parser.add_argument("--limit", type=int, metavar="N", help="at most N tests of each operator")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--no-converter", action="store_true", help="leave out model-converter")
    parser.add_argument("--report", default=str(ROOT / "docs" / "conformance.md"), help="- is standard output")
    arguments = parser.parse_args()
    start = time.perf_counter()
    generate(arguments.work, arguments.seed)
    folders = tests_of(arguments.work, arguments.operators, arguments.limit)
    path = arguments.work / "results.jsonl"
    Runner(path, None if arguments.no_converter else converter(arguments.work)).run(folders, arguments.workers)
    wanted = {str(folder) for folder in folders}
    rows = [row for row in read_results(path) if row["folder"] in wanted]
    page = report(rows, arguments.seed)
    if arguments.report == "-":
        print(page)
    else:
        Path(arguments.report).write_text(page)
    print(f"{len(rows)} tests in {time.perf_counter() - start:.0f} s", file=sys.stderr)
    own = [row for row in rows if "ours" in row and row["ours"]["outcome"] != "passed" and not is_the_device(row)]
    return 1 if own else 0


if __name__ == "__main__":
    sys.exit(main())
