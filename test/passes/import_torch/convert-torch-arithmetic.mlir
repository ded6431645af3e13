// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-arithmetic,vgf-finish-torch-conversion)' --split-input-file | filecheck %s

// A number becomes a constant of the operand's rank; alpha = 1 leaves nothing behind.

// CHECK-LABEL: func.func @add_number
func.func @add_number(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32> {
  // CHECK: %[[TWO:.+]] = "tosa.const"() <{values = dense<2.000000e+00> : tensor<1x1xf32>}>
  // CHECK-NEXT: %[[SUM:.+]] = tosa.add %arg0, %[[TWO]] : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %[[SUM]]
  %two = torch.constant.float 2.0
  %one = torch.constant.int 1
  %0 = torch.aten.add.Scalar %x, %two, %one : !torch.vtensor<[2,3],f32>, !torch.float, !torch.int -> !torch.vtensor<[2,3],f32>
  return %0 : !torch.vtensor<[2,3],f32>
}

// -----

// Operands of different rank and type are brought to the result's type and to one rank; 64-bit integers are carried as i32.

// CHECK-LABEL: func.func @mixed
// CHECK-SAME: %arg1: tensor<3xi32> {vgf.model_type = tensor<3xi64>}
func.func @mixed(%x: !torch.vtensor<[2,3],f32>, %i: !torch.vtensor<[3],si64>) -> !torch.vtensor<[2,3],f32> {
  // CHECK: %[[I:.+]] = tosa.cast %arg1 : (tensor<3xi32>) -> tensor<3xf32>
  // CHECK: %[[ROW:.+]] = tosa.reshape %[[I]]
  // CHECK-SAME: -> tensor<1x3xf32>
  // CHECK: tosa.mul %arg0, %[[ROW]]
  %0 = torch.aten.mul.Tensor %x, %i : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3],si64> -> !torch.vtensor<[2,3],f32>
  return %0 : !torch.vtensor<[2,3],f32>
}

// -----

// Bytes are computed in 32 bits and wrap as PyTorch's do.

// CHECK-LABEL: func.func @bytes
func.func @bytes(%x: !torch.vtensor<[3],ui8>) -> !torch.vtensor<[3],ui8> {
  // CHECK: %[[SUM:.+]] = tosa.add %arg0, %arg0 : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  // CHECK: %[[ALL:.+]] = "tosa.const"() <{values = dense<255> : tensor<1xi32>}>
  // CHECK: tosa.bitwise_and %[[SUM]], %[[ALL]]
  %one = torch.constant.int 1
  %0 = torch.aten.add.Tensor %x, %x, %one : !torch.vtensor<[3],ui8>, !torch.vtensor<[3],ui8>, !torch.int -> !torch.vtensor<[3],ui8>
  return %0 : !torch.vtensor<[3],ui8>
}

// -----

// Limits that are numbers are one clamp.

// CHECK-LABEL: func.func @limits
func.func @limits(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32> {
  // CHECK: %[[Y:.+]] = tosa.clamp %arg0 {max_val = 2.000000e+00 : f32, min_val = -1.000000e+00 : f32}
  // CHECK-NEXT: return %[[Y]]
  %low = torch.constant.float -1.0
  %high = torch.constant.int 2
  %0 = torch.aten.clamp %x, %low, %high : !torch.vtensor<[2,3],f32>, !torch.float, !torch.int -> !torch.vtensor<[2,3],f32>
  return %0 : !torch.vtensor<[2,3],f32>
}
