"""vgf-plan-memory: give values between segments that are never needed at the same time one alias group.

The members of an alias group share memory from offset 0, so the group takes what its largest member does:

    %0 = call @segment_0(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @segment_1(%0) : (tensor<8xf32>) -> tensor<4xf32>
    %2 = call @segment_2(%1) : (tensor<4xf32>) -> tensor<8xf32>
    %3 = call @segment_3(%2) : (tensor<8xf32>) -> tensor<8xf32>
becomes
    %0 = call @segment_0(%x) {vgf.alias_groups = array<i64: 0>} : ...
    %1 = call @segment_1(%0) {vgf.alias_groups = array<i64: -1>} : ...
    %2 = call @segment_2(%1) {vgf.alias_groups = array<i64: 0>} : ...
    %3 = call @segment_3(%2) {vgf.alias_groups = array<i64: -1>} : ...

A call gets one number for each result, -1 for none: what the model returns, what crosses to another file or the host, and
what shares with nothing. `algorithm` is `best` (greedy plans improved, then an exact search, `steps` long), `size`, `breadth`
or `improved` (the greedy ones of Pisarchyk and Lee 2020), or `none`. `time-budget` ends the search after that many seconds, 0
for never; the plan then depends on the machine.

With `in-place` a segment may write a result over an operand that dies there, where the segment's last reader of the operand
comes before the result's writer. It is off by default: Vulkan lets a device run a graph's operators in any order that their
values allow.

Modules that are not cut into segments are left alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc.ir import entry, operations, read_values
from vgfc.memory import Described, entry_program
from vgfc.passmanager import Pass, PipelineError, register
from vgfc.planning import (
    Buffer,
    greedy_by_breadth,
    greedy_by_size,
    greedy_by_size_improved,
    live_ranges,
    plan_groups,
)
from vgfc.segments import ALIAS_GROUPS, function_of_call, is_outlined, symbols_of

GREEDY: dict[str, Callable[[Sequence[Buffer]], tuple[int, ...]]] = {
    "size": greedy_by_size,
    "breadth": greedy_by_breadth,
    "improved": greedy_by_size_improved,
}
ALGORITHMS = ("best", *GREEDY, "none")


def may_overwrite(callee: func.FuncOp, arguments: Sequence[ir.Value], result: int) -> bool:
    """Whether a segment has read these arguments for the last time before it writes a result."""
    written = list(callee.entry_block.operations)[-1].operands[result]
    for op in reversed(list(operations(callee))):
        reads = any(value in arguments for value in read_values(op))
        if reads or written in list(op.results):
            return not reads
    return False


def shortened(described: Described, symbols: dict[str, func.FuncOp]) -> dict[int, Buffer]:
    """Lifetimes in which an operand that its last segment may overwrite with a result ends before that segment."""
    buffers = live_ranges(described.program)
    number_of = {value: number for number, value in enumerate(described.values)}
    for instant, call in enumerate(described.operations):
        callee = function_of_call(call, symbols)
        if callee is None:
            continue
        results = described.program.instructions[instant].results
        written = [place for place, result in enumerate(results) if result in buffers]
        for value in dict.fromkeys(call.operands):
            buffer = buffers.get(number_of[value])
            if buffer is None or buffer.upper != instant + 1 or not written:
                continue
            arguments = [callee.arguments[place] for place, operand in enumerate(call.operands) if operand == value]
            if all(may_overwrite(callee, arguments, place) for place in written):
                buffers[number_of[value]] = replace(buffer, upper=instant)
    return buffers


@register
@dataclass(frozen=True)
class PlanMemory(Pass):
    name = "vgf-plan-memory"
    algorithm: str = "best"
    steps: int = 50_000
    time_budget: float = 0.0
    in_place: bool = False

    def run(self, module: ir.Module) -> None:
        if self.algorithm not in ALGORITHMS:
            known = ", ".join(ALGORITHMS)
            raise PipelineError(
                f"option 'algorithm' of pass '{self.name}': expected one of {known}, found '{self.algorithm}'"
            )
        function = entry(module)
        if function is None or not is_outlined(module):
            return
        symbols = symbols_of(module)
        described = entry_program(function, symbols)
        buffers = shortened(described, symbols) if self.in_place else live_ranges(described.program)
        planned = dict(zip(buffers, self.plan(list(buffers.values())), strict=True))
        members = list(planned.values())
        shared = {
            group: number for number, group in enumerate(g for g in dict.fromkeys(members) if members.count(g) > 1)
        }
        for call, instruction in zip(described.operations, described.program.instructions, strict=True):
            if len(call.results):
                groups = [shared.get(planned.get(value, -1), -1) for value in instruction.results[: len(call.results)]]
                call.attributes[ALIAS_GROUPS] = ir.DenseI64ArrayAttr.get(groups)

    def plan(self, buffers: list[Buffer]) -> tuple[int, ...]:
        if self.algorithm == "none":
            return tuple(range(len(buffers)))
        if self.algorithm == "best":
            return plan_groups(buffers, self.steps, self.time_budget or None).groups
        return GREEDY[self.algorithm](buffers)
