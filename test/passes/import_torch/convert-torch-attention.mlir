// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-attention,vgf-finish-torch-conversion)' --split-input-file | filecheck %s

// Without a mask no row can be masked whole: no select.

// CHECK-LABEL: func.func @plain
func.func @plain(%q: !torch.vtensor<[1,2,5,8],f32>, %k: !torch.vtensor<[1,2,7,8],f32>, %v: !torch.vtensor<[1,2,7,8],f32>) -> !torch.vtensor<[1,2,5,8],f32> {
  // CHECK: %[[Q:.+]] = tosa.mul %arg0
  // CHECK-NEXT: %[[K:.+]] = tosa.transpose %arg1 {perms = array<i32: 0, 1, 3, 2>}
  // CHECK: tosa.matmul
  // CHECK-NOT: tosa.select
  // CHECK: tosa.reduce_max
  // CHECK: tosa.matmul
  %none = torch.constant.none
  %zero = torch.constant.float 0.0
  %false = torch.constant.bool false
  %0 = torch.aten.scaled_dot_product_attention %q, %k, %v, %none, %zero, %false, %none, %false : !torch.vtensor<[1,2,5,8],f32>, !torch.vtensor<[1,2,7,8],f32>, !torch.vtensor<[1,2,7,8],f32>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[1,2,5,8],f32>
  return %0 : !torch.vtensor<[1,2,5,8],f32>
}

// -----

// A causal mask is a constant of booleans, and always leaves the first column.

// CHECK-LABEL: func.func @causal
func.func @causal(%q: !torch.vtensor<[1,2,5,8],f32>, %k: !torch.vtensor<[1,2,7,8],f32>, %v: !torch.vtensor<[1,2,7,8],f32>) -> !torch.vtensor<[1,2,5,8],f32> {
  // CHECK: tensor<1x1x5x7xi1>
  // CHECK-COUNT-1: tosa.select
  // CHECK-NOT: tosa.select
  %true = torch.constant.bool true
  %none = torch.constant.none
  %zero = torch.constant.float 0.0
  %false = torch.constant.bool false
  %0 = torch.aten.scaled_dot_product_attention %q, %k, %v, %none, %zero, %true, %none, %false : !torch.vtensor<[1,2,5,8],f32>, !torch.vtensor<[1,2,7,8],f32>, !torch.vtensor<[1,2,7,8],f32>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[1,2,5,8],f32>
  return %0 : !torch.vtensor<[1,2,5,8],f32>
}

// -----

// A mask that comes from outside may hide a row, which PyTorch makes 0 and not NaN.

// CHECK-LABEL: func.func @given_mask
func.func @given_mask(%q: !torch.vtensor<[1,2,5,8],f32>, %k: !torch.vtensor<[1,2,7,8],f32>, %v: !torch.vtensor<[1,2,7,8],f32>, %mask: !torch.vtensor<[5,7],i1>) -> !torch.vtensor<[1,2,5,8],f32> {
  // CHECK: %[[SEEN:.+]] = tosa.reduce_any %arg3 {axis = 1 : i32}
  // CHECK: %[[EMPTY:.+]] = tosa.logical_not %[[SEEN]]
  // CHECK: %[[MASK:.+]] = tosa.reshape %arg3
  // CHECK: tosa.select %[[MASK]]
  // CHECK: %[[ROWS:.+]] = tosa.reshape %[[EMPTY]]
  // CHECK: tosa.select %[[ROWS]]
  %none = torch.constant.none
  %zero = torch.constant.float 0.0
  %false = torch.constant.bool false
  %0 = torch.aten.scaled_dot_product_attention %q, %k, %v, %mask, %zero, %false, %none, %false : !torch.vtensor<[1,2,5,8],f32>, !torch.vtensor<[1,2,7,8],f32>, !torch.vtensor<[1,2,7,8],f32>, !torch.vtensor<[5,7],i1>, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[1,2,5,8],f32>
  return %0 : !torch.vtensor<[1,2,5,8],f32>
}

// -----

// A known mask that hides no row whole needs no guard.

// CHECK-LABEL: func.func @known_mask
func.func @known_mask(%q: !torch.vtensor<[1,2,5,8],f32>, %k: !torch.vtensor<[1,2,7,8],f32>, %v: !torch.vtensor<[1,2,7,8],f32>) -> !torch.vtensor<[1,2,5,8],f32> {
  // CHECK: tosa.add
  // CHECK-NOT: tosa.select
  %mask = torch.vtensor.literal(dense<[[0.0, 0xFF800000, 0.0, 1.0, 0.0, 0.0, 0.0]]> : tensor<1x7xf32>) : !torch.vtensor<[1,7],f32>
  %none = torch.constant.none
  %zero = torch.constant.float 0.0
  %false = torch.constant.bool false
  %0 = torch.aten.scaled_dot_product_attention %q, %k, %v, %mask, %zero, %false, %none, %false : !torch.vtensor<[1,2,5,8],f32>, !torch.vtensor<[1,2,7,8],f32>, !torch.vtensor<[1,2,7,8],f32>, !torch.vtensor<[1,7],f32>, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[1,2,5,8],f32>
  return %0 : !torch.vtensor<[1,2,5,8],f32>
}
