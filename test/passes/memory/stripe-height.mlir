// RUN: vgf-opt %s -p 'vgf-stripe{price=2 parts=2}' | filecheck %s

// Along the height, windows reach over the cut: the stripes of what they read overlap by a row, and only the outer ones are
// padded. The lower half reads 129 rows, so it comes first; the upper half's 128 then fit where it was.

func.func @main(%x: tensor<1x256x1x1xf32>) -> tensor<1x64x1x1xf32> {
  %0 = call @segment_0(%x) : (tensor<1x256x1x1xf32>) -> tensor<1x64x1x1xf32>
  return %0 : tensor<1x64x1x1xf32>
}
// CHECK-LABEL: func.func private @segment_0
func.func private @segment_0(%x: tensor<1x256x1x1xf32>) -> tensor<1x64x1x1xf32> attributes {vgf.segment = "graph"} {
  // CHECK: tosa.const_shape {values = dense<[0, 127, 0, 0]>
  // CHECK: tosa.slice %arg0
  // CHECK-SAME: -> tensor<1x129x1x1xf32>
  // CHECK: tosa.abs
  // CHECK: %[[LOWER:.+]] = tosa.max_pool2d
  // CHECK-SAME: pad = array<i64: 0, 0, 0, 0>
  // CHECK: tosa.slice %arg0
  // CHECK-SAME: -> tensor<1x128x1x1xf32>
  // CHECK: tosa.abs
  // CHECK: %[[UPPER:.+]] = tosa.max_pool2d
  // CHECK-SAME: pad = array<i64: 1, 0, 0, 0>
  // CHECK: tosa.concat %[[UPPER]], %[[LOWER]] {axis = 1 : i32}
  %0 = tosa.exp %x : (tensor<1x256x1x1xf32>) -> tensor<1x256x1x1xf32>
  %1 = tosa.abs %0 : (tensor<1x256x1x1xf32>) -> tensor<1x256x1x1xf32>
  %2 = tosa.max_pool2d %1 {kernel = array<i64: 5, 1>, pad = array<i64: 1, 0, 0, 0>, stride = array<i64: 4, 1>, nan_mode = PROPAGATE} : (tensor<1x256x1x1xf32>) -> tensor<1x64x1x1xf32>
  return %2 : tensor<1x64x1x1xf32>
}
