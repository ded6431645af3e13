// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-comparisons)' --split-input-file --verify-diagnostics

func.func @too_large(%i: !torch.vtensor<[3],si64>) -> !torch.vtensor<[3],i1> {
  %large = torch.constant.int -2147483649
  // expected-error@+1 {{'torch.aten.gt.Scalar' compares with the integer -2147483649, expected one that 32 bits can carry}}
  %0 = torch.aten.gt.Scalar %i, %large : !torch.vtensor<[3],si64>, !torch.int -> !torch.vtensor<[3],i1>
  return %0 : !torch.vtensor<[3],i1>
}
