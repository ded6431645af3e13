"""vgf-diff: two VGF files side by side: structure, memory, operators, constants, and where their graphs differ.

Exits with status 0 when they agree, 1 when they do not, 2 when one of them cannot be read.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence

from vgfc.command_line import add_output_options, command, parse_arguments
from vgfc.diagnostics import CompileError
from vgfc.files import read_bytes
from vgfc.vgf_diff import compare_files

EXAMPLE = "example: vgf-diff before.vgf after.vgf"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser("vgf-diff", description=(__doc__ or "").split("\n\n")[0], epilog=EXAMPLE)
    result.add_argument("left", metavar="A.vgf", help="the first file")
    result.add_argument("right", metavar="B.vgf", help="the second file")
    add_output_options(result, "print the comparison as JSON")
    return result


@command
def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool; returns the exit status."""
    arguments = parse_arguments(parser(), argv)
    try:
        found = compare_files(read_bytes(arguments.left), read_bytes(arguments.right))
    except CompileError as error:
        print(f"vgf-diff: {error}", file=sys.stderr)
        return 2
    if not arguments.quiet:
        names = (os.path.basename(arguments.left), os.path.basename(arguments.right))
        print(json.dumps(found.to_json(), indent=2) if arguments.json else "\n".join(found.lines(names)))
    return 0 if found.is_empty else 1


if __name__ == "__main__":
    sys.exit(main())
