"""vgf-check-memory: see that the alias groups of a module are right; it changes nothing.

The members of a group share memory, so no two may be needed at the same time, and none may be what the model takes or gives or
what crosses to another file. What a segment reads and what it writes are needed at the same time:

    %0 = call @segment_0(%x) {vgf.alias_groups = array<i64: 0>} : ...
    %1 = call @segment_1(%x) {vgf.alias_groups = array<i64: 0>} : ...
    %2 = call @segment_2(%0, %1) ...        // error: ... shares alias group 0 with ..., which is still needed

It reads calls and attributes alone and shares no code with what made the plan. With `in-place` an operand may share with a
result of the segment that reads it last, if no operator from the one that makes the result on reads the operand.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc.diagnostics import fail
from vgfc.ir import defining, entry, functions, int_list, operations
from vgfc.passmanager import Pass, register
from vgfc.segments import ALIAS_GROUPS, is_outlined


@dataclass(frozen=True)
class Member:
    """A result of a call in an alias group: needed from its call to that of its last reader, as places in the entry."""

    value: ir.Value
    index: int
    made: int
    last_read: int


def members_of(calls: list[ir.Operation], host: set[int]) -> dict[int, list[Member]]:
    """The groups' members in order; raises PassFailure for a list of groups that does not fit its call."""
    place = {call: number for number, call in enumerate(calls)}
    groups: dict[int, list[Member]] = {}
    for number, call in enumerate(calls):
        if ALIAS_GROUPS not in call.attributes:
            continue
        found = int_list(call.attributes[ALIAS_GROUPS])
        if len(found) != len(call.results):
            raise fail(call, f"has {len(found)} alias groups for {len(call.results)} results, expected one for each")
        for index, (group, value) in enumerate(zip(found, call.results, strict=True)):
            if group < -1:
                raise fail(call, f"has alias group {group}, expected -1 for none or a number from 0 on")
            if group == -1:
                continue
            readers = [place.get(use.owner.operation) for use in value.uses]
            if None in readers:
                raise fail(call, f"result {index} is in alias group {group}, but the model returns it")
            last_read = max((reader for reader in readers if reader is not None), default=number)
            if host & set(range(number, last_read + 1)):
                raise fail(call, f"result {index} is in alias group {group}, but crosses to another file")
            groups.setdefault(group, []).append(Member(value, index, number, last_read))
    return groups


def overwrites_too_soon(call: ir.Operation, callee: func.FuncOp, operand: ir.Value, result: int) -> bool:
    """Whether a segment writes its result before, or while, it reads the operand for the last time."""
    body = list(operations(callee))
    arguments = [callee.arguments[index] for index, value in enumerate(call.operands) if value == operand]
    written = list(callee.entry_block.operations)[-1].operands[result]
    writer = defining(written)
    reads = [number for number, op in enumerate(body) if any(value in arguments for value in op.operands)]
    return writer is None or max(reads, default=-1) >= body.index(writer)


@register
@dataclass(frozen=True)
class CheckMemory(Pass):
    name = "vgf-check-memory"
    in_place: bool = False

    def run(self, module: ir.Module) -> None:
        function = entry(module)
        if function is None or not is_outlined(module):
            return
        callees = {item.name.value: item for item in functions(module)}
        calls = list(operations(function))
        names = [ir.FlatSymbolRefAttr(call.attributes["callee"]).value for call in calls]
        kinds = [ir.StringAttr(callees[name].attributes["vgf.segment"]).value for name in names]
        host = {number for number, kind in enumerate(kinds) if kind == "host"}
        for group, members in members_of(calls, host).items():
            for number, later in enumerate(members):
                for earlier in members[:number]:
                    if earlier.last_read < later.made:
                        continue
                    if self.in_place and earlier.last_read == later.made and earlier.made < later.made:
                        callee = callees[names[later.made]]
                        if not overwrites_too_soon(calls[later.made], callee, earlier.value, later.index):
                            continue
                    other = f"result {earlier.index} of @{names[earlier.made]}"
                    raise fail(
                        calls[later.made],
                        f"result {later.index} shares alias group {group} with {other}, which is still needed "
                        f"by @{names[earlier.last_read]}",
                    )
