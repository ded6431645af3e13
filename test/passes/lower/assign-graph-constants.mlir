// RUN: vgf-opt %s -p vgf-assign-graph-constants --split-input-file | filecheck %s

// 17 elements need a number, 16 do not; the two equal constants share one number and one global, over both segments.
// A splat is one number in SPIR-V, however large. What a segment returns is always numbered, however small.

// CHECK: ml_program.global private @graph_constant_0(dense<{{.*}}2.000000e+00]> : tensor<17xf32>) : tensor<17xf32>
// CHECK: ml_program.global private @graph_constant_1(dense<1.000000e+00> : tensor<16xf32>) : tensor<16xf32>
// CHECK: ml_program.global private @graph_constant_2(dense<3.000000e+00> : tensor<17xf32>) : tensor<17xf32>
// CHECK-NOT: ml_program.global
func.func @main() {
  return
}
// CHECK-LABEL: func.func private @segment_0
func.func private @segment_0(%x: tensor<17xf32>) -> (tensor<17xf32>, tensor<16xf32>) attributes {vgf.segment = "graph"} {
  // CHECK-NEXT: 2.000000e+00]> : tensor<17xf32>}> {grapharm.graph_constant_id = 0 : i32}
  %0 = "tosa.const"() <{values = dense<[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0]> : tensor<17xf32>}> : () -> tensor<17xf32>
  // CHECK-NEXT: "tosa.const"() <{values = dense<1.000000e+00> : tensor<17xf32>}> : () -> tensor<17xf32>
  %splat = "tosa.const"() <{values = dense<1.0> : tensor<17xf32>}> : () -> tensor<17xf32>
  // CHECK-NEXT: "tosa.const"() <{values = dense<1.000000e+00> : tensor<16xf32>}> {grapharm.graph_constant_id = 1 : i32}
  %1 = "tosa.const"() <{values = dense<1.0> : tensor<16xf32>}> : () -> tensor<16xf32>
  // CHECK-NEXT: "tosa.const"() <{values = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %small = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %2 = tosa.add %x, %0 : (tensor<17xf32>, tensor<17xf32>) -> tensor<17xf32>
  %3 = tosa.add %2, %splat : (tensor<17xf32>, tensor<17xf32>) -> tensor<17xf32>
  return %3, %1 : tensor<17xf32>, tensor<16xf32>
}
// CHECK-LABEL: func.func private @segment_1
func.func private @segment_1() -> (tensor<17xf32>, tensor<17xf32>) attributes {vgf.segment = "graph"} {
  // CHECK-NEXT: dense<3.000000e+00> : tensor<17xf32>}> {grapharm.graph_constant_id = 2 : i32}
  %0 = "tosa.const"() <{values = dense<3.0> : tensor<17xf32>}> : () -> tensor<17xf32>
  // CHECK-NEXT: 2.000000e+00]> : tensor<17xf32>}> {grapharm.graph_constant_id = 0 : i32}
  %1 = "tosa.const"() <{values = dense<[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0]> : tensor<17xf32>}> : () -> tensor<17xf32>
  return %0, %1 : tensor<17xf32>, tensor<17xf32>
}

// -----

// A host segment keeps its constants to itself.

// CHECK-NOT: ml_program.global
// CHECK-LABEL: func.func private @segment_0
func.func private @segment_0() -> tensor<17xf32> attributes {vgf.segment = "host"} {
  // CHECK-NOT: graph_constant_id
  %0 = "tosa.const"() <{values = dense<1.0> : tensor<17xf32>}> : () -> tensor<17xf32>
  return %0 : tensor<17xf32>
}
