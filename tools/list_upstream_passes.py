"""Write python/vgfc/upstream_passes.json: the names of the passes in the MLIR bindings, which offer no list of them.

Every word of the bindings' library that looks like a pass name is tried as a pipeline; run it after changing the pin of
torch-mlir. A test compares the result with the file.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import torch_mlir._mlir_libs
from torch_mlir.passmanager import PassManager

from vgfc.dialect import make_context

OUTPUT = Path(__file__).parent.parent / "python" / "vgfc" / "upstream_passes.json"
WORD = re.compile(rb"[a-z0-9-]{3,80}(?=\0)")


def candidates() -> list[str]:
    """The words of the library and their ends (a linker keeps "cse" only as the end of a longer word), each once."""
    library = Path(next(iter(torch_mlir._mlir_libs.__path__))) / "libTorchMLIRAggregateCAPI.so"
    words = {word.decode() for word in WORD.findall(library.read_bytes())}
    ends = {word[start:] for word in words for start in range(len(word) - 2)}
    return sorted(end for end in ends if end[0].isalpha())


def upstream_passes() -> list[str]:
    """The candidates that MLIR accepts as a pass or pipeline on any operation."""
    found = []
    with make_context():
        for name in candidates():
            try:
                PassManager.parse(f"builtin.module(any({name}))")
            except ValueError as error:
                if "can't run" not in str(error) and "restricted to" not in str(error):
                    continue
            found.append(name)
    return found


if __name__ == "__main__":
    OUTPUT.write_text(json.dumps(upstream_passes(), indent=0) + "\n", encoding="utf-8")
