// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-movement,vgf-finish-torch-conversion)' --split-input-file | filecheck %s

// A view is a reshape, whatever strides PyTorch has; clone says nothing.

// CHECK-LABEL: func.func @view
func.func @view(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[6],f32> {
  // CHECK: %[[FLAT:.+]] = tosa.reshape %arg0
  // CHECK-SAME: -> tensor<6xf32>
  // CHECK-NEXT: return %[[FLAT]]
  %none = torch.constant.none
  %six = torch.constant.int 6
  %sizes = torch.prim.ListConstruct %six : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.clone %x, %none : !torch.vtensor<[2,3],f32>, !torch.none -> !torch.vtensor<[2,3],f32>
  %1 = torch.aten.view %0, %sizes : !torch.vtensor<[2,3],f32>, !torch.list<int> -> !torch.vtensor<[6],f32>
  return %1 : !torch.vtensor<[6],f32>
}

// -----

// CHECK-LABEL: func.func @pixel_shuffle
func.func @pixel_shuffle(%x: !torch.vtensor<[1,8,3,5],f32>) -> !torch.vtensor<[1,2,6,10],f32> {
  // CHECK: %[[BLOCKS:.+]] = tosa.reshape %arg0
  // CHECK-SAME: -> tensor<1x2x2x2x3x5xf32>
  // CHECK: tosa.transpose %[[BLOCKS]] {perms = array<i32: 0, 1, 4, 2, 5, 3>}
  %two = torch.constant.int 2
  %0 = torch.aten.pixel_shuffle %x, %two : !torch.vtensor<[1,8,3,5],f32>, !torch.int -> !torch.vtensor<[1,2,6,10],f32>
  return %0 : !torch.vtensor<[1,2,6,10],f32>
}
