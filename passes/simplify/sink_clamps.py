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

from vgfc.ir import create, defining, erase_unused, functions, has_one_use, operations, replace, size_bytes
from vgfc.passmanager import Pass, register

NAN_MODE = "nan_mode"


def same_nan_mode(first: ir.Operation, second: ir.Operation) -> bool:
    """Whether two operations treat NaN alike."""
    default = "#tosa.nan_mode<PROPAGATE>"
    modes = {str(op.attributes[NAN_MODE]) if NAN_MODE in op.attributes else default for op in (first, second)}
    return len(modes) == 1


def sink(pool: ir.Operation) -> None:
    """Move the clamp before a max pool behind it."""
    clamp = defining(pool.operands[0])
    if clamp is None or clamp.name != "tosa.clamp" or not has_one_use(clamp.result) or not same_nan_mode(clamp, pool):
        return
    if size_bytes(pool.result.type) >= size_bytes(clamp.result.type):
        return
    with ir.InsertionPoint(pool):
        with pool.location:
            pool_attributes = {name: pool.attributes[name] for name in pool.attributes}
            pooled = create("tosa.max_pool2d", pool.result.type, [clamp.operands[0]], pool_attributes)
        with clamp.location:
            clamp_attributes = {name: clamp.attributes[name] for name in clamp.attributes}
            clamped = create("tosa.clamp", pool.result.type, [pooled], clamp_attributes)
    replace(pool, clamped)


@register
@dataclass(frozen=True)
class SinkClamps(Pass):
    name = "vgf-sink-clamps"

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            for op in operations(function):
                if op.name == "tosa.max_pool2d":
                    sink(op)
            erase_unused(function)
