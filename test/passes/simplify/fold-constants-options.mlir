// RUN: vgf-opt %s -p 'vgf-fold-constants{max-growth-bytes=16}' | filecheck %s --check-prefix=GROWTH
// RUN: vgf-opt %s -p 'vgf-fold-constants{views=false}' | filecheck %s --check-prefix=VIEWS

// The tile adds 24 bytes to the 8 that there are.

// GROWTH-LABEL: func.func @grows
// GROWTH: tosa.tile
// VIEWS-LABEL: func.func @grows
// VIEWS-NOT: tosa.tile
func.func @grows(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %1 = tosa.const_shape {values = dense<4> : tensor<1xindex>} : () -> !tosa.shape<1>
  %2 = tosa.tile %0, %1 : (tensor<2xf32>, !tosa.shape<1>) -> tensor<8xf32>
  %3 = tosa.maximum %x, %2 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}

// A transpose of a constant stays for the passes that look through it.

// GROWTH-LABEL: func.func @view
// GROWTH-NOT: tosa.transpose
// VIEWS-LABEL: func.func @view
// VIEWS: tosa.transpose
func.func @view(%x: tensor<2x1xf32>) -> tensor<2x1xf32> {
  %0 = "tosa.const"() <{values = dense<[[1.0, 2.0]]> : tensor<1x2xf32>}> : () -> tensor<1x2xf32>
  %1 = tosa.transpose %0 {perms = array<i32: 1, 0>} : (tensor<1x2xf32>) -> tensor<2x1xf32>
  %2 = tosa.maximum %x, %1 : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  return %2 : tensor<2x1xf32>
}
