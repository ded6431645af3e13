"""What PyTorch itself computes for a model: the results that every stage of a compilation is compared with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import ml_dtypes  # noqa: F401 - makes numpy know bfloat16 and the fp8 types by name
import numpy as np
import torch
import torch.fx
from torch.utils import _pytree as pytree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch.export import ExportedProgram

    from vgfc.runtime.reference import Trace

Array = np.ndarray[Any, Any]


def to_array(tensor: torch.Tensor) -> Array:
    """A tensor as a numpy array of the same type; bfloat16 becomes ml_dtypes' own."""
    plain = tensor.detach().cpu().contiguous()
    if plain.dtype == torch.bfloat16:
        return np.asarray(plain.view(torch.int16).numpy().view("bfloat16"))
    return np.asarray(plain.numpy())


def to_tensor(array: Array) -> torch.Tensor:
    """A numpy array as a tensor of the same type and shape."""
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(np.ascontiguousarray(array).view(np.int16)).reshape(array.shape).view(torch.bfloat16)
    return torch.from_numpy(np.ascontiguousarray(array)).reshape(array.shape)


def example_arrays(program: ExportedProgram) -> list[Array]:
    """The tensors that the program was exported with, flattened in order."""
    return [to_array(leaf) for leaf in pytree.tree_leaves(program.example_inputs) if isinstance(leaf, torch.Tensor)]


def results_of(module: Any, program: ExportedProgram, inputs: Sequence[Array]) -> list[Array]:
    """What `module` (the model itself, or the program's own module) gives for `inputs`, flattened in order.

    `inputs` take the places of the tensors among the inputs that the program was exported with; anything else there (a
    number, a flag) stays.
    """
    leaves, spec = pytree.tree_flatten(program.example_inputs)
    given = iter(inputs)
    leaves = [to_tensor(next(given)) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    arguments, keywords = pytree.tree_unflatten(leaves, spec)
    with torch.no_grad():
        found = module(*arguments, **keywords)
    return [to_array(leaf) for leaf in pytree.tree_leaves(found) if isinstance(leaf, torch.Tensor)]


FRAME = re.compile(r'File "([^"]+)", line (\d+)')


class _Recording(torch.fx.Interpreter):
    """Runs a graph and keeps what every node computes."""

    def __init__(self, module: torch.fx.GraphModule) -> None:
        super().__init__(module)
        self.found: list[tuple[torch.fx.Node, Array]] = []

    def run_node(self, n: torch.fx.Node) -> Any:
        result = super().run_node(n)
        if n.op in ("call_function", "call_module", "call_method") and isinstance(result, torch.Tensor):
            self.found.append((n, to_array(result)))
        return result


def trace_of(program: ExportedProgram, inputs: Sequence[Array]) -> Trace:
    """What every node of an exported program computes, in order; nodes stand where TOSA's traces have operations."""
    from torch_mlir import ir

    from vgfc.emit.tosa_flatbuffer import Watched
    from vgfc.runtime.reference import Trace

    module = program.module(check_guards=False)
    recording = _Recording(module)
    results_of(recording.run, program, inputs)
    values = []
    with ir.Context(), ir.Location.unknown():
        for node, array in recording.found:
            frames = FRAME.findall(node.meta.get("stack_trace") or "")
            location = ir.Location.file(frames[-1][0], int(frames[-1][1]), 0) if frames else ir.Location.name(node.name)
            operands = tuple(operand.name for operand in node.all_input_nodes)
            kind = ir.RankedTensorType.get([], ir.F32Type.get())  # nobody reads a type of PyTorch's in MLIR's words
            values.append((Watched(str(node.target), location, 0, kind, node.name, operands), array))
    output = next(node for node in module.graph.nodes if node.op == "output")
    results = [node.name for node in pytree.tree_leaves(output.args) if isinstance(node, torch.fx.Node)]
    return Trace(values, results)
