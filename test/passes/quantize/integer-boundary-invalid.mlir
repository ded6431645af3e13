// RUN: vgf-opt %s -p vgf-integer-boundary --split-input-file --verify-diagnostics

module attributes {vgf.target = {compute = true, tosa = "TOSA-1.0+INT"}} {
  func.func @input(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
    // expected-error @below {{'tosa.abs' reads input 0 in floating point, which target TOSA-1.0+INT does not have; quantize the input}}
    %0 = tosa.abs %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----

module attributes {vgf.target = {compute = true, tosa = "TOSA-1.0+INT"}} {
  func.func @output(%x: tensor<2x3xi8>) -> tensor<2x3xf32> {
    %0 = "vgf.dequantize"(%x) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.5> : tensor<1xf64>, zero_points = dense<7> : tensor<1xi64>} : (tensor<2x3xi8>) -> tensor<2x3xf32>
    // expected-error @below {{'tosa.exp' makes result 0 in floating point, which target TOSA-1.0+INT does not have; quantize the output}}
    %1 = tosa.exp %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----

module attributes {vgf.target = {compute = true, tosa = "TOSA-1.0+INT"}} {
  func.func @several(%x: tensor<2x3xf32>) -> (tensor<2x3xi8>, tensor<2x3xi8>) {
    %0 = "vgf.quantize"(%x) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.5> : tensor<1xf64>, zero_points = dense<7> : tensor<1xi64>} : (tensor<2x3xf32>) -> tensor<2x3xi8>
    // expected-error @below {{'vgf.quantize' is one of several ways in which input 0 is quantized, expected one}}
    %1 = "vgf.quantize"(%x) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.25> : tensor<1xf64>, zero_points = dense<7> : tensor<1xi64>} : (tensor<2x3xf32>) -> tensor<2x3xi8>
    return %0, %1 : tensor<2x3xi8>, tensor<2x3xi8>
  }
}
