// RUN: vgf-opt %s -p vgf-check-memory | filecheck %s

// The members of group 7 follow each other without meeting.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-COUNT-3: call @segment_{{[0-2]}}
  %0 = call @segment_0(%x) {vgf.alias_groups = array<i64: 7>} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @segment_1(%0) {vgf.alias_groups = array<i64: -1>} : (tensor<8xf32>) -> tensor<8xf32>
  %2 = call @segment_2(%1) {vgf.alias_groups = array<i64: 7>} : (tensor<8xf32>) -> tensor<8xf32>
  %3 = call @segment_3(%2) : (tensor<8xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}
func.func private @segment_0(%x: tensor<8xf32>) -> tensor<8xf32> attributes {vgf.segment = "graph"} {
  %0 = tosa.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @segment_1(%x: tensor<8xf32>) -> tensor<8xf32> attributes {vgf.segment = "graph"} {
  %0 = tosa.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @segment_2(%x: tensor<8xf32>) -> tensor<8xf32> attributes {vgf.segment = "graph"} {
  %0 = tosa.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @segment_3(%x: tensor<8xf32>) -> tensor<8xf32> attributes {vgf.segment = "graph"} {
  %0 = tosa.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
