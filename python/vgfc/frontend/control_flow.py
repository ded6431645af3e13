"""torch.cond without branches, and torch.while_loop without a loop where it is known how often it runs.

A graph of TOSA 1.0's instruction set has no control flow. The sides of torch.cond are pure functions of their operands, so
that computing the one that is not taken changes nothing: not even its NaN or infinity is seen by a selection. A loop whose
condition follows from constants through operators on integers and booleans, where every device agrees, becomes copies of its
body; any other is left as it is.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Mapping
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, InputSpec, TensorArgument
from torch.fx import Graph, GraphModule, Node

from vgfc.frontend.counting import evaluated, turns_of, value_of

COND = torch.ops.higher_order.cond
WHILE = torch.ops.higher_order.while_loop
WHERE = torch.ops.aten.where.self
MAX_COPIES = 1024  # operators that a loop may become


def without_control_flow(program: ExportedProgram) -> ExportedProgram:
    """The program with its branches and counted loops replaced; itself when it has none. The caller's is left as it is."""
    if not any(node.target in (COND, WHILE) for node in program.graph.nodes):
        return program
    changed = copy.copy(program)
    changed._graph_module = copy.deepcopy(program.graph_module)
    changed._graph_signature = copy.deepcopy(program.graph_signature)
    placeholders = {node.name: node for node in changed.graph.nodes if node.op == "placeholder"}
    constants = {
        placeholders[spec.arg.name]: program.constants[spec.target]
        for spec in changed.graph_signature.input_specs
        if spec.kind == InputKind.CONSTANT_TENSOR and spec.target in program.constants
    }
    for old, new in replace_in(changed.graph_module, constants).items():
        changed.graph_signature.replace_all_uses(old, new)
    _lift_constants(changed)
    return changed


def _lift_constants(program: ExportedProgram) -> None:
    """Make constants that were attributes of parts what an exported program has them as: inputs of a kind of their own."""
    graph, specs = program.graph, program.graph_signature.input_specs
    held = [node for node in graph.nodes if node.op == "get_attr"]
    held = [node for node in held if isinstance(getattr(program.graph_module, str(node.target)), torch.Tensor)]
    if not held:
        return
    program._constants = dict(program.constants)
    index = next((index for index, spec in enumerate(specs) if spec.kind == InputKind.USER_INPUT), len(specs))
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    following = placeholders[index] if index < len(placeholders) else next(iter(graph.nodes))
    for node in held:
        value = getattr(program.graph_module, str(node.target))
        with graph.inserting_before(following):
            lifted = graph.placeholder(f"c{node.target}")
        lifted.meta = node.meta | {"val": _fake(following, value)}
        specs.insert(index, InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(lifted.name), lifted.name))
        program.constants[lifted.name] = value
        node.replace_all_uses_with(lifted)
        graph.erase_node(node)
        index += 1
    for name in {str(node.target) for node in held}:
        delattr(program.graph_module, name)
    program.graph_module.recompile()


def _fake(node: Node, value: torch.Tensor) -> torch.Tensor:
    """The tensor without its values, as a graph's nodes describe theirs."""
    mode: Any = next(
        other.meta["val"].fake_mode for other in node.graph.nodes if hasattr(other.meta.get("val"), "fake_mode")
    )
    fake: torch.Tensor = mode.from_tensor(value, static_shapes=True)
    return fake


