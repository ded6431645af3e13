// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-products)' --split-input-file --verify-diagnostics

func.func @integers(%x: !torch.vtensor<[3,5],si32>, %y: !torch.vtensor<[5,4],si32>) -> !torch.vtensor<[3,4],si32> {
  // expected-error@+1 {{'torch.aten.mm' of si32 has no form in TOSA 1.0, expected floating point}}
  %0 = torch.aten.mm %x, %y : !torch.vtensor<[3,5],si32>, !torch.vtensor<[5,4],si32> -> !torch.vtensor<[3,4],si32>
  return %0 : !torch.vtensor<[3,4],si32>
}
