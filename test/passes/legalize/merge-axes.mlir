// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-merge-axes{max-rank=3})' --split-input-file | filecheck %s

// The axes that stay together in front become one. Arguments and results lose axes too, and keep what the model has.

// CHECK-LABEL: func.func @transposed
// CHECK-SAME: (%arg0: tensor<6x4x5xf32> {vgf.model_type = tensor<2x3x4x5xf32>})
// CHECK-SAME: -> (tensor<6x5x4xf32> {vgf.model_type = tensor<2x3x5x4xf32>})
func.func @transposed(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x5x4xf32> {
  // CHECK-NEXT: %[[T:.+]] = tosa.transpose %arg0 {perms = array<i32: 0, 2, 1>} : (tensor<6x4x5xf32>) -> tensor<6x5x4xf32>
  // CHECK-NEXT: return %[[T]]
  %0 = tosa.transpose %x {perms = array<i32: 0, 1, 3, 2>} : (tensor<2x3x4x5xf32>) -> tensor<2x3x5x4xf32>
  return %0 : tensor<2x3x5x4xf32>
}

// -----

// An axis that only one operand has cannot be one with its neighbours; the constant is made anew.

// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%x: tensor<24xf32>) -> tensor<24xf32> {
  // CHECK: %[[X:.+]] = tosa.reshape %arg0
  // CHECK-SAME: -> tensor<2x3x4xf32>
  // CHECK: %[[C:.+]] = "tosa.const"() <{values = dense<{{.+}}> : tensor<1x3x1xf32>}>
  // CHECK: tosa.add %[[X]], %[[C]]
  // CHECK-NOT: tensor<2x3x2x2xf32>
  %s = tosa.const_shape {values = dense<[2, 3, 2, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %t = tosa.const_shape {values = dense<[24]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %c = "tosa.const"() <{values = dense<[[[[1.0]], [[2.0]], [[3.0]]]]> : tensor<1x3x1x1xf32>}> : () -> tensor<1x3x1x1xf32>
  %0 = tosa.reshape %x, %s : (tensor<24xf32>, !tosa.shape<4>) -> tensor<2x3x2x2xf32>
  %1 = tosa.add %0, %c : (tensor<2x3x2x2xf32>, tensor<1x3x1x1xf32>) -> tensor<2x3x2x2xf32>
  %2 = tosa.reshape %1, %t : (tensor<2x3x2x2xf32>, !tosa.shape<1>) -> tensor<24xf32>
  return %2 : tensor<24xf32>
}

// -----

// The axis that is summed stays alone.

// CHECK-LABEL: func.func @summed
func.func @summed(%x: tensor<60xf32>) -> tensor<20xf32> {
  // CHECK: tosa.reduce_sum %{{.+}} {axis = 1 : i32} : (tensor<1x3x20xf32>) -> tensor<1x1x20xf32>
  %s = tosa.const_shape {values = dense<[1, 3, 4, 5]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %t = tosa.const_shape {values = dense<[20]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %0 = tosa.reshape %x, %s : (tensor<60xf32>, !tosa.shape<4>) -> tensor<1x3x4x5xf32>
  %1 = tosa.reduce_sum %0 {axis = 1 : i32} : (tensor<1x3x4x5xf32>) -> tensor<1x1x4x5xf32>
  %2 = tosa.reshape %1, %t : (tensor<1x1x4x5xf32>, !tosa.shape<1>) -> tensor<20xf32>
  return %2 : tensor<20xf32>
}

// -----

// Four axes that all go elsewhere need four.

// CHECK-LABEL: func.func @all_apart
func.func @all_apart(%x: tensor<120xf32>) -> tensor<120xf32> {
  // CHECK: tosa.transpose %{{.+}} {perms = array<i32: 3, 2, 1, 0>}
  %s = tosa.const_shape {values = dense<[2, 3, 4, 5]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %t = tosa.const_shape {values = dense<[120]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %0 = tosa.reshape %x, %s : (tensor<120xf32>, !tosa.shape<4>) -> tensor<2x3x4x5xf32>
  %1 = tosa.transpose %0 {perms = array<i32: 3, 2, 1, 0>} : (tensor<2x3x4x5xf32>) -> tensor<5x4x3x2xf32>
  %2 = tosa.reshape %1, %t : (tensor<5x4x3x2xf32>, !tosa.shape<1>) -> tensor<120xf32>
  return %2 : tensor<120xf32>
}