def replace_in(module: GraphModule, constants: Mapping[Node, Any]) -> dict[str, str]:
    """Replace what can be replaced in a graph module, the innermost first; names of results that are now others.

    `constants` are the values of those nodes that are known from the start.
    """
    graph = module.graph
    renamed: dict[str, str] = {}
    seen: set[Node] = set()
    while (node := next((node for node in graph.nodes if _is_control(node) and node not in seen), None)) is not None:
        seen.add(node)
        count = 3 if node.target is COND else 2
        parts = [part for part in node.args[:count] if isinstance(part, Node) and _is_part(module, part)]
        for part in parts:
            replace_in(getattr(module, str(part.target)), {})
        results = _selection(module, node) if node.target is COND else _unrolled(module, node, constants)
        if results is None:
            continue
        for user in list(node.users):
            assert user.target is operator.getitem, "control flow gives a tuple"
            index: Any = user.args[1]
            result = results[index]
            if isinstance(result, Node):
                renamed[user.name] = result.name
            user.replace_all_uses_with(result)
            graph.erase_node(user)
        graph.erase_node(node)
        for part in parts:
            if not part.users:
                graph.erase_node(part)
    kept = {node.target for node in graph.nodes if node.op == "get_attr"}
    for name, _ in list(module.named_children()):
        if name not in kept:
            delattr(module, name)
    graph.lint()
    module.recompile()
    return renamed


def _is_control(node: Node) -> bool:
    return node.target in (COND, WHILE)


def _is_part(module: GraphModule, node: Node) -> bool:
    return node.op == "get_attr" and isinstance(getattr(module, str(node.target)), GraphModule)


def _selection(module: GraphModule, node: Node) -> list[Any] | None:
    """The results of a torch.cond, both of its sides copied in front of it; None where a side has a loop."""
    arguments: list[Any] = list(node.args)
    predicate, if_true, if_false, *rest = arguments
    operands = rest[0] if rest else ()
    graphs = [getattr(module, side.target) for side in (if_true, if_false)]
    if not isinstance(predicate, bool) and any(_has_loop(graph) for graph in graphs):
        return None  # the loop of a side that is not taken need not end
    with module.graph.inserting_before(node):
        return _selected(module.graph, node, predicate, [_copied(module, graph, operands, {}) for graph in graphs])


def _has_loop(graph: GraphModule) -> bool:
    return any(
        node.target is WHILE for part in graph.modules() if isinstance(part, GraphModule) for node in part.graph.nodes
    )


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


def _unrolled(module: GraphModule, node: Node, constants: Mapping[Node, Any]) -> list[Any] | None:
    """The results of a loop, its body copied in front of it for each turn; None where the turns are not known."""
    operands: list[Any] = list(node.args)
    condition, body, carried, *rest = operands
    others = rest[0] if rest else ()
    goes_on, turn = (getattr(module, part.target) for part in (condition, body))
    known = evaluated(module, constants, until=node)
    values: list[Any] = [*carried, *others]
    kept = len(carried)
    cost = sum(inner.op == "call_function" for inner in turn.graph.nodes)
    turns = turns_of(goes_on, turn, [value_of(value, known) for value in values], kept, MAX_COPIES // max(cost, 1))
    if turns is None:
        return None
    with module.graph.inserting_before(node):
        for found in turns:
            values = _copied(module, turn, values, found) + values[kept:]
    return values[:kept]


def _adopted(module: GraphModule, name: str, value: Any) -> str:
    """The name under which a module holds the attribute of one of its parts."""
    free, number = name, 0
    while getattr(module, free, value) is not value:
        number += 1
        free = f"{name}_{number}"
    setattr(module, free, value)
    return free


def _copied(module: GraphModule, part: GraphModule, operands: Any, known: Mapping[Node, Any]) -> list[Any]:
    """The results of a part's graph, copied to where nodes are inserted now; plain numbers of `known` are written as such."""
    values: dict[Node, Any] = {}
    placeholders = [node for node in part.graph.nodes if node.op == "placeholder"]
    values.update(zip(placeholders, operands, strict=True))
    for node in part.graph.nodes:
        if node.op == "output":
            (returned,) = node.args
            found = returned if isinstance(returned, tuple | list) else (returned,)
            return [values[item] if isinstance(item, Node) else item for item in found]
        if node.op == "get_attr":
            values[node] = module.graph.get_attr(_adopted(module, node.target, getattr(part, node.target)))
            values[node].meta = dict(node.meta)
        elif node.op != "placeholder":
            number = known.get(node)
            is_number = isinstance(number, int)
            values[node] = number if is_number else module.graph.node_copy(node, lambda item: values[item])
    raise AssertionError("a graph ends in its output")
