// RUN: vgf-opt %s -p vgf-lower-quantization --split-input-file | filecheck %s

// The zero point is taken off by a rescale to 16 bits, which needs half the memory of a subtraction in f32.

// CHECK-LABEL: func.func @dequantize
func.func @dequantize(%x: tensor<2x3xi8>) -> tensor<2x3xf32> {
  // CHECK: %[[WIDE:.+]] = tosa.rescale %arg0, {{.*}} -> tensor<2x3xi16>
  // CHECK-NEXT: %[[REAL:.+]] = tosa.cast %[[WIDE]] : (tensor<2x3xi16>) -> tensor<2x3xf32>
  // CHECK: %[[SCALED:.+]] = tosa.mul %[[REAL]]
  // CHECK-NEXT: return %[[SCALED]]
  %0 = "vgf.dequantize"(%x) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.5> : tensor<1xf64>, zero_points = dense<7> : tensor<1xi64>} : (tensor<2x3xi8>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @quantize
func.func @quantize(%x: tensor<2x3xf32>) -> tensor<2x3xi8> {
  // CHECK-DAG: %[[INVERSE:.+]] = "tosa.const"() <{values = dense<2.000000e+00> : tensor<1x1xf32>}>
  // CHECK: %[[SCALED:.+]] = tosa.mul %arg0, %[[INVERSE]]
  // CHECK-NEXT: %[[ROUNDED:.+]] = tosa.cast %[[SCALED]] : (tensor<2x3xf32>) -> tensor<2x3xi16>
  // CHECK: %[[CODES:.+]] = tosa.rescale %[[ROUNDED]], {{.*}} -> tensor<2x3xi8>
  // CHECK-NEXT: return %[[CODES]]
  %0 = "vgf.quantize"(%x) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.5> : tensor<1xf64>, zero_points = dense<7> : tensor<1xi64>} : (tensor<2x3xf32>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}

// -----

// Without zero point two operators are left; -128 is no code of this quantize.

// CHECK-LABEL: func.func @symmetric
func.func @symmetric(%x: tensor<2x3xf32>) -> tensor<2x3xi8> {
  // CHECK: %[[SCALED:.+]] = tosa.mul %arg0
  // CHECK-NEXT: %[[ROUNDED:.+]] = tosa.cast %[[SCALED]] : (tensor<2x3xf32>) -> tensor<2x3xi8>
  // CHECK-NEXT: %[[CODES:.+]] = tosa.clamp %[[ROUNDED]] {max_val = 127 : i8, min_val = -127 : i8}
  // CHECK-NEXT: return %[[CODES]]
  %0 = "vgf.quantize"(%x) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -127 : i64, scales = dense<0.5> : tensor<1xf64>, zero_points = dense<0> : tensor<1xi64>} : (tensor<2x3xf32>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}

// -----

// A scale for each index of an axis is a constant of that axis.

// CHECK-LABEL: func.func @per_channel
func.func @per_channel(%x: tensor<2x3xi8>) -> tensor<2x3xf32> {
  // CHECK: %[[REAL:.+]] = tosa.cast %arg0
  // CHECK: %[[SCALES:.+]] = "tosa.const"() <{values = dense<{{\[}}[5.000000e-01], [2.500000e-01]]> : tensor<2x1xf32>}>
  // CHECK: tosa.mul %[[REAL]], %[[SCALES]]
  %0 = "vgf.dequantize"(%x) {axis = 0 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<[0.5, 0.25]> : tensor<2xf64>, zero_points = dense<0> : tensor<2xi64>} : (tensor<2x3xi8>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// A target without floating point has nothing to lower to.

// CHECK-LABEL: func.func @integers
module attributes {vgf.target = {compute = true, tosa = "TOSA-1.0+INT"}} {
  func.func @integers(%x: tensor<2x3xi8>) -> tensor<2x3xf32> {
    // CHECK: "vgf.dequantize"(%arg0)
    %0 = "vgf.dequantize"(%x) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.5> : tensor<1xf64>, zero_points = dense<7> : tensor<1xi64>} : (tensor<2x3xi8>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}
