// RUN: vgf-opt %s -p waves-fold-repeated-abs --split-input-file | filecheck %s

// CHECK-LABEL: func.func @twice
func.func @twice(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: %[[A:.+]] = tosa.abs %arg0
  // CHECK-NEXT: return %[[A]]
  %0 = tosa.abs %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = tosa.abs %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// Only directly repeated ones go.

// CHECK-LABEL: func.func @apart
func.func @apart(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: tosa.abs
  // CHECK-NEXT: tosa.floor
  // CHECK-NEXT: tosa.abs
  %0 = tosa.abs %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = tosa.floor %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = tosa.abs %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}
