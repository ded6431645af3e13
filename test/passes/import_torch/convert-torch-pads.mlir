// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-pads,vgf-finish-torch-conversion)' --split-input-file | filecheck %s

// PyTorch's list begins with the last axis; a negative amount cuts.

// CHECK-LABEL: func.func @constant
func.func @constant(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[3,3],f32> {
  // CHECK: %[[CUT:.+]] = tosa.slice %arg0
  // CHECK-SAME: -> tensor<2x2xf32>
  // CHECK-DAG: %[[SIDES:.+]] = tosa.const_shape  {values = dense<[1, 0, 0, 1]>
  // CHECK-DAG: %[[HALF:.+]] = "tosa.const"() <{values = dense<5.000000e-01> : tensor<1xf32>}>
  // CHECK: tosa.pad %[[CUT]], %[[SIDES]], %[[HALF]]
  %minus = torch.constant.int -1
  %one = torch.constant.int 1
  %zero = torch.constant.int 0
  %half = torch.constant.float 0.5
  %sides = torch.prim.ListConstruct %minus, %one, %one, %zero : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.constant_pad_nd %x, %sides, %half : !torch.vtensor<[2,3],f32>, !torch.list<int>, !torch.float -> !torch.vtensor<[3,3],f32>
  return %0 : !torch.vtensor<[3,3],f32>
}
