// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-products,vgf-finish-torch-conversion)' --split-input-file | filecheck %s

// CHECK-LABEL: func.func @linear
func.func @linear(%x: !torch.vtensor<[4,8],f32>, %w: !torch.vtensor<[16,8],f32>, %b: !torch.vtensor<[16],f32>) -> !torch.vtensor<[4,16],f32> {
  // CHECK: %[[W:.+]] = tosa.reshape %arg1
  // CHECK-SAME: -> tensor<16x1x1x8xf32>
  // CHECK: %[[X:.+]] = tosa.reshape %arg0
  // CHECK-SAME: -> tensor<1x4x1x8xf32>
  // CHECK: %[[Y:.+]] = tosa.conv2d %[[X]], %[[W]], %arg2
  // CHECK: tosa.reshape %[[Y]]
  // CHECK-SAME: -> tensor<4x16xf32>
  %0 = torch.aten.linear %x, %w, %b : !torch.vtensor<[4,8],f32>, !torch.vtensor<[16,8],f32>, !torch.vtensor<[16],f32> -> !torch.vtensor<[4,16],f32>
  return %0 : !torch.vtensor<[4,16],f32>
}

// -----

// A matrix without batch multiplies all rows at once, and is not repeated.

// CHECK-LABEL: func.func @rows
func.func @rows(%x: !torch.vtensor<[2,3,5],f32>, %y: !torch.vtensor<[5,4],f32>) -> !torch.vtensor<[2,3,4],f32> {
  // CHECK-NOT: tosa.tile
  // CHECK: tosa.matmul
  // CHECK-SAME: (tensor<1x6x5xf32>, tensor<1x5x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x4xf32>
  %0 = torch.aten.matmul %x, %y : !torch.vtensor<[2,3,5],f32>, !torch.vtensor<[5,4],f32> -> !torch.vtensor<[2,3,4],f32>
  return %0 : !torch.vtensor<[2,3,4],f32>
}

// -----

// Products of 16-bit numbers are summed in 32 bits.

// CHECK-LABEL: func.func @half
func.func @half(%x: !torch.vtensor<[2,3,5],f16>, %y: !torch.vtensor<[2,5,4],f16>) -> !torch.vtensor<[2,3,4],f16> {
  // CHECK: %[[WIDE:.+]] = tosa.matmul %arg0, %arg1
  // CHECK-SAME: -> tensor<2x3x4xf32>
  // CHECK-NEXT: tosa.cast %[[WIDE]] : (tensor<2x3x4xf32>) -> tensor<2x3x4xf16>
  %0 = torch.aten.bmm %x, %y : !torch.vtensor<[2,3,5],f16>, !torch.vtensor<[2,5,4],f16> -> !torch.vtensor<[2,3,4],f16>
  return %0 : !torch.vtensor<[2,3,4],f16>
}
