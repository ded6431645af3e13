// RUN: vgf-opt %s -p vgf-convert-torch-quantization --split-input-file --verify-diagnostics

func.func @scale(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],si8> {
  %scale = torch.constant.float 0.000000e+00
  %zero_point = torch.constant.int 7
  %low = torch.constant.int -128
  %high = torch.constant.int 127
  %dtype = torch.constant.int 1
  // expected-error @below {{'torch.quantized_decomposed.quantize_per_tensor' has a scale of 0.0, expected a positive one}}
  %0 = torch.quantized_decomposed.quantize_per_tensor %x, %scale, %zero_point, %low, %high, %dtype : !torch.vtensor<[2,3],f32>, !torch.float, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2,3],si8>
  return %0 : !torch.vtensor<[2,3],si8>
}

// -----

func.func @count(%x: !torch.vtensor<[2,3],si8>) -> !torch.vtensor<[2,3],f32> {
  %scales = torch.vtensor.literal(dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>) : !torch.vtensor<[2],f32>
  %zero_points = torch.vtensor.literal(dense<0> : tensor<2xsi64>) : !torch.vtensor<[2],si64>
  %axis = torch.constant.int 1
  %low = torch.constant.int -127
  %high = torch.constant.int 127
  %dtype = torch.constant.int 1
  %none = torch.constant.none
  // expected-error @below {{'torch.quantized_decomposed.dequantize_per_channel' has 2 scales, expected 3, the extent of axis 1}}
  %0 = torch.quantized_decomposed.dequantize_per_channel %x, %scales, %zero_points, %axis, %low, %high, %dtype, %none : !torch.vtensor<[2,3],si8>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],si64>, !torch.int, !torch.int, !torch.int, !torch.int, !torch.none -> !torch.vtensor<[2,3],f32>
  return %0 : !torch.vtensor<[2,3],f32>
}
