// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-pools,vgf-finish-torch-conversion)' --split-input-file | filecheck %s

// CHECK-LABEL: func.func @max_pool
func.func @max_pool(%x: !torch.vtensor<[1,2,6,8],f32>) -> !torch.vtensor<[1,2,3,4],f32> {
  // CHECK: %[[X:.+]] = tosa.transpose %arg0 {perms = array<i32: 0, 2, 3, 1>}
  // CHECK: %[[Y:.+]] = tosa.max_pool2d %[[X]] {kernel = array<i64: 3, 3>, pad = array<i64: 1, 0, 1, 0>, stride = array<i64: 2, 2>}
  // CHECK: tosa.transpose %[[Y]] {perms = array<i32: 0, 3, 1, 2>}
  %i3 = torch.constant.int 3
  %i2 = torch.constant.int 2
  %i1 = torch.constant.int 1
  %k = torch.prim.ListConstruct %i3, %i3 : (!torch.int, !torch.int) -> !torch.list<int>
  %s = torch.prim.ListConstruct %i2, %i2 : (!torch.int, !torch.int) -> !torch.list<int>
  %p = torch.prim.ListConstruct %i1, %i1 : (!torch.int, !torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %0 = torch.aten.max_pool2d %x, %k, %s, %p, %p, %false : !torch.vtensor<[1,2,6,8],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool -> !torch.vtensor<[1,2,3,4],f32>
  return %0 : !torch.vtensor<[1,2,3,4],f32>
}

// -----

// TOSA's mean does not count padding; where PyTorch does, zeros are put around the input.

// CHECK-LABEL: func.func @counted_padding
func.func @counted_padding(%x: !torch.vtensor<[1,2,6,6],f32>) -> (!torch.vtensor<[1,2,4,4],f32>, !torch.vtensor<[1,2,4,4],f32>) {
  // CHECK: %[[PADDED:.+]] = tosa.pad
  // CHECK-SAME: -> tensor<1x8x8x2xf32>
  // CHECK: tosa.avg_pool2d %[[PADDED]]
  // CHECK-SAME: pad = array<i64: 0, 0, 0, 0>
  // CHECK-NOT: tosa.pad
  // CHECK: tosa.avg_pool2d
  // CHECK-SAME: pad = array<i64: 1, 1, 1, 1>
  %i2 = torch.constant.int 2
  %i1 = torch.constant.int 1
  %k = torch.prim.ListConstruct %i2, %i2 : (!torch.int, !torch.int) -> !torch.list<int>
  %s = torch.prim.ListConstruct %i2, %i2 : (!torch.int, !torch.int) -> !torch.list<int>
  %p = torch.prim.ListConstruct %i1, %i1 : (!torch.int, !torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %true = torch.constant.bool true
  %none = torch.constant.none
  %0 = torch.aten.avg_pool2d %x, %k, %s, %p, %false, %true, %none : !torch.vtensor<[1,2,6,6],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[1,2,4,4],f32>
  %1 = torch.aten.avg_pool2d %x, %k, %s, %p, %false, %false, %none : !torch.vtensor<[1,2,6,6],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[1,2,4,4],f32>
  return %0, %1 : !torch.vtensor<[1,2,4,4],f32>, !torch.vtensor<[1,2,4,4],f32>
}

// -----

// 7 to 3: windows of 3 every 2. 8 to 3: windows of several sizes, and a product with a matrix of means.

// CHECK-LABEL: func.func @adaptive
func.func @adaptive(%x: !torch.vtensor<[1,2,7,7],f32>, %y: !torch.vtensor<[1,2,8,8],f32>) -> (!torch.vtensor<[1,2,3,3],f32>, !torch.vtensor<[1,2,3,3],f32>) {
  // CHECK: tosa.avg_pool2d
  // CHECK-SAME: kernel = array<i64: 3, 3>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>
  // CHECK-NOT: tosa.avg_pool2d
  // CHECK-COUNT-2: tosa.matmul
  %i3 = torch.constant.int 3
  %size = torch.prim.ListConstruct %i3, %i3 : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.adaptive_avg_pool2d %x, %size : !torch.vtensor<[1,2,7,7],f32>, !torch.list<int> -> !torch.vtensor<[1,2,3,3],f32>
  %1 = torch.aten.adaptive_avg_pool2d %y, %size : !torch.vtensor<[1,2,8,8],f32>, !torch.list<int> -> !torch.vtensor<[1,2,3,3],f32>
  return %0, %1 : !torch.vtensor<[1,2,3,3],f32>, !torch.vtensor<[1,2,3,3],f32>
}
