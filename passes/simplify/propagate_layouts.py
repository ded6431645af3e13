"""vgf-propagate-layouts: choose the arrangement that every operator works in, so that few transposes and reshapes are left.

PyTorch is NCHW and TOSA's convolutions are NHWC; linear layers, attention heads and flattening reshape in between. All
chains of transpose and reshape are dissolved into views (`vgfc.views`), and every operator that can work in another
arrangement (`vgfc.tosa_layout`) is free to. For each view that is left somewhere, the pass asks which set of operators
should change over for it to go away, and answers by a minimum cut over the whole function, costs being operators first
and bytes moved second; it stops when no view has an answer that lowers the total. Where an operator stays, the shortest
chain is written: at most reshape, transpose, reshape.

    %1 = tosa.transpose %conv {perms = array<i32: 0, 3, 1, 2>}
    %2 = tosa.clamp %1                                            // reads as clamp %conv
    %3 = tosa.transpose %2 {perms = array<i32: 0, 2, 3, 1>}

Arguments and results keep their types; constants are rearranged at compile time. A pointwise convolution between two
reshapes may come out as a matmul, where that is fewer operators.

Invalid input: none, operators that it does not know keep the arrangement they have.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc import build
from vgfc.ir import defining, erase_unused, functions, int_list, operations, shape, size_bytes
from vgfc.minimum_cut import NEVER, TwoStates
from vgfc.passmanager import EXACT, Pass, register
from vgfc.tosa_layout import Movable, movable, rearranged_constant
from vgfc.views import Shape, View, identity, reshape, transpose

OPERATOR_COST = 1 << 40  # one operator outweighs any number of bytes
AWKWARD_COST = 1 << 34  # a constant per channel that no convolution could take up outweighs bytes, but no operator
MAX_REACH = 256  # operators that one question is about; keeps the time linear in the size of the function
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
    found: set[ir.Value] = set()

    def visit(op: ir.Operation) -> None:
        for region in op.regions:
            for block in region.blocks:
                for inner in block.operations:
                    found.update(inner.operation.operands)
                    visit(inner.operation)

    for op in operations(function):
        visit(op)
    return found


# Costs


def conversion(produced: View | None, wanted: View) -> View | None:
    """From a root as it is produced to it as it is wanted; None when no chain of views leads there."""
    return wanted if produced is None else produced.inverse().then(wanted)


def conversion_cost(root: Root, produced: View | None, wanted: View | None) -> int:
    """The cost of one conversion of a root, alone."""
    if wanted is None:
        return NEVER
    if root.is_constant:
        return 0
    view = conversion(produced, wanted)
    return NEVER if view is None else view_cost(view, root.size_bytes)


def view_cost(view: View, size_bytes: int) -> int:
    """The cost of the operators that a view of a tensor takes."""
    return sum(OPERATOR_COST + size_bytes * (2 if kind == "transpose" else 1) for kind, _ in view.steps())


def conversions_cost(root: Root, produced: View | None, wanted: set[View | None]) -> int:
    """The cost of several conversions of a root, each made from the nearest one that there is."""
    costs = sorted((conversion_cost(root, produced, view), index, view) for index, view in enumerate(wanted))
    total = 0
    made: list[View] = []
    for alone, _, view in costs:
        if alone in (0, NEVER) or view is None:
            total += alone
            continue
        others = [other.inverse().then(view) for other in made]
        total += min([alone, *(view_cost(other, root.size_bytes) for other in others if other is not None)])
        made.append(view)
    return total


Labels = dict[int, View]


def _label(node: Node, labels: Labels) -> View | None:
    return labels.get(id(node), node.label)


def _demands(root: Root, labels: Labels) -> set[View | None]:
    return {use.node.operand_view(use.index, _label(use.node, labels), use.view) for use in root.uses}


def _energy(roots: Iterable[Root], nodes: Iterable[Node], labels: Labels) -> int:
    total = 0
    for root in roots:
        produced = root.node.result_view(_label(root.node, labels)) if root.node else None
        total += conversions_cost(root, produced, _demands(root, labels))
    return total + sum(_own_cost(node, _label(node, labels)) for node in nodes)


def _own_cost(node: Node, label: View | None) -> int:
    if node.move is None or label is None:
        return 0
    return OPERATOR_COST * node.move.extra_operators(label) + AWKWARD_COST * node.move.has_inner_channels(label)


# Moves


def proposals(node: Node, label: View) -> dict[int, tuple[Node, View]]:
    """The labels that the operators around `node` would need for no view to be between them, if `node` took `label`."""
    found = {id(node): (node, label)}
    queue = deque([node])
    while queue and len(found) < MAX_REACH:
        current = queue.popleft()
        own = found[id(current)][1]
        for other, other_label in _wanted_around(current, own):
            if id(other) not in found and other_label != other.label:
                found[id(other)] = (other, other_label)
                queue.append(other)
    return found


def _wanted_around(node: Node, label: View) -> Iterable[tuple[Node, View]]:
    assert node.move is not None
    for index in range(node.move.data_count):
        found = node.operands[index]
        assert found is not None
        root, view = found
        wanted = node.operand_view(index, label, view)
        if wanted is not None:
            if root.node is not None and root.node.move is not None:
                yield from _first_allowed(root.node, root.node.move.labels_for_result(wanted))
            yield from _for_uses(root, wanted, node)
    if node.result is not None:
        produced = node.result_view(label) or identity(shape(node.result.value))
        yield from _for_uses(node.result, produced, None)


def _for_uses(root: Root, produced: View, but: Node | None) -> Iterable[tuple[Node, View]]:
    for use in root.uses:
        move = use.node.move
        if use.node is but or move is None or use.index >= move.data_count:
            continue
        view = use.view.inverse().then(produced)
        if view is not None:
            yield from _first_allowed(use.node, move.labels_for_operand(use.index, view))


def _first_allowed(node: Node, labels: list[View]) -> Iterable[tuple[Node, View]]:
    for label in labels:
        if _allowed(node, label):
            yield node, label
            return


def _allowed(node: Node, label: View) -> bool:
    move = node.move
    assert move is not None
    return label.is_identity or (
        move.allows(label) and all(move.operand_view(index, label) is not None for index in range(move.data_count))
    )


def choose(candidates: dict[int, tuple[Node, View]]) -> tuple[Labels, int]:
    """Which candidates should take their proposed label, and by how much that lowers the cost."""
    model = TwoStates()
    items = {key: model.add_item() for key in candidates}
    roots: dict[int, Root] = {}
    for node, label in candidates.values():
        for found in node.operands:
            if found is not None:
                roots[id(found[0])] = found[0]
        if node.result is not None:
            roots[id(node.result)] = node.result
        item = items[id(node)]
        model.add_cost(item, 0, _own_cost(node, node.label))
        model.add_cost(item, 1, _own_cost(node, label))
    for root in roots.values():
        if not root.is_constant:
            _add_root_costs(model, root, candidates, items)
    chosen = model.solve()
    labels = {key: candidates[key][1] for (key, item) in items.items() if chosen[item - 2]}
    if not labels:
        return {}, 0
    nodes = [node for node, _ in candidates.values()]
    return labels, _energy(roots.values(), nodes, {}) - _energy(roots.values(), nodes, labels)


def _add_root_costs(
    model: TwoStates, root: Root, candidates: dict[int, tuple[Node, View]], items: dict[int, int]
) -> None:
    """The cost of a root's conversions as costs of items; each distinct demand is paid once, whoever shares it."""
    producer = root.node
    item = items.get(id(producer)) if producer is not None else None
    produced: list[View | None] = [None, None]
    if producer is not None:
        produced[0] = producer.result_view(producer.label)
        produced[1] = producer.result_view(candidates[id(producer)][1]) if item is not None else produced[0]
    always: set[View | None] = set()
    when: dict[tuple[View | None, int], list[int]] = defaultdict(list)
    for use in root.uses:
        wanted = use.node.operand_view(use.index, use.node.label, use.view)
        user = items.get(id(use.node))
        if user is None:
            always.add(wanted)
            continue
        changed = use.node.operand_view(use.index, candidates[id(use.node)][1], use.view)
        if changed == wanted:
            always.add(wanted)
        else:
            when[wanted, 0].append(user)
            when[changed, 1].append(user)
    for wanted in always:
        if item is None:
            break
        for state in (0, 1):
            model.add_cost(item, state, conversion_cost(root, produced[state], wanted))
    for (wanted, state), users in when.items():
        if wanted in always:
            continue
        costs = [conversion_cost(root, view, wanted) for view in produced]
        any_user = model.add_item()
        for user in users:
            if state:
                model.add_pair_cost(any_user, user, NEVER)
            else:
                model.add_pair_cost(user, any_user, NEVER)
        if item is None:
            model.add_cost(any_user, state, costs[0])
            continue
        # The demand exists when any_user is in `state`. The part of the cost that both states of the producer share hangs
        # on it alone; the rest is a pair cost where the cut can express one, and left out where it cannot: `choose`
        # compares real costs in the end.
        model.add_cost(any_user, state, min(costs))
        if state and costs[0] > costs[1]:
            model.add_pair_cost(item, any_user, costs[0] - costs[1])
        if not state and costs[1] > costs[0]:
            model.add_pair_cost(any_user, item, costs[1] - costs[0])


