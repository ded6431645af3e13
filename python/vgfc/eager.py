"""What PyTorch itself computes for a model: the results that every stage of a compilation is compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes  # noqa: F401 - makes numpy know bfloat16 and the fp8 types by name
import numpy as np
import torch
from torch.utils import _pytree as pytree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch.export import ExportedProgram

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
