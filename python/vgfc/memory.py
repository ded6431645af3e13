"""A module's operators and segments as the programs that `vgfc.planning` orders and places.

Two programs describe a module: inside a graph segment, operators make values of the runtime's session; in the entry, segments
make what lies between them. Values that lie elsewhere (arguments, results, constants) have size 0 there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc.ir import operations, read_values, segment_kind, shape, size_bytes
from vgfc.planning import Instruction, Program
from vgfc.segments import function_of_call, is_constant

# The graphs of a VGF have no 48 and no 4 bit integers: such values are there as 64 and 8 bit ones.
WIDENED_BYTES = {"i48": 8, "i4": 1}
# Operators that stay in the order in which they are, whatever they read.
ORDERED = ("tosa.variable", "tosa.custom", "tosa.assert_equal_shape")


@dataclass(frozen=True)
class Described:
    """A program and what it is about: `operations[i]` is instruction i, `values[v]` is value v.

    Values past the end of `values` keep operations with effects in their order.
    """

    program: Program
    operations: tuple[ir.Operation, ...]
    values: tuple[ir.Value, ...]


def device_bytes(kind: ir.Type) -> int:
    """The bytes that a value of this type takes in a session; 0 for what is no tensor (a shape)."""
    if not isinstance(kind, ir.RankedTensorType):
        return 0
    widened = WIDENED_BYTES.get(str(kind.element_type))
    if widened is None:
        return size_bytes(kind)
    count = widened
    for extent in shape(kind):
        count *= extent
    return count


def segment_program(function: func.FuncOp) -> Described:
    """A segment's operators, constants left out; what the runtime's session holds has its size."""
    body = [op for op in operations(function) if not is_constant(op)]
    returned = set(list(function.entry_block.operations)[-1].operands)
    sized = {value for op in body for value in op.results if value not in returned}
    ordered = {op for op in body if op.name.startswith(ORDERED)}
    return _described(function, body, {value: device_bytes(value.type) for value in sized}, ordered)


def entry_program(function: func.FuncOp, symbols: dict[str, func.FuncOp]) -> Described:
    """The calls of a partitioned entry; what lies between the segments of one file has its size.

    What goes into or out of a host segment is an input or output of a file, so lies elsewhere.
    """
    calls = list(operations(function))
    runs = file_numbers(calls, symbols)
    run_of = dict(zip(calls, runs, strict=True))
    sizes = {}
    for call, run in run_of.items():
        for value in call.results:
            readers = [use.owner.operation for use in value.uses]
            inside = run is not None and all(run_of.get(reader) == run for reader in readers)
            sizes[value] = device_bytes(value.type) if inside else 0
    ordered = {call for call in calls if _keeps_state(call, symbols)}
    return _described(function, calls, sizes, ordered)


def file_numbers(calls: Sequence[ir.Operation], symbols: dict[str, func.FuncOp]) -> list[int | None]:
    """The number of the file that each call's segment is in, in dispatch order; None for one that the host runs."""
    numbers: list[int | None] = []
    files, is_open = 0, False
    for call in calls:
        callee = function_of_call(call, symbols)
        on_host = callee is None or segment_kind(callee) == "host"
        if not on_host and not is_open:
            files += 1
        is_open = not on_host
        numbers.append(None if on_host else files - 1)
    return numbers


def reorder(function: func.FuncOp, described: Described, order: Sequence[int]) -> None:
    """Put a function's operations into another order (indices of `described.operations`), constants first."""
    last = list(function.entry_block.operations)[-1]
    for index in order:
        described.operations[index].move_before(last)


def _keeps_state(call: ir.Operation, symbols: dict[str, func.FuncOp]) -> bool:
    callee = function_of_call(call, symbols)
    return callee is None or any(op.name.startswith("tosa.variable") for op in operations(callee))


def _described(
    function: func.FuncOp, body: list[ir.Operation], sizes_bytes: dict[ir.Value, int], ordered: set[ir.Operation]
) -> Described:
    number_of: dict[ir.Value, int] = {}
    for value in (*function.arguments, *(result for op in body for result in op.results)):
        number_of[value] = len(number_of)
    sizes = [sizes_bytes.get(value, 0) for value in number_of]
    instructions = []
    turn: int | None = None
    for op in body:
        operands = [number_of[value] for value in read_values(op) if value in number_of]
        results = [number_of[value] for value in op.results]
        if op in ordered:
            operands += [] if turn is None else [turn]
            turn = len(sizes)
            sizes.append(0)
            results.append(turn)
        instructions.append(Instruction(tuple(dict.fromkeys(operands)), tuple(results)))
    return Described(Program(tuple(sizes), tuple(instructions)), tuple(body), tuple(number_of))
