// RUN: vgf-opt %s -p vgf-shrink-constants --split-input-file | filecheck %s

// The second axis repeats, the first does not.

// CHECK-LABEL: func.func @one_axis
func.func @one_axis(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT{LITERAL}: dense<[[1.000000e+00], [2.000000e+00]]> : tensor<2x1xf32>
  // CHECK-NEXT: tosa.add %arg0, %{{.+}} : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %0 = "tosa.const"() <{values = dense<[[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>
  %1 = tosa.add %x, %0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// The constant alone gives the result its first axis: that axis stays, though it repeats.

// CHECK-LABEL: func.func @gives_the_extent
func.func @gives_the_extent(%x: tensor<1x3xf32>) -> tensor<2x3xf32> {
  // CHECK: (tensor<2x1xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %0 = "tosa.const"() <{values = dense<1.0> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>
  %1 = tosa.sub %0, %x : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// 0.0 and -0.0 are equal and not the same.

// CHECK-LABEL: func.func @zeros
func.func @zeros(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  // CHECK: tosa.mul %arg0, %{{.+}} : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1xi8>)
  %0 = "tosa.const"() <{values = dense<[[0.0, -0.0]]> : tensor<1x2xf32>}> : () -> tensor<1x2xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %1 = tosa.mul %x, %0, %s : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1xi8>) -> tensor<1x2xf32>
  return %1 : tensor<1x2xf32>
}

// -----

// A concat does not broadcast.

// CHECK-LABEL: func.func @concat
func.func @concat(%x: tensor<1x2xf32>) -> tensor<1x4xf32> {
  // CHECK: tensor<1x2xf32>}>
  %0 = "tosa.const"() <{values = dense<1.0> : tensor<1x2xf32>}> : () -> tensor<1x2xf32>
  %1 = tosa.concat %x, %0 {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}
