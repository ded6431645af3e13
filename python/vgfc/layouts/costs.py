"""What an arrangement costs: operators first, bytes moved second."""

from __future__ import annotations

from collections.abc import Iterable

from vgfc.layouts.graph import Node, Root
from vgfc.minimum_cut import NEVER
from vgfc.views import View

OPERATOR_COST = 1 << 40  # one operator outweighs any number of bytes
AWKWARD_COST = 1 << 34  # a constant per channel that no convolution could take up outweighs bytes, but no operator

Labels = dict[int, View]


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


def label_of(node: Node, labels: Labels) -> View | None:
    return labels.get(id(node), node.label)


def _demands(root: Root, labels: Labels) -> set[View | None]:
    return {use.node.operand_view(use.index, label_of(use.node, labels), use.view) for use in root.uses}


def energy(roots: Iterable[Root], nodes: Iterable[Node], labels: Labels) -> int:
    total = 0
    for root in roots:
        produced = root.node.result_view(label_of(root.node, labels)) if root.node else None
        total += conversions_cost(root, produced, _demands(root, labels))
    return total + sum(own_cost(node, label_of(node, labels)) for node in nodes)


def own_cost(node: Node, label: View | None) -> int:
    if node.move is None or label is None:
        return 0
    return OPERATOR_COST * node.move.extra_operators(label) + AWKWARD_COST * node.move.has_inner_channels(label)
