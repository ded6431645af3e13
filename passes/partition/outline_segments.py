"""vgf-outline-segments: the entry's operations move into private functions, one a segment, that the entry calls in order.

    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = tosa.abs %x {vgf.segment = "graph", vgf.segment_index = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
becomes
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = call @segment_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func private @segment_0(...) -> ... attributes {vgf.segment = "graph"} { ... }

A segment takes what it reads in the order in which it reads it, and gives what others read; each gets its own copy of the
constants that it reads. A constant that the entry returns comes from the last graph segment. Segments that nothing reads
go away. An entry that calls segments already is left alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc.diagnostics import fail
from vgfc.ir import defining, erase_unused, operations, redirect
from vgfc.passmanager import Pass, register
from vgfc.segments import (
    SEGMENT,
    SEGMENT_INDEX,
    SEGMENT_NAME,
    is_constant,
    is_outlined,
    partitioned_entry,
    string,
)

STATEFUL = ("tosa.variable", "tosa.variable_write")


@dataclass
class Outline:
    """One segment to be: its operations in order, what it reads from outside and what others read of it."""

    kind: str
    body: list[ir.Operation] = field(default_factory=list)
    inputs: list[ir.Value] = field(default_factory=list)
    outputs: list[ir.Value] = field(default_factory=list)


def outlines_of(function: func.FuncOp) -> list[Outline]:
    """The segments in dispatch order; raises PassFailure where marks are missing or a segment mixes kinds."""
    outlines: dict[int, Outline] = {}
    home: dict[ir.Operation, int] = {}
    for op in operations(function):
        if is_constant(op):
            continue
        kind = string(op, SEGMENT)
        if kind is None or SEGMENT_INDEX not in op.attributes:
            raise fail(
                op, f"expected {SEGMENT} and {SEGMENT_INDEX}, as vgf-mark-segments and vgf-form-segments write them"
            )
        index = ir.IntegerAttr(op.attributes[SEGMENT_INDEX]).value
        outline = outlines.setdefault(index, Outline(kind))
        if outline.kind != kind:
            raise fail(op, f"is of kind {kind} in segment {index}, whose other operations are of kind {outline.kind}")
        outline.body.append(op)
        home[op] = index
    for index, outline in outlines.items():
        _find_boundary(function, outline, index, home)
    ordered = [outlines[index] for index in sorted(outlines)]
    _add_returned_constants(function, ordered)
    return ordered


def _find_boundary(function: func.FuncOp, outline: Outline, index: int, home: dict[ir.Operation, int]) -> None:
    inputs: dict[ir.Value, None] = {}
    for op in outline.body:
        for value in values_from_outside(op):
            owner = defining(value)
            if owner is not None and is_constant(owner):
                continue
            source = None if owner is None else home[owner]
            if source is not None and source > index:
                raise fail(
                    op, f"is in segment {index} and reads '{owner.name if owner else ''}' of the later segment {source}"
                )
            if source != index:
                inputs[value] = None
        for value in op.results:
            readers = [outermost(use.owner.operation, function) for use in value.uses]
            # a shader writes all its results, read or not
            if outline.kind == "compute" or any(home.get(reader) != index for reader in readers):
                outline.outputs.append(value)
    outline.inputs = list(inputs)


def _add_returned_constants(function: func.FuncOp, outlines: list[Outline]) -> None:
    returned = list(function.entry_block.operations)[-1]
    for value in dict.fromkeys(returned.operands):
        owner = defining(value)
        if owner is None or not is_constant(owner):
            continue
        last = next((outline for outline in reversed(outlines) if outline.kind == "graph"), None)
        if last is None:
            last = Outline("graph")
            outlines.append(last)
        last.outputs.append(value)


def values_from_outside(op: ir.Operation) -> Iterator[ir.Value]:
    """What an operation and those in its regions read, values that its own regions make left out."""
    yield from op.operands
    inside = [inner.operation for region in op.regions for block in region.blocks for inner in list(block.operations)]
    for inner in inside:
        for value in values_from_outside(inner):
            if not _is_within(value, op):
                yield value


def _is_within(value: ir.Value, op: ir.Operation) -> bool:
    holder = value.owner.owner if isinstance(value.owner, ir.Block) else value.owner
    while holder is not None and holder.operation != op:
        holder = holder.operation.parent
    return holder is not None


def outermost(op: ir.Operation, function: func.FuncOp) -> ir.Operation:
    """The operation of the function's body that holds `op`, or is `op`."""
    while op.parent.operation != function.operation:
        op = op.parent.operation
    return op


def fill(segment: func.FuncOp, outline: Outline) -> None:
    """Move the outline's operations into the segment's function and end it."""
    block = segment.add_entry_block([value.location for value in outline.inputs])
    replacements: dict[ir.Value, ir.Value] = dict(zip(outline.inputs, block.arguments, strict=True))

    def copied(value: ir.Value) -> None:
        owner = defining(value)
        if owner is not None and is_constant(owner) and value not in replacements:
            replacements[value] = owner.clone(ip=ir.InsertionPoint(block)).result

    for op in outline.body:
        for value in values_from_outside(op):
            copied(value)
        redirect(op, replacements)
        for mark in (SEGMENT, SEGMENT_INDEX, SEGMENT_NAME):
            if mark in op.attributes:
                del op.attributes[mark]
        op.detach_from_parent()
        block.append(op)
    for value in outline.outputs:
        copied(value)
    with ir.InsertionPoint(block), segment.location:
        func.ReturnOp([replacements.get(value, value) for value in outline.outputs])


@register
@dataclass(frozen=True)
class OutlineSegments(Pass):
    name = "vgf-outline-segments"

    def run(self, module: ir.Module) -> None:
        if is_outlined(module):
            return
        function = partitioned_entry(module)
        erase_unused(function, lambda op: op.name not in STATEFUL)
        outlines = outlines_of(function)
        returned = list(function.entry_block.operations)[-1]
        produced: dict[ir.Value, ir.Value] = {}
        previous = function.operation
        for index, outline in enumerate(outlines):
            kinds = [value.type for value in outline.inputs], [value.type for value in outline.outputs]
            where = outline.body[0].location if outline.body else function.location
            with ir.InsertionPoint.at_block_begin(module.body), where:
                segment = func.FuncOp(f"segment_{index}", kinds, visibility="private")
                segment.attributes[SEGMENT] = ir.StringAttr.get(outline.kind)
            segment.move_after(previous)
            previous = segment.operation
            fill(segment, outline)
            with ir.InsertionPoint(returned), where:
                inputs = [produced.get(value, value) for value in outline.inputs]
                call = func.CallOp(kinds[1], segment.name.value, inputs)
            produced.update(zip(outline.outputs, call.results, strict=True))
        redirect(returned.operation, produced)
        for op in reversed(list(operations(function))):
            if is_constant(op):
                op.erase()
