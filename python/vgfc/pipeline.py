"""The pipelines that a model goes through, as lists one can read; each has a name that textual pipelines may use.

`vgf-opt --vgf-pipeline=tosa-to-vgf --dump-pass-pipeline` prints what a name stands for.
"""

from __future__ import annotations

from collections.abc import Callable

CONVERT_TORCH = [
    "vgf-convert-torch-shaders",
    "vgf-convert-torch-quantization",
    "vgf-convert-torch-creation",
    "vgf-convert-torch-movement",
    "vgf-convert-torch-slices",
    "vgf-convert-torch-joins",
    "vgf-convert-torch-pads",
    "vgf-convert-torch-indexing",
    "vgf-convert-torch-scatters",
    "vgf-convert-torch-arithmetic",
    "vgf-convert-torch-quotients",
    "vgf-convert-torch-powers",
    "vgf-convert-torch-bits",
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
# Constants are folded before, because its rewriter folds as well, and upstream's product of two i8 constants wraps.
TORCH_TO_TOSA = [
    "vgf-note-integer-ranges",
    *CONVERT_TORCH,
    "vgf-fold-constants{views=false}",
    "func.func(torch-decompose-complex-ops)",
    *CONVERT_TORCH,
    "vgf-outline-host-operators",
    "vgf-finish-torch-conversion",
    "func.func(cse)",
]

# A VGF's graphs have no control flow. Loops come first: a side that holds one cannot be inlined.
CONTROL_FLOW = [
    "vgf-unroll-loops",
    "vgf-inline-branches",
]

# What helps every later stage, quantisation among them. Layouts come before affine chains, because constants per channel
# are only seen to be so when the channels are the last axis; means before them, because they would take the factor up.
# Upstream's canonicalize is not in here: it turns a cast of a splat `true` to a float into -1.0.
SIMPLIFY = [
    "func.func(cse)",
    "vgf-fold-constants{views=false}",
    "vgf-fold-identities",
    "vgf-fold-casts",
    "vgf-shrink-constants",
    "vgf-fold-clamps",
    "vgf-fold-slices",
    "vgf-convert-linear",
    "vgf-propagate-layouts",
    "vgf-fold-slices",
    "vgf-fold-pads",
    "vgf-convert-means-to-pools",
    "vgf-fold-affine",
    "vgf-sink-clamps",
]

# Quantised islands become integer arithmetic; at the boundary, what is left of quantize and dequantize goes outside (a
# target without floating point) or becomes exact arithmetic.
QUANTIZE = [
    "vgf-fold-quantization",
    "vgf-merge-rescales",
    "vgf-integer-boundary",
    "vgf-lower-quantization",
    "func.func(cse)",
]

# What only floating point gains by, so that it comes after quantisation. Means become convolutions first, whose reshapes
# the second look at layouts takes away; scales move when all affine chains are folded, and may leave new ones.
SHORTEN = [
    "vgf-convert-means-to-convolutions",
    "vgf-convert-linear",
    "func.func(cse)",
    "vgf-fold-views-into-weights",
    "vgf-merge-parallel-convolutions",
    "vgf-propagate-layouts",
    "vgf-fold-affine",
    "vgf-fold-scales",
    "vgf-fold-affine",
    "vgf-merge-scale-and-shift",
    "vgf-fold-constants",
    "vgf-fold-identities",
    "vgf-shrink-constants",
    "func.func(cse)",
]

# What TOSA may say but a VGF may not hold. Results are separated last: simplifying would take the copies away again.
LEGALIZE = [
    "vgf-merge-axes",
    "vgf-split-concats",
    "vgf-separate-results",
]

PARTITION = [
    "vgf-mark-segments",
    "vgf-form-segments",
    "vgf-outline-segments",
    "vgf-check-segments",
]

# Stripes and groups first, as they leave equal constants behind; orders before alias groups, since what lies between segments
# depends on the order in which they run. Nothing after this moves an operator.
MEMORY = [
    "vgf-stripe{on-request=true}",
    "vgf-split-accumulators",
    "vgf-share-constants",
    "vgf-schedule",
    "vgf-plan-memory",
    "vgf-check-memory",
]

LOWER = [
    "vgf-compile-shaders",
    "vgf-assign-graph-constants",
    "vgf-isolate-graph-segments",
    "builtin.module(tosa-to-spirv-tosa,spirv.module(spirv-lower-abi-attrs,spirv-promote-to-replicated-constants,spirv-update-vce))",
]

# A host segment's functions become LLVM dialect, for MLIR's execution engine. Results become arguments that the caller
# allocates; copies between buffers become loops, since the engine comes without MLIR's C runner library. Bufferization
# copies before each write, without an analysis, since it has none for what tm-tensor-bufferize leaves.
HOST_TO_LLVM = [
    "inline",
    "vgf-scalar-conditions",
    "func.func(tosa-to-scf,tosa-optional-decompositions,tosa-infer-shapes,tosa-make-broadcastable)",
    "func.func(tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith{include-apply-rescale=true},tosa-to-tensor)",
    "func.func(linalg-generalize-named-ops,refback-generalize-tensor-pad,refback-generalize-tensor-concat)",
    "func.func(linalg-fuse-elementwise-ops),cse",
    "func.func(tm-tensor-bufferize)",
    "one-shot-bufferize{copy-before-write bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map}",
    "buffer-results-to-out-params{modify-public-functions=true hoist-static-allocs=true}",
    "buffer-deallocation-pipeline,convert-bufferization-to-memref",
    "func.func(tm-tensor-to-loops,refback-munge-memref-copy,convert-linalg-to-loops,lower-affine)",
    "convert-scf-to-cf",
    "func.func(refback-expand-ops-for-llvm,arith-expand,convert-math-to-llvm)",
    "convert-math-to-libm,convert-complex-to-libm",
    "expand-strided-metadata,lower-affine",
    "func.func(convert-arith-to-llvm)",
    "convert-complex-to-llvm,convert-index-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,convert-cf-to-llvm",
    "reconcile-unrealized-casts",
]


def _text(passes: list[str]) -> str:
    return f"builtin.module({','.join(passes)})"


PIPELINES: dict[str, Callable[[], str]] = {
    "torch-to-tosa": lambda: _text(TORCH_TO_TOSA),
    "tosa-simplify": lambda: _text([*CONTROL_FLOW, *SIMPLIFY, *QUANTIZE, *SHORTEN]),
    "tosa-quantize": lambda: _text(QUANTIZE),
    "tosa-optimize": lambda: _text([*CONTROL_FLOW, *SIMPLIFY, *QUANTIZE, *SHORTEN, *LEGALIZE, *PARTITION, *MEMORY]),
    "tosa-to-vgf": lambda: _text(
        [*CONTROL_FLOW, *SIMPLIFY, *QUANTIZE, *SHORTEN, *LEGALIZE, *PARTITION, *MEMORY, *LOWER]
    ),
    "tosa-lower": lambda: _text(LOWER),
    "host-to-llvm": lambda: _text(HOST_TO_LLVM),
}
