// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-scatters,vgf-finish-torch-conversion)' --split-input-file | filecheck %s

// x[mask] = number is a choice.

// CHECK-LABEL: func.func @masked
func.func @masked(%x: !torch.vtensor<[5,2],f32>, %mask: !torch.vtensor<[5],i1>, %v: !torch.vtensor<[],f32>) -> !torch.vtensor<[5,2],f32> {
  // CHECK: tosa.select
  // CHECK-SAME: (tensor<5x1xi1>, tensor<1x1xf32>, tensor<5x2xf32>)
  %list = torch.prim.ListConstruct %mask : (!torch.vtensor<[5],i1>) -> !torch.list<optional<vtensor>>
  %false = torch.constant.bool false
  %0 = torch.aten.index_put %x, %list, %v, %false : !torch.vtensor<[5,2],f32>, !torch.list<optional<vtensor>>, !torch.vtensor<[],f32>, !torch.bool -> !torch.vtensor<[5,2],f32>
  return %0 : !torch.vtensor<[5,2],f32>
}

// -----

// A row at a time is one scatter.

// CHECK-LABEL: func.func @rows
func.func @rows(%x: !torch.vtensor<[5,2],f32>, %i: !torch.vtensor<[3],si64>, %v: !torch.vtensor<[3,2],f32>) -> !torch.vtensor<[5,2],f32> {
  // CHECK-DAG: %[[ROW:.+]] = tosa.reshape %arg1, %{{.+}} : (tensor<3xi32>, !tosa.shape<2>) -> tensor<1x3xi32>
  // CHECK-DAG: %[[NEW:.+]] = tosa.reshape %arg2, %{{.+}} -> tensor<1x3x2xf32>
  // CHECK-DAG: %[[OLD:.+]] = tosa.reshape %arg0, %{{.+}} -> tensor<1x5x2xf32>
  // CHECK: tosa.scatter %[[OLD]], %[[ROW]], %[[NEW]]
  %zero = torch.constant.int 0
  %0 = torch.operator "torch.aten.index_copy"(%x, %zero, %i, %v) : (!torch.vtensor<[5,2],f32>, !torch.int, !torch.vtensor<[3],si64>, !torch.vtensor<[3,2],f32>) -> !torch.vtensor<[5,2],f32>
  return %0 : !torch.vtensor<[5,2],f32>
}
