"""What a part of a model is quantised to: the types of its activations and weights, and who measures their ranges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torchao.quantization.pt2e.fake_quantize import FusedMovingAvgObsFakeQuantize
from torchao.quantization.pt2e.observer import (
    HistogramObserver,
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    PerChannelMinMaxObserver,
)
from torchao.quantization.pt2e.quantizer.quantizer import QuantizationSpec

from vgfc.diagnostics import CompileError

# The smallest scale that an observer may choose: keeps a channel of zeros from a scale of zero.
SMALLEST_SCALE = 2.0**-16


@dataclass(frozen=True)
class QuantizationConfig:
    """How activations and weights are quantised. Biases take the accumulator's scale, 32 bits wide."""

    name: str
    activation: QuantizationSpec
    weight: QuantizationSpec
    is_qat: bool = False


def get_symmetric_quantization_config(is_per_channel: bool = True, is_qat: bool = False) -> QuantizationConfig:
    """8-bit activations (asymmetric) and 8-bit weights (symmetric, a scale for each output channel unless told not to)."""
    name = "int8" if is_per_channel else "int8_per_tensor"
    return QuantizationConfig(name, _activation(torch.int8, is_qat), _weight(127, is_per_channel, is_qat), is_qat)


def get_symmetric_a16w8_quantization_config(is_per_channel: bool = True, is_qat: bool = False) -> QuantizationConfig:
    """16-bit activations (symmetric, as TOSA wants them) and 8-bit weights."""
    return QuantizationConfig("int16x8", _activation(torch.int16, is_qat), _weight(127, is_per_channel, is_qat), is_qat)


def get_symmetric_a8w4_quantization_config(is_per_channel: bool = True, is_qat: bool = False) -> QuantizationConfig:
    """8-bit activations and 4-bit weights of codes from -7 to 7: i4 where the target has int4, a byte each in a VGF."""
    return QuantizationConfig("int8x4", _activation(torch.int8, is_qat), _weight(7, is_per_channel, is_qat), is_qat)


CONFIGURATIONS: dict[str, Callable[..., QuantizationConfig]] = {
    "int8": get_symmetric_quantization_config,
    "int8_per_tensor": lambda is_qat=False: get_symmetric_quantization_config(False, is_qat),
    "int16x8": get_symmetric_a16w8_quantization_config,
    "int8x4": get_symmetric_a8w4_quantization_config,
}


def configuration(name: str | QuantizationConfig, is_qat: bool = False) -> QuantizationConfig:
    """The configuration of this name (a configuration stands for itself); raises CompileError for an unknown name."""
    if isinstance(name, QuantizationConfig):
        return name
    if name not in CONFIGURATIONS:
        raise CompileError(f"unknown quantisation '{name}', expected one of {', '.join(CONFIGURATIONS)}")
    return CONFIGURATIONS[name](is_qat=is_qat)


def _activation(dtype: torch.dtype, is_qat: bool) -> QuantizationSpec:
    wide = dtype == torch.int16
    low, high = (-32768, 32767) if wide else (-128, 127)
    scheme = torch.per_tensor_symmetric if wide else torch.per_tensor_affine
    observer: Any
    if is_qat:
        observer = FusedMovingAvgObsFakeQuantize.with_args(observer=MovingAverageMinMaxObserver, eps=SMALLEST_SCALE)
    elif wide:  # a histogram of 16-bit codes has nothing to win by cutting outliers off
        observer = MinMaxObserver.with_args(eps=SMALLEST_SCALE / 256)
    else:
        observer = HistogramObserver.with_args(eps=SMALLEST_SCALE)
    return QuantizationSpec(dtype, observer, low, high, scheme, is_dynamic=False)


def _weight(limit: int, is_per_channel: bool, is_qat: bool) -> QuantizationSpec:
    observer: Any
    if is_per_channel:
        observer = PerChannelMinMaxObserver.with_args(eps=SMALLEST_SCALE)
        if is_qat:
            observer = FusedMovingAvgObsFakeQuantize.with_args(
                observer=MovingAveragePerChannelMinMaxObserver, eps=SMALLEST_SCALE
            )
        return QuantizationSpec(torch.int8, observer, -limit, limit, torch.per_channel_symmetric, 0)
    observer = MinMaxObserver.with_args(eps=SMALLEST_SCALE)
    if is_qat:
        observer = FusedMovingAvgObsFakeQuantize.with_args(observer=MovingAverageMinMaxObserver, eps=SMALLEST_SCALE)
    return QuantizationSpec(torch.int8, observer, -limit, limit, torch.per_tensor_symmetric)
