// The mean of two images in NHWC.
func.func @blend(%a: tensor<1x4x6x3xf32> {vgf.name = "a"}, %b: tensor<1x4x6x3xf32> {vgf.name = "b"})
    -> (tensor<1x4x6x3xf32> {vgf.name = "mean"}) {
  %half = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %sum = tosa.add %a, %b : (tensor<1x4x6x3xf32>, tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>
  %mean = tosa.mul %sum, %half, %shift : (tensor<1x4x6x3xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x6x3xf32>
  return %mean : tensor<1x4x6x3xf32>
}
