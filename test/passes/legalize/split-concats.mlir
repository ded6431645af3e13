// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-split-concats{max-operands=3})' --split-input-file | filecheck %s

// CHECK-LABEL: func.func @seven
func.func @seven(%x: tensor<1x2xf32>) -> tensor<7x2xf32> {
  // CHECK-NEXT: %[[A:.+]] = tosa.concat %arg0, %arg0, %arg0 {axis = 0 : i32}
  // CHECK-NEXT: %[[B:.+]] = tosa.concat %arg0, %arg0, %arg0 {axis = 0 : i32}
  // CHECK-NEXT: %[[C:.+]] = tosa.concat %[[A]], %[[B]], %arg0 {axis = 0 : i32}
  // CHECK-NEXT: return %[[C]]
  %0 = tosa.concat %x, %x, %x, %x, %x, %x, %x {axis = 0 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<7x2xf32>
  return %0 : tensor<7x2xf32>
}

// -----

// As many as may be stay together.

// CHECK-LABEL: func.func @three
func.func @three(%x: tensor<1x2xf32>) -> tensor<3x2xf32> {
  // CHECK-NEXT: %[[A:.+]] = tosa.concat %arg0, %arg0, %arg0
  // CHECK-NEXT: return %[[A]]
  %0 = tosa.concat %x, %x, %x {axis = 0 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
