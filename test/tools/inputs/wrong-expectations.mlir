// expected-error @below {{this never comes}}
func.func @fine() {
  return
}
// -----
func.func private @segment_0() -> tensor<17xf32> attributes {vgf.segment = "graph"} {
  %0 = "tosa.const"() <{values = dense_resource<blob> : tensor<17xf32>}> : () -> tensor<17xf32>
  return %0 : tensor<17xf32>
}
