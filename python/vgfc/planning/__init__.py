"""Memory planning on plain data: how many bytes values need, where they go, and in which order to make them.

Nothing here knows MLIR. Two descriptions go in: buffers (a size and a lifetime each) or a program (values with sizes,
instructions that read and write them, from which `live_ranges` makes buffers). Plans come out, each with a lower bound, and are
`optimal` where the two meet:

    program = Program(sizes_bytes, instructions)     # 0 bytes: stored elsewhere (graph input or output, constant)
    better = schedule(program)                       # better.order, .cost_bytes, .lower_bound_bytes, .optimal
    better = schedule(program, session_bytes)        # the same for what the runtime will take
    program = program.reordered(better.order)

    buffers = list(live_ranges(program).values())    # or read_csv(path), or Buffer(name, lower, upper, size_bytes)
    arena = plan_offsets(buffers, alignment_bytes=64)  # arena.offsets_bytes, .height_bytes
    alias = plan_groups(buffers)                     # alias.groups, .sizes_bytes, .total_bytes
    session = plan_session(program)                  # what the emulation layer makes of it: .offsets_bytes, .size_bytes

    check_order(program, order), check_offsets(...), check_groups(...)   # faults in words, [] when right

Lifetimes are half-open: instruction i runs in instant i, a value is live from the one that writes it up to and including the
last that reads it, `[writer, last reader + 1)`. An operator that may overwrite its operand is described by ending the operand's
lifetime at the operator instead of after it.

Every planner takes `steps`, the work it may do, and `seconds`. Steps alone give the same plan on every machine; seconds do not.

The modules: `buffers` (lifetimes, bounds, CSV), `program`, `greedy_offsets`, `exact_offsets` (one capacity: a plan or a proof),
`offsets` (the portfolio), `greedy_groups`, `exact_groups`, `groups` (the portfolio), `exact_order`, `order` (the portfolio),
`runtime_model`, `checker`, `budget`.
"""

from vgfc.planning.budget import Budget
from vgfc.planning.buffers import (
    Buffer,
    largest_live_sum_bytes,
    peak,
    positional_maxima_bytes,
    read_csv,
)
from vgfc.planning.checker import check_groups, check_offsets, check_order
from vgfc.planning.exact_offsets import Fit, fit_offsets
from vgfc.planning.greedy_groups import (
    greedy_by_breadth,
    greedy_by_size,
    greedy_by_size_improved,
    group_sizes_bytes,
)
from vgfc.planning.groups import GroupPlan, plan_groups
from vgfc.planning.offsets import OffsetPlan, plan_offsets
from vgfc.planning.order import Schedule, schedule
from vgfc.planning.program import Instruction, Program, footprints_bytes, live_ranges, peak_bytes
from vgfc.planning.runtime_model import Session, plan_session, segment_program, session_buffers, session_bytes

__all__ = [
    "Budget",
    "Buffer",
    "Fit",
    "GroupPlan",
    "Instruction",
    "OffsetPlan",
    "Program",
    "Schedule",
    "Session",
    "check_groups",
    "check_offsets",
    "check_order",
    "fit_offsets",
    "footprints_bytes",
    "greedy_by_breadth",
    "greedy_by_size",
    "greedy_by_size_improved",
    "group_sizes_bytes",
    "largest_live_sum_bytes",
    "live_ranges",
    "peak",
    "peak_bytes",
    "plan_groups",
    "plan_offsets",
    "plan_session",
    "positional_maxima_bytes",
    "read_csv",
    "schedule",
    "segment_program",
    "session_buffers",
    "session_bytes",
]
