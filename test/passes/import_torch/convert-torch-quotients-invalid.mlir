// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-quotients)' --split-input-file --verify-diagnostics

func.func @too_large(%x: !torch.vtensor<[3],si64>) -> !torch.vtensor<[3],si64> {
  %large = torch.constant.int 4294967296
  // expected-error@+1 {{'torch.aten.remainder.Scalar' computes with the integer 4294967296, expected one that 32 bits can carry}}
  %0 = torch.aten.remainder.Scalar %x, %large : !torch.vtensor<[3],si64>, !torch.int -> !torch.vtensor<[3],si64>
  return %0 : !torch.vtensor<[3],si64>
}
