// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-slices,vgf-finish-torch-conversion)' --split-input-file | filecheck %s

// CHECK-LABEL: func.func @select
func.func @select(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2],f32> {
  // CHECK-DAG: tosa.const_shape  {values = dense<[0, 2]>
  // CHECK: %[[COLUMN:.+]] = tosa.slice %arg0
  // CHECK-SAME: -> tensor<2x1xf32>
  // CHECK: tosa.reshape %[[COLUMN]]
  %one = torch.constant.int 1
  %last = torch.constant.int -1
  %0 = torch.aten.select.int %x, %one, %last : !torch.vtensor<[2,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}

// -----

// Every second element: pairs, of which the first is kept. The odd one at the end gets a partner.

// CHECK-LABEL: func.func @steps
func.func @steps(%x: !torch.vtensor<[7],f32>) -> !torch.vtensor<[4],f32> {
  // CHECK: %[[EVEN:.+]] = tosa.pad %arg0
  // CHECK-SAME: -> tensor<8xf32>
  // CHECK: %[[PAIRS:.+]] = tosa.reshape %[[EVEN]]
  // CHECK-SAME: -> tensor<4x2x1xf32>
  // CHECK: %[[FIRST:.+]] = tosa.slice %[[PAIRS]]
  // CHECK-SAME: -> tensor<4x1x1xf32>
  // CHECK: tosa.reshape %[[FIRST]]
  %zero = torch.constant.int 0
  %end = torch.constant.int 9223372036854775807
  %two = torch.constant.int 2
  %0 = torch.aten.slice.Tensor %x, %zero, %zero, %end, %two : !torch.vtensor<[7],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// -----

// Pieces of a list are slices; the last one is shorter.

// CHECK-LABEL: func.func @chunk
func.func @chunk(%x: !torch.vtensor<[5],f32>) -> (!torch.vtensor<[3],f32>, !torch.vtensor<[2],f32>) {
  // CHECK: tosa.slice %arg0
  // CHECK-SAME: -> tensor<3xf32>
  // CHECK: tosa.slice %arg0
  // CHECK-SAME: -> tensor<2xf32>
  // CHECK-NOT: torch.
  %two = torch.constant.int 2
  %zero = torch.constant.int 0
  %0 = torch.aten.chunk %x, %two, %zero : !torch.vtensor<[5],f32>, !torch.int, !torch.int -> !torch.list<vtensor>
  %1:2 = torch.prim.ListUnpack %0 : !torch.list<vtensor> -> !torch.vtensor<[3],f32>, !torch.vtensor<[2],f32>
  return %1#0, %1#1 : !torch.vtensor<[3],f32>, !torch.vtensor<[2],f32>
}
