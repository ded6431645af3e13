"""Tensors of the model and arrays of the file: what stands between the two, as a `Port` says."""

from __future__ import annotations

import sys
from typing import Any

import ml_dtypes  # noqa: F401 - makes numpy know bfloat16 and the fp8 types by name
import numpy as np
from numpy.typing import NDArray

from vgfc.diagnostics import CompileError
from vgfc.interface import Port

Array = NDArray[Any]


def to_file(port: Port, value: Any) -> Array:
    """What the file takes for a tensor of the model: narrowed with its range checked, quantised as PyTorch does, reshaped.

    A quantised port takes the integer codes as well. Raises CompileError for another shape or type, and for values that
    the file's type cannot hold.
    """
    array = to_numpy(value)
    allowed = {port.dtype, port.file_dtype} if port.scale is not None else {port.dtype}
    if array.shape != port.shape or array.dtype.name not in allowed:
        found = f"{array.dtype.name}{list(array.shape)}"
        raise CompileError(f"input '{port.name}': expected {port.dtype}{list(port.shape)}, found {found}")
    wanted = np.dtype(port.file_dtype)
    if port.scale is not None and array.dtype != wanted:
        limits = np.iinfo(wanted)
        codes = np.rint(array.astype(np.float32) * np.float32(1.0 / port.scale)) + (port.zero_point or 0)
        array = np.clip(codes, limits.min, limits.max).astype(wanted)
    elif array.dtype != wanted and wanted.kind in "iu" and array.dtype.kind in "iu":
        limits = np.iinfo(wanted)
        if array.size and (array.min() < limits.min or array.max() > limits.max):
            found = f"[{array.min()}, {array.max()}]"
            raise CompileError(f"input '{port.name}': expected values of {wanted.name}, found values in {found}")
    return np.ascontiguousarray(array.astype(wanted, copy=False)).reshape(port.file_shape)


def from_file(port: Port, values: Array) -> Array:
    """The model's own tensor behind what the file gave: dequantised, widened, reshaped."""
    if port.scale is not None and port.dtype != port.file_dtype:
        values = (values.astype(np.int32) - (port.zero_point or 0)).astype(np.float32) * np.float32(port.scale)
    return values.reshape(port.shape).astype(np.dtype(port.dtype), copy=False)


def is_torch(value: Any) -> bool:
    """Whether a value is a tensor of PyTorch; does not import it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def to_numpy(value: Any) -> Array:
    """A tensor of PyTorch, or what numpy takes, as an array."""
    if not is_torch(value):
        return np.asarray(value)
    import torch

    tensor = value.detach().cpu().contiguous()
    if tensor.dtype == torch.bfloat16:
        raw: Array = tensor.view(torch.int16).numpy()
        return raw.view("bfloat16")
    array: Array = tensor.numpy()
    return array


def to_torch(value: Array) -> Any:
    """An array as a tensor of PyTorch."""
    import torch

    if value.dtype.name == "bfloat16":
        return torch.from_numpy(value.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(np.ascontiguousarray(value)).reshape(
        value.shape
    )  # ascontiguousarray makes a scalar a vector
