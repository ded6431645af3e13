// RUN: vgf-opt %s -p vgf-fold-affine --split-input-file | filecheck %s

// A batch norm: ((w x + 1) - 1) * 2 + [3, 4] is 2 w x + [3, 4].

// CHECK-LABEL: func.func @after
func.func @after(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x2xf32> {
  // CHECK-DAG: %[[W:.+]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}2.000000e+00]]], {{\[\[\[}}4.000000e+00]]]]> : tensor<2x1x1x1xf32>}>
  // CHECK-DAG: %[[B:.+]] = "tosa.const"() <{values = dense<[3.000000e+00, 4.000000e+00]> : tensor<2xf32>}>
  // CHECK: tosa.conv2d %arg0, %[[W]], %[[B]]
  // CHECK-NEXT: return
  %w = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %b = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mean = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %scale = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<[[[[3.0, 4.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.conv2d %x, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<2x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  %1 = tosa.sub %0, %mean : (tensor<1x2x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  %2 = tosa.mul %1, %scale, %s : (tensor<1x2x2x2xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
  %3 = tosa.add %shift, %2 : (tensor<1x1x1x2xf32>, tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  return %3 : tensor<1x2x2x2xf32>
}

// -----

// Before: w (2 x + 3) is 2 w x + 3 w, summed over the kernel. Depthwise weights have the multiplier as another axis.

// CHECK-LABEL: func.func @before
func.func @before(%x: tensor<1x2x2x2xf32>) -> tensor<1x2x2x4xf32> {
  // CHECK-DAG: dense<{{.*}}2.000000e+00, 4.000000e+00], [6.000000e+00, 8.000000e+00]{{.*}}> : tensor<1x1x2x2xf32>
  // CHECK-DAG: dense<[3.000000e+00, 6.000000e+00, 9.000000e+00, 1.200000e+01]> : tensor<4xf32>
  // CHECK: tosa.depthwise_conv2d %arg0
  // CHECK-NEXT: return
  %w = "tosa.const"() <{values = dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32>}> : () -> tensor<1x1x2x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %scale = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<3.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %x, %scale, %s : (tensor<1x2x2x2xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
  %1 = tosa.add %0, %shift : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x2x2x2xf32>
  %2 = tosa.depthwise_conv2d %1, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x4xf32>
  return %2 : tensor<1x2x2x4xf32>
}

// -----

// The convolution pads with zeros that the addition never saw: the factor folds, the addition stays.

// CHECK-LABEL: func.func @padded
func.func @padded(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  // CHECK: tosa.add %arg0
  // CHECK-NEXT: dense<3.000000e+00> : tensor<1x3x3x1xf32>
  // CHECK-NEXT: tosa.conv2d
  // CHECK-NEXT: return
  %w = "tosa.const"() <{values = dense<1.5> : tensor<1x3x3x1xf32>}> : () -> tensor<1x3x3x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %two = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.add %x, %two : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x2x2x1xf32>
  %1 = tosa.mul %0, %two, %s : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x2x1xf32>
  %2 = tosa.conv2d %1, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x3x3x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  return %2 : tensor<1x2x2x1xf32>
}

// -----

// One number per row where rows and channels are as many; a convolution that another reads; weights that would overflow.

// CHECK-LABEL: func.func @left_alone
func.func @left_alone(%x: tensor<1x2x1x1xf32>) -> (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) {
  // CHECK-COUNT-2: tosa.mul
  // CHECK: tosa.conv2d
  // CHECK: tosa.mul
  %w = "tosa.const"() <{values = dense<1.0e30> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %rows = "tosa.const"() <{values = dense<[[[[2.0]], [[3.0]]]]> : tensor<1x2x1x1xf32>}> : () -> tensor<1x2x1x1xf32>
  %big = "tosa.const"() <{values = dense<1.0e30> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.conv2d %x, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x1x1xf32>, tensor<2x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x1x2xf32>
  %1 = tosa.mul %0, %rows, %s : (tensor<1x2x1x2xf32>, tensor<1x2x1x1xf32>, tensor<1xi8>) -> tensor<1x2x1x2xf32>
  %2 = tosa.mul %0, %0, %s : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>, tensor<1xi8>) -> tensor<1x2x1x2xf32>
  %3 = tosa.conv2d %x, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x1x1xf32>, tensor<2x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x1x2xf32>
  %4 = tosa.mul %3, %big, %s : (tensor<1x2x1x2xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x1x2xf32>
  return %0, %1, %2, %4 : tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>
}
