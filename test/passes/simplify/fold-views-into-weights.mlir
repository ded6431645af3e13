// RUN: vgf-opt %s -p vgf-fold-views-into-weights --split-input-file | filecheck %s

// [C, H, W] flattened is weight order 0, 2, 4, 6 for the first channel; a kernel of the size of the image has [H, W, C].

// CHECK-LABEL: func.func @flattened
func.func @flattened(%x: tensor<1x2x2x2xf32>) -> tensor<1x1x1x1xf32> {
  // CHECK: dense<{{\[\[\[\[}}0.000000e+00, 4.000000e+00], [1.000000e+00, 5.000000e+00]], {{\[\[}}2.000000e+00, 6.000000e+00], [3.000000e+00, 7.000000e+00]]]]> : tensor<1x2x2x2xf32>
  // CHECK: tosa.conv2d %arg0
  // CHECK-NEXT: return
  %w = "tosa.const"() <{values = dense<[[[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]]]]> : tensor<1x1x1x8xf32>}> : () -> tensor<1x1x1x8xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %flat = tosa.const_shape {values = dense<[1, 1, 1, 8]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %1 = tosa.reshape %0, %flat : (tensor<1x2x2x2xf32>, !tosa.shape<4>) -> tensor<1x1x1x8xf32>
  %2 = tosa.conv2d %1, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x8xf32>, tensor<1x1x1x8xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %2 : tensor<1x1x1x1xf32>
}

// -----

// A channel shuffle after a pointwise convolution is an order of its output channels, bias included.

// CHECK-LABEL: func.func @shuffled
func.func @shuffled(%x: tensor<1x2x1x1xf32>) -> tensor<1x2x1x4xf32> {
  // CHECK-DAG: dense<{{.*}}0.000000e+00]]], {{.*}}2.000000e+00]]], {{.*}}1.000000e+00]]], {{.*}}3.000000e+00]]]]> : tensor<4x1x1x1xf32>
  // CHECK-DAG: dense<[1.000000e+01, 3.000000e+01, 2.000000e+01, 4.000000e+01]> : tensor<4xf32>
  // CHECK: tosa.conv2d %arg0
  // CHECK-NEXT: return
  %w = "tosa.const"() <{values = dense<[[[[0.0]]], [[[1.0]]], [[[2.0]]], [[[3.0]]]]> : tensor<4x1x1x1xf32>}> : () -> tensor<4x1x1x1xf32>
  %b = "tosa.const"() <{values = dense<[10.0, 20.0, 30.0, 40.0]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %split = tosa.const_shape {values = dense<2> : tensor<3xindex>} : () -> !tosa.shape<3>
  %joined = tosa.const_shape {values = dense<[1, 2, 1, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.conv2d %x, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x1x1xf32>, tensor<4x1x1x1xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x1x4xf32>
  %1 = tosa.reshape %0, %split : (tensor<1x2x1x4xf32>, !tosa.shape<3>) -> tensor<2x2x2xf32>
  %2 = tosa.transpose %1 {perms = array<i32: 0, 2, 1>} : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  %3 = tosa.reshape %2, %joined : (tensor<2x2x2xf32>, !tosa.shape<4>) -> tensor<1x2x1x4xf32>
  return %3 : tensor<1x2x1x4xf32>
}

// -----

// The transpose mixes rows with channels.

// CHECK-LABEL: func.func @mixed
func.func @mixed(%x: tensor<1x2x1x3xf32>) -> tensor<1x3x1x1xf32> {
  // CHECK: tosa.transpose
  // CHECK-NEXT: tosa.conv2d
  %w = "tosa.const"() <{values = dense<[[[[1.0, 2.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 2, 1>} : (tensor<1x2x1x3xf32>) -> tensor<1x3x1x2xf32>
  %1 = tosa.conv2d %0, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x1x1xf32>
  return %1 : tensor<1x3x1x1xf32>
}
