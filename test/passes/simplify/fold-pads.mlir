// RUN: vgf-opt %s -p vgf-fold-pads --split-input-file | filecheck %s

// Height and width are padded with the zero that the convolution pads with.

// CHECK-LABEL: func.func @convolution
func.func @convolution(%x: tensor<1x4x4x1xf32>) -> tensor<1x4x5x1xf32> {
  // CHECK-NOT: tosa.pad
  // CHECK: tosa.conv2d %arg0, {{.*}}pad = array<i64: 1, 1, 1, 2>
  %padding = tosa.const_shape {values = dense<[0, 0, 1, 1, 0, 2, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = "tosa.const"() <{values = dense<0.5> : tensor<1x3x3x1xf32>}> : () -> tensor<1x3x3x1xf32>
  %0 = tosa.pad %x, %padding, %zero : (tensor<1x4x4x1xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x6x6x1xf32>
  %1 = tosa.conv2d %0, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 1, 0>, stride = array<i64: 1, 1>} : (tensor<1x6x6x1xf32>, tensor<1x3x3x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x5x1xf32>
  return %1 : tensor<1x4x5x1xf32>
}

// -----

// A max pool pads with minus infinity. Two would be as much as its kernel, which TOSA forbids.

// CHECK-LABEL: func.func @max_pool
func.func @max_pool(%x: tensor<1x4x4x1xf32>) -> (tensor<1x3x2x1xf32>, tensor<1x4x2x1xf32>) {
  %one = tosa.const_shape {values = dense<[0, 0, 1, 1, 0, 0, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %two = tosa.const_shape {values = dense<[0, 0, 2, 2, 0, 0, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %lowest = "tosa.const"() <{values = dense<0xFF800000> : tensor<1xf32>}> : () -> tensor<1xf32>
  // CHECK: tosa.max_pool2d %arg0 {{.*}}pad = array<i64: 1, 1, 0, 0>
  %0 = tosa.pad %x, %one, %lowest : (tensor<1x4x4x1xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x6x4x1xf32>
  %1 = tosa.max_pool2d %0 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x6x4x1xf32>) -> tensor<1x3x2x1xf32>
  // CHECK: tosa.pad
  %2 = tosa.pad %x, %two, %lowest : (tensor<1x4x4x1xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x8x4x1xf32>
  // CHECK-NEXT: tosa.max_pool2d
  %3 = tosa.max_pool2d %2 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x8x4x1xf32>) -> tensor<1x4x2x1xf32>
  return %1, %3 : tensor<1x3x2x1xf32>, tensor<1x4x2x1xf32>
}

// -----

// A quantised convolution pads with its input's zero point: a pad with that number folds, one with zero does not.

// CHECK-LABEL: func.func @integers
func.func @integers(%x: tensor<1x4x4x1xi8>) -> (tensor<1x4x4x1xi32>, tensor<1x4x4x1xi32>) {
  %padding = tosa.const_shape {values = dense<[0, 0, 1, 1, 1, 1, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %zp = "tosa.const"() <{values = dense<-3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %bias = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %w = "tosa.const"() <{values = dense<2> : tensor<1x3x3x1xi8>}> : () -> tensor<1x3x3x1xi8>
  // CHECK: tosa.conv2d %arg0, {{.*}}pad = array<i64: 1, 1, 1, 1>
  %0 = tosa.pad %x, %padding, %zp : (tensor<1x4x4x1xi8>, !tosa.shape<8>, tensor<1xi8>) -> tensor<1x6x6x1xi8>
  %1 = tosa.conv2d %0, %w, %bias, %zp, %zero {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x6x6x1xi8>, tensor<1x3x3x1xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x4x1xi32>
  // CHECK: %[[PADDED:.+]] = tosa.pad
  // CHECK: tosa.conv2d %[[PADDED]]
  %2 = tosa.pad %x, %padding, %zero : (tensor<1x4x4x1xi8>, !tosa.shape<8>, tensor<1xi8>) -> tensor<1x6x6x1xi8>
  %3 = tosa.conv2d %2, %w, %bias, %zp, %zero {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x6x6x1xi8>, tensor<1x3x3x1xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x4x1xi32>
  return %1, %3 : tensor<1x4x4x1xi32>, tensor<1x4x4x1xi32>
}

// -----

// Pads of one value add up; channels are no axis that a convolution pads; an average pool does not count its padding.

// CHECK-LABEL: func.func @others
func.func @others(%x: tensor<1x2x2x1xf32>) -> (tensor<1x5x2x2xf32>, tensor<1x3x1x1xf32>) {
  %rows = tosa.const_shape {values = dense<[0, 0, 1, 2, 0, 0, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %both = tosa.const_shape {values = dense<[0, 0, 1, 1, 0, 0, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %channels = tosa.const_shape {values = dense<[0, 0, 0, 0, 0, 0, 0, 1]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // CHECK: %[[ALL:.+]] = tosa.const_shape {values = dense<[0, 0, 1, 2, 0, 0, 0, 1]>
  // CHECK-NEXT: tosa.pad %arg0, %[[ALL]]
  %0 = tosa.pad %x, %rows, %zero : (tensor<1x2x2x1xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x5x2x1xf32>
  %1 = tosa.pad %0, %channels, %zero : (tensor<1x5x2x1xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x5x2x2xf32>
  // CHECK: tosa.pad
  // CHECK-NEXT: tosa.avg_pool2d
  %2 = tosa.pad %x, %both, %zero : (tensor<1x2x2x1xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x4x2x1xf32>
  %3 = tosa.avg_pool2d %2, %zero, %zero {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x2x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x1x1xf32>
  return %1, %3 : tensor<1x5x2x2xf32>, tensor<1x3x1x1xf32>
}
