// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-indexing)' --split-input-file --verify-diagnostics

func.func @mask(%x: !torch.vtensor<[5,2],f32>, %mask: !torch.vtensor<[5],i1>) -> !torch.vtensor<[3,2],f32> {
  %list = torch.prim.ListConstruct %mask : (!torch.vtensor<[5],i1>) -> !torch.list<optional<vtensor>>
  // expected-error@+1 {{'torch.aten.index.Tensor' by a boolean mask gives a shape that depends on values, which a VGF has none of}}
  %0 = torch.aten.index.Tensor %x, %list : !torch.vtensor<[5,2],f32>, !torch.list<optional<vtensor>> -> !torch.vtensor<[3,2],f32>
  return %0 : !torch.vtensor<[3,2],f32>
}
