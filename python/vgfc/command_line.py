"""What all commands share: options, shell completion, progress, and where their output goes.

Completion is argcomplete's: `eval "$(register-python-argcomplete vgf-opt)"` turns it on in bash and zsh.
"""

from __future__ import annotations

import argparse
import errno
import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

from vgfc.ir import bytecode
from vgfc.passmanager import Instrumentation, Step

if TYPE_CHECKING:
    from torch_mlir import ir


def add_output_options(parser: argparse.ArgumentParser, json_help: str) -> None:
    """Add --json and --quiet, which every command has."""
    parser.add_argument("--json", action="store_true", help=json_help)
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")


def add_printing_options(parser: argparse.ArgumentParser) -> None:
    """Add how a module is written; `printed` follows them."""
    parser.add_argument("--emit-bytecode", action="store_true", help="write MLIR as bytecode instead of text")
    parser.add_argument("--mlir-print-debuginfo", action="store_true", help="print locations")
    parser.add_argument("--mlir-elide-elementsattrs-if-larger", type=int, metavar="N", help="elide larger constants")


def printed(module: ir.Module, arguments: argparse.Namespace) -> bytes:
    """A module as bytecode or text, as the options of `add_printing_options` say."""
    if arguments.emit_bytecode:
        return bytecode(module)
    text = module.operation.get_asm(
        enable_debug_info=arguments.mlir_print_debuginfo,
        large_elements_limit=arguments.mlir_elide_elementsattrs_if_larger,
    )
    return f"{text.rstrip()}\n".encode()


def complete_with(argument: argparse.Action, completer: Callable[..., list[str]]) -> None:
    """Let a shell complete the values of an argument with what `completer` (given `prefix`) returns."""
    argument.completer = completer  # type: ignore[attr-defined] # argcomplete's protocol


def parse_arguments(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line, or answer the shell when it asks for completions (and then exit)."""
    if "_ARGCOMPLETE" in os.environ:
        import argcomplete

        argcomplete.autocomplete(parser)
    return parser.parse_args(argv)


Main = Callable[..., int]


def command(main: Main) -> Main:
    """Decorator of a command's `main`: what happens to its output or from its keyboard ends it without a traceback.

    A reader that has seen enough (`| head`) ends it as it ends other commands, with status 141; an interrupt, with 130. An
    output that takes no more (a full disk) is one message and status 1.
    """

    @wraps(main)
    def guarded(argv: Sequence[str] | None = None) -> int:
        try:
            status = main(argv)
            sys.stdout.flush()
            return status
        except BrokenPipeError:
            status = 128 + signal.SIGPIPE
        except KeyboardInterrupt:
            return 128 + signal.SIGINT
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            name = main.__module__.rpartition(".")[2].replace("_", "-")
            print(f"{name}: {os.strerror(errno.ENOSPC).lower()} in the output", file=sys.stderr)
            status = 1
        # What is still in the buffer cannot be written either; without this, Python says so once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return status

    return guarded


class Progress(Instrumentation):
    """One line on a terminal that says which pass runs; nothing where standard error is no terminal."""

    def __init__(self, enabled: bool, first: str = "importing") -> None:
        self._status: Any = None
        if enabled and sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True).status(first)

    def __enter__(self) -> Progress:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def show(self, text: str) -> None:
        """Say what is being done now."""
        if self._status is not None:
            self._status.update(text)

    def before_step(self, step: Step, module: ir.Module) -> None:
        self.show(step.text)
