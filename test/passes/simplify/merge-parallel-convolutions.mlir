// RUN: vgf-opt %s -p vgf-merge-parallel-convolutions --split-input-file | filecheck %s

// Two results split into heads alike: one convolution with the weights one after the other, and two slices.

// CHECK-LABEL: func.func @heads
func.func @heads(%x: tensor<1x3x1x1xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xf32>) {
  // CHECK-DAG: dense<{{.*}}1.000000e+00]]], {{.*}}2.000000e+00]]], {{.*}}3.000000e+00]]], {{.*}}4.000000e+00]]], {{.*}}5.000000e+00]]], {{.*}}6.000000e+00]]], {{.*}}7.000000e+00]]], {{.*}}8.000000e+00]]]]> : tensor<8x1x1x1xf32>
  // CHECK-DAG: dense<[5.000000e-01, 5.000000e-01, 5.000000e-01, 5.000000e-01, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]> : tensor<8xf32>
  // CHECK: %[[C:.+]] = tosa.conv2d %arg0, {{.*}} -> tensor<1x3x1x8xf32>
  // CHECK: %[[Q:.+]] = tosa.slice %[[C]]
  // CHECK: %[[K:.+]] = tosa.slice %[[C]]
  // CHECK-NOT: tosa.conv2d
  // CHECK: tosa.reshape %[[Q]]
  // CHECK: tosa.reshape %[[K]]
  %wq = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]], [[[3.0]]], [[[4.0]]]]> : tensor<4x1x1x1xf32>}> : () -> tensor<4x1x1x1xf32>
  %wk = "tosa.const"() <{values = dense<[[[[5.0]]], [[[6.0]]], [[[7.0]]], [[[8.0]]]]> : tensor<4x1x1x1xf32>}> : () -> tensor<4x1x1x1xf32>
  %half = "tosa.const"() <{values = dense<0.5> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %heads = tosa.const_shape {values = dense<[3, 2, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %q = tosa.conv2d %x, %wq, %half, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x1x1xf32>, tensor<4x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x1x4xf32>
  %k = tosa.conv2d %x, %wk, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x1x1xf32>, tensor<4x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x1x4xf32>
  %0 = tosa.reshape %q, %heads : (tensor<1x3x1x4xf32>, !tosa.shape<3>) -> tensor<3x2x2xf32>
  %1 = tosa.reshape %k, %heads : (tensor<1x3x1x4xf32>, !tosa.shape<3>) -> tensor<3x2x2xf32>
  %2 = tosa.transpose %0 {perms = array<i32: 1, 0, 2>} : (tensor<3x2x2xf32>) -> tensor<2x3x2xf32>
  %3 = tosa.transpose %1 {perms = array<i32: 1, 0, 2>} : (tensor<3x2x2xf32>) -> tensor<2x3x2xf32>
  return %2, %3 : tensor<2x3x2xf32>, tensor<2x3x2xf32>
}

// -----

// No views to share: two slices would be one operator more.

// CHECK-LABEL: func.func @plain
func.func @plain(%x: tensor<1x3x1x1xf32>) -> (tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32>) {
  // CHECK-COUNT-2: tosa.conv2d
  // CHECK-NOT: tosa.slice
  %w = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %v = "tosa.const"() <{values = dense<2.0> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x1x1xf32>, tensor<2x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x1x2xf32>
  %1 = tosa.conv2d %x, %v, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x1x1xf32>, tensor<2x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x1x2xf32>
  return %0, %1 : tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32>
}
