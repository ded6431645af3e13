// RUN: vgf-opt %s -p vgf-fold-slices --split-input-file | filecheck %s

// The second half of a concat is its second operand.

// CHECK-LABEL: func.func @of_concat
func.func @of_concat(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: return %arg1
  %start = tosa.const_shape {values = dense<[0, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %size = tosa.const_shape {values = dense<[2, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.concat %a, %b {axis = 1 : i32} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  %1 = tosa.slice %0, %start, %size : (tensor<2x7xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// -----

// A slice of a slice starts at the sum of the two starts.

// CHECK-LABEL: func.func @of_slice
func.func @of_slice(%a: tensor<2x9xf32>) -> tensor<1x2xf32> {
  // CHECK-DAG: %[[START:.+]] = tosa.const_shape {values = dense<[1, 5]>
  // CHECK-DAG: %[[SIZE:.+]] = tosa.const_shape {values = dense<[1, 2]>
  // CHECK: tosa.slice %arg0, %[[START]], %[[SIZE]]
  // CHECK-NEXT: return
  %s0 = tosa.const_shape {values = dense<[0, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %n0 = tosa.const_shape {values = dense<[2, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %s1 = tosa.const_shape {values = dense<[1, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %n1 = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.slice %a, %s0, %n0 : (tensor<2x9xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x6xf32>
  %1 = tosa.slice %0, %s1, %n1 : (tensor<2x6xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x2xf32>
  return %1 : tensor<1x2xf32>
}

// -----

// What was put around is cut off again.

// CHECK-LABEL: func.func @of_pad
func.func @of_pad(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: return %arg0
  %padding = tosa.const_shape {values = dense<[1, 0, 2, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %start = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %size = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.pad %a, %padding, %zero : (tensor<2x3xf32>, !tosa.shape<4>, tensor<1xf32>) -> tensor<3x7xf32>
  %1 = tosa.slice %0, %start, %size : (tensor<3x7xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// Cut in two and put together again: the value itself. In the other order it is not.

// CHECK-LABEL: func.func @concat_of_slices
func.func @concat_of_slices(%a: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %s0 = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
  %s1 = tosa.const_shape {values = dense<[0, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %n0 = tosa.const_shape {values = dense<[2, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %n1 = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.slice %a, %s0, %n0 : (tensor<2x4xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x1xf32>
  %1 = tosa.slice %a, %s1, %n1 : (tensor<2x4xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x3xf32>
  %2 = tosa.concat %0, %1 {axis = 1 : i32} : (tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<2x4xf32>
  // CHECK: %[[SWAPPED:.+]] = tosa.concat
  %3 = tosa.concat %1, %0 {axis = 1 : i32} : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: return %arg0, %[[SWAPPED]]
  return %2, %3 : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// The slice lies across both operands: it stays.

// CHECK-LABEL: func.func @across
func.func @across(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK: tosa.concat
  // CHECK-NEXT: tosa.slice
  %start = tosa.const_shape {values = dense<[0, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %size = tosa.const_shape {values = dense<[2, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.concat %a, %b {axis = 1 : i32} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  %1 = tosa.slice %0, %start, %size : (tensor<2x7xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// -----

// A concat that only another reads is part of it.

// CHECK-LABEL: func.func @nested
func.func @nested(%a: tensor<2x1xf32>, %b: tensor<2x2xf32>) -> tensor<2x5xf32> {
  // CHECK-NEXT: tosa.concat %arg0, %arg1, %arg1 {axis = 1 : i32}
  // CHECK-NEXT: return
  %0 = tosa.concat %a, %b {axis = 1 : i32} : (tensor<2x1xf32>, tensor<2x2xf32>) -> tensor<2x3xf32>
  %1 = tosa.concat %0, %b {axis = 1 : i32} : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x5xf32>
  return %1 : tensor<2x5xf32>
}
