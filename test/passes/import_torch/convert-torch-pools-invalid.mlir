// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-pools)' --split-input-file --verify-diagnostics

func.func @dilation(%x: !torch.vtensor<[1,2,6,8],f32>) -> !torch.vtensor<[1,2,4,6],f32> {
  %i2 = torch.constant.int 2
  %i1 = torch.constant.int 1
  %i0 = torch.constant.int 0
  %k = torch.prim.ListConstruct %i2, %i2 : (!torch.int, !torch.int) -> !torch.list<int>
  %s = torch.prim.ListConstruct %i1, %i1 : (!torch.int, !torch.int) -> !torch.list<int>
  %p = torch.prim.ListConstruct %i0, %i0 : (!torch.int, !torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  // expected-error@+1 {{'torch.aten.max_pool2d' with dilation [2, 2] has no form in TOSA 1.0, expected 1}}
  %0 = torch.aten.max_pool2d %x, %k, %s, %p, %k, %false : !torch.vtensor<[1,2,6,8],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool -> !torch.vtensor<[1,2,4,6],f32>
  return %0 : !torch.vtensor<[1,2,4,6],f32>
}
