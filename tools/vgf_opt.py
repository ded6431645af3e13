"""vgf-opt: what mlir-opt is to MLIR, for vgfc's passes and every upstream pass.

Reads MLIR text or bytecode from a file or standard input, runs passes, prints the result.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from torch_mlir import ir

from vgfc import diagnostics
from vgfc.bytecode import ensure_sound, is_bytecode
from vgfc.command_line import add_output_options, add_printing_options, command, complete_with, parse_arguments, printed
from vgfc.diagnostics import CompileError
from vgfc.dialect import make_context, register
from vgfc.files import read_array, read_bytes, write_atomically
from vgfc.instrumentation import PrintIR, Timing, reproducer_text
from vgfc.passmanager import (
    Instrumentation,
    PipelineError,
    Step,
    all_passes,
    parse_pipeline,
    pipeline_text,
    plugin_pipelines,
    run_steps,
    upstream_pass_names,
)
from vgfc.pipeline import PIPELINES

if TYPE_CHECKING:
    from vgfc.numerics import VerifyNumerics

SPLIT = re.compile(r"^// -----[^\n]*\n", re.MULTILINE)
REPRODUCER = re.compile(r'mlir_reproducer:\s*\{\s*pipeline:\s*"((?:[^"\\]|\\.)*)"')
BYTECODE_MAGIC = b"ML\xefR"
EXAMPLE = (
    "example: vgf-opt model.mlir --pass-pipeline='builtin.module(func.func(canonicalize),vgf-fold-clamps)' -o out.mlir"
)


def parser() -> argparse.ArgumentParser:
    """The command line; names are mlir-opt's where the meaning is."""
    result = argparse.ArgumentParser(
        "vgf-opt", description=__doc__.split("\n\n")[0], epilog=EXAMPLE, allow_abbrev=False
    )
    result.add_argument("input", nargs="?", default="-", help="MLIR text or bytecode; - is standard input (default)")
    result.add_argument(
        "-o", dest="output", default="-", metavar="FILE", help="where to write (default: standard output)"
    )
    what = result.add_argument_group("passes").add_mutually_exclusive_group()
    what.add_argument("--pass-pipeline", metavar="TEXT", help="builtin.module(...) with the passes to run")
    passes = what.add_argument(
        "-p", dest="passes", metavar="A,B,C", help="short for --pass-pipeline='builtin.module(A,B,C)'"
    )
    pipeline = what.add_argument(
        "--vgf-pipeline", metavar="NAME", help=f"a named pipeline: {', '.join(PIPELINES)}, or a package's own"
    )
    complete_with(passes, completed_passes)
    complete_with(pipeline, lambda prefix, **_: [*PIPELINES, *plugin_pipelines()])
    what.add_argument("--run-reproducer", action="store_true", help="run the pipeline that the input file carries")
    result.add_argument(
        "--dump-pass-pipeline", action="store_true", help="print the expanded pipeline to standard error"
    )
    result.add_argument(
        "--split-input-file", action="store_true", help="treat pieces between '// -----' lines on their own"
    )
    result.add_argument(
        "--verify-diagnostics", action="store_true", help="check expected-error comments instead of failing"
    )
    result.add_argument("--no-verify", action="store_true", help="do not verify the module after each pass")
    result.add_argument(
        "--verify-numerics",
        type=lambda text: float(text) if text else True,
        metavar="[=TOLERANCE]",
        help="run the module before and after each pass on the TOSA reference model (=TOLERANCE for floats)",
    )
    result.add_argument(
        "--numerics-input",
        action="append",
        default=[],
        metavar="X.npy",
        help="with --verify-numerics: an input; once each, in order (default: generated)",
    )
    add_printing_options(result)
    result.add_argument("--mlir-print-ir-before", metavar="PASSES", default="", help="print IR before these passes")
    result.add_argument("--mlir-print-ir-after", metavar="PASSES", default="", help="print IR after these passes")
    result.add_argument("--mlir-print-ir-before-all", action="store_true", help="print IR before each pass")
    result.add_argument("--mlir-print-ir-after-all", action="store_true", help="print IR after each pass")
    result.add_argument(
        "--mlir-print-ir-after-change", action="store_true", help="print IR after passes that changed it"
    )
    result.add_argument("--mlir-timing", action="store_true", help="print the time each pass took to standard error")
    result.add_argument(
        "--mlir-pass-pipeline-crash-reproducer", metavar="FILE", help="where a failing pass leaves its reproducer"
    )
    result.add_argument("--allow-unregistered-dialect", action="store_true", help="accept operations nobody defined")
    result.add_argument("--list-passes", action="store_true", help="list the passes, and where each comes from")
    result.add_argument("--show-dialects", action="store_true", help="list the dialects that the input may use")
    result.add_argument("--new-pass", metavar="NAME", help="write a new pass and its test into the current project")
    result.add_argument("--stage", metavar="FOLDER", default="simplify", help="with --new-pass: the folder of passes/")
    add_output_options(result, "print diagnostics, timing and lists as JSON")
    return result


