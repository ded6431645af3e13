// RUN: vgf-opt %s -p vgf-check-memory --split-input-file --verify-diagnostics
// RUN: vgf-opt %s -p 'vgf-check-memory{in-place=true}' --split-input-file --verify-diagnostics

// A segment may not write over what it reads: its one operator does both at once.

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @segment_0(%x) {vgf.alias_groups = array<i64: 0>} : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error@+1 {{'func.call' result 0 shares alias group 0 with result 0 of @segment_0, which is still needed by @segment_1}}
  %1 = call @segment_1(%0) {vgf.alias_groups = array<i64: 0>} : (tensor<8xf32>) -> tensor<8xf32>
  %2 = call @segment_2(%1) : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
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

// -----

// Two results of one call.

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'func.call' result 1 shares alias group 3 with result 0 of @segment_0, which is still needed by @segment_1}}
  %0:2 = call @segment_0(%x) {vgf.alias_groups = array<i64: 3, 3>} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %1 = call @segment_1(%0#0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = call @segment_2(%0#1) : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
func.func private @segment_0(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {vgf.segment = "graph"} {
  %0 = tosa.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = tosa.abs %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
func.func private @segment_1(%x: tensor<8xf32>) -> tensor<8xf32> attributes {vgf.segment = "graph"} {
  %0 = tosa.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @segment_2(%x: tensor<8xf32>) -> tensor<8xf32> attributes {vgf.segment = "graph"} {
  %0 = tosa.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'func.call' result 0 is in alias group 0, but the model returns it}}
  %0 = call @segment_0(%x) {vgf.alias_groups = array<i64: 0>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @segment_0(%x: tensor<8xf32>) -> tensor<8xf32> attributes {vgf.segment = "graph"} {
  %0 = tosa.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'func.call' result 0 is in alias group 0, but crosses to another file}}
  %0 = call @segment_0(%x) {vgf.alias_groups = array<i64: 0>} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @segment_1(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @segment_0(%x: tensor<8xf32>) -> tensor<8xf32> attributes {vgf.segment = "graph"} {
  %0 = tosa.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @segment_1(%x: tensor<8xf32>) -> tensor<8xf32> attributes {vgf.segment = "host"} {
  %0 = tosa.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'func.call' has 2 alias groups for 1 results, expected one for each}}
  %0 = call @segment_0(%x) {vgf.alias_groups = array<i64: 0, 1>} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @segment_1(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @segment_0(%x: tensor<8xf32>) -> tensor<8xf32> attributes {vgf.segment = "graph"} {
  %0 = tosa.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @segment_1(%x: tensor<8xf32>) -> tensor<8xf32> attributes {vgf.segment = "graph"} {
  %0 = tosa.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'func.call' has alias group -2, expected -1 for none or a number from 0 on}}
  %0 = call @segment_0(%x) {vgf.alias_groups = array<i64: -2>} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @segment_1(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @segment_0(%x: tensor<8xf32>) -> tensor<8xf32> attributes {vgf.segment = "graph"} {
  %0 = tosa.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @segment_1(%x: tensor<8xf32>) -> tensor<8xf32> attributes {vgf.segment = "graph"} {
  %0 = tosa.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
