// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-scatters)' --split-input-file --verify-diagnostics

func.func @accumulate(%x: !torch.vtensor<[5,2],f32>, %i: !torch.vtensor<[3],si64>, %v: !torch.vtensor<[3,2],f32>) -> !torch.vtensor<[5,2],f32> {
  %list = torch.prim.ListConstruct %i : (!torch.vtensor<[3],si64>) -> !torch.list<optional<vtensor>>
  %true = torch.constant.bool true
  // expected-error@+1 {{'torch.aten.index_put' adds at computed indices, which TOSA 1.0 cannot do where two of them agree}}
  %0 = torch.aten.index_put %x, %list, %v, %true : !torch.vtensor<[5,2],f32>, !torch.list<optional<vtensor>>, !torch.vtensor<[3,2],f32>, !torch.bool -> !torch.vtensor<[5,2],f32>
  return %0 : !torch.vtensor<[5,2],f32>
}

// -----

func.func @twice(%x: !torch.vtensor<[5,2],f32>, %v: !torch.vtensor<[2,2],f32>) -> !torch.vtensor<[5,2],f32> {
  %i = torch.vtensor.literal(dense<[3, 3]> : tensor<2xsi64>) : !torch.vtensor<[2],si64>
  %list = torch.prim.ListConstruct %i : (!torch.vtensor<[2],si64>) -> !torch.list<optional<vtensor>>
  %false = torch.constant.bool false
  // expected-error@+1 {{'torch.aten.index_put' writes to one place twice, which has no certain result}}
  %0 = torch.aten.index_put %x, %list, %v, %false : !torch.vtensor<[5,2],f32>, !torch.list<optional<vtensor>>, !torch.vtensor<[2,2],f32>, !torch.bool -> !torch.vtensor<[5,2],f32>
  return %0 : !torch.vtensor<[5,2],f32>
}
