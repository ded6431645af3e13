"""What vgf-opt must not do: import torch, or leave a traceback for a user's mistake."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PAIR = Path(__file__).resolve().parents[1] / "tools" / "inputs" / "pair.mlir"
PROGRAM = """
import sys
from vgfc.tools.vgf_opt import main
status = main(sys.argv[1:])
heavy = {"torch", "scenario_runner_py", "vgfpy", "rich"} & set(sys.modules)
print(status, sorted(heavy))
"""


def test_it_imports_neither_torch_nor_the_runtimes() -> None:
    command = [
        sys.executable,
        "-c",
        PROGRAM,
        str(PAIR),
        "-o",
        "/dev/null",
        "-p",
        "vgf-fold-transpose-pairs,func.func(cse)",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0 []"
