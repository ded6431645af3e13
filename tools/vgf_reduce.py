"""vgf-reduce: shrink a module on which a command fails to the few lines that matter.

The command is run on each smaller module; {} in it stands for the file (default: at its end). A failure counts as the same
one when the exit status and the first error message are, positions and numbers apart, or when the output has what --match
says. A reproducer of vgf-opt keeps its pipeline: vgf-reduce failing.mlir -- vgf-opt --run-reproducer {}
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vgfc.command_line import add_output_options, command, parse_arguments
from vgfc.diagnostics import CompileError
from vgfc.files import read_bytes, write_atomically
from vgfc.reduce import reduce_module

EXAMPLE = "example: vgf-reduce model.mlir -o small.mlir -- vgf-opt {} --vgf-pipeline=tosa-to-vgf"
RESOURCES = re.compile(r"\{-#.*#-\}\s*$", re.DOTALL)
PLACE = re.compile(r"\S+:\d+:\d+")
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")
TIMEOUT_SECONDS = 300


def parser() -> argparse.ArgumentParser:
    """The command line; what follows `--` is the command."""
    result = argparse.ArgumentParser(
        "vgf-reduce", description=__doc__, epilog=EXAMPLE, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    result.add_argument("input", metavar="FILE.mlir", help="the module on which the command fails")
    result.add_argument(
        "-o", dest="output", default="-", metavar="FILE", help="where to write (default: standard output)"
    )
    result.add_argument("--match", metavar="REGEX", help="what the output of the failing command has")
    result.add_argument("command", nargs="+", metavar="-- COMMAND", help="the command, {} for the file")
    add_output_options(result, "print the counts of lines and runs as JSON")
    return result


@dataclass(frozen=True)
class Outcome:
    """How a run ended: its status, and the first line that says error, without positions and numbers."""

    status: int
    message: str


class Command:
    """The failing command; asks of a module's text whether it still fails in the same way."""

    def __init__(self, words: Sequence[str], match: str | None, tail: str, folder: str) -> None:
        self.words = list(words) if any("{}" in word for word in words) else [*words, "{}"]
        self.match = re.compile(match) if match is not None else None
        self.tail = tail
        self.path = Path(folder) / "candidate.mlir"
        self.wanted: Outcome | None = None
        self.runs = 0

    def run(self, text: str) -> tuple[Outcome, str]:
        """The outcome for a module, and all that the command printed."""
        self.runs += 1
        self.path.write_text(text + self.tail, encoding="utf-8")
        words = [word.replace("{}", str(self.path)) for word in self.words]
        try:
            done = subprocess.run(
                words, capture_output=True, text=True, cwd=self.path.parent, timeout=TIMEOUT_SECONDS, check=False
            )
        except OSError as error:
            raise CompileError(f"cannot run '{words[0]}': {(error.strerror or str(error)).lower()}") from None
        except subprocess.TimeoutExpired:
            return Outcome(-1, "timeout"), "timeout"
        output = done.stdout + done.stderr
        first = next((line for line in done.stderr.splitlines() if "error" in line.lower()), "")
        return Outcome(done.returncode, NUMBER.sub("#", PLACE.sub("", first))), output

    def __call__(self, text: str) -> bool:
        outcome, output = self.run(text)
        if self.match is not None:
            return self.match.search(output) is not None
        if self.wanted is None:
            self.wanted = outcome
            return outcome.status != 0
        return outcome == self.wanted


@command
def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool; returns the exit status."""
    arguments = parse_arguments(parser(), argv)
    try:
        text = read_bytes(arguments.input).decode(errors="replace")
        resources = RESOURCES.search(text)
        tail = f"\n{resources[0]}" if resources else ""
        with tempfile.TemporaryDirectory() as folder:
            command = Command(arguments.command, arguments.match, tail, folder)
            reduced = reduce_module(RESOURCES.sub("", text), command) + tail
        write_atomically(arguments.output, f"{reduced.rstrip()}\n".encode())
    except CompileError as error:
        print(f"vgf-reduce: {error}", file=sys.stderr)
        return 1
    if not arguments.quiet:
        before, after = len(text.splitlines()), len(reduced.splitlines())
        name = os.path.basename(arguments.input)
        figures = {"lines_before": before, "lines_after": after, "runs": command.runs}
        text = f"{name}: {before} lines to {after} in {command.runs} runs of {command.words[0]}"
        print(json.dumps(figures) if arguments.json else text, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
