// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-joins,vgf-finish-torch-conversion)' --split-input-file | filecheck %s

// The element type is that of the result.

// CHECK-LABEL: func.func @mixed
func.func @mixed(%x: !torch.vtensor<[2,1],f32>, %i: !torch.vtensor<[2,3],si32>) -> !torch.vtensor<[2,4],f32> {
  // CHECK: %[[F:.+]] = tosa.cast %arg1 : (tensor<2x3xi32>) -> tensor<2x3xf32>
  // CHECK-NEXT: tosa.concat %arg0, %[[F]] {axis = 1 : i32}
  %last = torch.constant.int -1
  %list = torch.prim.ListConstruct %x, %i : (!torch.vtensor<[2,1],f32>, !torch.vtensor<[2,3],si32>) -> !torch.list<vtensor>
  %0 = torch.aten.cat %list, %last : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[2,4],f32>
  return %0 : !torch.vtensor<[2,4],f32>
}

// -----

// The last two elements come first.

// CHECK-LABEL: func.func @roll
func.func @roll(%x: !torch.vtensor<[5],f32>) -> !torch.vtensor<[5],f32> {
  // CHECK: %[[LAST:.+]] = tosa.slice %arg0
  // CHECK-SAME: -> tensor<2xf32>
  // CHECK: %[[FIRST:.+]] = tosa.slice %arg0
  // CHECK-SAME: -> tensor<3xf32>
  // CHECK: tosa.concat %[[LAST]], %[[FIRST]] {axis = 0 : i32}
  %two = torch.constant.int 2
  %zero = torch.constant.int 0
  %shifts = torch.prim.ListConstruct %two : (!torch.int) -> !torch.list<int>
  %axes = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.roll %x, %shifts, %axes : !torch.vtensor<[5],f32>, !torch.list<int>, !torch.list<int> -> !torch.vtensor<[5],f32>
  return %0 : !torch.vtensor<[5],f32>
}
