"""How long vgf-opt takes to start: ten lines of MLIR through three passes, against importing the bindings and numpy.

    python -m benchmarks.startup [--runs 15]

The two are run in turn; the ratio of the medians is what the project holds below 1.5.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BIN = Path(sys.executable).parent
LIMIT = 1.5
TEXT = """\
func.func @ten_lines(%x: tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32> {
  %0 = tosa.transpose %x {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x3x4x5xf32>) -> tensor<1x4x5x3xf32>
  %1 = tosa.abs %0 : (tensor<1x4x5x3xf32>) -> tensor<1x4x5x3xf32>
  %2 = tosa.abs %1 : (tensor<1x4x5x3xf32>) -> tensor<1x4x5x3xf32>
  %3 = tosa.ceil %2 : (tensor<1x4x5x3xf32>) -> tensor<1x4x5x3xf32>
  %4 = tosa.transpose %3 {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x5x3xf32>) -> tensor<1x3x4x5xf32>
  %5 = tosa.floor %4 : (tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32>
  %6 = tosa.exp %5 : (tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32>
  return %6 : tensor<1x3x4x5xf32>
}
"""


def seconds(command: list[str]) -> float:
    """Wall time of one run; raises CalledProcessError when it fails."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> int:
    """Print the medians and their ratio; 1 when it is over the limit."""
    arguments = argparse.ArgumentParser("startup", description=(__doc__ or "").split("\n\n")[0])
    arguments.add_argument("--runs", type=int, default=15)
    runs = arguments.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ten_lines.mlir"
        path.write_text(TEXT, encoding="utf-8")
        tool = [str(BIN / "vgf-opt"), str(path), "-p", "vgf-fold-transpose-pairs,func.func(canonicalize,cse)"]
        base = [sys.executable, "-c", "import torch_mlir.ir, numpy"]
        seconds(tool), seconds(base)
        pairs = [(seconds(tool), seconds(base)) for _ in range(runs)]
    tool_median, base_median = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = tool_median / base_median
    print(f"vgf-opt, three passes            {tool_median:.3f} s")
    print(f"import torch_mlir.ir, numpy      {base_median:.3f} s")
    print(f"ratio                            {ratio:.2f} (limit {LIMIT})")
    return int(ratio > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
