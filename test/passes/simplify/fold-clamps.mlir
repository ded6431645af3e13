// RUN: vgf-opt %s -p vgf-fold-clamps --split-input-file | filecheck %s

// CHECK-LABEL: func.func @relu6
func.func @relu6(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: tosa.clamp %arg0 {max_val = 6.000000e+00 : f32, min_val = 0.000000e+00 : f32}
  // CHECK-NEXT: return
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %six = "tosa.const"() <{values = dense<6.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %0 = tosa.maximum %x, %zero : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
  %1 = tosa.minimum %six, %0 : (tensor<1x1xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// One side open: an infinity, so that an infinite input stays infinite.

// CHECK-LABEL: func.func @relu
func.func @relu(%x: tensor<2x3xf32>, %i: tensor<2x3xi8>) -> (tensor<2x3xf32>, tensor<2x3xi8>) {
  // CHECK: tosa.clamp %arg0 {max_val = 0x7F800000 : f32, min_val = 0.000000e+00 : f32}
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %0 = tosa.maximum %x, %zero : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
  // CHECK: tosa.clamp %arg1 {max_val = 5 : i8, min_val = -7 : i8}
  %1 = tosa.clamp %i {min_val = -7 : i8, max_val = 90 : i8} : (tensor<2x3xi8>) -> tensor<2x3xi8>
  %2 = tosa.clamp %1 {min_val = -128 : i8, max_val = 5 : i8} : (tensor<2x3xi8>) -> tensor<2x3xi8>
  return %0, %2 : tensor<2x3xf32>, tensor<2x3xi8>
}

// -----

// [-1, 1] and then [2, 3] is always 2.

// CHECK-LABEL: func.func @disjoint
func.func @disjoint(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: tosa.clamp %arg0 {max_val = 2.000000e+00 : f32, min_val = 2.000000e+00 : f32}
  %0 = tosa.clamp %x {min_val = -1.0 : f32, max_val = 1.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = tosa.clamp %0 {min_val = 2.0 : f32, max_val = 3.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// One ignores NaN and the other does not; the constants differ by column; the constant makes the result larger.

// CHECK-LABEL: func.func @left_alone
func.func @left_alone(%x: tensor<1x2xf32>) -> (tensor<1x2xf32>, tensor<1x2xf32>, tensor<3x2xf32>) {
  // CHECK: tosa.clamp {{.*}}nan_mode = IGNORE
  %0 = tosa.clamp %x {min_val = -1.0 : f32, max_val = 1.0 : f32, nan_mode = IGNORE} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  // CHECK-NEXT: tosa.clamp
  %1 = tosa.clamp %0 {min_val = -1.0 : f32, max_val = 0.0 : f32} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %columns = "tosa.const"() <{values = dense<[[1.0, 2.0]]> : tensor<1x2xf32>}> : () -> tensor<1x2xf32>
  %zeros = "tosa.const"() <{values = dense<0.0> : tensor<3x1xf32>}> : () -> tensor<3x1xf32>
  // CHECK: tosa.maximum
  %2 = tosa.maximum %x, %columns : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  // CHECK-NEXT: tosa.minimum
  %3 = tosa.minimum %x, %zeros : (tensor<1x2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  return %1, %2, %3 : tensor<1x2xf32>, tensor<1x2xf32>, tensor<3x2xf32>
}
