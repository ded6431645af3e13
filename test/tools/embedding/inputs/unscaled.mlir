func.func @unscaled(%x: tensor<2x3xf32>) -> tensor<2x3xi8> {
  %0 = "vgf.quantize"(%x) {zero_points = dense<3> : tensor<1xi64>, axis = -1 : i64, quant_min = -128 : i64, quant_max = 127 : i64} : (tensor<2x3xf32>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}
