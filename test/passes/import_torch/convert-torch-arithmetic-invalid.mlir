// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-arithmetic)' --split-input-file --verify-diagnostics

func.func @too_large(%i: !torch.vtensor<[3],si64>) -> !torch.vtensor<[3],si64> {
  %one = torch.constant.int 1
  %large = torch.constant.int 4294967296
  // expected-error@+1 {{'torch.aten.add.Scalar' computes with the integer 4294967296, expected one that 32 bits can carry}}
  %0 = torch.aten.add.Scalar %i, %large, %one : !torch.vtensor<[3],si64>, !torch.int, !torch.int -> !torch.vtensor<[3],si64>
  return %0 : !torch.vtensor<[3],si64>
}

// -----

func.func @dynamic(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  // expected-error@+1 {{expected a tensor of static shape, found !torch.vtensor<[?,3],f32>}}
  %0 = torch.aten.neg %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}
