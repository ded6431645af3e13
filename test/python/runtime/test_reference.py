"""The TOSA reference model in process: every element type goes in and comes out, segments are expanded, refusals are words."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from torch_mlir import ir

from vgfc.diagnostics import CompileError
from vgfc.dialect import make_context
from vgfc.runtime.reference import UnpredictableError, run_reference

CONVOLUTION = """
func.func @main(%x: tensor<1x1x4x{in}>) -> tensor<1x2x2x1x{out}> {{
  %shape = tosa.const_shape {{values = dense<[1, 2, 2, 1]> : tensor<4xindex>}} : () -> !tosa.shape<4>
  %y = tosa.reshape %x, %shape : (tensor<1x1x4x{in}>, !tosa.shape<4>) -> tensor<1x2x2x1x{in}>
  %w = "tosa.const"() {{values = dense<-7> : tensor<1x1x1x1x{weight}>}} : () -> tensor<1x1x1x1x{weight}>
  %b = "tosa.const"() {{values = dense<{bias}> : tensor<1x{out}>}} : () -> tensor<1x{out}>
  %zx = "tosa.const"() {{values = dense<0> : tensor<1x{in}>}} : () -> tensor<1x{in}>
  %zw = "tosa.const"() {{values = dense<0> : tensor<1x{weight}>}} : () -> tensor<1x{weight}>
  %0 = tosa.conv2d %y, %w, %b, %zx, %zw {{acc_type = {out}, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>,
    dilation = array<i64: 1, 1>}} : (tensor<1x2x2x1x{in}>, tensor<1x1x1x1x{weight}>, tensor<1x{out}>, tensor<1x{in}>,
    tensor<1x{weight}>) -> tensor<1x2x2x1x{out}>
  return %0 : tensor<1x2x2x1x{out}>
}}
"""


def run(text: str, *inputs: np.ndarray) -> list[np.ndarray]:
    return run_reference(ir.Module.parse(text, make_context()), inputs)


@pytest.mark.parametrize(
    ("element", "dtype"),
    [("f32", np.float32), ("f16", np.float16), ("bf16", ml_dtypes.bfloat16), ("i32", np.int32)],
)
def test_element_types_of_arithmetic(element: str, dtype: type) -> None:
    text = f"""
    func.func @main(%a: tensor<3x{element}>) -> tensor<3x{element}> {{
      %0 = tosa.add %a, %a : (tensor<3x{element}>, tensor<3x{element}>) -> tensor<3x{element}>
      return %0 : tensor<3x{element}>
    }}"""
    (result,) = run(text, np.array([1, -2, 3], dtype))
    assert result.dtype == dtype
    assert result.tolist() == [2, -4, 6]


@pytest.mark.parametrize(
    ("element", "dtype"),
    [("i8", np.int8), ("i16", np.int16), ("i1", np.bool_), ("f8E4M3FN", ml_dtypes.float8_e4m3fn)],
)
def test_element_types_that_are_only_moved(element: str, dtype: type) -> None:
    text = f"""
    func.func @main(%a: tensor<3x{element}>) -> tensor<3x{element}> {{
      %0 = tosa.reverse %a {{axis = 0 : i32}} : (tensor<3x{element}>) -> tensor<3x{element}>
      return %0 : tensor<3x{element}>
    }}"""
    (result,) = run(text, np.array([1, 0, 0]).astype(dtype))
    assert result.dtype == dtype
    assert result.astype(np.float32).tolist() == [0, 0, 1]


def test_i48_accumulators_come_out_whole() -> None:
    values = np.array([1, -1, 30000, -30000], np.int16).reshape(1, 1, 4)
    text = CONVOLUTION.format(**{"in": "i16", "weight": "i8", "out": "i48", "bias": 1 << 40})
    (result,) = run(text, values)
    assert result.dtype == np.int64
    assert result.reshape(-1).tolist() == [(1 << 40) - 7 * int(value) for value in values.reshape(-1)]


def test_i4_weights() -> None:
    values = np.array([1, -1, 5, -6], np.int8).reshape(1, 1, 4)
    (result,) = run(CONVOLUTION.format(**{"in": "i8", "weight": "i4", "out": "i32", "bias": 3}), values)
    assert result.reshape(-1).tolist() == [3 - 7 * int(value) for value in values.reshape(-1)]


def test_an_i4_of_minus_8_is_refused() -> None:
    # the reference model would read the whole tensor as zeros
    text = CONVOLUTION.format(**{"in": "i8", "weight": "i4", "out": "i32", "bias": 3}).replace("dense<-7>", "dense<-8>")
    with pytest.raises(CompileError, match="expected i4 values from -7 to 7, found -8 to -8"):
        run(text, np.zeros((1, 1, 4), np.int8))


def test_calls_of_segments_are_expanded() -> None:
    text = """
    func.func @main(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %0:2 = call @first(%a) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
      %1 = call @second(%0#1) : (tensor<2xf32>) -> tensor<2xf32>
      return %1, %0#0 : tensor<2xf32>, tensor<2xf32>
    }
    func.func private @first(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) attributes {vgf.segment = "graph"} {
      %0 = tosa.abs %a : (tensor<2xf32>) -> tensor<2xf32>
      %1 = tosa.sub %a, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      return %0, %1 : tensor<2xf32>, tensor<2xf32>
    }
    func.func private @second(%a: tensor<2xf32>) -> tensor<2xf32> attributes {vgf.segment = "host"} {
      %0 = tosa.exp %a : (tensor<2xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }"""
    exponential, absolute = run(text, np.array([1, -2], np.float32))
    assert absolute.tolist() == [1, 2]
    np.testing.assert_allclose(exponential, np.exp([0, -4]).astype(np.float32), rtol=1e-6)


QUANTIZED = """
func.func @main(%a: tensor<64x2xf32>) -> (tensor<64x2xi8>, tensor<64x2xf32>) {{
  %0 = "vgf.quantize"(%a) {{{attributes}}} : (tensor<64x2xf32>) -> tensor<64x2xi8>
  %1 = "vgf.dequantize"(%0) {{{attributes}}} : (tensor<64x2xi8>) -> tensor<64x2xf32>
  return %0, %1 : tensor<64x2xi8>, tensor<64x2xf32>
}}"""


@pytest.mark.parametrize(("axis", "scales", "zero_points"), [(-1, [0.1], [3]), (1, [0.1, 0.013], [3, -7])])
def test_quantize_and_dequantize_are_what_pytorch_computes(
    axis: int, scales: list[float], zero_points: list[int]
) -> None:
    import torch.ao.quantization.fx._decomposed as decomposed  # defines the operators

    if axis == 1:  # PyTorch keeps scales of channels in float32, the one of a tensor as Python's float
        scales = np.float32(scales).astype(np.float64).tolist()
    attributes = (
        f"scales = dense<{scales}> : tensor<{len(scales)}xf64>, zero_points = dense<{zero_points}> : "
        f"tensor<{len(scales)}xi64>, axis = {axis} : i64, quant_min = -128 : i64, quant_max = 127 : i64"
    )
    values = np.random.default_rng(0).normal(0, 4, (64, 2)).astype(np.float32)
    values[:4] = [[0.05, 0.0065], [0.15, -0.0065], [1e30, -1e30], [np.inf, -np.inf]]
    codes, floats = run(QUANTIZED.format(attributes=attributes), values)
    torch = decomposed.torch
    limits = (-128, 127, torch.int8)
    if axis == 1:
        of_channels = (torch.tensor(scales, dtype=torch.float32), torch.tensor(zero_points), axis, *limits)
        wanted = decomposed.quantize_per_channel(torch.tensor(values), *of_channels)
        back = decomposed.dequantize_per_channel(wanted, *of_channels)
    else:
        of_tensor = (scales[0], zero_points[0], *limits)
        wanted = decomposed.quantize_per_tensor(torch.tensor(values), *of_tensor)
        back = decomposed.dequantize_per_tensor(wanted, *of_tensor)
    np.testing.assert_array_equal(codes, wanted.numpy())
    np.testing.assert_array_equal(floats, back.numpy())


def test_inputs_that_do_not_fit_are_named() -> None:
    text = "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }"
    with pytest.raises(CompileError, match=r"input 0: expected float32 of shape \[2\], found float64 of shape \[3\]"):
        run(text, np.zeros(3))
    with pytest.raises(CompileError, match="expected 1 inputs, found 0"):
        run(text)


def test_overflow_is_unpredictable(capfd: pytest.CaptureFixture[str]) -> None:
    text = """
    func.func @main(%a: tensor<1xi32>) -> tensor<1xi32> {
      %0 = tosa.add %a, %a : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
      return %0 : tensor<1xi32>
    }"""
    with pytest.raises(UnpredictableError, match="positive overflow"):
        run(text, np.array([1 << 30], np.int32))
    assert capfd.readouterr() == ("", "")


def test_what_the_model_refuses_is_one_sentence(capfd: pytest.CaptureFixture[str]) -> None:
    text = """
    func.func @main(%a: tensor<1xi8>) -> tensor<1xi8> {
      %0 = tosa.add %a, %a : (tensor<1xi8>, tensor<1xi8>) -> tensor<1xi8>
      return %0 : tensor<1xi8>
    }"""
    with pytest.raises(CompileError, match=r"refuses the graph: no operator ADD input=\(INT8 rank 1\)"):
        run(text, np.array([1], np.int8))
    assert capfd.readouterr() == ("", "")


def test_compute_segments_are_not_tosa() -> None:
    text = """
    func.func @main(%a: tensor<1xi8>) -> tensor<1xi8> {
      %0 = call @shader(%a) : (tensor<1xi8>) -> tensor<1xi8>
      return %0 : tensor<1xi8>
    }
    func.func private @shader(%a: tensor<1xi8>) -> tensor<1xi8> attributes {vgf.segment = "compute"} {
      return %a : tensor<1xi8>
    }"""
    with pytest.raises(CompileError, match="calls the compute segment 'shader', whose shader is not TOSA"):
        run(text, np.array([1], np.int8))
