// RUN: vgf-opt %s -p 'vgf-stripe{price=8 parts=2}' --split-input-file | filecheck %s
// RUN: vgf-opt %s -p 'vgf-stripe{on-request=true}' --split-input-file | filecheck %s --check-prefix=OFF

// OFF-NOT: tosa.concat

// int32 sums beside what they are rescaled to: half of the channels at a time, with their weights and multipliers.

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
  // CHECK: %[[A0:.+]] = tosa.conv2d %arg0, %[[W0]]
  // CHECK: %[[M0:.+]] = "tosa.const"() <{values = dense<[1073741824, 1073741825]> : tensor<2xi32>}>
  // CHECK: %[[R0:.+]] = tosa.rescale %[[A0]], %[[M0]]
  // CHECK: %[[A1:.+]] = tosa.conv2d %arg0
  // CHECK-SAME: -> tensor<1x8x8x2xi32>
  // CHECK: %[[R1:.+]] = tosa.rescale %[[A1]]
  // CHECK: tosa.concat %[[R0]], %[[R1]] {axis = 3 : i32}
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x8x4xi8>, tensor<4x1x1x4xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x8x8x4xi32>
  %1 = tosa.rescale %0, %m, %s, %i, %z {input_unsigned = false, output_unsigned = false, per_channel = true, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<1x8x8x4xi32>, tensor<4xi32>, tensor<4xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x8x8x4xi8>
  return %1 : tensor<1x8x8x4xi8>
}

// -----

// A tensor takes no less than 64 bytes, so nothing is gained by cutting one of 64: it stays as it is.

func.func @main(%x: tensor<1x8x2x1xf32>) -> tensor<1x8x2x1xf32> {
  %0 = call @segment_0(%x) : (tensor<1x8x2x1xf32>) -> tensor<1x8x2x1xf32>
  return %0 : tensor<1x8x2x1xf32>
}
// CHECK-LABEL: func.func private @segment_0
func.func private @segment_0(%x: tensor<1x8x2x1xf32>) -> tensor<1x8x2x1xf32> attributes {vgf.segment = "graph"} {
  // CHECK-NEXT: %[[E:.+]] = tosa.exp %arg0
  // CHECK-NEXT: tosa.max_pool2d %[[E]]
  %0 = tosa.exp %x : (tensor<1x8x2x1xf32>) -> tensor<1x8x2x1xf32>
  %1 = tosa.max_pool2d %0 {kernel = array<i64: 3, 1>, pad = array<i64: 1, 1, 0, 0>, stride = array<i64: 1, 1>, nan_mode = PROPAGATE} : (tensor<1x8x2x1xf32>) -> tensor<1x8x2x1xf32>
  return %1 : tensor<1x8x2x1xf32>
}
