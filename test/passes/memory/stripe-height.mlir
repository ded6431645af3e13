// RUN: vgf-opt %s -p 'vgf-stripe{price=2.5 parts=2}' | filecheck %s

// Along the height, windows reach over the cut: the stripes of what they read overlap, and only the outer ones are padded.

func.func @main(%x: tensor<1x256x1x1xf32>) -> tensor<1x256x1x1xf32> {
  %0 = call @segment_0(%x) : (tensor<1x256x1x1xf32>) -> tensor<1x256x1x1xf32>
  return %0 : tensor<1x256x1x1xf32>
}
// CHECK-LABEL: func.func private @segment_0
func.func private @segment_0(%x: tensor<1x256x1x1xf32>) -> tensor<1x256x1x1xf32> attributes {vgf.segment = "graph"} {
  // CHECK: tosa.slice %arg0
  // CHECK-SAME: -> tensor<1x129x1x1xf32>
  // CHECK: tosa.max_pool2d
  // CHECK-SAME: pad = array<i64: 1, 0, 0, 0>
  // CHECK: tosa.slice %arg0
  // CHECK-SAME: -> tensor<1x129x1x1xf32>
  // CHECK: tosa.max_pool2d
  // CHECK-SAME: pad = array<i64: 0, 1, 0, 0>
  // CHECK: tosa.concat %{{.+}} {axis = 1 : i32}
  %0 = tosa.exp %x : (tensor<1x256x1x1xf32>) -> tensor<1x256x1x1xf32>
  %1 = tosa.abs %0 : (tensor<1x256x1x1xf32>) -> tensor<1x256x1x1xf32>
  %2 = tosa.ceil %1 : (tensor<1x256x1x1xf32>) -> tensor<1x256x1x1xf32>
  %3 = tosa.max_pool2d %2 {kernel = array<i64: 3, 1>, pad = array<i64: 1, 1, 0, 0>, stride = array<i64: 1, 1>, nan_mode = PROPAGATE} : (tensor<1x256x1x1xf32>) -> tensor<1x256x1x1xf32>
  return %3 : tensor<1x256x1x1xf32>
}
