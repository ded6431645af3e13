func.func @round_trip(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = tosa.transpose %x {perms = array<i32: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = tosa.transpose %0 {perms = array<i32: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %2 = "vgf.quantize"(%1) {scales = dense<0.5> : tensor<1xf64>, zero_points = dense<3> : tensor<1xi64>, axis = -1 : i64, quant_min = -128 : i64, quant_max = 127 : i64} : (tensor<2x3xf32>) -> tensor<2x3xi8>
  %3 = "vgf.dequantize"(%2) {scales = dense<0.5> : tensor<1xf64>, zero_points = dense<3> : tensor<1xi64>, axis = -1 : i64, quant_min = -128 : i64, quant_max = 127 : i64} : (tensor<2x3xi8>) -> tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}
