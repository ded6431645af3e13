// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-reductions,vgf-finish-torch-conversion)' --split-input-file | filecheck %s

// CHECK-LABEL: func.func @mean
func.func @mean(%x: !torch.vtensor<[2,8],f32>) -> !torch.vtensor<[2],f32> {
  // CHECK-NEXT: %[[SUM:.+]] = tosa.reduce_sum %arg0 {axis = 1 : i32} : (tensor<2x8xf32>) -> tensor<2x1xf32>
  // CHECK: %[[EIGHTH:.+]] = "tosa.const"() <{values = dense<1.250000e-01> : tensor<1x1xf32>}>
  // CHECK: %[[MEAN:.+]] = tosa.mul %[[SUM]], %[[EIGHTH]]
  // CHECK: tosa.reshape %[[MEAN]]
  // CHECK-SAME: -> tensor<2xf32>
  %minus = torch.constant.int -1
  %axes = torch.prim.ListConstruct %minus : (!torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.aten.mean.dim %x, %axes, %false, %none : !torch.vtensor<[2,8],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}

// -----

// 16-bit values are summed in 32 bits; a whole sum is one reduction of a vector, its scalar a tensor of one element.

// CHECK-LABEL: func.func @whole_sum
// CHECK-SAME: -> (tensor<1xf16> {vgf.model_type = tensor<f16>})
func.func @whole_sum(%x: !torch.vtensor<[2,3,4],f16>) -> !torch.vtensor<[],f16> {
  // CHECK-NEXT: %[[WIDE:.+]] = tosa.cast %arg0 : (tensor<2x3x4xf16>) -> tensor<2x3x4xf32>
  // CHECK: %[[FLAT:.+]] = tosa.reshape %[[WIDE]]
  // CHECK-SAME: -> tensor<24xf32>
  // CHECK-NEXT: %[[SUM:.+]] = tosa.reduce_sum %[[FLAT]] {axis = 0 : i32}
  // CHECK: tosa.cast %{{.+}} -> tensor<1xf16>
  %none = torch.constant.none
  %0 = torch.aten.sum %x, %none : !torch.vtensor<[2,3,4],f16>, !torch.none -> !torch.vtensor<[],f16>
  return %0 : !torch.vtensor<[],f16>
}

// -----

// TOSA has no argmax of i32: the smallest place at which the maximum stands.

// CHECK-LABEL: func.func @argmax_of_integers
func.func @argmax_of_integers(%x: !torch.vtensor<[2,3],si32>) -> !torch.vtensor<[2],si64> {
  // CHECK: %[[BEST:.+]] = tosa.reduce_max %arg0 {axis = 1 : i32}
  // CHECK: %[[HIT:.+]] = tosa.equal %arg0, %[[BEST]]
  // CHECK: dense<{{\[\[}}0, 1, 2]]>
  // CHECK: %[[PLACES:.+]] = tosa.select %[[HIT]]
  // CHECK: tosa.reduce_min %[[PLACES]] {axis = 1 : i32}
  %one = torch.constant.int 1
  %false = torch.constant.bool false
  %0 = torch.aten.argmax %x, %one, %false : !torch.vtensor<[2,3],si32>, !torch.int, !torch.bool -> !torch.vtensor<[2],si64>
  return %0 : !torch.vtensor<[2],si64>
}

// -----

// Four elements are summed up in two steps, each with the sums so far moved along.

// CHECK-LABEL: func.func @cumsum
func.func @cumsum(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  // CHECK-COUNT-2: tosa.add
  // CHECK-NOT: tosa.add
  %zero = torch.constant.int 0
  %none = torch.constant.none
  %0 = torch.aten.cumsum %x, %zero, %none : !torch.vtensor<[4],f32>, !torch.int, !torch.none -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}
