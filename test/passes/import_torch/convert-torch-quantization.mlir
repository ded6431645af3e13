// RUN: vgf-opt %s -p vgf-convert-torch-quantization --split-input-file | filecheck %s

// CHECK-LABEL: func.func @per_tensor
func.func @per_tensor(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32> {
  %scale = torch.constant.float 5.000000e-01
  %zero_point = torch.constant.int 7
  %low = torch.constant.int -128
  %high = torch.constant.int 127
  %dtype = torch.constant.int 1
  %none = torch.constant.none
  // CHECK: %[[CODES:.+]] = "vgf.quantize"(%{{.+}}) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<5.000000e-01> : tensor<1xf64>, zero_points = dense<7> : tensor<1xi64>} : (tensor<2x3xf32>) -> tensor<2x3xi8>
  %0 = torch.quantized_decomposed.quantize_per_tensor %x, %scale, %zero_point, %low, %high, %dtype : !torch.vtensor<[2,3],f32>, !torch.float, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2,3],si8>
  // CHECK: "vgf.dequantize"(%[[CODES]]) {axis = -1 : i64, {{.*}}zero_points = dense<7> : tensor<1xi64>} : (tensor<2x3xi8>) -> tensor<2x3xf32>
  %1 = torch.quantized_decomposed.dequantize_per_tensor %0, %scale, %zero_point, %low, %high, %dtype, %none : !torch.vtensor<[2,3],si8>, !torch.float, !torch.int, !torch.int, !torch.int, !torch.int, !torch.none -> !torch.vtensor<[2,3],f32>
  return %1 : !torch.vtensor<[2,3],f32>
}

// -----

// Unsigned codes are moved down by 128, and with them zero point and range: 130 becomes 2.

// CHECK-LABEL: func.func @unsigned
func.func @unsigned(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32> {
  %scale = torch.constant.float 5.000000e-01
  %zero_point = torch.constant.int 130
  %low = torch.constant.int 0
  %high = torch.constant.int 255
  %dtype = torch.constant.int 0
  %none = torch.constant.none
  // CHECK: %[[CODES:.+]] = "vgf.quantize"(%{{.+}}) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, {{.*}}zero_points = dense<2> : tensor<1xi64>} : (tensor<2x3xf32>) -> tensor<2x3xi8>
  %0 = torch.quantized_decomposed.quantize_per_tensor %x, %scale, %zero_point, %low, %high, %dtype : !torch.vtensor<[2,3],f32>, !torch.float, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2,3],ui8>
  // CHECK: "vgf.dequantize"(%[[CODES]]) {{.*}}zero_points = dense<2> : tensor<1xi64>
  %1 = torch.quantized_decomposed.dequantize_per_tensor %0, %scale, %zero_point, %low, %high, %dtype, %none : !torch.vtensor<[2,3],ui8>, !torch.float, !torch.int, !torch.int, !torch.int, !torch.int, !torch.none -> !torch.vtensor<[2,3],f32>
  return %1 : !torch.vtensor<[2,3],f32>
}

// -----

// CHECK-LABEL: func.func @per_channel
func.func @per_channel(%x: !torch.vtensor<[2,3],si8>) -> !torch.vtensor<[2,3],f32> {
  %scales = torch.vtensor.literal(dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>) : !torch.vtensor<[2],f32>
  %zero_points = torch.vtensor.literal(dense<0> : tensor<2xsi64>) : !torch.vtensor<[2],si64>
  %axis = torch.constant.int 0
  %low = torch.constant.int -127
  %high = torch.constant.int 127
  %dtype = torch.constant.int 1
  %none = torch.constant.none
  // CHECK: "vgf.dequantize"(%{{.+}}) {axis = 0 : i64, quant_max = 127 : i64, quant_min = -127 : i64, scales = dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf64>, zero_points = dense<0> : tensor<2xi64>}
  %0 = torch.quantized_decomposed.dequantize_per_channel %x, %scales, %zero_points, %axis, %low, %high, %dtype, %none : !torch.vtensor<[2,3],si8>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],si64>, !torch.int, !torch.int, !torch.int, !torch.int, !torch.none -> !torch.vtensor<[2,3],f32>
  return %0 : !torch.vtensor<[2,3],f32>
}

// -----

// Other operators are left alone.

// CHECK-LABEL: func.func @other
func.func @other(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32> {
  // CHECK-NEXT: torch.aten.relu %arg0
  %0 = torch.aten.relu %x : !torch.vtensor<[2,3],f32> -> !torch.vtensor<[2,3],f32>
  return %0 : !torch.vtensor<[2,3],f32>
}
