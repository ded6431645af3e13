// RUN: vgf-opt %s -p vgf-check-segments | filecheck %s

// A partitioned module passes unchanged.

// CHECK: call @segment_0
// CHECK: call @segment_1
// CHECK: call @segment_2
func.func @main(%x: tensor<4xf32>, %y: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xi64>) {
  %0 = call @segment_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @segment_1(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = call @segment_2(%y) : (tensor<4xi64>) -> tensor<4xi64>
  return %1, %2 : tensor<4xf32>, tensor<4xi64>
}
func.func private @segment_0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {vgf.segment = "graph"} {
  %0 = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @segment_1(%x: tensor<4xf32>) -> tensor<4xf32> attributes {vgf.segment = "compute"} {
  %0 = tosa.custom %x {domain_name = "com.arm.VulkanCustomShader", implementation_attrs = "{}", operator_name = "my::op"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @segment_2(%x: tensor<4xi64>) -> tensor<4xi64> attributes {vgf.segment = "host"} {
  %0 = tosa.abs %x {vgf.reason = "TOSA has no abs of i64"} : (tensor<4xi64>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}
