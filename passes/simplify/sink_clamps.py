"""vgf-sink-clamps: clamp after a max pool instead of before it, where there is less to clamp and to keep.

    %1 = tosa.clamp %x {min_val = 0.0, max_val = inf}
    %2 = tosa.max_pool2d %1 {...}          // reads as a clamp of max_pool2d %x

A clamp is monotonic, so that it commutes with taking the largest value; both carry NaN or both ignore it. It moves only
when nothing else reads the clamped value and when the pool makes fewer elements of it.

Invalid input: none, what does not fit stays.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir

from vgfc import build
from vgfc.ir import attributes_of, defining, has_one_use, nan_mode, replace, rewrite_each, size_bytes
from vgfc.passmanager import Pass, register


def sink(pool: ir.Operation) -> None:
    """Move the clamp before a max pool behind it."""
    clamp = defining(pool.operands[0])
    if clamp is None or clamp.name != "tosa.clamp" or not has_one_use(clamp.result):
        return
    if nan_mode(clamp) != nan_mode(pool):
        return
    if size_bytes(pool.result.type) >= size_bytes(clamp.result.type):
        return
    with ir.InsertionPoint(pool):
        with pool.location:
            pooled = build.operation(pool.name, pool.result.type, [clamp.operands[0]], attributes_of(pool))
        with clamp.location:
            clamped = build.operation(clamp.name, pool.result.type, [pooled], attributes_of(clamp))
    replace(pool, clamped)


@register
@dataclass(frozen=True)
class SinkClamps(Pass):
    name = "vgf-sink-clamps"

    def run(self, module: ir.Module) -> None:
        rewrite_each(module, ("tosa.max_pool2d",), sink)
