// RUN: vgf-opt %s -p vgf-integer-boundary --split-input-file | filecheck %s

// The first quantize and the last dequantize go outside; scale and zero point stay as attributes.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<2x3xi8> {vgf.model_type = tensor<2x3xf32>, vgf.name = "x", vgf.scale = 5.000000e-01 : f64, vgf.zero_point = 7 : i64})
// CHECK-SAME: -> (tensor<3x2xi8> {vgf.model_type = tensor<3x2xf32>, vgf.name = "y", vgf.scale = 2.500000e-01 : f64, vgf.zero_point = -1 : i64})
module attributes {vgf.target = {compute = true, tosa = "TOSA-1.0+INT"}} {
  func.func @main(%x: tensor<2x3xf32> {vgf.name = "x"}) -> (tensor<3x2xf32> {vgf.name = "y"}) {
    // CHECK-NEXT: %[[MOVED:.+]] = tosa.transpose %arg0
    // CHECK-NEXT: return %[[MOVED]] : tensor<3x2xi8>
    %0 = "vgf.quantize"(%x) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.5> : tensor<1xf64>, zero_points = dense<7> : tensor<1xi64>} : (tensor<2x3xf32>) -> tensor<2x3xi8>
    %1 = tosa.transpose %0 {perms = array<i32: 1, 0>} : (tensor<2x3xi8>) -> tensor<3x2xi8>
    %2 = "vgf.dequantize"(%1) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.25> : tensor<1xf64>, zero_points = dense<-1> : tensor<1xi64>} : (tensor<3x2xi8>) -> tensor<3x2xf32>
    return %2 : tensor<3x2xf32>
  }
}

// -----

// A target with floating point keeps its floating-point boundary.

// CHECK-LABEL: func.func @mixed
// CHECK-SAME: (%arg0: tensor<2x3xf32>) -> tensor<2x3xi8>
func.func @mixed(%x: tensor<2x3xf32>) -> tensor<2x3xi8> {
  // CHECK-NEXT: "vgf.quantize"(%arg0)
  %0 = "vgf.quantize"(%x) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.5> : tensor<1xf64>, zero_points = dense<7> : tensor<1xi64>} : (tensor<2x3xf32>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}
