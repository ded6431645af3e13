// RUN: vgf-opt %s -p vgf-convert-means-to-pools --split-input-file | filecheck %s

// CHECK-LABEL: func.func @both_axes
func.func @both_axes(%x: tensor<2x4x2x3xf32>) -> tensor<2x1x1x3xf32> {
  // CHECK: tosa.avg_pool2d %arg0, {{.*}}kernel = array<i64: 4, 2>
  // CHECK-NEXT: return
  %c = "tosa.const"() <{values = dense<0.125> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.reduce_sum %x {axis = 2 : i32} : (tensor<2x4x2x3xf32>) -> tensor<2x4x1x3xf32>
  %1 = tosa.reduce_sum %0 {axis = 1 : i32} : (tensor<2x4x1x3xf32>) -> tensor<2x1x1x3xf32>
  %2 = tosa.mul %c, %1, %s : (tensor<1x1x1x1xf32>, tensor<2x1x1x3xf32>, tensor<1xi8>) -> tensor<2x1x1x3xf32>
  return %2 : tensor<2x1x1x3xf32>
}

// -----

// One axis alone.

// CHECK-LABEL: func.func @width
func.func @width(%x: tensor<2x4x2x3xf32>) -> tensor<2x4x1x3xf32> {
  // CHECK: tosa.avg_pool2d %arg0, {{.*}}kernel = array<i64: 1, 2>
  // CHECK-NEXT: return
  %c = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.reduce_sum %x {axis = 2 : i32} : (tensor<2x4x2x3xf32>) -> tensor<2x4x1x3xf32>
  %1 = tosa.mul %0, %c, %s : (tensor<2x4x1x3xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<2x4x1x3xf32>
  return %1 : tensor<2x4x1x3xf32>
}

// -----

// A third is no mean of two, and channels are not pooled.

// CHECK-LABEL: func.func @left_alone
func.func @left_alone(%x: tensor<2x4x2x3xf32>) -> (tensor<2x4x1x3xf32>, tensor<2x4x2x1xf32>) {
  // CHECK-COUNT-2: tosa.mul
  %c = "tosa.const"() <{values = dense<0.333333333> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.reduce_sum %x {axis = 2 : i32} : (tensor<2x4x2x3xf32>) -> tensor<2x4x1x3xf32>
  %1 = tosa.mul %0, %c, %s : (tensor<2x4x1x3xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<2x4x1x3xf32>
  %2 = tosa.reduce_sum %x {axis = 3 : i32} : (tensor<2x4x2x3xf32>) -> tensor<2x4x2x1xf32>
  %3 = tosa.mul %2, %c, %s : (tensor<2x4x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<2x4x2x1xf32>
  return %1, %3 : tensor<2x4x1x3xf32>, tensor<2x4x2x1xf32>
}
