// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-indexing,vgf-finish-torch-conversion)' --split-input-file | filecheck %s

// CHECK-LABEL: func.func @embedding
func.func @embedding(%w: !torch.vtensor<[10,4],f32>, %i: !torch.vtensor<[2,3],si64>) -> !torch.vtensor<[2,3,4],f32> {
  // CHECK: %[[ROW:.+]] = tosa.reshape %arg1
  // CHECK-SAME: -> tensor<1x6xi32>
  // CHECK: %[[TABLE:.+]] = tosa.reshape %arg0
  // CHECK-SAME: -> tensor<1x10x4xf32>
  // CHECK: tosa.gather %[[TABLE]], %[[ROW]]
  %minus = torch.constant.int -1
  %false = torch.constant.bool false
  %0 = torch.aten.embedding %w, %i, %minus, %false, %false : !torch.vtensor<[10,4],f32>, !torch.vtensor<[2,3],si64>, !torch.int, !torch.bool, !torch.bool -> !torch.vtensor<[2,3,4],f32>
  return %0 : !torch.vtensor<[2,3,4],f32>
}

// -----

// A subscript may count from the end.

// CHECK-LABEL: func.func @subscript
func.func @subscript(%x: !torch.vtensor<[5,2],f32>, %i: !torch.vtensor<[3],si64>) -> !torch.vtensor<[3,2],f32> {
  // CHECK: %[[NEGATIVE:.+]] = tosa.greater %{{.+}}, %arg1
  // CHECK: %[[MORE:.+]] = tosa.add %arg1
  // CHECK: tosa.select %[[NEGATIVE]], %[[MORE]], %arg1
  // CHECK: tosa.gather
  %list = torch.prim.ListConstruct %i : (!torch.vtensor<[3],si64>) -> !torch.list<optional<vtensor>>
  %0 = torch.aten.index.Tensor %x, %list : !torch.vtensor<[5,2],f32>, !torch.list<optional<vtensor>> -> !torch.vtensor<[3,2],f32>
  return %0 : !torch.vtensor<[3,2],f32>
}

// -----

// Known indices that run on are a slice.

// CHECK-LABEL: func.func @known
func.func @known(%x: !torch.vtensor<[5,2],f32>) -> !torch.vtensor<[3,2],f32> {
  // CHECK-NOT: tosa.gather
  // CHECK: tosa.slice %arg0
  // CHECK-SAME: -> tensor<3x2xf32>
  %i = torch.vtensor.literal(dense<[1, 2, 3]> : tensor<3xsi64>) : !torch.vtensor<[3],si64>
  %zero = torch.constant.int 0
  %0 = torch.aten.index_select %x, %zero, %i : !torch.vtensor<[5,2],f32>, !torch.int, !torch.vtensor<[3],si64> -> !torch.vtensor<[3,2],f32>
  return %0 : !torch.vtensor<[3,2],f32>
}
