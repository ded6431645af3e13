// RUN: vgf-opt %s -p vgf-fold-identities --split-input-file | filecheck %s

// CHECK-LABEL: func.func @nothing_done
func.func @nothing_done(%x: tensor<2x3xf32>, %b: tensor<2x3xi1>) -> (tensor<2x3xf32>, tensor<2x3xi1>) {
  // CHECK-NEXT: return %arg0, %arg1
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %true = "tosa.const"() <{values = dense<true> : tensor<1x1xi1>}> : () -> tensor<1x1xi1>
  %ones = tosa.const_shape {values = dense<1> : tensor<2xindex>} : () -> !tosa.shape<2>
  %none = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
  %pad = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.sub %x, %zero : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
  %1 = tosa.mul %one, %0, %shift : (tensor<1x1xf32>, tensor<2x3xf32>, tensor<1xi8>) -> tensor<2x3xf32>
  %2 = tosa.tile %1, %ones : (tensor<2x3xf32>, !tosa.shape<2>) -> tensor<2x3xf32>
  %3 = tosa.pad %2, %none, %pad : (tensor<2x3xf32>, !tosa.shape<4>, tensor<1xf32>) -> tensor<2x3xf32>
  %4 = tosa.concat %3 {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = tosa.negate %4, %pad, %pad : (tensor<2x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  %6 = tosa.negate %5, %pad, %pad : (tensor<2x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  %7 = tosa.pow %6, %one : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
  %8 = tosa.select %b, %7, %7 : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = tosa.logical_not %b : (tensor<2x3xi1>) -> tensor<2x3xi1>
  %10 = tosa.logical_not %9 : (tensor<2x3xi1>) -> tensor<2x3xi1>
  %11 = tosa.logical_and %10, %true : (tensor<2x3xi1>, tensor<1x1xi1>) -> tensor<2x3xi1>
  return %8, %11 : tensor<2x3xf32>, tensor<2x3xi1>
}

// -----

// %x may be -0.0, which the addition turns into 0.0; an exponential is not.

// CHECK-LABEL: func.func @negative_zero
func.func @negative_zero(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  // CHECK: %[[SUM:.+]] = tosa.add %arg0
  %0 = tosa.add %x, %zero : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[EXP:.+]] = tosa.exp %arg0
  %1 = tosa.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %[[SUM]], %[[EXP]]
  %2 = tosa.add %1, %zero : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
  return %0, %2 : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// The addition repeats the row itself; but nothing else gives %y its rows.

// CHECK-LABEL: func.func @tiles
func.func @tiles(%x: tensor<2x3xf32>, %row: tensor<1x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %twice = tosa.const_shape {values = dense<[2, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // CHECK: %[[TILE:.+]] = tosa.tile %arg1
  %0 = tosa.tile %row, %twice : (tensor<1x3xf32>, !tosa.shape<2>) -> tensor<2x3xf32>
  // CHECK-NEXT: tosa.add %arg0, %arg1
  %1 = tosa.add %x, %0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: tosa.maximum %[[TILE]], %arg1
  %2 = tosa.maximum %0, %row : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  return %1, %2 : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @powers
func.func @powers(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %two = "tosa.const"() <{values = dense<2.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %half = "tosa.const"() <{values = dense<0.5> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %three = "tosa.const"() <{values = dense<3.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  // CHECK: %[[SQUARE:.+]] = tosa.mul %arg0, %arg0
  %0 = tosa.pow %x, %two : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
  // CHECK: %[[ROOT:.+]] = tosa.rsqrt %[[SQUARE]]
  %1 = tosa.pow %0, %half : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
  %2 = tosa.reciprocal %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: tosa.pow %[[SQUARE]]
  %3 = tosa.pow %0, %three : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
  return %0, %2, %3 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// A sum over one element is that element; a maximum over three is not.

// CHECK-LABEL: func.func @reductions
func.func @reductions(%x: tensor<1x3xf32>) -> (tensor<1x3xf32>, tensor<1x1xf32>) {
  // CHECK-NEXT: %[[MAX:.+]] = tosa.reduce_max
  // CHECK-NEXT: return %arg0, %[[MAX]]
  %0 = tosa.reduce_sum %x {axis = 0 : i32} : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %1 = tosa.reduce_max %x {axis = 1 : i32} : (tensor<1x3xf32>) -> tensor<1x1xf32>
  return %0, %1 : tensor<1x3xf32>, tensor<1x1xf32>
}

// CHECK-LABEL: func.func @repeated
// CHECK-NEXT: return %arg0, %arg1, %arg2
func.func @repeated(%a: tensor<2xi32>, %b: tensor<2xi1>, %c: tensor<2xf32>) -> (tensor<2xi32>, tensor<2xi1>, tensor<2xf32>) {
  %0 = tosa.bitwise_or %a, %a : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %1 = tosa.logical_and %b, %b : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  %2 = tosa.maximum %c, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0, %1, %2 : tensor<2xi32>, tensor<2xi1>, tensor<2xf32>
}

// A clamp that ignores NaN takes it away; one to less than the type holds limits.
// CHECK-LABEL: func.func @clamps
// CHECK-NEXT: %[[NAN:.+]] = tosa.clamp %arg0
// CHECK-NEXT: %[[LESS:.+]] = tosa.clamp %arg1
// CHECK-NEXT: return %arg0, %[[NAN]], %arg1, %[[LESS]]
func.func @clamps(%a: tensor<2xf32>, %b: tensor<2xi8>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xi8>, tensor<2xi8>) {
  %0 = tosa.clamp %a {min_val = 0xFF800000 : f32, max_val = 0x7F800000 : f32} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = tosa.clamp %a {min_val = 0xFF800000 : f32, max_val = 0x7F800000 : f32, nan_mode = IGNORE} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = tosa.clamp %b {min_val = -128 : i8, max_val = 127 : i8} : (tensor<2xi8>) -> tensor<2xi8>
  %3 = tosa.clamp %b {min_val = -128 : i8, max_val = 126 : i8} : (tensor<2xi8>) -> tensor<2xi8>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<2xi8>, tensor<2xi8>
}
