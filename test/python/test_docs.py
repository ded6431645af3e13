"""Every code block of the documentation: run, in the order of the page, and its output compared with what the page shows.

A page is a program of its own, in a folder of its own. `python` and `sh` blocks are run, one whose first line is
`# file NAME` (or `// file NAME`) is written to that file. A `text` block is what the blocks since the last `text` block print:
each of its lines occurs there, in order, with `...` for anything. `mlir` has to parse, `toml` to load, `cmake` and entry points
to be in the example that they are from.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BIN = Path(sys.executable).parent
GENERATED = "<!-- Generated"
FENCE = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"(?:#|//) file (\S+)\n")
MARK = "\x1e"  # between the outputs of two blocks
# Pages about other people's packages, which tools/setup.sh installs where it can.
PACKAGES = {"model-gym": "ng_model_gym"}
LANGUAGES = {"python", "sh", "text", "mlir", "toml", "cmake"}


@dataclass(frozen=True)
class Block:
    """A fenced block: language, text, line of its first line in the page."""

    language: str
    text: str
    line: int

    @property
    def file(self) -> str | None:
        """The file that it is, None where it is none."""
        found = FILE.match(self.text)
        return found[1] if found else None


def blocks_of(text: str) -> list[Block]:
    return [Block(found[1], found[2], text.count("\n", 0, found.start()) + 2) for found in FENCE.finditer(text)]


def pages() -> list[Path]:
    found = [page for page in sorted(DOCS.glob("*.md")) if not page.read_text(encoding="utf-8").startswith(GENERATED)]
    return [page for page in found if blocks_of(page.read_text(encoding="utf-8"))]


DRIVER = """
import json, subprocess, sys, warnings
from pathlib import Path
warnings.simplefilter("ignore")
namespace = {"__name__": "__main__"}
for language, name, line, text in json.loads(Path("blocks.json").read_text()):
    if language == "python":
        exec(compile("\\n" * (line - 1) + text, name, "exec"), namespace)
    else:
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        sys.stdout.write(done.stdout.decode())
        if done.returncode:
            sys.exit(f"{name}:{line}: exit status {done.returncode}")
    print("\\x1e", end="", flush=True)
"""


def run_blocks(page: Path, blocks: list[Block], folder: Path) -> list[str]:
    """Run the blocks in one process; what each printed."""
    import json

    listed = [(block.language, page.name, block.line, block.text) for block in blocks]
    (folder / "blocks.json").write_text(json.dumps(listed), encoding="utf-8")
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [sys.executable, "-c", DRIVER], cwd=folder, capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout.split(MARK)[:-1]


def assert_shown(wanted: str, found: str, where: str) -> None:
    """Every line of `wanted` occurs in `found`, in order."""
    lines = iter(found.splitlines())
    for line in filter(None, (line.strip() for line in wanted.splitlines())):
        pattern = re.compile(".*".join(re.escape(part) for part in line.split("...")))
        assert any(pattern.search(candidate) for candidate in lines), f"{where}: '{line}' is not in:\n{found}"


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_code_blocks(page: Path, tmp_path: Path) -> None:
    if page.stem in PACKAGES and find_spec(PACKAGES[page.stem]) is None:
        pytest.skip(f"needs {PACKAGES[page.stem]}; run tools/setup.sh")
    blocks = blocks_of(page.read_text(encoding="utf-8"))
    assert {block.language for block in blocks} <= LANGUAGES, f"{page.name}: a block in an unknown language"
    for block in blocks:
        if block.file is not None:
            (tmp_path / block.file).write_text(block.text[block.text.index("\n") + 1 :], encoding="utf-8")
    runnable = [block for block in blocks if block.language in ("python", "sh") and block.file is None]
    outputs = iter(run_blocks(page, runnable, tmp_path))
    printed = ""
    for block in blocks:
        if block in runnable:
            printed += next(outputs)
        elif block.language == "text":
            assert_shown(block.text, printed, f"{page.name}:{block.line}")
            printed = ""


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_other_blocks(page: Path) -> None:
    import tomllib

    from vgfc.frontend.load import parse_mlir

    for block in blocks_of(page.read_text(encoding="utf-8")):
        if block.language == "mlir":
            parse_mlir(block.text)
        elif block.language == "toml":
            tomllib.loads(block.text)
            if block.file is None:
                assert block.text in (ROOT / "examples" / "extension" / "pyproject.toml").read_text(encoding="utf-8")
        elif block.language == "cmake":
            example = (ROOT / "examples" / "cmake" / "CMakeLists.txt").read_text(encoding="utf-8")
            assert block.text in example, f"{page.name}:{block.line}"


def test_an_output_that_is_not_printed_is_found() -> None:
    assert_shown("one ... three\nfive", "zero\none two three\nfour\nfive six", "here")
    with pytest.raises(AssertionError, match="'five' is not in"):
        assert_shown("five\nfive", "five\nsix", "here")
