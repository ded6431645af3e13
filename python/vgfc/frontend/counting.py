"""How often a torch.while_loop runs: what follows from constants through integers and booleans, where every device agrees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node

MAX_COUNTED_ELEMENTS = 4096  # larger tensors count no turns, and cost time to evaluate

Known = dict[Node, Any]


def turns_of(
    goes_on: GraphModule, turn: GraphModule, values: Sequence[Any], carried: int, most: int
) -> list[Known] | None:
    """What is known in each turn of a loop, None where their number is not known or more than `most`.

    `values` are those of the loop's operands, None for what is not known; the first `carried` of them change.
    """
    arrays, found = list(values), list[Known]()
    while True:
        (again,) = _results(goes_on, evaluated(goes_on, _bound(goes_on, arrays)))
        if again is None:
            return None
        if not bool(again):
            return found
        if len(found) == most:
            return None
        found.append(evaluated(turn, _bound(turn, arrays)))
        arrays = _results(turn, found[-1]) + arrays[carried:]


def value_of(item: Any, known: Mapping[Node, Any]) -> Any:
    """The value of an operand: a node's where it is known, any other operand itself."""
    return known.get(item) if isinstance(item, Node) else item


def _bound(module: GraphModule, arrays: Sequence[Any]) -> Known:
    """What is known of a graph's inputs."""
    placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
    return {node: array for node, array in zip(placeholders, arrays, strict=True) if array is not None}


def _results(module: GraphModule, known: Known) -> list[Any]:
    """The values that a graph returns, None for each that is not known."""
    (returned,) = module.graph.output_node().args
    return [value_of(item, known) for item in (returned if isinstance(returned, tuple | list) else (returned,))]


def evaluated(module: GraphModule, constants: Mapping[Node, Any], until: Node | None = None) -> Known:
    """What follows from `constants` in a graph, through integers and booleans alone."""
    known: Known = {node: value for node, value in constants.items() if _counts(value)}
    for node in module.graph.nodes:
        if node is until:
            break
        if node.op == "get_attr":  # parameters are operands of a part, so that what it holds itself is a constant
            value = getattr(module, str(node.target), None)
            if isinstance(value, torch.Tensor) and _counts(value):
                known[node] = value
        if node.op != "call_function" or isinstance(node.target, torch._ops.HigherOrderOperator):
            continue
        if any(argument not in known for argument in node.all_input_nodes) or not _counts(node.meta.get("val")):
            continue
        if writes(node):
            return {}  # to what others may read as well
        positional, keywords = torch.fx.node.map_arg((node.args, node.kwargs), lambda item: known[item])
        known[node] = node.target(*positional, **keywords)
    return known


def writes(node: Node) -> bool:
    """Whether an operator changes the values of an operand."""
    schema = getattr(node.target, "_schema", None)
    return schema is not None and schema.is_mutable and node.target is not torch.ops.aten.detach_.default


def _counts(value: Any) -> bool:
    """Whether a value, or what a node makes, can take part in counting turns."""
    if isinstance(value, torch.Tensor):
        return not value.is_floating_point() and not value.is_complex() and value.numel() <= MAX_COUNTED_ELEMENTS
    return isinstance(value, int | torch.SymInt | torch.SymBool)
