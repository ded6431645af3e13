"""The whole check, called by check.sh: each part's own output, then one line `N passed, N failed`."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"
RESULTS = ROOT / "build" / "check"


@dataclass
class Count:
    """How many tests of a part passed, failed and were left out."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)


def run(*command: str) -> int:
    """Run a command in the checkout with the tools of .venv; returns its exit status."""
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    print(f"== {' '.join(command)}", flush=True)
    start = time.monotonic()
    status = subprocess.run([str(BIN / command[0]), *command[1:]], cwd=ROOT, env=environment, check=False).returncode
    print(f"== {time.monotonic() - start:.0f} s", flush=True)
    return status


def static(*command: str) -> Count:
    """A tool that passes or fails as a whole."""
    return Count(failed=1) if run(*command) else Count(passed=1)


def with_report(report: str, *command: str) -> Count:
    """A test runner that writes JUnit XML to `report`; one that writes none, or no test, has failed."""
    path = RESULTS / report
    path.unlink(missing_ok=True)
    status = run(*command)
    if not path.exists():
        return Count(failed=1)
    count = Count()
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            count.failed += 1
        elif "skipped" in kinds:
            count.skipped += 1
        else:
            count.passed += 1
    if count.passed == 0 or (status and not count.failed):
        count.failed += 1
    return count


def main() -> int:
    """Run the parts asked for; returns the exit status."""
    names = ("format", "lint", "types", "docs", "site", "lit", "pytest")
    arguments = argparse.ArgumentParser("check", description=__doc__)
    arguments.add_argument("parts", nargs="*", help=f"of {', '.join(names)}; all when none is named")
    chosen = arguments.parse_args().parts or names
    unknown = [name for name in chosen if name not in names]
    if unknown:
        arguments.error(f"no part is named '{unknown[0]}'; there are: {', '.join(names)}")
    RESULTS.mkdir(parents=True, exist_ok=True)
    runs = {
        "format": lambda: static("ruff", "format", "--check", "."),
        "lint": lambda: static("ruff", "check", "."),
        "types": lambda: static("mypy"),
        "docs": lambda: static("python", "tools/generate_docs.py", "--check"),
        "site": lambda: static("mkdocs", "build", "--strict", "--quiet"),
        "lit": lambda: with_report("lit.xml", "lit", "-q", "-j2", f"--xunit-xml-output={RESULTS / 'lit.xml'}", "test"),
        "pytest": lambda: with_report("pytest.xml", "pytest", "-n", "2", f"--junitxml={RESULTS / 'pytest.xml'}"),
    }
    total = Count()
    for name in chosen:
        total += runs[name]()
    skipped = f", {total.skipped} skipped" if total.skipped else ""
    print(f"{total.passed} passed, {total.failed} failed{skipped}")
    return int(total.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