def seeds(root: Root) -> Iterable[tuple[Node, View]]:
    """Labels of single operators that make one view at `root` go away."""
    produced = root.node.result_view(root.node.label) if root.node else None
    for use in list(root.uses):
        wanted = use.node.operand_view(use.index, use.node.label, use.view)
        if wanted is None or conversion_cost(root, produced, wanted) == 0:
            continue
        move = use.node.move
        if move is not None and use.index < move.data_count:
            arrangement = produced or identity(shape(root.value))
            view = use.view.inverse().then(arrangement)
            if view is not None:
                yield from _first_allowed(use.node, move.labels_for_operand(use.index, view))
        if root.node is not None and root.node.move is not None:
            yield from _first_allowed(root.node, root.node.move.labels_for_result(wanted))


def improve(graph: Graph) -> None:
    """Change labels as long as that lowers the cost."""
    by_id = {id(node): node for node in graph.nodes}
    failed: dict[tuple[int, View], dict[int, View]] = {}  # seed to the labels that were proposed in vain
    improved = True
    while improved:
        improved = False
        for node, label in _all_seeds(graph):
            if label == node.label or (id(node), label) in failed:
                continue
            candidates = proposals(node, label)
            tried = {key: new for key, (_, new) in candidates.items()}
            labels, gain = ({}, 0) if tried in failed.values() else choose(candidates)
            if gain <= 0:
                failed[id(node), label] = tried
                continue
            improved = True
            for key, new in labels.items():
                by_id[key].label = new
            changed = {id(near) for key in labels for near in _neighbours(by_id[key])}
            failed = {seed: before for seed, before in failed.items() if changed.isdisjoint(before)}


def _neighbours(node: Node) -> Iterable[Node]:
    """The node and those that share a value with it."""
    yield node
    roots = [found[0] for found in node.operands if found is not None]
    for root in [*roots, *([node.result] if node.result is not None else [])]:
        if root.is_constant:
            continue
        if root.node is not None:
            yield root.node
        for use in root.uses:
            yield use.node


def _all_seeds(graph: Graph) -> Iterable[tuple[Node, View]]:
    for root in graph.roots:
        if not root.is_constant:
            yield from list(seeds(root))
    for node in graph.nodes:
        if node.move is not None and _own_cost(node, node.label):
            yield node, identity(node.move.frame)


# Rewriting


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


@register
@dataclass(frozen=True)
class PropagateLayouts(Pass):
    name = "vgf-propagate-layouts"

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            graph = Graph(function, EXACT in module.operation.attributes)
            improve(graph)
            Rewriter(graph).run()
            erase_unused(function)
