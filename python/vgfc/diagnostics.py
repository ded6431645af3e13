"""Errors for users, and checking the errors that a test expects.

Every failure that a user can cause ends as a `CompileError`: one sentence, the source location it is about, and what was
wanted. `fail` makes one for an operation; the pass runner and the command-line tools print it as MLIR prints its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from torch_mlir import ir

FILE_LOCATION = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)')
LOCATION_NAME = re.compile(r'"((?:[^"\\]|\\.)*)"(?!:\d)')
EXPECTED = re.compile(
    r"expected-(error|warning|remark|note)(-re)?[ ]*(?:@([+-]\d+|above|below|unknown))?[ ]*\{\{(.*)\}\}\s*$"
)
SEVERITIES = {
    ir.DiagnosticSeverity.ERROR: "error",
    ir.DiagnosticSeverity.WARNING: "warning",
    ir.DiagnosticSeverity.NOTE: "note",
    ir.DiagnosticSeverity.REMARK: "remark",
}


@dataclass(frozen=True)
class SourceLine:
    """A place in a user's file: path as the location spells it, line from 1, column from 0 (0: none known)."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"


class CompileError(Exception):
    """What a user is told when something cannot be compiled; `str()` is one line, located when a location is known."""

    def __init__(self, message: str, location: ir.Location | None = None) -> None:
        self.message = message
        self.source = source_line(location) if location is not None else None
        super().__init__(f"{self.source}: error: {message}" if self.source else f"error: {message}")


class PassFailure(CompileError):  # noqa: N818 - named as MLIR names it
    """A pass met an operation that it cannot handle; made by `fail`."""

    def __init__(self, message: str, location: ir.Location) -> None:
        super().__init__(message, location)
        self.location = location


def verify(module: ir.Module, subject: str) -> None:
    """Raises CompileError, at its operation, for a module that MLIR's verifier refuses: "<subject> is invalid: ..."."""
    try:
        module.operation.verify()
    except ir.MLIRError as error:
        details = error.error_diagnostics
        message = f"{subject} is invalid: {details[0].message if details else error}"
        raise CompileError(message, details[0].location if details else None) from None


def fail(op: ir.Operation | ir.OpView, message: str) -> PassFailure:
    """The error for `op`, to be raised: says what was found and what was wanted, lower case, no full stop."""
    return PassFailure(f"'{op.operation.name}' {message}", op.location)


def source_line(location: ir.Location) -> SourceLine | None:
    """The innermost file position inside `location` (of a call site, the callee; of a fusion, the first), None if none."""
    found = FILE_LOCATION.search(str(location))
    return SourceLine(found[1], int(found[2]), int(found[3])) if found else None


def module_path(location: ir.Location) -> str | None:
    """The first name inside `location`, which the front end makes the path of the user's module; None if none."""
    found = LOCATION_NAME.search(str(location))
    return found[1] if found else None


@dataclass
class Message:
    """One diagnostic as it arrived: severity word, text, position (None when unknown)."""

    severity: str
    text: str
    source: SourceLine | None


def flatten(diagnostic: ir.Diagnostic) -> Iterator[Message]:
    """The diagnostic and its notes, in the order in which they are printed."""
    yield Message(SEVERITIES[diagnostic.severity], diagnostic.message, source_line(diagnostic.location))
    for note in diagnostic.notes:
        yield from flatten(note)


def render(message: Message, input_name: str, input_text: str | None) -> str:
    """`message` as MLIR's own tools print it, with the line of the input and a caret where it is about the input."""
    source = message.source
    if source is None:
        return f"{message.severity}: {message.text}"
    in_input = source.file in ("-", input_name)
    name = ("<stdin>" if input_name == "-" else input_name) if in_input else source.file
    text = f"{name}:{source.line}:{source.column}: {message.severity}: {message.text}"
    if in_input and input_text is not None and source.column:
        lines = input_text.splitlines()
        if source.line <= len(lines):
            text += f"\n{lines[source.line - 1]}\n{' ' * (source.column - 1)}^"
    return text


@dataclass
class Expectation:
    """One `expected-...` comment and the line it is about (None: a place without file)."""

    severity: str
    pattern: re.Pattern[str]
    text: str
    comment_line: int
    line: int | None

    def matches(self, message: Message) -> bool:
        at = message.source.line if message.source else None
        return message.severity == self.severity and at == self.line and self.pattern.search(message.text) is not None


def parse_expectations(text: str) -> list[Expectation]:
    """The `expected-error {{...}}` comments of one piece of a test file, with the designators that mlir-opt takes.

    In the `-re` form what stands between double braces inside the text is a regular expression.
    """
    lines = text.splitlines()
    found = []
    for number, content in enumerate(lines, start=1):
        match = EXPECTED.search(content)
        if match is None:
            continue
        severity, is_regex, designator, wanted = match.groups()
        parts = re.split(r"\{\{(.*?)\}\}", wanted) if is_regex else [wanted]
        pattern = "".join(part if index % 2 else re.escape(part) for index, part in enumerate(parts))
        line = _designated_line(designator, number, lines)
        found.append(Expectation(severity, re.compile(pattern), wanted, number, line))
    return found


def _designated_line(designator: str | None, number: int, lines: list[str]) -> int | None:
    if designator is None:
        return number
    if designator == "unknown":
        return None
    if designator[0] in "+-":
        return number + int(designator)
    step = -1 if designator == "above" else 1
    line = number + step
    while 1 <= line <= len(lines) and EXPECTED.search(lines[line - 1]):
        line += step
    return line


def check_expectations(expected: list[Expectation], messages: list[Message]) -> list[str]:
    """What does not agree between expectations and messages, one sentence each; empty when all do.

    Notes and remarks need not be expected.
    """
    open_expectations = list(expected)
    problems = []
    for message in messages:
        match = next((expectation for expectation in open_expectations if expectation.matches(message)), None)
        if match is not None:
            open_expectations.remove(match)
        elif message.severity in ("error", "warning"):
            at = f"line {message.source.line}" if message.source else "unknown location"
            problems.append(f"{at}: unexpected {message.severity}: {message.text}")
    for expectation in open_expectations:
        problems.append(
            f'line {expectation.comment_line}: expected {expectation.severity} "{expectation.text}" was not produced'
        )
    return problems
