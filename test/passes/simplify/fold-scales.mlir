// RUN: vgf-opt %s -p vgf-fold-scales --split-input-file | filecheck %s

// The factor belongs to the first half of the channels: only those weights change.

// CHECK-LABEL: func.func @through_slice
func.func @through_slice(%x: tensor<1x2x1x1xf32>) -> (tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>) {
  // CHECK: dense<{{.*}}5.000000e-01]]], {{.*}}2.000000e+00]]]]> : tensor<2x1x1x1xf32>
  // CHECK-NOT: tosa.mul
  %w = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %half = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s0 = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
  %s1 = tosa.const_shape {values = dense<[0, 0, 0, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %n = tosa.const_shape {values = dense<[1, 2, 1, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.conv2d %x, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x1x1xf32>, tensor<2x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x1x2xf32>
  %1 = tosa.slice %0, %s0, %n : (tensor<1x2x1x2xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x2x1x1xf32>
  %2 = tosa.slice %0, %s1, %n : (tensor<1x2x1x2xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x2x1x1xf32>
  %3 = tosa.mul %1, %half, %s : (tensor<1x2x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x1x1xf32>
  return %3, %2 : tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>
}

// -----

// GELU: half of %0 goes to the error function, so that %0 is made half as large, and the weights behind the product double.

// CHECK-LABEL: func.func @gelu
func.func @gelu(%x: tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32> {
  // CHECK: %[[HALF:.+]] = "tosa.const"() <{values = dense<5.000000e-01> : tensor<1x1x1x1xf32>}>
  // CHECK: %[[A:.+]] = tosa.conv2d %arg0, %[[HALF]]
  // CHECK: %[[E:.+]] = tosa.erf %[[A]]
  // CHECK: %[[P:.+]] = tosa.mul %[[A]], %[[E]]
  // CHECK: %[[TWICE:.+]] = "tosa.const"() <{values = dense<6.000000e+00> : tensor<1x1x1x1xf32>}>
  // CHECK: tosa.conv2d %[[P]], %[[TWICE]]
  %w = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %v = "tosa.const"() <{values = dense<3.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %half = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.conv2d %x, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x1x1xf32>
  %1 = tosa.mul %0, %half, %s : (tensor<1x2x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x1x1xf32>
  %2 = tosa.erf %1 : (tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32>
  %3 = tosa.mul %0, %2, %s : (tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>, tensor<1xi8>) -> tensor<1x2x1x1xf32>
  %4 = tosa.conv2d %3, %v, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x1x1xf32>
  return %4 : tensor<1x2x1x1xf32>
}

// -----

// Up through a reciprocal square root, which wants a quarter of its input: weights and bias of the variance shrink.

// CHECK-LABEL: func.func @rsqrt
func.func @rsqrt(%x: tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32> {
  // CHECK-DAG: dense<2.500000e-01> : tensor<1x1x1x1xf32>
  // CHECK-DAG: dense<2.000000e+00> : tensor<1xf32>
  // CHECK: tosa.rsqrt
  // CHECK-NEXT: tosa.mul %arg0
  // CHECK-NEXT: return
  %w = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b = "tosa.const"() <{values = dense<8.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %two = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %q = tosa.mul %x, %x, %s : (tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>, tensor<1xi8>) -> tensor<1x2x1x1xf32>
  %0 = tosa.conv2d %q, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x1x1xf32>
  %1 = tosa.rsqrt %0 : (tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32>
  %2 = tosa.mul %x, %1, %s : (tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>, tensor<1xi8>) -> tensor<1x2x1x1xf32>
  %3 = tosa.mul %2, %two, %s : (tensor<1x2x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x1x1xf32>
  return %3 : tensor<1x2x1x1xf32>
}

// -----

// The convolution's result leaves as it is, and nothing takes up the factor; a factor of zero has no reciprocal.

// CHECK-LABEL: func.func @left_alone
func.func @left_alone(%x: tensor<1x2x1x1xf32>) -> (tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>) {
  // CHECK-COUNT-2: tosa.mul
  %w = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %half = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %none = "tosa.const"() <{values = dense<0.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.conv2d %x, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x1x1xf32>
  %1 = tosa.mul %0, %half, %s : (tensor<1x2x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x1x1xf32>
  %2 = tosa.conv2d %x, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x1x1xf32>
  %3 = tosa.mul %2, %none, %s : (tensor<1x2x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x1x1xf32>
  return %0, %1, %3 : tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>
}
