// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-reductions)' --split-input-file --verify-diagnostics

func.func @product(%x: !torch.vtensor<[2,3],si32>) -> !torch.vtensor<[],si64> {
  %none = torch.constant.none
  // expected-error@+1 {{'torch.aten.prod' of integers has no form in TOSA 1.0, expected floating point}}
  %0 = torch.aten.prod %x, %none : !torch.vtensor<[2,3],si32>, !torch.none -> !torch.vtensor<[],si64>
  return %0 : !torch.vtensor<[],si64>
}
