// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-creation,vgf-finish-torch-conversion)' --split-input-file | filecheck %s

// CHECK-LABEL: func.func @arange
func.func @arange() -> !torch.vtensor<[3],si64> {
  // CHECK: dense<[0, 2, 4]> : tensor<3xi32>
  %zero = torch.constant.int 0
  %six = torch.constant.int 6
  %two = torch.constant.int 2
  %none = torch.constant.none
  %0 = torch.aten.arange.start_step %zero, %six, %two, %none, %none, %none, %none : !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[3],si64>
  return %0 : !torch.vtensor<[3],si64>
}

// -----

// A conversion to integers rounds towards zero, where tosa.cast alone rounds to the nearest.

// CHECK-LABEL: func.func @to_integers
func.func @to_integers(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],si32> {
  // CHECK: %[[NEGATIVE:.+]] = tosa.greater %{{.+}}, %arg0
  // CHECK: %[[UP:.+]] = tosa.ceil %arg0
  // CHECK: %[[DOWN:.+]] = tosa.floor %arg0
  // CHECK: %[[WHOLE:.+]] = tosa.select %[[NEGATIVE]], %[[UP]], %[[DOWN]]
  // CHECK: tosa.cast %[[WHOLE]] : (tensor<3xf32>) -> tensor<3xi32>
  %three = torch.constant.int 3
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.aten.to.dtype %x, %three, %false, %false, %none : !torch.vtensor<[3],f32>, !torch.int, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[3],si32>
  return %0 : !torch.vtensor<[3],si32>
}

// -----

// Booleans become numbers by a choice, which needs no integers.

// CHECK-LABEL: func.func @from_booleans
func.func @from_booleans(%x: !torch.vtensor<[3],i1>) -> !torch.vtensor<[3],f32> {
  // CHECK: tosa.select %arg0
  // CHECK-NOT: tosa.cast
  %six = torch.constant.int 6
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.aten.to.dtype %x, %six, %false, %false, %none : !torch.vtensor<[3],i1>, !torch.int, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}
