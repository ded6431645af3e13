// RUN: vgf-opt %s -p vgf-schedule --split-input-file | filecheck %s
// RUN: vgf-opt %s -p 'vgf-schedule{objective=peak}' --split-input-file | filecheck %s

// The large tensor is reduced at once, before the other branch begins.

func.func @main(%x: tensor<1x2x2x4xf32>) -> tensor<1x1x1x4xf32> {
  %0 = call @segment_0(%x) : (tensor<1x2x2x4xf32>) -> tensor<1x1x1x4xf32>
  return %0 : tensor<1x1x1x4xf32>
}
// CHECK-LABEL: func.func private @segment_0
func.func private @segment_0(%x: tensor<1x2x2x4xf32>) -> tensor<1x1x1x4xf32> attributes {vgf.segment = "graph"} {
  // CHECK-NEXT: tosa.const_shape
  // CHECK-NEXT: %[[LARGE:.+]] = tosa.tile %arg0
  // CHECK-NEXT: %[[HALF:.+]] = tosa.reduce_max %[[LARGE]] {axis = 1 : i32}
  // CHECK-NEXT: tosa.reduce_max %[[HALF]] {axis = 2 : i32}
  // CHECK-NEXT: tosa.exp %arg0
  %m = tosa.const_shape {values = dense<[1, 16, 16, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.tile %x, %m : (tensor<1x2x2x4xf32>, !tosa.shape<4>) -> tensor<1x32x32x4xf32>
  %1 = tosa.exp %x : (tensor<1x2x2x4xf32>) -> tensor<1x2x2x4xf32>
  %2 = tosa.reduce_sum %1 {axis = 1 : i32} : (tensor<1x2x2x4xf32>) -> tensor<1x1x2x4xf32>
  %3 = tosa.reduce_sum %2 {axis = 2 : i32} : (tensor<1x1x2x4xf32>) -> tensor<1x1x1x4xf32>
  %4 = tosa.reduce_max %0 {axis = 1 : i32} : (tensor<1x32x32x4xf32>) -> tensor<1x1x32x4xf32>
  %5 = tosa.reduce_max %4 {axis = 2 : i32} : (tensor<1x1x32x4xf32>) -> tensor<1x1x1x4xf32>
  %6 = tosa.tile %3, %m : (tensor<1x1x1x4xf32>, !tosa.shape<4>) -> tensor<1x16x16x4xf32>
  %7 = tosa.reduce_max %6 {axis = 1 : i32} : (tensor<1x16x16x4xf32>) -> tensor<1x1x16x4xf32>
  %8 = tosa.reduce_max %7 {axis = 2 : i32} : (tensor<1x1x16x4xf32>) -> tensor<1x1x1x4xf32>
  %9 = tosa.add %5, %8 : (tensor<1x1x1x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x1x1x4xf32>
  return %9 : tensor<1x1x1x4xf32>
}

// -----

// No order of a chain needs less, so nothing moves, constants included.

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @segment_0(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK-LABEL: func.func private @segment_0
func.func private @segment_0(%x: tensor<8xf32>) -> tensor<8xf32> attributes {vgf.segment = "graph"} {
  // CHECK-NEXT: tosa.exp
  // CHECK-NEXT: tosa.const
  // CHECK-NEXT: tosa.maximum
  %0 = tosa.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %c = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %1 = tosa.maximum %0, %c : (tensor<8xf32>, tensor<1xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// Segments are ordered too: @grow comes when nothing else waits.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: call @shrink_0
  // CHECK-NEXT: call @shrink_1
  // CHECK-NEXT: call @grow
  // CHECK-NEXT: call @join
  %0 = call @grow(%x) : (tensor<4xf32>) -> tensor<64x4xf32>
  %1 = call @shrink_0(%x) : (tensor<4xf32>) -> tensor<32x4xf32>
  %2 = call @shrink_1(%1) : (tensor<32x4xf32>) -> tensor<1x4xf32>
  %3 = call @join(%0, %2) : (tensor<64x4xf32>, tensor<1x4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
func.func private @grow(%x: tensor<4xf32>) -> tensor<64x4xf32> attributes {vgf.segment = "graph"} {
  %s = tosa.const_shape {values = dense<[1, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %m = tosa.const_shape {values = dense<[64, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.reshape %x, %s : (tensor<4xf32>, !tosa.shape<2>) -> tensor<1x4xf32>
  %1 = tosa.tile %0, %m : (tensor<1x4xf32>, !tosa.shape<2>) -> tensor<64x4xf32>
  return %1 : tensor<64x4xf32>
}
func.func private @shrink_0(%x: tensor<4xf32>) -> tensor<32x4xf32> attributes {vgf.segment = "graph"} {
  %s = tosa.const_shape {values = dense<[1, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %m = tosa.const_shape {values = dense<[32, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.reshape %x, %s : (tensor<4xf32>, !tosa.shape<2>) -> tensor<1x4xf32>
  %1 = tosa.tile %0, %m : (tensor<1x4xf32>, !tosa.shape<2>) -> tensor<32x4xf32>
  return %1 : tensor<32x4xf32>
}
func.func private @shrink_1(%x: tensor<32x4xf32>) -> tensor<1x4xf32> attributes {vgf.segment = "graph"} {
  %0 = tosa.reduce_max %x {axis = 0 : i32} : (tensor<32x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
func.func private @join(%x: tensor<64x4xf32>, %y: tensor<1x4xf32>) -> tensor<4xf32> attributes {vgf.segment = "graph"} {
  %s = tosa.const_shape {values = dense<4> : tensor<1xindex>} : () -> !tosa.shape<1>
  %0 = tosa.add %x, %y : (tensor<64x4xf32>, tensor<1x4xf32>) -> tensor<64x4xf32>
  %1 = tosa.reduce_max %0 {axis = 0 : i32} : (tensor<64x4xf32>) -> tensor<1x4xf32>
  %2 = tosa.reshape %1, %s : (tensor<1x4xf32>, !tosa.shape<1>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
