"""A function rewritten to the arrangements that its operators have been given."""

from __future__ import annotations

from collections.abc import Iterable

from torch_mlir import ir

from vgfc import build
from vgfc.ir import defining, shape
from vgfc.layouts.graph import Graph, Node, Root
from vgfc.layouts.operators import rearranged_constant
from vgfc.views import Shape, View, identity, reshape, transpose


class Rewriter:
    """Writes a labelled graph back into its function."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.values: dict[int, ir.Value] = {id(root): root.value for root in graph.roots}
        # For each root the arrangements that there are of it so far, as views of it as it was.
        self.known: dict[int, dict[View, ir.Value]] = {
            id(root): {identity(shape(root.value)): root.value} for root in graph.roots
        }

    def run(self) -> None:
        """Rewrite the function in place."""
        for node in self.graph.nodes:
            moved = node.label is not None and not node.label.is_identity
            if moved or any(self._reads_otherwise(node, index) for index in range(len(node.operands))):
                self._rewrite(node, moved)

    def _reads_otherwise(self, node: Node, index: int) -> bool:
        """Whether an operand has to be another value than it is: it is read through a view, or its maker is replaced."""
        found = node.operands[index]
        return found is not None and node.op.operands[index] != self.values[id(found[0])]

    def _rewrite(self, node: Node, moved: bool) -> None:
        op = node.op
        with ir.InsertionPoint(op), op.location:
            operands = []
            for index, found in enumerate(node.operands):
                if found is None:
                    operands.append(op.operands[index])
                    continue
                root, view = found
                if root.is_constant and (node.move is None or index >= node.move.data_count):
                    operands.append(op.operands[index])
                    continue
                wanted = node.operand_view(index, node.label, view)
                assert wanted is not None
                operands.append(self._convert(root, wanted, op))
            if not moved:
                for index, operand in enumerate(operands):
                    op.operands[index] = operand
                return
            assert node.move is not None and node.label is not None and node.result is not None
            value = node.move.rebuild(operands[: node.move.data_count], node.label)
            produced = node.result_view(node.label)
            assert produced is not None
            self.values[id(node.result)] = value
            self.known[id(node.result)] = {produced: value}

    def _convert(self, root: Root, wanted: View, reader: ir.Operation) -> ir.Value:
        """A root in the arrangement `wanted`, at the insertion point before `reader`."""
        known = self.known[id(root)]
        if wanted in known:
            return known[wanted]
        if root.is_constant:
            known[wanted] = self._constant(root, wanted)
            return known[wanted]
        written = self._written_before(root, wanted, reader)
        ways = [(view.inverse().then(wanted), view) for view in known]
        cost, _, steps, start = min(
            (view.cost, index, view.steps(), before) for index, (view, before) in enumerate(ways) if view is not None
        )
        if written is not None and len(written) <= cost:
            for view, value in written:
                known.setdefault(view, value)
        else:
            self._write(root, start, steps)
        return known[wanted]

    def _written_before(self, root: Root, wanted: View, reader: ir.Operation) -> list[tuple[View, ir.Value]] | None:
        """The views that lead to `wanted` in the function as it is, without those in use; None if it has none in time."""
        if self.values[id(root)] != root.value or wanted not in root.written:
            return None
        chain: list[tuple[View, ir.Value]] = []
        value = root.written[wanted]
        while value != root.value:
            view = self.graph.view_of(value)
            if view in self.known[id(root)] and self.known[id(root)][view] == value:
                break
            owner = defining(value)
            if owner is None or not owner.is_before_in_block(reader):
                return None
            chain.append((view, value))
            value = owner.operands[0]
        return chain

    def _constant(self, root: Root, wanted: View) -> ir.Value:
        owner = defining(root.value)
        assert owner is not None
        attribute = owner.attributes["values"]
        assert isinstance(attribute, ir.DenseElementsAttr)
        return rearranged_constant(attribute, wanted)

    def _write(self, root: Root, start: View, steps: Iterable[tuple[str, Shape]]) -> None:
        """Write transposes and reshapes, and keep each result for others to start from."""
        known = self.known[id(root)]
        view, value = start, known[start]
        for kind, numbers in steps:
            if kind == "transpose":
                value, step = build.transpose(value, numbers), transpose(view.target, numbers)
            else:
                value, step = build.reshape(value, numbers), reshape(view.target, numbers)
            after = view.then(step)
            assert after is not None
            view = after
            known[view] = value
