// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-activations,vgf-finish-torch-conversion)' --split-input-file | filecheck %s

// Infinity passes through relu, so that its upper bound is infinity.

// CHECK-LABEL: func.func @relu
func.func @relu(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
  // CHECK-NEXT: tosa.clamp %arg0 {max_val = 0x7F800000 : f32, min_val = 0.000000e+00 : f32}
  %0 = torch.aten.relu %x : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}

// -----

// CHECK-LABEL: func.func @gelu
func.func @gelu(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
  // CHECK: %[[ROOT:.+]] = "tosa.const"() <{values = dense<0.707106769> : tensor<1xf32>}>
  // CHECK: %[[IN:.+]] = tosa.mul %arg0, %[[ROOT]]
  // CHECK-NEXT: %[[ERF:.+]] = tosa.erf %[[IN]]
  // CHECK: %[[HALF:.+]] = "tosa.const"() <{values = dense<5.000000e-01> : tensor<1xf32>}>
  // CHECK: %[[HALVED:.+]] = tosa.mul %[[ERF]], %[[HALF]]
  // CHECK-NEXT: %[[GATE:.+]] = tosa.add %[[HALVED]], %[[HALF]]
  // CHECK: tosa.mul %arg0, %[[GATE]]
  %none = torch.constant.str "none"
  %0 = torch.aten.gelu %x, %none : !torch.vtensor<[3],f32>, !torch.str -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}

// -----

// A slope of at most 1 makes a maximum; a steeper one needs a choice.

// CHECK-LABEL: func.func @leaky_relu
func.func @leaky_relu(%x: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>) {
  // CHECK: %[[FLAT:.+]] = tosa.mul %arg0
  // CHECK-NEXT: tosa.maximum %arg0, %[[FLAT]]
  // CHECK: %[[STEEP:.+]] = tosa.mul %arg0
  // CHECK: tosa.select %{{.+}}, %arg0, %[[STEEP]]
  %tenth = torch.constant.float 0.1
  %two = torch.constant.float 2.0
  %0 = torch.aten.leaky_relu %x, %tenth : !torch.vtensor<[3],f32>, !torch.float -> !torch.vtensor<[3],f32>
  %1 = torch.aten.leaky_relu %x, %two : !torch.vtensor<[3],f32>, !torch.float -> !torch.vtensor<[3],f32>
  return %0, %1 : !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>
}
