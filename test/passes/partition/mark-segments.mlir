// RUN: vgf-opt %s -p vgf-mark-segments --split-input-file | filecheck %s
// RUN: vgf-opt %s -p 'vgf-mark-segments{segment-of="decoder.*:host,sigmoid:graph/tail,*net.py?7:host"}' --split-input-file | filecheck %s --check-prefix=STEERED

// Legal operators go to the graph, others to the host with the reason; constants get no mark.

// CHECK-LABEL: func.func @kinds
func.func @kinds(%x: tensor<4xf32>, %y: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xi64>) {
  // CHECK: "tosa.const"()
  // CHECK-NOT: vgf.segment
  // CHECK-SAME: -> tensor<4xf32>
  %c = "tosa.const"() {values = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  // CHECK: tosa.add %arg0, {{.*}} {vgf.segment = "graph"}
  %0 = tosa.add %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tosa.abs %arg1 {vgf.reason = "TOSA has no abs of i64; its inputs are bf16, f16, f32, i32", vgf.segment = "host"}
  %1 = tosa.abs %y : (tensor<4xi64>) -> tensor<4xi64>
  return %0, %1 : tensor<4xf32>, tensor<4xi64>
}

// -----

// A rank that the level does not allow is a reason as well.

// CHECK-LABEL: func.func @rank
func.func @rank(%x: tensor<1x1x1x1x1x1x4xf32>) -> tensor<1x1x1x1x1x1x4xf32> {
  // CHECK: vgf.reason = "abs: operand 0 has rank 7 (tensor<1x1x1x1x1x1x4xf32>), expected 0 to 6", vgf.segment = "host"
  %0 = tosa.abs %x : (tensor<1x1x1x1x1x1x4xf32>) -> tensor<1x1x1x1x1x1x4xf32>
  return %0 : tensor<1x1x1x1x1x1x4xf32>
}

// -----

// The module's own target decides: this one has no floating point.

module attributes {vgf.target = {tosa = "TOSA-1.0+INT"}} {
  // CHECK-LABEL: func.func @integer_only
  func.func @integer_only(%x: tensor<4xf32>, %y: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
    // CHECK: tosa.abs %arg0 {vgf.reason = "abs of f32 needs FP, the target has INT", vgf.segment = "host"}
    %0 = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK: tosa.abs %arg1 {vgf.segment = "graph"}
    %1 = tosa.abs %y : (tensor<4xi32>) -> tensor<4xi32>
    return %0, %1 : tensor<4xf32>, tensor<4xi32>
  }
}

// -----

// A shader is compute; a constant that it reads reaches it through a graph, once for both of its uses.

// CHECK-LABEL: func.func @shader
func.func @shader(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = "tosa.const"() {values = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  // CHECK: %[[COPY:.+]] = tosa.reshape {{.*}} {vgf.segment = "graph"} : (tensor<4xf32>, !tosa.shape<1>) -> tensor<4xf32>
  // CHECK: tosa.custom %arg0, %[[COPY]], %[[COPY]] {{.*}}vgf.segment = "compute"
  %0 = tosa.custom %x, %c, %c {domain_name = "com.arm.VulkanCustomShader", implementation_attrs = "{}", operator_name = "my::op"} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A custom operator of another domain and control flow have no place in a graph.

// CHECK-LABEL: func.func @no_instruction
func.func @no_instruction(%x: tensor<4xf32>, %p: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: tosa.custom {{.*}}vgf.reason = "custom has no instruction in a VGF's graphs (TOSA.001000.1)", vgf.segment = "host"
  %0 = tosa.custom %x {domain_name = "other", implementation_attrs = "{}", operator_name = "my::op"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "tosa.cond_if"(%p) ({
    tosa.yield %x : tensor<4xf32>
  }, {
    // Only the whole is marked.
    // CHECK: tosa.ceil %arg0 : (tensor<4xf32>)
    %n = tosa.ceil %x : (tensor<4xf32>) -> tensor<4xf32>
    tosa.yield %n : tensor<4xf32>
  // CHECK: {vgf.reason = "cond_if has no instruction in a VGF's graphs (TOSA.001000.1)", vgf.segment = "host"}
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A call of a function that only the host has is host, with that function's reason.

// CHECK-LABEL: func.func @host_function
func.func @host_function(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: call @sort(%arg0) {vgf.reason = "torch.aten.sort has no TOSA form", vgf.segment = "host"}
  %0 = call @sort(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @sort(%x: tensor<4xf32>) -> tensor<4xf32> attributes {vgf.host_function = "torch.aten.sort", vgf.reason = "torch.aten.sort has no TOSA form"} {
  return %x : tensor<4xf32>
}

// -----

// By module path, operator and place, the first rule that matches; a mark that is there already wins.

// STEERED-LABEL: func.func @steered
func.func @steered(%x: tensor<4xf32>) -> tensor<4xf32> {
  // STEERED: tosa.abs {{.*}} {vgf.reason = "segment-of 'decoder.*:host' says so", vgf.segment = "host"}
  %0 = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32> loc("decoder.0"("net.py":3:1))
  // STEERED: tosa.sigmoid {{.*}} {vgf.segment = "graph", vgf.segment_name = "tail"}
  %1 = tosa.sigmoid %0 : (tensor<4xf32>) -> tensor<4xf32> loc("head"("net.py":4:1))
  // STEERED: tosa.ceil {{.*}} {vgf.reason = "segment-of '*net.py?7:host' says so", vgf.segment = "host"}
  %2 = tosa.ceil %1 : (tensor<4xf32>) -> tensor<4xf32> loc("head"("dir/net.py":7:1))
  // STEERED: tosa.floor {{.*}} {vgf.segment = "graph"}
  %3 = tosa.floor %2 {vgf.segment = "graph"} : (tensor<4xf32>) -> tensor<4xf32> loc("decoder.1"("net.py":9:1))
  // STEERED: tosa.exp {{.*}} {vgf.reason = "its vgf.segment attribute says so", vgf.segment = "host"}
  %4 = tosa.exp %3 {vgf.segment = "host"} : (tensor<4xf32>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}

// -----

// The module says it itself.

// CHECK-LABEL: func.func @said_by_the_module
module attributes {vgf.segment_of = "abs:host"} {
  func.func @said_by_the_module(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: tosa.abs %arg0 {vgf.reason = "segment-of 'abs:host' says so", vgf.segment = "host"}
    %0 = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// Outlined already: nothing changes.

// CHECK-LABEL: func.func @outlined
func.func @outlined(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: call @segment_0(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  %0 = call @segment_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @segment_0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {vgf.segment = "graph"} {
  // CHECK: tosa.abs %arg0 : (tensor<4xf32>) -> tensor<4xf32>
  %0 = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
