// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-bits)' --split-input-file --verify-diagnostics

func.func @shift(%i: !torch.vtensor<[3],si32>) -> !torch.vtensor<[3],si32> {
  %n = torch.constant.int 32
  // expected-error@+1 {{'torch.aten.__lshift__.Scalar' by 32 bits, expected 0 to 31}}
  %0 = torch.aten.__lshift__.Scalar %i, %n : !torch.vtensor<[3],si32>, !torch.int -> !torch.vtensor<[3],si32>
  return %0 : !torch.vtensor<[3],si32>
}
