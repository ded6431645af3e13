// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-powers,vgf-finish-torch-conversion)' --split-input-file | filecheck %s

// Whole powers are products, x^5 = x * (x^2)^2.

// CHECK-LABEL: func.func @fifth
func.func @fifth(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
  // CHECK: %[[TWO:.+]] = tosa.mul %arg0, %arg0
  // CHECK: %[[FOUR:.+]] = tosa.mul %[[TWO]], %[[TWO]]
  // CHECK: tosa.mul %arg0, %[[FOUR]]
  // CHECK-NOT: tosa.pow
  %five = torch.constant.int 5
  %0 = torch.aten.pow.Tensor_Scalar %x, %five : !torch.vtensor<[3],f32>, !torch.int -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}

// -----

// TOSA has no square root, only its reciprocal.

// CHECK-LABEL: func.func @root
func.func @root(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
  // CHECK: %[[R:.+]] = tosa.rsqrt %arg0
  // CHECK-NEXT: %[[ROOT:.+]] = tosa.reciprocal %[[R]]
  // CHECK-NEXT: return %[[ROOT]]
  %0 = torch.aten.sqrt %x : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}
