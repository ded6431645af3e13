// RUN: vgf-opt %s -p 'vgf-plan-memory,vgf-check-memory' --split-input-file | filecheck %s
// RUN: vgf-opt %s -p 'vgf-plan-memory{in-place=true},vgf-check-memory{in-place=true}' --split-input-file | filecheck %s --check-prefix=INPLACE
// RUN: vgf-opt %s -p 'vgf-plan-memory{algorithm=none},vgf-check-memory' --split-input-file | filecheck %s --check-prefix=NONE

// Every other value of a chain shares; with the first operator of a segment reading for the last time, every value could.

// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: call @segment_0(%arg0) {vgf.alias_groups = array<i64: 0>}
  // CHECK-NEXT: call @segment_1(%0) {vgf.alias_groups = array<i64: -1>}
  // CHECK-NEXT: call @segment_2(%1) {vgf.alias_groups = array<i64: 0>}
  // CHECK-NEXT: call @segment_3(%2) {vgf.alias_groups = array<i64: -1>}
  // INPLACE: call @segment_0(%arg0) {vgf.alias_groups = array<i64: 0>}
  // INPLACE-NEXT: call @segment_1(%0) {vgf.alias_groups = array<i64: 0>}
  // @segment_2 is one operator, which reads while it writes.
  // INPLACE-NEXT: call @segment_2(%1) {vgf.alias_groups = array<i64: -1>}
  // NONE: call @segment_0(%arg0) {vgf.alias_groups = array<i64: -1>}
  // NONE-NEXT: call @segment_1(%0) {vgf.alias_groups = array<i64: -1>}
  // NONE-NEXT: call @segment_2(%1) {vgf.alias_groups = array<i64: -1>}
  %0 = call @segment_0(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @segment_1(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = call @segment_2(%1) : (tensor<8xf32>) -> tensor<8xf32>
  %3 = call @segment_3(%2) : (tensor<8xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}
func.func private @segment_0(%x: tensor<8xf32>) -> tensor<8xf32> attributes {vgf.segment = "graph"} {
  %0 = tosa.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @segment_1(%x: tensor<8xf32>) -> tensor<8xf32> attributes {vgf.segment = "graph"} {
  %0 = tosa.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = tosa.tanh %0 : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @segment_2(%x: tensor<8xf32>) -> tensor<8xf32> attributes {vgf.segment = "graph"} {
  %0 = tosa.abs %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @segment_3(%x: tensor<8xf32>) -> tensor<8xf32> attributes {vgf.segment = "graph"} {
  %0 = tosa.ceil %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// What goes to the host or comes from it is an input or output of a file, and what the model returns one of the model.

// CHECK-LABEL: func.func @host
func.func @host(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: call @first(%arg0) {vgf.alias_groups = array<i64: -1, -1>}
  // CHECK-NEXT: call @outside(%0#0) {vgf.alias_groups = array<i64: -1>}
  // CHECK-NEXT: call @last(%1) {vgf.alias_groups = array<i64: -1>}
  %0:2 = call @first(%x) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %1 = call @outside(%0#0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = call @last(%1) : (tensor<8xf32>) -> tensor<8xf32>
  return %0#1, %2 : tensor<8xf32>, tensor<8xf32>
}
func.func private @first(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {vgf.segment = "graph"} {
  %0 = tosa.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = tosa.abs %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
func.func private @outside(%x: tensor<8xf32>) -> tensor<8xf32> attributes {vgf.segment = "host"} {
  %0 = tosa.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @last(%x: tensor<8xf32>) -> tensor<8xf32> attributes {vgf.segment = "graph"} {
  %0 = tosa.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A module that is not cut into segments stays as it is.

// CHECK-LABEL: func.func @whole
// CHECK-NOT: alias_groups
func.func @whole(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = tosa.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
