// RUN: vgf-opt %s -p vgf-fold-quantization --split-input-file --verify-diagnostics

// Without floating point in the target, what has no integer form is refused by name.

module attributes {vgf.target = {compute = true, tosa = "TOSA-1.0+INT"}} {
  func.func @weights(%x: tensor<1x2x3x4xi8>, %weight: tensor<2x1x1x4xf32>) -> tensor<1x2x3x2xi8> {
    %zero = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
    %0 = "vgf.dequantize"(%x) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.5> : tensor<1xf64>, zero_points = dense<3> : tensor<1xi64>} : (tensor<1x2x3x4xi8>) -> tensor<1x2x3x4xf32>
    // expected-error @below {{'tosa.conv2d' has weights that are not quantized, and target TOSA-1.0+INT has no floating point}}
    %1 = tosa.conv2d %0, %weight, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x3x4xf32>, tensor<2x1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x3x2xf32>
    %2 = "vgf.quantize"(%1) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.125> : tensor<1xf64>, zero_points = dense<-128> : tensor<1xi64>} : (tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xi8>
    return %2 : tensor<1x2x3x2xi8>
  }
}

// -----

module attributes {vgf.target = {compute = true, tosa = "TOSA-1.0+INT"}} {
  func.func @no_form(%x: tensor<2x3xi8>, %y: tensor<2x3xi8>) -> tensor<2x3xi8> {
    %0 = "vgf.dequantize"(%x) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.5> : tensor<1xf64>, zero_points = dense<3> : tensor<1xi64>} : (tensor<2x3xi8>) -> tensor<2x3xf32>
    %1 = "vgf.dequantize"(%y) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.5> : tensor<1xf64>, zero_points = dense<3> : tensor<1xi64>} : (tensor<2x3xi8>) -> tensor<2x3xf32>
    // expected-error @below {{'tosa.pow' has no integer form, and target TOSA-1.0+INT has no floating point}}
    %2 = tosa.pow %0, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %3 = "vgf.quantize"(%2) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.125> : tensor<1xf64>, zero_points = dense<-128> : tensor<1xi64>} : (tensor<2x3xf32>) -> tensor<2x3xi8>
    return %3 : tensor<2x3xi8>
  }
}