def completed_passes(prefix: str, **_: object) -> list[str]:
    """What a shell offers for a list of passes: the last name completed, the ones before it kept."""
    before = re.match(r"(?:.*[,(])?", prefix, re.DOTALL)
    kept = before[0] if before else ""
    names = [*PIPELINES, *plugin_pipelines(), *all_passes(), *sorted(upstream_pass_names())]
    return [f"{kept}{name}" for name in names if name.startswith(prefix[len(kept) :])]


def split_pieces(content: bytes, split: bool) -> list[bytes]:
    """The pieces of a file between its '// -----' lines, each padded so that its lines keep their numbers."""
    if not split or content.startswith(BYTECODE_MAGIC):
        return [content]
    text = content.decode("utf-8", errors="replace")
    pieces, start = [], 0
    for match in [*SPLIT.finditer(text), None]:
        end = match.start() if match else len(text)
        pieces.append(("\n" * text.count("\n", 0, start) + text[start:end]).encode())
        start = match.end() if match else end
    return pieces


def text_of(piece: bytes) -> str | None:
    """The piece as text, None for bytecode."""
    return None if piece.startswith(BYTECODE_MAGIC) else piece.decode("utf-8", errors="replace")


def chosen_pipeline(arguments: argparse.Namespace, content: bytes) -> str:
    """The text of the pipeline that the command line, or the reproducer in the input, asks for."""
    if arguments.run_reproducer:
        match = REPRODUCER.search(content.decode("utf-8", errors="replace"))
        if match is None:
            raise PipelineError("--run-reproducer: expected an input with a mlir_reproducer resource, found none")
        return match[1].replace('\\"', '"').replace("\\\\", "\\")
    if arguments.vgf_pipeline is not None:
        if arguments.vgf_pipeline in PIPELINES:
            return PIPELINES[arguments.vgf_pipeline]()
        if arguments.vgf_pipeline in plugin_pipelines():
            return plugin_pipelines()[arguments.vgf_pipeline][0]()
        names = ", ".join([*PIPELINES, *plugin_pipelines()])
        raise PipelineError(f"no pipeline is named '{arguments.vgf_pipeline}'; there are: {names}")
    if arguments.passes is not None:
        return f"builtin.module({arguments.passes})"
    return arguments.pass_pipeline or "builtin.module()"


def numerics(arguments: argparse.Namespace) -> VerifyNumerics:
    """What --verify-numerics and --numerics-input ask for; raises CompileError for an input that cannot be read."""
    from vgfc.numerics import VerifyNumerics  # a third of a second, and the package tosa-tools

    tolerance = None if arguments.verify_numerics is True else arguments.verify_numerics
    return VerifyNumerics(tolerance, [read_array(path) for path in arguments.numerics_input] or None)


