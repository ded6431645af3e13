// RUN: vgf-opt %s -p 'vgf-mark-segments{segment-of="ceil:compute,abs:graph,floor:graph"}' --split-input-file --verify-diagnostics
// RUN: sed -n '/^func.func @whole/,/^}/p' %s > %t.mlir
// RUN: not vgf-opt %t.mlir -p 'vgf-mark-segments{segment-of="abs:gpu"}' 2>&1 | filecheck %s --check-prefix=RULE
// RUN: not vgf-opt %t.mlir -p 'vgf-mark-segments{segment-of="graph"}' 2>&1 | filecheck %s --check-prefix=SHORT
// RUN: not vgf-opt %t.mlir -p 'vgf-mark-segments{require-full-graph=true}' 2>&1 | filecheck %s --check-prefix=FULL

// RULE: error: segment-of: expected pattern:graph|compute|host or pattern:kind/name, found 'abs:gpu'
// SHORT: error: segment-of: expected pattern:graph|compute|host or pattern:kind/name, found 'graph'
// FULL: error: 'tosa.log' would run on the host: TOSA has no log of f64; its inputs are bf16, f16, f32

func.func @no_shader(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'tosa.ceil' cannot be in a compute segment, as segment-of 'ceil:compute' wants: it has no shader}}
  %0 = tosa.ceil %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @illegal(%x: tensor<4xi64>) -> tensor<4xi64> {
  // expected-error@+1 {{'tosa.abs' cannot be in a graph segment, as segment-of 'abs:graph' wants: TOSA has no abs of i64}}
  %0 = tosa.abs %x : (tensor<4xi64>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

func.func @unknown_kind(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'tosa.exp' has the vgf.segment 'gpu', expected graph, compute, host}}
  %0 = tosa.exp %x {vgf.segment = "gpu"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

module attributes {vgf.target = {tosa = "TOSA-1.0+FP", compute = false}} {
  func.func @no_compute(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@+1 {{'tosa.custom' is a shader, and the target has no compute segments}}
    %0 = tosa.custom %x {domain_name = "com.arm.VulkanCustomShader", implementation_attrs = "{}", operator_name = "my::op"} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

func.func @whole(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = tosa.log %x : (tensor<4xf64>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

// -----

module attributes {vgf.require_full_graph} {
  func.func @full_graph(%x: tensor<4xf64>) -> tensor<4xf64> {
    // expected-error@+1 {{'tosa.exp' would run on the host: TOSA has no exp of f64; its inputs are bf16, f16, f32}}
    %0 = tosa.exp %x : (tensor<4xf64>) -> tensor<4xf64>
    return %0 : tensor<4xf64>
  }
}
