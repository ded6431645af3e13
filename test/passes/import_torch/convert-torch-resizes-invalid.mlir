// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-resizes)' --split-input-file --verify-diagnostics

func.func @integers(%x: !torch.vtensor<[1,2,4,4],ui8>) -> !torch.vtensor<[1,2,7,7],ui8> {
  %seven = torch.constant.int 7
  %size = torch.prim.ListConstruct %seven, %seven : (!torch.int, !torch.int) -> !torch.list<int>
  %true = torch.constant.bool true
  %none = torch.constant.none
  // expected-error@+1 {{'torch.aten.upsample_bilinear2d.vec' of ui8 is not supported, expected floating point}}
  %0 = torch.aten.upsample_bilinear2d.vec %x, %size, %true, %none : !torch.vtensor<[1,2,4,4],ui8>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,2,7,7],ui8>
  return %0 : !torch.vtensor<[1,2,7,7],ui8>
}
