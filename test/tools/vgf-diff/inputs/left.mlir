func.func @main(%x: tensor<2x20xf32> {vgf.name = "x"}) -> (tensor<2x20xf32> {vgf.name = "y"}) {
  %0 = call @segment_0(%x) : (tensor<2x20xf32>) -> tensor<2x20xf32>
  return %0 : tensor<2x20xf32>
}
func.func private @segment_0(%x: tensor<2x20xf32>) -> tensor<2x20xf32> attributes {vgf.segment = "graph"} {
  %w = "tosa.const"() {values = dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0]]> : tensor<1x20xf32>} : () -> tensor<1x20xf32>
  %0 = tosa.add %x, %w : (tensor<2x20xf32>, tensor<1x20xf32>) -> tensor<2x20xf32>
  %1 = tosa.abs %0 : (tensor<2x20xf32>) -> tensor<2x20xf32>
  return %1 : tensor<2x20xf32>
}
