"""Session memory of a graph segment as the ML emulation layer plans it.

Written from reading `graph/interval_memory_planner.cpp` and `graph/graph_ext_inst_context.cpp` of Arm's
ai-ml-emulation-layer-for-vulkan (version 0.10.0 and the sources of August 2026), whose behaviour this predicts:

- The result of every operator is a tensor of the session, unless it is a graph output. Graph inputs, outputs and constants
  are elsewhere.
- Every size is rounded up to the largest alignment of the session's tensors. Mesa's CPU driver, lavapipe, asks for 64 bytes.
- A tensor is live from the first to the last operator that touches it, both included. Operators count in the order of the
  SPIR-V instructions. A CONCAT is one dispatch per operand, which changes nothing here: nothing begins between them.
- Tensors are placed as they begin, of those that begin together the larger first. The smallest free block that is large enough
  is taken and what is left over of it stays free; neighbouring free blocks are never merged. Without such a block the
  session grows.
"""

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass

from vgfc.planning.buffers import Buffer, aligned
from vgfc.planning.program import Instruction, Program, lifetimes, live_ranges

ALIGNMENT_BYTES = 64


@dataclass(frozen=True)
class Session:
    """Where the runtime puts each value of the session (value -> offset) and how many bytes the session takes."""

    offsets_bytes: dict[int, int]
    size_bytes: int


def plan_session(program: Program, alignment_bytes: int = ALIGNMENT_BYTES) -> Session:
    """The plan the runtime makes for the instructions in this order; values with size 0 are not in the session.

    Values count as made in the order of their numbers; that decides between equal blocks, so offsets but never the size.
    """
    waiting = [
        (lower, -aligned(program.sizes_bytes[value], alignment_bytes), value, upper)
        for value, (lower, upper) in lifetimes(program).items()
    ]
    waiting.sort()
    offsets: dict[int, int] = {}
    live: list[tuple[int, int, int, int]] = []  # upper, value, offset, size; the soonest to end first
    free: list[tuple[int, int, int]] = []  # size, age, offset; the smallest first
    freed = 0
    top = 0
    for lower, negative_size, value, upper in waiting:
        size = -negative_size
        while live and live[0][0] <= lower:
            _, _, offset, block = live.pop(0)
            insort(free, (block, freed, offset))
            freed += 1
        place = bisect_left(free, (size, 0, 0))
        if place < len(free):
            block, age, offset = free.pop(place)
            if block > size:
                insort(free, (block - size, age, offset + size))
        else:
            offset = top
            top += size
        offsets[value] = offset
        insort(live, (upper, value, offset, size))
    return Session(offsets, top)


def session_bytes(program: Program, alignment_bytes: int = ALIGNMENT_BYTES) -> int:
    """Bytes of the session the runtime makes for the instructions in this order."""
    return plan_session(program, alignment_bytes).size_bytes


def segment_program(sizes_bytes: Sequence[int], touched: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Program:
    """A program from plain lists: size of every value (0 if outside the session), (operands, results) of every operator."""
    return Program(
        tuple(sizes_bytes),
        tuple(Instruction(tuple(operands), tuple(results)) for operands, results in touched),
    )


def session_buffers(program: Program, alignment_bytes: int = ALIGNMENT_BYTES) -> dict[int, Buffer]:
    """Lifetimes of the session's values with their sizes as the runtime rounds them, for bounds and reports."""
    return {
        value: Buffer(buffer.name, buffer.lower, buffer.upper, aligned(buffer.size_bytes, alignment_bytes))
        for value, buffer in live_ranges(program).items()
    }
