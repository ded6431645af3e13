"""Rewrites of an exported program or graph before it is annotated."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Graph, GraphModule, Node

from vgfc.frontend.counting import writes
from vgfc.quantizer.operators import MOVES, WEIGHTED, operator_name

ATTENTION = torch.ops.aten.scaled_dot_product_attention.default
BATCH_NORM = torch.ops.aten._native_batch_norm_legit_no_training.default


def shared_write(graph: Graph) -> Node | None:
    """The first operator that writes to a tensor which others read as well, by itself or as a view; None without one.

    Quantisation puts copies between such a view and its tensor, so that the write would be lost.
    """
    nodes: list[Node] = list(graph.nodes)
    for node in nodes:
        if not writes(node):
            continue
        written = node.args[0]
        assert isinstance(written, Node), "what is written to is a tensor"
        is_view = written.op == "placeholder" or operator_name(written) in MOVES
        if is_view or any(user > node for user in written.users):
            return node
    return None


def without_shared_writes(program: ExportedProgram) -> ExportedProgram:
    """The program in functional form where it writes to tensors that others read, itself where it does not.

    PyTorch's functionalisation makes operators of several results of inference batch norms, which are no tensors to be
    quantised; they are put back.
    """
    if shared_write(program.graph) is None:
        return program
    program = program.run_decompositions({})
    for node in list(program.graph.nodes):
        if node.target is not BATCH_NORM or any(user.args[1] != 0 for user in node.users):
            continue
        value, weight, bias, mean, variance, momentum, epsilon = node.args
        arguments = (value, weight, bias, mean, variance, False, momentum, epsilon, True)
        with program.graph.inserting_before(node):
            norm = program.graph.call_function(torch.ops.aten.batch_norm.default, arguments)
        norm.meta.update({key: entry for key, entry in node.meta.items() if key != "val"}, val=node.meta["val"][0])
        for user in list(node.users):
            user.replace_all_uses_with(norm)
            program.graph.erase_node(user)
        program.graph.erase_node(node)
    program.graph_module.recompile()
    return program


def fold_parameters(model: GraphModule) -> None:
    """Compute the weights of convolutions and batch norms that the graph computes from constants, such as weight norms.

    PT2E folds batch norms into convolutions where it finds their numbers, and fails where it finds operators.
    """
    written = {node.args[0] for node in model.graph.nodes if writes(node)}
    for node in list(model.graph.nodes):
        name = operator_name(node)
        if name not in WEIGHTED and "batch_norm" not in name:
            continue
        computed = [
            argument for argument in node.args[1:5] if isinstance(argument, Node) and argument.op == "call_function"
        ]
        for argument in dict.fromkeys(computed):
            value = _value(model, argument, written)
            if value is None:
                continue
            target = f"folded_{argument.name}"
            model.register_parameter(target, torch.nn.Parameter(value, requires_grad=False))
            with model.graph.inserting_before(argument):
                folded = model.graph.get_attr(target)
            folded.meta = dict(argument.meta)
            argument.replace_all_uses_with(folded)
    model.graph.eliminate_dead_code()
    model.recompile()


def _value(model: GraphModule, node: Node, written: set[Any]) -> Any:
    """What a node gives where it only depends on constants that nothing writes to, None elsewhere."""
    if node in written or writes(node):
        return None
    if node.op == "get_attr":
        return operator.attrgetter(str(node.target))(model)
    if node.op != "call_function" or not node.all_input_nodes:
        return None
    values = {argument: _value(model, argument, written) for argument in node.all_input_nodes}
    if any(value is None for value in values.values()):
        return None
    positional, keywords = torch.fx.node.map_arg((node.args, node.kwargs), lambda argument: values[argument])
    with torch.no_grad():
        return node.target(*positional, **keywords)  # type: ignore[operator]


def decompose_attention(model: GraphModule, is_wanted: Callable[[Node], bool]) -> GraphModule:
    """Scaled dot product attention as matmul, scale, mask, softmax and matmul, as PyTorch's documentation defines it.

    Attention with dropout stays as it is; so does what `is_wanted` rejects. Changes and returns `model`.
    """
    for node in list(model.graph.nodes):
        if node.op == "call_function" and node.target == ATTENTION and is_wanted(node):
            _decompose(model, node)
    model.graph.lint()
    model.recompile()
    return model


def _decompose(model: GraphModule, node: Node) -> None:
    names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa")
    defaults: tuple[Any, ...] = (None, None, None, None, 0.0, False, None, False)
    given = dict(zip(names, defaults, strict=True)) | dict(zip(names, node.args, strict=False)) | dict(node.kwargs)
    if given["dropout_p"]:
        return
    query, key, value, mask = (given[name] for name in names[:4])
    width = query.meta["val"].shape[-1]
    scale = 1 / math.sqrt(width) if given["scale"] is None else given["scale"]
    aten = torch.ops.aten

    def call(target: Any, *arguments: Any) -> Node:
        with model.graph.inserting_before(node):
            made = model.graph.call_function(target, arguments)
        made.meta.update({name: entry for name, entry in node.meta.items() if name not in ("val", "tensor_meta")})
        fakes = [argument.meta["val"] if isinstance(argument, Node) else argument for argument in arguments]
        with query.meta["val"].fake_mode:
            made.meta["val"] = target(*fakes)
        return made

    if given["enable_gqa"]:
        repeats = query.meta["val"].shape[-3] // key.meta["val"].shape[-3]
        key, value = (call(aten.repeat_interleave.self_int, operand, repeats, -3) for operand in (key, value))
    scores = call(aten.matmul.default, query, call(aten.transpose.int, key, -2, -1))
    scores = call(aten.mul.Tensor, scores, scale)
    if given["is_causal"]:
        rows, columns = scores.meta["val"].shape[-2:]
        name = f"_causal_mask_{node.name}"
        values = torch.zeros(rows, columns).masked_fill(torch.ones(rows, columns, dtype=torch.bool).triu(1), -math.inf)
        model.register_buffer(name, values)
        with model.graph.inserting_before(node):
            mask = model.graph.get_attr(name)
        mask.meta["val"] = query.meta["val"].fake_mode.from_tensor(values)
    if mask is not None:
        if mask.meta["val"].dtype == torch.bool:
            scores = call(aten.masked_fill.Scalar, scores, call(aten.logical_not.default, mask), -math.inf)
        else:
            scores = call(aten.add.Tensor, scores, mask)
    weights = call(aten.softmax.int, scores, -1)
    result = call(aten.matmul.default, weights, value)
    node.replace_all_uses_with(result)
    model.graph.erase_node(node)
