// RUN: vgf-opt %s -p vgf-fold-transpose-pairs --split-input-file | filecheck %s

// The pair composes to the identity: nothing is left of it.

// CHECK-LABEL: func.func @identity
func.func @identity(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  // CHECK: return %arg0
  %0 = tosa.transpose %x {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x2x3x4xf32>) -> tensor<1x3x4x2xf32>
  %1 = tosa.transpose %0 {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x3x4x2xf32>) -> tensor<1x2x3x4xf32>
  return %1 : tensor<1x2x3x4xf32>
}

// -----

// Any other pair becomes the one permutation that does both: output axis i is input axis inner[outer[i]].

// CHECK-LABEL: func.func @merged
func.func @merged(%x: tensor<1x2x3x4xf32>) -> tensor<4x1x3x2xf32> {
  // CHECK: tosa.transpose %arg0 {perms = array<i32: 3, 0, 2, 1>} : (tensor<1x2x3x4xf32>) -> tensor<4x1x3x2xf32>
  %0 = tosa.transpose %x {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x2x3x4xf32>) -> tensor<1x3x4x2xf32>
  %1 = tosa.transpose %0 {perms = array<i32: 2, 0, 1, 3>} : (tensor<1x3x4x2xf32>) -> tensor<4x1x3x2xf32>
  return %1 : tensor<4x1x3x2xf32>
}

// -----

// The middle value is still read, so only the second transpose may go.

// CHECK-LABEL: func.func @first_still_used
func.func @first_still_used(%x: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<2x3xf32>) {
  // CHECK: %[[T:.+]] = tosa.transpose %arg0
  // CHECK-NEXT: return %[[T]], %arg0
  %0 = tosa.transpose %x {perms = array<i32: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = tosa.transpose %0 {perms = array<i32: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<3x2xf32>, tensor<2x3xf32>
}

// -----

// One transpose that moves something stays.

// CHECK-LABEL: func.func @alone
func.func @alone(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  // CHECK: tosa.transpose %arg0 {perms = array<i32: 1, 0>}
  %0 = tosa.transpose %x {perms = array<i32: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
