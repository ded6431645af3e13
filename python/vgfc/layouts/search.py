"""Which operators should change their arrangement.

For each view that is left somewhere, the operators around it that would have to change over for it to go away are proposed,
and a minimum cut chooses among them.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable

from vgfc.ir import shape
from vgfc.layouts.costs import Labels, conversion_cost, energy, own_cost
from vgfc.layouts.graph import Graph, Node, Root
from vgfc.minimum_cut import NEVER, TwoStates
from vgfc.views import View, identity

MAX_REACH = 256  # operators that one question is about; keeps the time linear in the size of the function


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
        if node.move is not None and own_cost(node, node.label):
            yield node, identity(node.move.frame)


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
        model.add_cost(item, 0, own_cost(node, node.label))
        model.add_cost(item, 1, own_cost(node, label))
    for root in roots.values():
        if not root.is_constant:
            _add_root_costs(model, root, candidates, items)
    chosen = model.solve()
    labels = {key: candidates[key][1] for (key, item) in items.items() if chosen[item - 2]}
    if not labels:
        return {}, 0
    nodes = [node for node, _ in candidates.values()]
    return labels, energy(roots.values(), nodes, {}) - energy(roots.values(), nodes, labels)


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
