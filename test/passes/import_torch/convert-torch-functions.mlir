// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-functions,vgf-finish-torch-conversion)' --split-input-file | filecheck %s

// CHECK-LABEL: func.func @log2
func.func @log2(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
  // CHECK: %[[LOG:.+]] = tosa.log %arg0
  // CHECK: %[[FACTOR:.+]] = "tosa.const"() <{values = dense<1.44269502> : tensor<1xf32>}>
  // CHECK: tosa.mul %[[LOG]], %[[FACTOR]]
  %0 = torch.aten.log2 %x : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}

// -----

// Functions of several steps are computed in 32 bits, those that TOSA has are not.

// CHECK-LABEL: func.func @half
func.func @half(%x: !torch.vtensor<[3],f16>) -> (!torch.vtensor<[3],f16>, !torch.vtensor<[3],f16>) {
  // CHECK: %[[SIN:.+]] = tosa.sin %arg0 : (tensor<3xf16>) -> tensor<3xf16>
  // CHECK: %[[WIDE:.+]] = tosa.cast %arg0 : (tensor<3xf16>) -> tensor<3xf32>
  // CHECK: tosa.sin %[[WIDE]] : (tensor<3xf32>) -> tensor<3xf32>
  // CHECK: tosa.cos %[[WIDE]]
  %0 = torch.aten.sin %x : !torch.vtensor<[3],f16> -> !torch.vtensor<[3],f16>
  %1 = torch.aten.tan %x : !torch.vtensor<[3],f16> -> !torch.vtensor<[3],f16>
  return %0, %1 : !torch.vtensor<[3],f16>, !torch.vtensor<[3],f16>
}

// -----

// Rounding goes through i32, which is right below 2^23; above it all numbers are whole and stay.

// CHECK-LABEL: func.func @round
func.func @round(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
  // CHECK: %[[INT:.+]] = tosa.cast %arg0 : (tensor<3xf32>) -> tensor<3xi32>
  // CHECK-NEXT: %[[BACK:.+]] = tosa.cast %[[INT]] : (tensor<3xi32>) -> tensor<3xf32>
  // CHECK: dense<0x4B000000>
  // CHECK: %[[SMALL:.+]] = tosa.greater
  // CHECK: tosa.select %[[SMALL]], %[[BACK]], %arg0
  %0 = torch.aten.round %x : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}

// -----

// Integers are whole already.

// CHECK-LABEL: func.func @floor_of_integers
func.func @floor_of_integers(%x: !torch.vtensor<[3],si32>) -> !torch.vtensor<[3],si32> {
  // CHECK-NEXT: return %arg0
  %0 = torch.aten.floor %x : !torch.vtensor<[3],si32> -> !torch.vtensor<[3],si32>
  return %0 : !torch.vtensor<[3],si32>
}
