"""Quantising PyTorch models with PT2E for what the compiler folds into integer TOSA.

    quantized = vgfc.quantize(model, [(image,) for image in images], "int8")
    program = vgfc.compile(quantized, (image,))

or, step by step, `prepare_pt2e(exported, VgfQuantizer().set_global(int8()))` of torchao.
"""

from vgfc.quantizer.accuracy import AccuracyReport, LayerAccuracy, layer_accuracy
from vgfc.quantizer.calibration import load_calibration, quantize
from vgfc.quantizer.configuration import (
    CONFIGURATIONS,
    QuantizationConfig,
    configuration,
    get_symmetric_a8w4_quantization_config,
    get_symmetric_a16w8_quantization_config,
    get_symmetric_quantization_config,
)
from vgfc.quantizer.quantizer import VgfQuantizer

__all__ = [
    "CONFIGURATIONS",
    "AccuracyReport",
    "LayerAccuracy",
    "QuantizationConfig",
    "VgfQuantizer",
    "configuration",
    "get_symmetric_a8w4_quantization_config",
    "get_symmetric_a16w8_quantization_config",
    "get_symmetric_quantization_config",
    "layer_accuracy",
    "load_calibration",
    "quantize",
]
