// RUN: vgf-opt %s -p vgf-propagate-layouts --split-input-file | filecheck %s

// A pair around element-wise work goes away; the constant per channel moves to the last axis.

// CHECK-LABEL: func.func @through
func.func @through(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  // CHECK-NOT: tosa.transpose
  // CHECK: %[[C:.+]] = "tosa.const"() <{values = dense<{{.*}}> : tensor<1x1x1x4xf32>}>
  // CHECK: %[[S:.+]] = tosa.sub %arg0, %[[C]]
  // CHECK-NEXT: %[[E:.+]] = tosa.exp %[[S]]
  // CHECK-NEXT: return %[[E]]
  %c = "tosa.const"() <{values = dense<[[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]]> : tensor<1x4x1x1xf32>}> : () -> tensor<1x4x1x1xf32>
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x2x3x4xf32>) -> tensor<1x4x2x3xf32>
  %1 = tosa.sub %0, %c : (tensor<1x4x2x3xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x2x3xf32>
  %2 = tosa.exp %1 : (tensor<1x4x2x3xf32>) -> tensor<1x4x2x3xf32>
  %3 = tosa.transpose %2 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x4x2x3xf32>) -> tensor<1x2x3x4xf32>
  return %3 : tensor<1x2x3x4xf32>
}

// -----

// Reduction, concat, slice, pad and tile name other axes in the new arrangement.

