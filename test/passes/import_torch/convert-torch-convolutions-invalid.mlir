// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-convolutions)' --split-input-file --verify-diagnostics

func.func @integers(%x: !torch.vtensor<[1,3,8,6],si32>, %w: !torch.vtensor<[4,3,3,3],si32>) -> !torch.vtensor<[1,4,6,4],si32> {
  %none = torch.constant.none
  %one = torch.constant.int 1
  %zero = torch.constant.int 0
  %ones = torch.prim.ListConstruct %one, %one : (!torch.int, !torch.int) -> !torch.list<int>
  %zeros = torch.prim.ListConstruct %zero, %zero : (!torch.int, !torch.int) -> !torch.list<int>
  // expected-error@+1 {{'torch.aten.conv2d' of si32 is not supported, expected floating point; see vgfc.quantize}}
  %0 = torch.aten.conv2d %x, %w, %none, %ones, %zeros, %ones, %one : !torch.vtensor<[1,3,8,6],si32>, !torch.vtensor<[4,3,3,3],si32>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.int -> !torch.vtensor<[1,4,6,4],si32>
  return %0 : !torch.vtensor<[1,4,6,4],si32>
}
