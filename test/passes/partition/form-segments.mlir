// RUN: vgf-opt %s -p vgf-form-segments --split-input-file | filecheck %s

// The graph operators share a segment although a host operator stands between them: none reads it.

// CHECK-LABEL: func.func @not_neighbours
func.func @not_neighbours(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: tosa.abs {{.*}}vgf.segment_index = 0
  %0 = tosa.abs %x {vgf.segment = "graph"} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tosa.ceil {{.*}}vgf.segment_index = 1
  %1 = tosa.ceil %y {vgf.segment = "host"} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tosa.exp {{.*}}vgf.segment_index = 0
  %2 = tosa.exp %0 {vgf.segment = "graph"} : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Here the last one does read it, so that sharing would be a cycle. Both operand orders give the same.

// CHECK-LABEL: func.func @cycle
func.func @cycle(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: tosa.abs {{.*}}vgf.segment_index = 0
  %0 = tosa.abs %x {vgf.segment = "graph"} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tosa.ceil {{.*}}vgf.segment_index = 1
  %1 = tosa.ceil %0 {vgf.segment = "host"} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tosa.add {{.*}}vgf.segment_index = 2
  %2 = tosa.add %0, %1 {vgf.segment = "graph"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tosa.add {{.*}}vgf.segment_index = 2
  %3 = tosa.add %1, %0 {vgf.segment = "graph"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2, %3 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Shaders never share; names keep graphs apart.

// CHECK-LABEL: func.func @apart
func.func @apart(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: tosa.custom {{.*}}vgf.segment_index = 0
  %0 = tosa.custom %x {domain_name = "com.arm.VulkanCustomShader", implementation_attrs = "{}", operator_name = "my::op", vgf.segment = "compute"} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tosa.custom {{.*}}vgf.segment_index = 1
  %1 = tosa.custom %x {domain_name = "com.arm.VulkanCustomShader", implementation_attrs = "{}", operator_name = "my::op", vgf.segment = "compute"} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tosa.abs {{.*}}vgf.segment_index = 2
  %2 = tosa.abs %1 {vgf.segment = "graph"} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tosa.ceil {{.*}}vgf.segment_index = 3
  %3 = tosa.ceil %2 {vgf.segment = "graph", vgf.segment_name = "tail"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// An operator with several results ties all their readers; one read inside a region counts as read.

// CHECK-LABEL: func.func @several_results
func.func @several_results(%x: tensor<1x4x8xf32>, %p: tensor<i1>) -> (tensor<1x4x5xf32>, tensor<1x4x5xf32>) {
  // CHECK: tosa.rfft2d {{.*}}vgf.segment_index = 0
  %re, %im = tosa.rfft2d %x {vgf.segment = "graph"} : (tensor<1x4x8xf32>) -> (tensor<1x4x5xf32>, tensor<1x4x5xf32>)
  // CHECK: tosa.cond_if
  %0 = "tosa.cond_if"(%p) ({
    %2 = tosa.abs %im : (tensor<1x4x5xf32>) -> tensor<1x4x5xf32>
    tosa.yield %2 : tensor<1x4x5xf32>
  }, {
    tosa.yield %re : tensor<1x4x5xf32>
  // CHECK: {vgf.segment = "host", vgf.segment_index = 1
  }) {vgf.segment = "host"} : (tensor<i1>) -> tensor<1x4x5xf32>
  // CHECK: tosa.ceil {{.*}}vgf.segment_index = 0
  %1 = tosa.ceil %re {vgf.segment = "graph"} : (tensor<1x4x5xf32>) -> tensor<1x4x5xf32>
  return %0, %1 : tensor<1x4x5xf32>, tensor<1x4x5xf32>
}

// -----

// A budget of 40 bytes of constants holds two of the 20-byte ones; the shared one counts once in each segment.

module attributes {vgf.target = {tosa = "TOSA-1.0+FP", constant_bytes = 40 : i64}} {
  // CHECK-LABEL: func.func @constant_budget
  func.func @constant_budget(%x: tensor<5xf32>) -> tensor<5xf32> {
    %a = "tosa.const"() {values = dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>} : () -> tensor<5xf32>
    %b = "tosa.const"() {values = dense<[2.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>} : () -> tensor<5xf32>
    %c = "tosa.const"() {values = dense<[3.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>} : () -> tensor<5xf32>
    // CHECK: tosa.add {{.*}}vgf.segment_index = 0
    %0 = tosa.add %x, %a {vgf.segment = "graph"} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
    // CHECK: tosa.add {{.*}}vgf.segment_index = 0
    %1 = tosa.add %0, %b {vgf.segment = "graph"} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
    // CHECK: tosa.add {{.*}}vgf.segment_index = 1
    %2 = tosa.add %a, %1 {vgf.segment = "graph"} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
    // CHECK: tosa.add {{.*}}vgf.segment_index = 1
    %3 = tosa.add %2, %c {vgf.segment = "graph"} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
    return %3 : tensor<5xf32>
  }
}

// -----

// One tensor between two operators takes 64 bytes; what crosses a cut is no session memory.

module attributes {vgf.target = {tosa = "TOSA-1.0+FP", session_bytes = 63 : i64}} {
  // CHECK-LABEL: func.func @session_budget
  func.func @session_budget(%x: tensor<5xf32>) -> tensor<5xf32> {
    // CHECK: tosa.abs {{.*}}vgf.segment_index = 0
    %0 = tosa.abs %x {vgf.segment = "graph"} : (tensor<5xf32>) -> tensor<5xf32>
    // CHECK: tosa.ceil {{.*}}vgf.segment_index = 1
    %1 = tosa.ceil %0 {vgf.segment = "graph"} : (tensor<5xf32>) -> tensor<5xf32>
    return %1 : tensor<5xf32>
  }
}
