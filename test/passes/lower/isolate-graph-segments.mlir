// RUN: vgf-opt %s -p vgf-isolate-graph-segments | filecheck %s

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: call @segment_0
  %0 = call @segment_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @segment_1(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// The declaration says what the segment is; the body is public in its own module, as tosa-to-spirv-tosa wants it.

// CHECK: func.func private @segment_0(tensor<4xf32>) -> tensor<4xf32> attributes {vgf.segment = "graph"}
// CHECK-NEXT: module @segment_0_graph {
// CHECK-NEXT: func.func @segment_0(%arg0: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: tosa.abs
func.func private @segment_0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {vgf.segment = "graph"} {
  %0 = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A host segment stays where it is.

// CHECK: func.func private @segment_1(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {vgf.segment = "host"} {
// CHECK-NEXT: tosa.ceil
func.func private @segment_1(%x: tensor<4xf32>) -> tensor<4xf32> attributes {vgf.segment = "host"} {
  %0 = tosa.ceil %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