class Session:
    """One run of the tool over one input."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.timing = Timing()
        self.messages: list[diagnostics.Message] = []
        self.verification: VerifyNumerics | None = None
        self.steps: list[Step] = []
        self.context = make_context()
        self.context.allow_unregistered_dialects = arguments.allow_unregistered_dialect
        self.context.emit_error_diagnostics = True
        self.context.attach_diagnostic_handler(self.collect)

    def instrumentations(self) -> list[Instrumentation]:
        """What watches the run, by the flags given."""
        arguments = self.arguments
        found: list[Instrumentation] = [self.timing]
        names_before = set(filter(None, arguments.mlir_print_ir_before.split(",")))
        names_after = set(filter(None, arguments.mlir_print_ir_after.split(",")))
        after_all = arguments.mlir_print_ir_after_all or arguments.mlir_print_ir_after_change
        if names_before or names_after or arguments.mlir_print_ir_before_all or after_all:
            found.append(
                PrintIR(
                    sys.stderr,
                    before=None if arguments.mlir_print_ir_before_all else names_before,
                    after=None if after_all else names_after,
                    only_changes=arguments.mlir_print_ir_after_change,
                    debug_info=arguments.mlir_print_debuginfo,
                )
            )
        if arguments.verify_numerics is not None:
            self.verification = numerics(arguments)
            found.append(self.verification)
        return found

    def collect(self, diagnostic: ir.Diagnostic) -> bool:
        """Diagnostic handler."""
        self.messages += diagnostics.flatten(diagnostic)
        return True

    def parse(self, piece: bytes) -> ir.Module:
        """The piece as a module; raises MLIRError after collecting what is wrong with it, CompileError for damaged bytecode."""
        if is_bytecode(piece):
            ensure_sound(piece, self.arguments.input)
        with self.context:
            if not self.arguments.split_input_file and Path(self.arguments.input).is_file():
                return ir.Module.parseFile(self.arguments.input)  # locations then name the file
            return ir.Module.parse(piece if text_of(piece) is None else text_of(piece))

    def run(self, piece: bytes) -> ir.Module | None:
        """The transformed module, None when it failed; what went wrong is in `self.messages`."""
        self.messages.clear()
        try:
            module = self.parse(piece)
        except ir.MLIRError as error:
            if not self.messages:
                self.messages.append(diagnostics.Message("error", str(error), None))
            return None
        except CompileError as error:
            self.messages.append(diagnostics.Message("error", error.message, None))
            return None
        done: list[Step] = []

        class Count(Instrumentation):
            def after_step(self, step: Step, module: ir.Module, seconds: float) -> None:
                done.append(step)

        try:
            run_steps(self.steps, module, [*self.instrumentations(), Count()], verify=not self.arguments.no_verify)
        except CompileError as error:
            if not any(message.severity == "error" for message in self.messages):
                self.messages.append(diagnostics.Message("error", error.message, error.source))
            if not self.arguments.verify_diagnostics:
                self.leave_reproducer(piece, len(done) - getattr(error, "steps_back", 0), len(done))
            return None
        if self.verification is not None:
            try:
                self.verification.ensure_checked()
            except CompileError as error:
                self.messages.append(diagnostics.Message("error", error.message, error.source))
                return None
            self.messages.append(diagnostics.Message("remark", self.verification.summary(), None))
        return module

    def leave_reproducer(self, piece: bytes, first: int, failed: int) -> None:
        """Write the module as it was before step `first`, and the steps from there to the one that failed."""
        step = self.steps[failed]
        path = self.arguments.mlir_pass_pipeline_crash_reproducer or f"{step.name}.reproducer.mlir"
        module = self.parse(piece)
        run_steps(self.steps[:first], module, verify=False)
        write_atomically(path, reproducer_text(module, self.steps[first : failed + 1]).encode())
        note = f"reproducer written to {path}: replay it with vgf-opt --run-reproducer {path}"
        self.messages.append(diagnostics.Message("note", note, None))


@dataclass(frozen=True)
class Listed:
    """A line of --list-passes: `kind` is "pass" or "pipeline"."""

    name: str
    kind: str
    origin: str
    summary: str


def listed_passes() -> list[Listed]:
    """Every pass and named pipeline: its name, where it comes from, what it does."""
    found = []
    for name, (cls, origin) in all_passes().items():
        module_doc = sys.modules[cls.__module__].__doc__ or ""
        found.append(Listed(name, "pass", origin, module_doc.split("\n")[0].removeprefix(f"{name}:").strip()))
    found += [Listed(name, "pipeline", "vgfc", "named pipeline") for name in PIPELINES]
    found += [Listed(name, "pipeline", origin, "named pipeline") for name, (_, origin) in plugin_pipelines().items()]
    found += [Listed(name, "pass", "upstream", "") for name in sorted(upstream_pass_names())]
    return found


def list_passes(as_json: bool) -> None:
    """Print what `listed_passes` finds."""
    found = listed_passes()
    if as_json:
        print(json.dumps([asdict(line) for line in found], indent=2))
        return
    for line in found:
        print(f"{line.name:40} {line.origin:12} {line.summary}".rstrip())


def show_dialects(as_json: bool) -> None:
    """Print the dialects that are registered."""
    import torch_mlir.dialects

    folder = Path(next(iter(torch_mlir.dialects.__path__)))
    names = {path.name.split("_ops_gen.py")[0].strip("_") for path in folder.glob("*_ops_gen.py")} | {"quant", "vgf"}
    context = ir.Context()
    register(context)
    found = []
    for name in names:
        try:
            context.get_dialect_descriptor(name)
        except ValueError:
            continue
        found.append(name)
    print(json.dumps(sorted(found)) if as_json else "Available Dialects: " + ", ".join(sorted(found)))


def new_pass(arguments: argparse.Namespace) -> None:
    """Write a new pass and say where it is."""
    from vgfc.new_pass import create_pass

    made = create_pass(arguments.new_pass, Path.cwd(), arguments.stage)
    if arguments.json:
        print(json.dumps({key: str(value) for key, value in asdict(made).items()}, indent=2))
    elif not arguments.quiet:
        print(f"pass    {made.name}\nsource  {made.source}\ntest    {made.test}")
        if made.entry_point:
            print(f'add to [project.entry-points."vgfc.passes"] in pyproject.toml:\n{made.entry_point}')


def show_messages(messages: Sequence[diagnostics.Message], piece: bytes, arguments: argparse.Namespace) -> None:
    """Print diagnostics to standard error: as MLIR does, or one JSON object a line; errors only with --quiet."""
    for message in messages:
        if arguments.quiet and message.severity != "error":
            continue
        if arguments.json:
            source = asdict(message.source) if message.source else None
            print(json.dumps({"severity": message.severity, "text": message.text, "source": source}), file=sys.stderr)
        else:
            print(diagnostics.render(message, arguments.input, text_of(piece)), file=sys.stderr)


@command
def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool; returns the exit status."""
    given = sys.argv[1:] if argv is None else argv
    given = [f"{text}=" if text == "--verify-numerics" else text for text in given]  # the value is optional, as in MLIR
    arguments = parse_arguments(parser(), given)
    try:
        if arguments.list_passes:
            list_passes(arguments.json)
            return 0
        if arguments.show_dialects:
            show_dialects(arguments.json)
            return 0
        if arguments.new_pass is not None:
            new_pass(arguments)
            return 0
        content = read_bytes(arguments.input)
        session = Session(arguments)
        session.steps = steps = parse_pipeline(chosen_pipeline(arguments, content), PIPELINES, session.context)
    except CompileError as error:
        print(f"vgf-opt: {error}", file=sys.stderr)
        return 1
    if arguments.dump_pass_pipeline:
        print(f"Pass Manager with {len(steps)} passes:\n{pipeline_text(steps)}", file=sys.stderr)
    outputs: list[bytes] = []
    failed = False
    for piece in split_pieces(content, arguments.split_input_file):
        module = session.run(piece)
        if arguments.verify_diagnostics:
            expected = diagnostics.parse_expectations(text_of(piece) or "")
            problems = diagnostics.check_expectations(expected, session.messages)
            for problem in problems:
                print(f"{arguments.input}: {problem}", file=sys.stderr)
            failed |= bool(problems)
        else:
            show_messages(session.messages, piece, arguments)
            failed |= module is None
        if module is not None:
            outputs.append(printed(module, arguments))
    if arguments.mlir_timing:
        rows = [{"pass": name, "seconds": seconds} for name, seconds in session.timing.rows]
        print(json.dumps({"timing": rows}) if arguments.json else session.timing.table(), file=sys.stderr)
    if failed:
        return 1
    try:
        write_atomically(arguments.output, b"\n// -----\n".join(outputs))
    except CompileError as error:
        print(f"vgf-opt: {error}", file=sys.stderr)
        return 1
    return 0


def run() -> None:
    """The console command: `main`, then out at once (taking MLIR's contexts down would cost a fifth of a short run)."""
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    run()
