"""Arm's operator conformance tests, through this compiler and through Arm's model-converter, on the same Vulkan device.

    python -m benchmarks.conformance                 # all tests: hours; resumes where it stopped
    python -m benchmarks.conformance --minutes 30    # as many as that takes, evenly spread
    python -m benchmarks.conformance --operators '^(add|conv2d)$' --limit 20 --report -
    python -m benchmarks.conformance --negative      # graphs that have to be refused: minutes

tosa-tools generates the tests of TOSA 1.0's profiles and of the extensions INT4, INT16, BF16, CONTROLFLOW and FFT (fixed
seed; the selection is the default one of the conformance configuration that tosa-tools ships). The graph of a positive test
is compiled, run on Vulkan, and compared with the reference model by tosa-tools' own verifier and bounds. model-converter
lives in a virtual environment of its own, which this makes. A negative test's graph is what the specification calls an
error; vgf-compile has to refuse it with a message and status 1. The results of both are docs/conformance.md.
"""

from __future__ import annotations

import argparse
import json
import math
import queue
import re
import subprocess
import sys
import threading
import time
import venv
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import conformance
import tosa_reference_model

from benchmarks.conformance_page import CONVERTER, EXTENSIONS, is_the_device, page, unexplained
from vgfc.tosa_encoding import OPERATORS

ROOT = Path(__file__).parent.parent
CONTROL_FLOW = ("cond_if", "while_loop")
DATA_NODES = ("const", "identity")
TEST_TIMEOUT_SECONDS = 300


def operator_names() -> list[str]:
    """TOSA 1.0's operators as the test generator spells them."""
    return [operator.name.lower() for operator in OPERATORS] + [*DATA_NODES, *CONTROL_FLOW]


def generate(folder: Path, seed: int, kind: str) -> None:
    """Write the positive or the negative tests, once; the positive ones take tens of minutes."""
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
        *("-o", str(folder / "tests"), "--seed", str(seed), "--tosa-version", "1.0", "--test-type", kind),
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
    """Worker processes that take tests from one queue; `results` grows on disk, so that a run can go on later.

    `converter` is the path of model-converter, None to leave it out. `negative` says what kind of tests these are. No test
    is begun after `deadline` (of time.monotonic, in seconds).
    """

    results: Path
    converter: str | None = None
    negative: bool = False
    deadline: float = math.inf
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
        while time.monotonic() < self.deadline:
            try:
                folder = self.jobs.get_nowait()
            except queue.Empty:
                break
            if worker is None:
                worker = start_worker()
            job = {"folder": str(folder), "converter": self.converter, "negative": self.negative}
            answer = ask(worker, job)
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


def ask(worker: subprocess.Popen[str], job: dict[str, Any]) -> dict[str, Any] | None:
    """A worker's answer, None when it died or takes too long."""
    assert worker.stdin is not None and worker.stdout is not None
    timer = threading.Timer(TEST_TIMEOUT_SECONDS, worker.kill)
    timer.start()
    try:
        worker.stdin.write(json.dumps(job) + "\n")
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
    found: list[Path] = []
    if not (folder / "generated").exists():
        return found
    for operator in sorted((folder / "tests").iterdir()):
        if not re.search(pattern, operator.name):
            continue
        tests = sorted(path.parent for path in operator.glob("*/desc.json"))
        step = max(1, -(-len(tests) // limit)) if limit else 1
        found += tests[::step]
    return found


def spread(folders: list[Path]) -> list[Path]:
    """The tests in an order whose every beginning is an even part of the whole: one of each operator in turn, and of an
    operator's tests, which are in the order of their shapes and types, first the ends, then the middles between them."""
    by_operator: dict[Path, list[Path]] = defaultdict(list)
    for folder in folders:
        by_operator[folder.parent].append(folder)
    ordered = []
    for operator, tests in enumerate(by_operator.values()):
        bits = len(tests).bit_length()
        turn = sorted(range(len(tests)), key=lambda index: int(f"{index:0{bits}b}"[::-1], 2))
        ordered += [(place, operator, tests[index]) for place, index in enumerate(turn)]
    return [folder for _, _, folder in sorted(ordered)]


def run(arguments: argparse.Namespace, kind: str) -> tuple[list[dict[str, Any]], int]:
    """Generate and run the tests of one kind; the results of those asked for, and how many there are of them."""
    folder = arguments.work / kind
    generate(folder, arguments.seed, kind)
    folders = tests_of(folder, arguments.operators, arguments.limit)
    runner = Runner(folder / "results.jsonl", negative=kind == "negative")
    if kind == "positive" and not arguments.no_converter:
        runner.converter = converter(arguments.work)
    if arguments.minutes is not None:
        runner.deadline = time.monotonic() + 60 * arguments.minutes
    runner.run(spread(folders), arguments.workers)
    wanted = {str(folder) for folder in folders}
    return [row for row in read_results(runner.results) if row["folder"] in wanted], len(folders)


def main() -> int:
    """Generate, run, report; the exit status is 1 when vgfc fails a test for a reason of its own."""
    parser = argparse.ArgumentParser("benchmarks.conformance", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "conformance", help="where tests and results are")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--operators", default="", metavar="REGEX", help="only these operators")
    parser.add_argument("--limit", type=int, metavar="N", help="at most N tests of each operator")
    parser.add_argument(
        "--minutes", type=float, metavar="M", help="begin no test after so long; 0 writes the page alone"
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--negative", action="store_true", help="the negative tests instead of the positive ones")
    parser.add_argument("--no-converter", action="store_true", help="leave out model-converter")
    parser.add_argument("--report", default=str(ROOT / "docs" / "conformance.md"), help="- is standard output")
    arguments = parser.parse_args()
    start = time.perf_counter()
    rows, count = run(arguments, "negative" if arguments.negative else "positive")
    print(f"{len(rows)} of {count} tests in {time.perf_counter() - start:.0f} s", file=sys.stderr)
    other = read_results(arguments.work / ("positive" if arguments.negative else "negative") / "results.jsonl")
    positive, negative = (other, rows) if arguments.negative else (rows, other)
    generated = len(tests_of(arguments.work / "positive", "", None)) if arguments.negative else count
    text = page(positive, generated, negative, arguments.seed)
    if arguments.report == "-":
        print(text)
    else:
        Path(arguments.report).write_text(text)
    if arguments.negative:
        return 1 if unexplained(rows) else 0
    own = [row for row in rows if "ours" in row and row["ours"]["outcome"] != "passed" and not is_the_device(row)]
    return 1 if own else 0


if __name__ == "__main__":
    sys.exit(main())
