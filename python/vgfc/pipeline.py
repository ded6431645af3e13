"""The pipelines that a model goes through, as lists one can read; each has a name that textual pipelines may use.

`vgf-opt --vgf-pipeline=tosa-to-vgf --dump-pass-pipeline` prints what a name stands for.
"""

from __future__ import annotations

from collections.abc import Callable

TORCH_TO_TOSA = [
    "func.func(torch-reduce-op-variants,canonicalize,torch-decompose-complex-ops,canonicalize)",
    "func.func(convert-torch-to-tosa,tosa-make-broadcastable,cse)",
    "torch-func-backend-type-conversion",
    "func.func(canonicalize,torch-finalizing-backend-type-conversion)",
]

SIMPLIFY = [
    "func.func(canonicalize,cse)",
]

PARTITION = [
    "vgf-mark-segments",
    "vgf-form-segments",
    "vgf-outline-segments",
    "vgf-check-segments",
]

LOWER = [
    "vgf-assign-graph-constants",
    "vgf-isolate-graph-segments",
    "builtin.module(tosa-to-spirv-tosa,spirv.module(spirv-lower-abi-attrs,spirv-update-vce))",
]


def _text(passes: list[str]) -> str:
    return f"builtin.module({','.join(passes)})"


PIPELINES: dict[str, Callable[[], str]] = {
    "torch-to-tosa": lambda: _text(TORCH_TO_TOSA),
    "tosa-simplify": lambda: _text(SIMPLIFY),
    "tosa-optimize": lambda: _text([*SIMPLIFY, *PARTITION]),
    "tosa-to-vgf": lambda: _text([*SIMPLIFY, *PARTITION, *LOWER]),
    "tosa-lower": lambda: _text(LOWER),
}
