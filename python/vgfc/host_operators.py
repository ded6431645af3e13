"""Torch operators that the host runs where no graph can: each is lowered by torch-mlir to linalg, and tested against PyTorch.

Only operators of this table are taken: upstream's lowerings of some others give other numbers than PyTorch without a word.
"""

from __future__ import annotations

HOST_OPERATORS = frozenset(
    {
        "torch.aten.sort",
        "torch.aten.scatter_add",
        "torch.aten.max_pool2d_with_indices",
    }
)