// CHECK-LABEL: func.func @axes
func.func @axes(%x: tensor<2x3x4xf32>) -> tensor<2x2x6xf32> {
  // CHECK-NOT: tosa.transpose
  // CHECK: %[[MAX:.+]] = tosa.reduce_max %arg0 {axis = 2 : i32} : (tensor<2x3x4xf32>) -> tensor<2x3x1xf32>
  // CHECK: %[[CAT:.+]] = tosa.concat %arg0, %[[MAX]] {axis = 2 : i32} : {{.*}} -> tensor<2x3x5xf32>
  // CHECK-DAG: %[[START:.+]] = tosa.const_shape {values = dense<[0, 1, 0]>
  // CHECK-DAG: %[[SIZE:.+]] = tosa.const_shape {values = dense<[2, 1, 5]>
  // CHECK: %[[CUT:.+]] = tosa.slice %[[CAT]], %[[START]], %[[SIZE]]
  // CHECK: %[[PADDING:.+]] = tosa.const_shape {values = dense<[0, 0, 0, 0, 1, 0]>
  // CHECK: %[[PAD:.+]] = tosa.pad %[[CUT]], %[[PADDING]]
  // CHECK: %[[TIMES:.+]] = tosa.const_shape {values = dense<[1, 2, 1]>
  // CHECK: tosa.tile %[[PAD]], %[[TIMES]]
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %start = tosa.const_shape {values = dense<[0, 0, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size = tosa.const_shape {values = dense<[5, 2, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %padding = tosa.const_shape {values = dense<[1, 0, 0, 0, 0, 0]> : tensor<6xindex>} : () -> !tosa.shape<6>
  %times = tosa.const_shape {values = dense<[1, 1, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %0 = tosa.transpose %x {perms = array<i32: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = tosa.reduce_max %0 {axis = 0 : i32} : (tensor<4x2x3xf32>) -> tensor<1x2x3xf32>
  %2 = tosa.concat %0, %1 {axis = 0 : i32} : (tensor<4x2x3xf32>, tensor<1x2x3xf32>) -> tensor<5x2x3xf32>
  %3 = tosa.slice %2, %start, %size : (tensor<5x2x3xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<5x2x1xf32>
  %4 = tosa.pad %3, %padding, %zero : (tensor<5x2x1xf32>, !tosa.shape<6>, tensor<1xf32>) -> tensor<6x2x1xf32>
  %5 = tosa.tile %4, %times : (tensor<6x2x1xf32>, !tosa.shape<3>) -> tensor<6x2x2xf32>
  %6 = tosa.transpose %5 {perms = array<i32: 1, 2, 0>} : (tensor<6x2x2xf32>) -> tensor<2x2x6xf32>
  return %6 : tensor<2x2x6xf32>
}

// -----

// Two readers in the one arrangement outweigh one in the other: the transpose moves to where it is needed once.

// CHECK-LABEL: func.func @majority
func.func @majority(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3x2xf32>) {
  // CHECK-NEXT: %[[ABS:.+]] = tosa.abs %arg0
  // CHECK-NEXT: %[[OUT:.+]] = tosa.transpose %[[ABS]] {perms = array<i32: 1, 0>}
  // CHECK-NEXT: return %[[ABS]], %[[OUT]]
  %0 = tosa.transpose %x {perms = array<i32: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = tosa.abs %0 : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %2 = tosa.transpose %1 {perms = array<i32: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  return %2, %1 : tensor<2x3xf32>, tensor<3x2xf32>
}

// -----

// The layout of argument and result forces one transpose; it stands where there is less to move.

// CHECK-LABEL: func.func @forced
func.func @forced(%x: tensor<2x3x4xf32>) -> tensor<3x2x1xf32> {
  // CHECK-NEXT: %[[MAX:.+]] = tosa.reduce_max %arg0 {axis = 2 : i32}
  // CHECK-NEXT: tosa.transpose %[[MAX]] {perms = array<i32: 1, 0, 2>} : (tensor<2x3x1xf32>) -> tensor<3x2x1xf32>
  // CHECK-NEXT: return
  %0 = tosa.transpose %x {perms = array<i32: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %1 = tosa.reduce_max %0 {axis = 2 : i32} : (tensor<3x2x4xf32>) -> tensor<3x2x1xf32>
  return %1 : tensor<3x2x1xf32>
}

// -----

// Reshape, transpose and reshape that do what one transpose does.

// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  // CHECK-NEXT: tosa.transpose %arg0 {perms = array<i32: 2, 0, 1>}
  // CHECK-NEXT: return
  %a = tosa.const_shape {values = dense<[6, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %b = tosa.const_shape {values = dense<[4, 2, 3]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %0 = tosa.reshape %x, %a : (tensor<2x3x4xf32>, !tosa.shape<2>) -> tensor<6x4xf32>
  %1 = tosa.transpose %0 {perms = array<i32: 1, 0>} : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %2 = tosa.reshape %1, %b : (tensor<4x6xf32>, !tosa.shape<3>) -> tensor<4x2x3xf32>
  return %2 : tensor<4x2x3xf32>
}

// -----

// A slice of whole heads is a slice of channels: the heads are split once, before all slices.

// CHECK-LABEL: func.func @heads
func.func @heads(%x: tensor<5x12xf32>) -> (tensor<2x5x3xf32>, tensor<2x5x3xf32>) {
  // CHECK: %[[R:.+]] = tosa.reshape %arg0, %{{.+}} -> tensor<5x4x3xf32>
  // CHECK: %[[T:.+]] = tosa.transpose %[[R]] {perms = array<i32: 1, 0, 2>}
  // CHECK: tosa.slice %[[T]]
  // CHECK: tosa.slice %[[T]]
  // CHECK-NOT: tosa.transpose
  %s0 = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
  %s1 = tosa.const_shape {values = dense<[0, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %n = tosa.const_shape {values = dense<[5, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %h = tosa.const_shape {values = dense<[5, 2, 3]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %0 = tosa.slice %x, %s0, %n : (tensor<5x12xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<5x6xf32>
  %1 = tosa.slice %x, %s1, %n : (tensor<5x12xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<5x6xf32>
  %2 = tosa.reshape %0, %h : (tensor<5x6xf32>, !tosa.shape<3>) -> tensor<5x2x3xf32>
  %3 = tosa.reshape %1, %h : (tensor<5x6xf32>, !tosa.shape<3>) -> tensor<5x2x3xf32>
  %4 = tosa.transpose %2 {perms = array<i32: 1, 0, 2>} : (tensor<5x2x3xf32>) -> tensor<2x5x3xf32>
  %5 = tosa.transpose %3 {perms = array<i32: 1, 0, 2>} : (tensor<5x2x3xf32>) -> tensor<2x5x3xf32>
  return %4, %5 : tensor<2x5x3xf32>, tensor<2x5x3xf32>
}

// -----

// The reduced axis is one with another: it cannot be named in the merged shape, and the reshape stays.

// CHECK-LABEL: func.func @merged_axis
func.func @merged_axis(%x: tensor<6x4xf32>) -> tensor<2x1x4xf32> {
  // CHECK: tosa.reshape
  // CHECK-NEXT: tosa.reduce_sum
  // CHECK-NEXT: return
  %a = tosa.const_shape {values = dense<[2, 3, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %0 = tosa.reshape %x, %a : (tensor<6x4xf32>, !tosa.shape<3>) -> tensor<2x3x4xf32>
  %1 = tosa.reduce_sum %0 {axis = 1 : i32} : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
  return %1 : tensor<2x1x4xf32>
}

// -----

// A pointwise convolution works on [1, 2, 3, C] as on [1, 6, 1, C].

// CHECK-LABEL: func.func @pointwise
func.func @pointwise(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x3x2xf32> {
  // CHECK-NOT: tosa.reshape
  // CHECK: tosa.conv2d %arg0, {{.*}} -> tensor<1x2x3x2xf32>
  %w = "tosa.const"() <{values = dense<0.5> : tensor<2x1x1x4xf32>}> : () -> tensor<2x1x1x4xf32>
  %b = "tosa.const"() <{values = dense<1.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %a = tosa.const_shape {values = dense<[1, 6, 1, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %c = tosa.const_shape {values = dense<[1, 2, 3, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.reshape %x, %a : (tensor<1x2x3x4xf32>, !tosa.shape<4>) -> tensor<1x6x1x4xf32>
  %1 = tosa.conv2d %0, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x6x1x4xf32>, tensor<2x1x1x4xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x1x2xf32>
  %2 = tosa.reshape %1, %c : (tensor<1x6x1x2xf32>, !tosa.shape<4>) -> tensor<1x2x3x2xf32>
  return %2 : tensor<1x2x3x2xf32>
}

// -----

// Between two reshapes of [1, M, C] it is a matmul and an addition: two operators and not three.

// CHECK-LABEL: func.func @as_matmul
func.func @as_matmul(%x: tensor<1x6x4xf32>) -> tensor<1x6x2xf32> {
  // CHECK: %[[P:.+]] = tosa.matmul %arg0, {{.*}} -> tensor<1x6x2xf32>
  // CHECK: tosa.add %[[P]]
  // CHECK-NEXT: return
  %w = "tosa.const"() <{values = dense<[[[[1.0, 2.0, 3.0, 4.0]]], [[[5.0, 6.0, 7.0, 8.0]]]]> : tensor<2x1x1x4xf32>}> : () -> tensor<2x1x1x4xf32>
  %b = "tosa.const"() <{values = dense<1.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %a = tosa.const_shape {values = dense<[1, 6, 1, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %c = tosa.const_shape {values = dense<[1, 6, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %0 = tosa.reshape %x, %a : (tensor<1x6x4xf32>, !tosa.shape<4>) -> tensor<1x6x1x4xf32>
  %1 = tosa.conv2d %0, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x6x1x4xf32>, tensor<2x1x1x4xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x1x2xf32>
  %2 = tosa.reshape %1, %c : (tensor<1x6x1x2xf32>, !tosa.shape<3>) -> tensor<1x6x2xf32>
  return %2 : tensor<1x6x2xf32>
}

// -----

// A rescale per channel needs its channels last, and a max pool its height and width where they are: nothing may change.

// CHECK-LABEL: func.func @bound
func.func @bound(%x: tensor<1x2x4x4xi32>) -> tensor<1x2x2x2xi8> {
  // CHECK: %[[T:.+]] = tosa.transpose %arg0
  // CHECK-NEXT: %[[R:.+]] = tosa.rescale %[[T]]
  // CHECK-NEXT: %[[P:.+]] = tosa.max_pool2d %[[R]]
  // CHECK-NEXT: tosa.transpose %[[P]]
  %m = "tosa.const"() <{values = dense<[1073741824, 1073741824]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %s = "tosa.const"() <{values = dense<[35, 36]> : tensor<2xi8>}> : () -> tensor<2xi8>
  %zi = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %zo = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.transpose %x {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x2x4x4xi32>) -> tensor<1x4x4x2xi32>
  %1 = tosa.rescale %0, %m, %s, %zi, %zo {input_unsigned = false, output_unsigned = false, per_channel = true, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<1x4x4x2xi32>, tensor<2xi32>, tensor<2xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x4x4x2xi8>
  %2 = tosa.max_pool2d %1 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x2xi8>) -> tensor<1x2x2x2xi8>
  %3 = tosa.transpose %2 {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x2x2x2xi8>) -> tensor<1x2x2x2xi8>
  return %3 : tensor<1x2x2x2xi8>
}

// -----

// What was made a convolution and found no image around it is a sum again.

// CHECK-LABEL: func.func @as_sum
func.func @as_sum(%x: tensor<6x4xf32>) -> tensor<6x1xf32> {
  // CHECK: %[[S:.+]] = tosa.reduce_sum %arg0 {axis = 1 : i32}
  // CHECK: tosa.mul %[[S]]
  // CHECK-NEXT: return
  %w = "tosa.const"() <{values = dense<0.25> : tensor<1x1x1x4xf32>}> : () -> tensor<1x1x1x4xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %a = tosa.const_shape {values = dense<[1, 6, 1, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %c = tosa.const_shape {values = dense<[6, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.reshape %x, %a : (tensor<6x4xf32>, !tosa.shape<4>) -> tensor<1x6x1x4xf32>
  %1 = tosa.conv2d %0, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x6x1x4xf32>, tensor<1x1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x1x1xf32>
  %2 = tosa.reshape %1, %c : (tensor<1x6x1x1xf32>, !tosa.shape<2>) -> tensor<6x1xf32>
  return %2 : tensor<6x1xf32>
}

// -----

// The transpose may stand before or after the addition; after it, the constant is one number per channel of the
// convolution, which vgf-fold-affine folds.

// CHECK-LABEL: func.func @channels_last
func.func @channels_last(%x: tensor<1x3x3x2xf32>) -> tensor<1x2x3x3xf32> {
  // CHECK: tosa.max_pool2d
  // CHECK: tosa.add {{.*}}tensor<1x1x1x2xf32>)
  // CHECK-NEXT: tosa.transpose
  %c = "tosa.const"() <{values = dense<[[[[1.0]], [[2.0]]]]> : tensor<1x2x1x1xf32>}> : () -> tensor<1x2x1x1xf32>
  %0 = tosa.max_pool2d %x {kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32>
  %1 = tosa.transpose %0 {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x3x3x2xf32>) -> tensor<1x2x3x3xf32>
  %2 = tosa.add %1, %c : (tensor<1x2x3x3xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  return %2 : tensor<1x2x3x3xf32>
}

// -----

// Three parts of the channels, each split into two heads and merged with the batch: the parts come first, and are sliced
// whole.

// CHECK-LABEL: func.func @parts
func.func @parts(%x: tensor<5x2x12xf32>) -> (tensor<4x5x2xf32>, tensor<4x5x2xf32>) {
  // CHECK: %[[R:.+]] = tosa.reshape %arg0, %{{.+}} -> tensor<5x2x3x2x2xf32>
  // CHECK: %[[T:.+]] = tosa.transpose %[[R]] {perms = array<i32: 2, 1, 3, 0, 4>} : {{.*}} -> tensor<3x2x2x5x2xf32>
  // CHECK: %[[M:.+]] = tosa.reshape %[[T]], %{{.+}} -> tensor<12x5x2xf32>
  // CHECK-COUNT-2: tosa.slice %[[M]]
  // CHECK-NEXT: return
  %s0 = tosa.const_shape {values = dense<0> : tensor<3xindex>} : () -> !tosa.shape<3>
  %s1 = tosa.const_shape {values = dense<[0, 0, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %n = tosa.const_shape {values = dense<[5, 2, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %h = tosa.const_shape {values = dense<[5, 4, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %0 = tosa.slice %x, %s0, %n : (tensor<5x2x12xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<5x2x4xf32>
  %1 = tosa.slice %x, %s1, %n : (tensor<5x2x12xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<5x2x4xf32>
  %2 = tosa.reshape %0, %h : (tensor<5x2x4xf32>, !tosa.shape<3>) -> tensor<5x4x2xf32>
  %3 = tosa.reshape %1, %h : (tensor<5x2x4xf32>, !tosa.shape<3>) -> tensor<5x4x2xf32>
  %4 = tosa.transpose %2 {perms = array<i32: 1, 0, 2>} : (tensor<5x4x2xf32>) -> tensor<4x5x2xf32>
  %5 = tosa.transpose %3 {perms = array<i32: 1, 0, 2>} : (tensor<5x4x2xf32>) -> tensor<4x5x2xf32>
  return %4, %5 : tensor<4x5x2xf32>, tensor<4x5x2xf32>
}

// -----

// Two views of one value, each written once and from the value itself; nothing of the chain that led there is left.

// CHECK-LABEL: func.func @two_views
func.func @two_views(%x: tensor<1x1x2xf32>) -> (tensor<1x2xf32>, tensor<2x1xf32>) {
  // CHECK: %[[A:.+]] = tosa.reshape %arg0, {{.*}} -> tensor<1x2xf32>
  // CHECK: %[[B:.+]] = tosa.reshape %arg0, {{.*}} -> tensor<2x1xf32>
  // CHECK-NEXT: return %[[A]], %[[B]]
  %a = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.transpose %x {perms = array<i32: 0, 2, 1>} : (tensor<1x1x2xf32>) -> tensor<1x2x1xf32>
  %1 = tosa.reshape %0, %a : (tensor<1x2x1xf32>, !tosa.shape<2>) -> tensor<1x2xf32>
  %2 = tosa.transpose %1 {perms = array<i32: 0, 1>} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %3 = tosa.transpose %2 {perms = array<i32: 1, 0>} : (tensor<1x2xf32>) -> tensor<2x1xf32>
  return %2, %3 : tensor<1x2xf32>, tensor<2x1xf32>
}
