// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-comparisons,vgf-finish-torch-conversion)' --split-input-file | filecheck %s

// x < y is y > x.

// CHECK-LABEL: func.func @less
func.func @less(%x: !torch.vtensor<[3],f32>, %y: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],i1> {
  // CHECK-NEXT: %[[R:.+]] = tosa.greater %arg1, %arg0
  // CHECK-NEXT: return %[[R]] : tensor<3xi1>
  %0 = torch.aten.lt.Tensor %x, %y : !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32> -> !torch.vtensor<[3],i1>
  return %0 : !torch.vtensor<[3],i1>
}

// -----

// A scalar tensor of integers does not make a comparison of floating-point numbers one of integers.

// CHECK-LABEL: func.func @not_equal
func.func @not_equal(%x: !torch.vtensor<[3],f16>, %y: !torch.vtensor<[],si64>) -> !torch.vtensor<[3],i1> {
  // CHECK-NEXT: %[[Y:.+]] = tosa.cast %arg1 : (tensor<1xi32>) -> tensor<1xf16>
  // CHECK-NEXT: %[[EQUAL:.+]] = tosa.equal %arg0, %[[Y]]
  // CHECK-NEXT: tosa.logical_not %[[EQUAL]]
  %0 = torch.aten.ne.Tensor %x, %y : !torch.vtensor<[3],f16>, !torch.vtensor<[],si64> -> !torch.vtensor<[3],i1>
  return %0 : !torch.vtensor<[3],i1>
}

// -----

// Integers are compared with a fraction in floating point.

// CHECK-LABEL: func.func @integers_and_fraction
func.func @integers_and_fraction(%x: !torch.vtensor<[3],si32>) -> !torch.vtensor<[3],i1> {
  // CHECK: %[[X:.+]] = tosa.cast %arg0 : (tensor<3xi32>) -> tensor<3xf32>
  // CHECK: tosa.greater_equal %[[X]]
  %half = torch.constant.float 0.5
  %0 = torch.aten.ge.Scalar %x, %half : !torch.vtensor<[3],si32>, !torch.float -> !torch.vtensor<[3],i1>
  return %0 : !torch.vtensor<[3],i1>
}

// -----

// The result has its own shape even where all operands are smaller.

// CHECK-LABEL: func.func @where
func.func @where(%c: !torch.vtensor<[2,1],i1>, %x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[2,3],f32> {
  // CHECK: tosa.select
  // CHECK-SAME: (tensor<2x1xi1>, tensor<1x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
  %zero = torch.constant.float 0.0
  %0 = torch.aten.where.ScalarOther %c, %x, %zero : !torch.vtensor<[2,1],i1>, !torch.vtensor<[3],f32>, !torch.float -> !torch.vtensor<[2,3],f32>
  return %0 : !torch.vtensor<[2,3],f32>
}
