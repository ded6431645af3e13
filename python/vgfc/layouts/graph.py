"""A function as operators and the values between them, with transposes and reshapes dissolved into views."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc.ir import defining, int_list, nested, operations, shape, size_bytes
from vgfc.layouts.movable import Movable
from vgfc.layouts.operators import movable
from vgfc.views import View, identity, reshape, transpose

VIEW_OPS = ("tosa.transpose", "tosa.reshape")


@dataclass
class Use:
    """A node that reads a root value as its operand `index`, through a view."""

    node: Node
    index: int
    view: View


@dataclass
class Root:
    """A value that no view makes: an argument, or the result of an operator."""

    value: ir.Value
    node: Node | None
    size_bytes: int
    is_constant: bool
    uses: list[Use] = field(default_factory=list)
    written: dict[View, ir.Value] = field(default_factory=dict)  # the views of it that the function has already


@dataclass
class Node:
    """An operator and the label that it has now; `move` is None when it is bound to the arrangement it has."""

    op: ir.Operation
    move: Movable | None
    label: View | None
    operands: list[tuple[Root, View] | None] = field(default_factory=list)
    result: Root | None = None
    _operand_views: dict[tuple[int, View | None, View], View | None] = field(default_factory=dict)
    _result_views: dict[View, View | None] = field(default_factory=dict)

    def operand_view(self, index: int, label: View | None, view: View) -> View | None:
        """What a root has to look like for operand `index` under `label`, where `view` leads to the operand now."""
        key = (index, label, view)
        if key not in self._operand_views:
            self._operand_views[key] = self._operand_view(index, label, view)
        return self._operand_views[key]

    def _operand_view(self, index: int, label: View | None, view: View) -> View | None:
        if self.move is None or label is None or label.is_identity or index >= self.move.data_count:
            return view
        wanted = self.move.operand_view(index, label)
        return None if wanted is None else view.then(wanted)

    def result_view(self, label: View | None) -> View | None:
        """How the result comes out under `label`; None stands for as it is."""
        if self.move is None or label is None or label.is_identity:
            return None
        if label not in self._result_views:
            self._result_views[label] = self.move.result_view(label)
        return self._result_views[label]


class Graph:
    """One function as nodes and roots."""

    def __init__(self, function: func.FuncOp, exact: bool) -> None:
        self.exact = exact
        self.roots: list[Root] = []
        self.nodes: list[Node] = []
        self._seen: dict[ir.Value, tuple[Root, View]] = {}
        for argument in function.arguments:
            self._add_root(argument, None)
        bound = _read_in_regions(function)
        for op in operations(function):
            self._add(op, bound)
        self._add_node(function.entry_block.operations[len(function.entry_block.operations) - 1].operation, None)

    def view_of(self, value: ir.Value) -> View:
        """The view of its root that a value is."""
        return self._seen[value][1]

    def _add_root(self, value: ir.Value, node: Node | None) -> Root | None:
        if not isinstance(value.type, ir.RankedTensorType) or -1 in shape(value):
            return None
        owner = defining(value)
        is_constant = owner is not None and owner.name == "tosa.const"
        root = Root(value, node, size_bytes(value.type), is_constant)
        self.roots.append(root)
        self._seen[value] = (root, identity(shape(value)))
        root.written[identity(shape(value))] = value
        return root

    def _add(self, op: ir.Operation, bound: set[ir.Value]) -> None:
        if op.name in VIEW_OPS and op.operands[0] in self._seen and op.result not in bound:
            root, before = self._seen[op.operands[0]]
            source, target = shape(op.operands[0]), shape(op.result)
            if op.name == "tosa.transpose":
                step = transpose(source, int_list(op.attributes["perms"]))
            else:
                step = reshape(source, target)
            view = before.then(step)
            if view is not None:
                self._seen[op.result] = (root, view)
                root.written.setdefault(view, op.result)
                return
        move = movable(op, self.exact) if not any(result in bound for result in op.results) else None
        self._add_node(op, move)

    def _add_node(self, op: ir.Operation, move: Movable | None) -> None:
        node = Node(op, move, identity(move.frame) if move else None)
        self.nodes.append(node)
        for index, operand in enumerate(op.operands):
            found = self._seen.get(operand)
            node.operands.append(found)
            if found is not None:
                found[0].uses.append(Use(node, index, found[1]))
        if move is not None and any(found is None for found in node.operands[: move.data_count]):
            node.move = node.label = None
        for result in op.results:
            root = self._add_root(result, node)
            if len(op.results) == 1:
                node.result = root


def _read_in_regions(function: func.FuncOp) -> set[ir.Value]:
    """Values of the function's block that operations inside nested regions read; those stay what they are."""
    return {value for op in operations(function) for inner in nested(op) for value in inner.operands}
