// RUN: vgf-opt %s -p 'vgf-split-accumulators{price=8 parts=2 smallest-bytes=512}' --split-input-file | filecheck %s
// RUN: vgf-opt %s -p 'vgf-split-accumulators' --split-input-file | filecheck %s --check-prefix=SMALL

// No session here reaches the default's 256 KiB.
// SMALL-NOT: tosa.concat

// The sums of half of the channels at a time, with their weights, biases and multipliers; the input is read whole.

func.func @main(%x: tensor<1x8x8x4xi8>) -> tensor<1x8x8x4xi8> {
  %0 = call @segment_0(%x) : (tensor<1x8x8x4xi8>) -> tensor<1x8x8x4xi8>
  return %0 : tensor<1x8x8x4xi8>
}
// CHECK-LABEL: func.func private @segment_0
func.func private @segment_0(%x: tensor<1x8x8x4xi8>) -> tensor<1x8x8x4xi8> attributes {vgf.segment = "graph"} {
  %w = "tosa.const"() <{values = dense<[[[[1, 2, 3, 4]]], [[[5, 6, 7, 8]]], [[[9, 10, 11, 12]]], [[[13, 14, 15, 16]]]]> : tensor<4x1x1x4xi8>}> : () -> tensor<4x1x1x4xi8>
  %b = "tosa.const"() <{values = dense<[1, 2, 3, 4]> : tensor<4xi32>}> : () -> tensor<4xi32>
  %m = "tosa.const"() <{values = dense<[1073741824, 1073741825, 1073741826, 1073741827]> : tensor<4xi32>}> : () -> tensor<4xi32>
  %s = "tosa.const"() <{values = dense<[32, 33, 34, 35]> : tensor<4xi8>}> : () -> tensor<4xi8>
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %i = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  // CHECK: %[[W0:.+]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}1, 2, 3, 4{{\]\]\]}}, {{\[\[\[}}5, 6, 7, 8{{\]\]\]\]}}> : tensor<2x1x1x4xi8>}>
  // CHECK: %[[B0:.+]] = "tosa.const"() <{values = dense<[1, 2]> : tensor<2xi32>}>
  // CHECK: %[[A0:.+]] = tosa.conv2d %arg0, %[[W0]], %[[B0]]
  // CHECK-SAME: -> tensor<1x8x8x2xi32>
  // CHECK: %[[M0:.+]] = "tosa.const"() <{values = dense<[1073741824, 1073741825]> : tensor<2xi32>}>
  // CHECK: %[[R0:.+]] = tosa.rescale %[[A0]], %[[M0]]
  // CHECK: %[[A1:.+]] = tosa.conv2d %arg0
  // CHECK: %[[S1:.+]] = "tosa.const"() <{values = dense<[34, 35]> : tensor<2xi8>}>
  // CHECK: %[[R1:.+]] = tosa.rescale %[[A1]], %{{.+}}, %[[S1]]
  // CHECK: tosa.concat %[[R0]], %[[R1]] {axis = 3 : i32}
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x8x4xi8>, tensor<4x1x1x4xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x8x8x4xi32>
  %1 = tosa.rescale %0, %m, %s, %i, %z {input_unsigned = false, output_unsigned = false, per_channel = true, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<1x8x8x4xi32>, tensor<4xi32>, tensor<4xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x8x8x4xi8>
  return %1 : tensor<1x8x8x4xi8>
}

// -----

// A depthwise convolution goes with the channels of the expansion before it: four operators twice, and nothing is sliced.

func.func @main(%x: tensor<1x8x8x1xi8>) -> tensor<1x8x8x2xi8> {
  %0 = call @segment_0(%x) : (tensor<1x8x8x1xi8>) -> tensor<1x8x8x2xi8>
  return %0 : tensor<1x8x8x2xi8>
}
// CHECK-LABEL: func.func private @segment_0
func.func private @segment_0(%x: tensor<1x8x8x1xi8>) -> tensor<1x8x8x2xi8> attributes {vgf.segment = "graph"} {
  %w = "tosa.const"() <{values = dense<[[[[1]]], [[[2]]]]> : tensor<2x1x1x1xi8>}> : () -> tensor<2x1x1x1xi8>
  %v = "tosa.const"() <{values = dense<[[[[3], [4]]]]> : tensor<1x1x2x1xi8>}> : () -> tensor<1x1x2x1xi8>
  %b = "tosa.const"() <{values = dense<[5, 6]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<32> : tensor<1xi8>}> : () -> tensor<1xi8>
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %i = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  // CHECK-NOT: tosa.slice
  // CHECK: tosa.conv2d %arg0
  // CHECK: %[[E0:.+]] = tosa.rescale
  // CHECK: %[[D0:.+]] = tosa.depthwise_conv2d %[[E0]]
  // CHECK-SAME: -> tensor<1x8x8x1xi32>
  // CHECK: %[[R0:.+]] = tosa.rescale %[[D0]]
  // CHECK: tosa.conv2d %arg0
  // CHECK: %[[E1:.+]] = tosa.rescale
  // CHECK: %[[D1:.+]] = tosa.depthwise_conv2d %[[E1]]
  // CHECK: %[[R1:.+]] = tosa.rescale %[[D1]]
  // CHECK: tosa.concat %[[R0]], %[[R1]] {axis = 3 : i32}
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x8x1xi8>, tensor<2x1x1x1xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x8x8x2xi32>
  %1 = tosa.rescale %0, %m, %s, %i, %z {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<1x8x8x2xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x8x8x2xi8>
  %2 = tosa.depthwise_conv2d %1, %v, %b, %z, %z {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x8x2xi8>, tensor<1x1x2x1xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x8x8x2xi32>
  %3 = tosa.rescale %2, %m, %s, %i, %z {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<1x8x8x2xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x8x8x2xi8>
  return %3 : tensor<1x8x8x2xi8>
}

// -----

// The sums are read a second time, so they have to be there whole.

func.func @main(%x: tensor<1x8x8x4xi8>) -> (tensor<1x8x8x4xi8>, tensor<1x8x8x4xi32>) {
  %0:2 = call @segment_0(%x) : (tensor<1x8x8x4xi8>) -> (tensor<1x8x8x4xi8>, tensor<1x8x8x4xi32>)
  return %0#0, %0#1 : tensor<1x8x8x4xi8>, tensor<1x8x8x4xi32>
}
// CHECK-LABEL: func.func private @segment_0
func.func private @segment_0(%x: tensor<1x8x8x4xi8>) -> (tensor<1x8x8x4xi8>, tensor<1x8x8x4xi32>) attributes {vgf.segment = "graph"} {
  %w = "tosa.const"() <{values = dense<1> : tensor<4x1x1x4xi8>}> : () -> tensor<4x1x1x4xi8>
  %b = "tosa.const"() <{values = dense<1> : tensor<4xi32>}> : () -> tensor<4xi32>
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<32> : tensor<1xi8>}> : () -> tensor<1xi8>
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %i = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  // CHECK: %[[A:.+]] = tosa.conv2d %arg0
  // CHECK-NEXT: tosa.rescale %[[A]]
  // CHECK-NEXT: tosa.clz %[[A]]
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x8x4xi8>, tensor<4x1x1x4xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x8x8x4xi32>
  %1 = tosa.rescale %0, %m, %s, %i, %z {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<1x8x8x4xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x8x8x4xi8>
  %2 = tosa.clz %0 : (tensor<1x8x8x4xi32>) -> tensor<1x8x8x4xi32>
  return %1, %2 : tensor<1x8x8x4xi8>, tensor<1x8x8x4xi32>
}

// -----

// Results may not round otherwise, which they would not; but such a module, a VGF that came in, gets no operator more either.

module attributes {vgf.exact} {
  func.func @main(%x: tensor<1x8x8x4xi8>) -> tensor<1x8x8x4xi8> {
    %0 = call @segment_0(%x) : (tensor<1x8x8x4xi8>) -> tensor<1x8x8x4xi8>
    return %0 : tensor<1x8x8x4xi8>
  }
  // CHECK-LABEL: func.func private @segment_0
  func.func private @segment_0(%x: tensor<1x8x8x4xi8>) -> tensor<1x8x8x4xi8> attributes {vgf.segment = "graph"} {
    %w = "tosa.const"() <{values = dense<1> : tensor<4x1x1x4xi8>}> : () -> tensor<4x1x1x4xi8>
    %b = "tosa.const"() <{values = dense<1> : tensor<4xi32>}> : () -> tensor<4xi32>
    %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
    %s = "tosa.const"() <{values = dense<32> : tensor<1xi8>}> : () -> tensor<1xi8>
    %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %i = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
    // CHECK-NOT: tosa.concat
    %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x8x4xi8>, tensor<4x1x1x4xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x8x8x4xi32>
    %1 = tosa.rescale %0, %m, %s, %i, %z {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<1x8x8x4xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x8x8x4xi8>
    return %1 : tensor<1x8x8x4xi8>
  }
}
