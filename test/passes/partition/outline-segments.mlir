// RUN: vgf-opt %s -p vgf-outline-segments --split-input-file | filecheck %s

// Each segment becomes a function, called in order; the constant that both graphs read is in both, the marks are gone.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.+]] = call @segment_0(%arg0)
  // CHECK-NEXT: %[[B:.+]] = call @segment_1(%[[A]])
  // CHECK-NEXT: %[[C:.+]] = call @segment_2(%[[B]], %[[A]])
  // CHECK-NEXT: return %[[C]], %[[A]]
  %c = "tosa.const"() {values = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %0 = tosa.add %x, %c {vgf.segment = "graph", vgf.segment_index = 0 : i32} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.ceil %0 {vgf.reason = "so", vgf.segment = "host", vgf.segment_index = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tosa.add %c, %1 {vgf.segment = "graph", vgf.segment_index = 2 : i32} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = tosa.add %2, %0 {vgf.segment = "graph", vgf.segment_index = 2 : i32} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3, %0 : tensor<4xf32>, tensor<4xf32>
}
// CHECK: func.func private @segment_0(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {vgf.segment = "graph"}
// CHECK-NEXT: %[[K:.+]] = "tosa.const"
// CHECK-NEXT: %[[S:.+]] = tosa.add %arg0, %[[K]] :
// CHECK-NEXT: return %[[S]]
// CHECK: func.func private @segment_1(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {vgf.segment = "host"}
// CHECK-NEXT: tosa.ceil %arg0 {vgf.reason = "so"}
// CHECK: func.func private @segment_2(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> attributes {vgf.segment = "graph"}
// CHECK-NEXT: %[[K:.+]] = "tosa.const"
// CHECK-NEXT: %[[S:.+]] = tosa.add %[[K]], %arg0 :
// CHECK-NEXT: tosa.add %[[S]], %arg1 :

// -----

// Segment 1 runs before segment 0's reader although its operation stands later; only one of two results leaves.

// CHECK-LABEL: func.func @interleaved
func.func @interleaved(%x: tensor<1x4x8xf32>, %y: tensor<4xf32>) -> (tensor<1x4x5xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.+]] = call @segment_0(%arg0) : (tensor<1x4x8xf32>) -> tensor<1x4x5xf32>
  // CHECK-NEXT: %[[B:.+]] = call @segment_1(%arg1)
  // CHECK-NEXT: %[[C:.+]] = call @segment_2(%[[A]])
  // CHECK-NEXT: return %[[C]], %[[B]]
  %re, %im = tosa.rfft2d %x {vgf.segment = "graph", vgf.segment_index = 0 : i32} : (tensor<1x4x8xf32>) -> (tensor<1x4x5xf32>, tensor<1x4x5xf32>)
  %0 = tosa.abs %im {vgf.segment = "graph", vgf.segment_index = 2 : i32} : (tensor<1x4x5xf32>) -> tensor<1x4x5xf32>
  %1 = tosa.ceil %y {vgf.segment = "host", vgf.segment_index = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<1x4x5xf32>, tensor<4xf32>
}

// -----

// What nothing reads is gone, and with it its segment; a constant that is returned comes from a graph.

// CHECK-LABEL: func.func @unread
func.func @unread(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.+]]:2 = call @segment_0(%arg0) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  // CHECK-NEXT: return %[[A]]#0, %[[A]]#1
  %c = "tosa.const"() {values = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %0 = tosa.abs %x {vgf.segment = "graph", vgf.segment_index = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NOT: tosa.ceil
  %1 = tosa.ceil %0 {vgf.segment = "host", vgf.segment_index = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %c : tensor<4xf32>, tensor<4xf32>
}
// CHECK: func.func private @segment_0
// CHECK-NEXT: %[[S:.+]] = tosa.abs
// CHECK-NEXT: %[[K:.+]] = "tosa.const"
// CHECK-NEXT: return %[[S]], %[[K]]

// -----

// What a region reads from outside crosses like any operand; its constants go into the segment.

// CHECK-LABEL: func.func @regions
func.func @regions(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.+]] = call @segment_0(%arg0)
  // CHECK-NEXT: %[[B:.+]] = call @segment_1(%arg1, %[[A]])
  // CHECK-NEXT: return %[[B]]
  %c = "tosa.const"() {values = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %0 = tosa.abs %x {vgf.segment = "graph", vgf.segment_index = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "tosa.cond_if"(%p) ({
    tosa.yield %c : tensor<4xf32>
  }, {
    %2 = tosa.ceil %0 : (tensor<4xf32>) -> tensor<4xf32>
    tosa.yield %2 : tensor<4xf32>
  }) {vgf.segment = "host", vgf.segment_index = 1 : i32} : (tensor<i1>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
// CHECK: func.func private @segment_1(%arg0: tensor<i1>, %arg1: tensor<4xf32>)
// CHECK-NEXT: "tosa.const"
// CHECK: tosa.ceil %arg1

// -----

// CHECK-LABEL: func.func @outlined
func.func @outlined(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: call @first(%arg0)
  %0 = call @first(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @first(%x: tensor<4xf32>) -> tensor<4xf32> attributes {vgf.segment = "graph"} {
  %0 = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
