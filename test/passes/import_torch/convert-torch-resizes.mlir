// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-resizes,vgf-finish-torch-conversion)' --split-input-file | filecheck %s

// Nearest neighbours: half a step of offset turns TOSA's rounding into PyTorch's cutting off.

// CHECK-LABEL: func.func @nearest
func.func @nearest(%x: !torch.vtensor<[1,2,4,5],f32>) -> !torch.vtensor<[1,2,8,10],f32> {
  // CHECK-DAG: %[[SCALE:.+]] = tosa.const_shape  {values = dense<[2, 1, 2, 1]>
  // CHECK-DAG: %[[OFFSET:.+]] = tosa.const_shape  {values = dense<-1>
  // CHECK-DAG: %[[BORDER:.+]] = tosa.const_shape  {values = dense<0>
  // CHECK: tosa.resize %{{.+}}, %[[SCALE]], %[[OFFSET]], %[[BORDER]] {mode = NEAREST_NEIGHBOR}
  %two = torch.constant.float 2.0
  %scales = torch.prim.ListConstruct %two, %two : (!torch.float, !torch.float) -> !torch.list<float>
  %none = torch.constant.none
  %0 = torch.aten.upsample_nearest2d.vec %x, %none, %scales : !torch.vtensor<[1,2,4,5],f32>, !torch.none, !torch.list<float> -> !torch.vtensor<[1,2,8,10],f32>
  return %0 : !torch.vtensor<[1,2,8,10],f32>
}

// -----

// Aligned corners: 4 to 7 is half a step, without offset or border.

// CHECK-LABEL: func.func @aligned
func.func @aligned(%x: !torch.vtensor<[1,2,4,4],f32>) -> !torch.vtensor<[1,2,7,7],f32> {
  // CHECK-DAG: tosa.const_shape  {values = dense<[2, 1, 2, 1]>
  // CHECK: tosa.resize
  // CHECK-SAME: mode = BILINEAR
  %seven = torch.constant.int 7
  %size = torch.prim.ListConstruct %seven, %seven : (!torch.int, !torch.int) -> !torch.list<int>
  %true = torch.constant.bool true
  %none = torch.constant.none
  %0 = torch.aten.upsample_bilinear2d.vec %x, %size, %true, %none : !torch.vtensor<[1,2,4,4],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,2,7,7],f32>
  return %0 : !torch.vtensor<[1,2,7,7],f32>
}

// -----

// To a 25th is more than tosa.resize can do: a product with a matrix of weights.

// CHECK-LABEL: func.func @much_smaller
func.func @much_smaller(%x: !torch.vtensor<[1,1,100,4],f32>) -> !torch.vtensor<[1,1,4,4],f32> {
  // CHECK-NOT: tosa.resize
  // CHECK: tosa.matmul
  // CHECK-SAME: (tensor<1x4x100xf32>, tensor<1x100x4xf32>
  %four = torch.constant.int 4
  %size = torch.prim.ListConstruct %four, %four : (!torch.int, !torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.aten.upsample_bilinear2d.vec %x, %size, %false, %none : !torch.vtensor<[1,1,100,4],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,1,4,4],f32>
  return %0 : !torch.vtensor<[1,1,4,4],f32>
}
