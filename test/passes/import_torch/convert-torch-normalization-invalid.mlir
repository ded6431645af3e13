// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-normalization)' --split-input-file --verify-diagnostics

func.func @statistics(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,1],f32> {
  %eight = torch.constant.int 8
  %shape = torch.prim.ListConstruct %eight : (!torch.int) -> !torch.list<int>
  %none = torch.constant.none
  %eps = torch.constant.float 1.0e-5
  // expected-error@+1 {{'torch.aten.native_layer_norm' gives a result !torch.vtensor<[4,1],f32> that cannot be computed, found it read}}
  %0, %1, %2 = torch.aten.native_layer_norm %x, %shape, %none, %none, %eps : !torch.vtensor<[4,8],f32>, !torch.list<int>, !torch.none, !torch.none, !torch.float -> !torch.vtensor<[4,8],f32>, !torch.vtensor<[4,1],f32>, !torch.vtensor<[4,1],f32>
  return %1 : !torch.vtensor<[4,1],f32>
}
