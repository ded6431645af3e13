"""vgf-schedule: put the operators of each graph segment, and the segments, into an order that needs less memory.

The order of the instructions decides what lives together: what is large should be reduced before other branches begin.
Where an order is changed, constants come first, as they take nothing:

    %0 = tosa.tile %x ... : tensor<1x32x32x4xf32>        // 16 kB wait while the next operator runs
    %1 = tosa.exp %x : tensor<1x2x2x4xf32>
    %2 = tosa.reduce_max %0 {axis = 1 : i32} : tensor<1x1x32x4xf32>
becomes
    %0 = tosa.tile %x ... : tensor<1x32x32x4xf32>
    %2 = tosa.reduce_max %0 {axis = 1 : i32} : tensor<1x1x32x4xf32>
    %1 = tosa.exp %x : tensor<1x2x2x4xf32>

`objective=session` counts what the runtime will take (`vgfc.planning.runtime_model`) and, between segments, alias groups;
`objective=peak` the most bytes live at once, which is what an engine with an arena of its own needs. No order costs more
than the one that was there, and of equally good ones that one stays. `steps` bounds the search, so that the result does not
depend on the machine. Segments that the host runs stay where they cut the program into files; operators with effects keep
their order.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc.ir import entry, functions, segment_kind
from vgfc.memory import entry_program, file_numbers, reorder, segment_program
from vgfc.passmanager import Pass, PipelineError, register
from vgfc.planning import (
    Program,
    greedy_by_size_improved,
    group_sizes_bytes,
    live_ranges,
    peak_bytes,
    schedule,
    session_bytes,
)
from vgfc.segments import is_outlined, symbols_of


def group_bytes(program: Program) -> int:
    """What a program's values take in alias groups, each as large as its largest."""
    buffers = list(live_ranges(program).values())
    return sum(group_sizes_bytes(buffers, greedy_by_size_improved(buffers)))


OBJECTIVES: dict[str, tuple[Callable[[Program], int], Callable[[Program], int]]] = {
    "session": (session_bytes, group_bytes),
    "peak": (peak_bytes, peak_bytes),
}


@register
@dataclass(frozen=True)
class Schedule(Pass):
    name = "vgf-schedule"
    objective: str = "session"
    steps: int = 20_000

    def run(self, module: ir.Module) -> None:
        if self.objective not in OBJECTIVES:
            known = " or ".join(OBJECTIVES)
            raise PipelineError(f"option 'objective' of pass '{self.name}': expected {known}, found '{self.objective}'")
        for function in functions(module):
            if segment_kind(function) == "graph":
                described = segment_program(function)
                found = schedule(described.program, OBJECTIVES[self.objective][0], self.steps)
                if found.order != tuple(range(len(found.order))):
                    reorder(function, described, found.order)
        function = entry(module)
        if function is not None and is_outlined(module):
            self.order_segments(function, symbols_of(module))

    def order_segments(self, function: func.FuncOp, symbols: dict[str, func.FuncOp]) -> None:
        described = entry_program(function, symbols)
        found = schedule(described.program, OBJECTIVES[self.objective][1], self.steps)
        calls = [described.operations[index] for index in found.order]
        # Sizes hold for the files as they are: an order that moves a segment into another file is none.
        files = dict(zip(described.operations, file_numbers(described.operations, symbols), strict=True))
        if calls != list(described.operations) and [files[call] for call in calls] == file_numbers(calls, symbols):
            reorder(function, described, found.order)
