"""The pipelines that a model goes through, as lists one can read; each has a name that textual pipelines may use.

`vgf-opt --vgf-pipeline=tosa-to-vgf --dump-pass-pipeline` prints what a name stands for.
"""

from __future__ import annotations

from collections.abc import Callable

CONVERT_TORCH = [
    "vgf-convert-torch-quantization",
    "vgf-convert-torch-creation",
    "vgf-convert-torch-movement",
    "vgf-convert-torch-indexing",
    "vgf-convert-torch-arithmetic",
    "vgf-convert-torch-functions",
    "vgf-convert-torch-comparisons",
    "vgf-convert-torch-activations",
    "vgf-convert-torch-reductions",
    "vgf-convert-torch-normalization",
    "vgf-convert-torch-products",
    "vgf-convert-torch-attention",
    "vgf-convert-torch-convolutions",
    "vgf-convert-torch-pools",
    "vgf-convert-torch-resizes",
]

# What our converters leave, torch-mlir takes apart; its parts go through ours, and the rest through torch-mlir's own.
TORCH_TO_TOSA = [
    *CONVERT_TORCH,
    "func.func(torch-decompose-complex-ops)",
    *CONVERT_TORCH,
    "vgf-finish-torch-conversion",
    "func.func(cse)",
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
    "vgf-compile-shaders",
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
