// A module that is to stay exact keeps every operator that rounds; others lose theirs to the convolution's weights.
// RUN: vgf-opt %s --vgf-pipeline=tosa-simplify --split-input-file | filecheck %s

// CHECK: module attributes {vgf.exact}
module attributes {vgf.exact} {
  // CHECK-LABEL: func.func @kept
  // CHECK: %[[CONV:.+]] = tosa.conv2d
  // CHECK: %[[SCALED:.+]] = tosa.mul %[[CONV]]
  // CHECK: %[[POWER:.+]] = tosa.pow %[[SCALED]]
  // CHECK: return %[[POWER]]
  func.func @kept(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
    %weight = "tosa.const"() {values = dense<[[[[1.0, 2.0]]], [[[3.0, 4.0]]]]> : tensor<2x1x1x2xf32>} : () -> tensor<2x1x1x2xf32>
    %bias = "tosa.const"() {values = dense<[0.1, 0.2]> : tensor<2xf32>} : () -> tensor<2xf32>
    %zero = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
    %scale = "tosa.const"() {values = dense<[[[[0.3, 0.7]]]]> : tensor<1x1x1x2xf32>} : () -> tensor<1x1x1x2xf32>
    %two = "tosa.const"() {values = dense<2.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
    %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
    %0 = tosa.conv2d %x, %weight, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
    %1 = tosa.mul %0, %scale, %shift : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
    %2 = tosa.pow %1, %two : (tensor<1x4x4x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x4x2xf32>
    return %2 : tensor<1x4x4x2xf32>
  }

  // What a device may round in its own way is not computed ahead; an addition has one right result.
  // CHECK-LABEL: func.func @constants
  // CHECK: tosa.rsqrt
  // CHECK-NOT: tosa.add
  func.func @constants() -> (tensor<1xf32>, tensor<1xf32>) {
    %a = "tosa.const"() {values = dense<3.0> : tensor<1xf32>} : () -> tensor<1xf32>
    %0 = tosa.rsqrt %a : (tensor<1xf32>) -> tensor<1xf32>
    %1 = tosa.add %a, %a : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    return %0, %1 : tensor<1xf32>, tensor<1xf32>
  }
}

// -----

// CHECK-LABEL: func.func @folded
// CHECK: %[[CONV:.+]] = tosa.conv2d
// CHECK-NOT: tosa.pow
// CHECK: %[[SQUARE:.+]] = tosa.mul %[[CONV]], %[[CONV]]
// CHECK: return %[[SQUARE]]
func.func @folded(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %weight = "tosa.const"() {values = dense<[[[[1.0, 2.0]]], [[[3.0, 4.0]]]]> : tensor<2x1x1x2xf32>} : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() {values = dense<[0.1, 0.2]> : tensor<2xf32>} : () -> tensor<2xf32>
  %zero = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %scale = "tosa.const"() {values = dense<[[[[0.3, 0.7]]]]> : tensor<1x1x1x2xf32>} : () -> tensor<1x1x1x2xf32>
  %two = "tosa.const"() {values = dense<2.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %0 = tosa.conv2d %x, %weight, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.mul %0, %scale, %shift : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %2 = tosa.pow %1, %two : (tensor<1x4x4x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x4x2xf32>
  return %2 : tensor<1x4x4x2xf32>
}
