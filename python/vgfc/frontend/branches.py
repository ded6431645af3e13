"""torch.cond without branches: both sides are computed, and the predicate selects between their results.

A graph of TOSA 1.0's instruction set has no control flow, but the sides of torch.cond are pure functions of their operands, so
that computing the one that is not taken changes nothing: not even its NaN or infinity is seen by a selection.
"""

from __future__ import annotations

import copy
import operator
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Graph, GraphModule, Node

COND = torch.ops.higher_order.cond
WHERE = torch.ops.aten.where.self


def inline_branches(program: ExportedProgram) -> ExportedProgram:
    """The program with each torch.cond replaced; the program itself when it has none. The caller's is left as it is."""
    if not any(node.target is COND for node in program.graph.nodes):
        return program
    changed = copy.copy(program)
    changed._graph_module = copy.deepcopy(program.graph_module)
    changed._graph_signature = copy.deepcopy(program.graph_signature)
    for old, new in inline_in(changed.graph_module).items():
        changed.graph_signature.replace_all_uses(old, new)
    return changed


def inline_in(module: GraphModule) -> dict[str, str]:
    """Replace the torch.cond of a graph module, the ones inside their sides first; names of results that are now others."""
    graph = module.graph
    renamed: dict[str, str] = {}
    for node in [node for node in graph.nodes if node.target is COND]:
        predicate, true_node, false_node, *rest = node.args
        operands = rest[0] if rest else ()
        sides = [getattr(module, side.target) for side in (true_node, false_node)]
        for side in sides:
            inline_in(side)
        with graph.inserting_before(node):
            chosen = _selected(graph, node, predicate, [_copied(graph, side, operands) for side in sides])
        for user in list(node.users):
            assert user.target is operator.getitem, "torch.cond gives a tuple"
            user.replace_all_uses_with(chosen[user.args[1]])
            renamed[user.name] = chosen[user.args[1]].name
            graph.erase_node(user)
        graph.erase_node(node)
        for side in {true_node, false_node}:
            if not side.users:
                graph.erase_node(side)
    graph.lint()
    module.recompile()
    return renamed


def _copied(graph: Graph, side: GraphModule, operands: Any) -> list[Any]:
    """The results of a side's graph, copied to where nodes are inserted now."""
    values: dict[Node, Any] = {}
    placeholders = [node for node in side.graph.nodes if node.op == "placeholder"]
    values.update(zip(placeholders, operands, strict=True))
    for node in side.graph.nodes:
        if node.op == "output":
            results = node.args[0]
            found = results if isinstance(results, tuple | list) else (results,)
            return [values[item] if isinstance(item, Node) else item for item in found]
        if node.op != "placeholder":
            values[node] = graph.node_copy(node, lambda item: values[item])
    raise AssertionError("a graph ends in its output")


def _selected(graph: Graph, cond: Node, predicate: Any, sides: list[list[Any]]) -> list[Any]:
    if isinstance(predicate, bool):
        return sides[0] if predicate else sides[1]
    found = []
    for index, (if_true, if_false) in enumerate(zip(*sides, strict=True)):
        if if_true is if_false:
            found.append(if_true)
            continue
        made = graph.call_function(WHERE, (predicate, if_true, if_false))
        made.meta = {key: value for key, value in cond.meta.items() if key != "val"}
        made.meta["val"] = cond.meta["val"][index]
        found.append(made)
    return found
