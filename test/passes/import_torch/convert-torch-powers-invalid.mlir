// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-powers)' --split-input-file --verify-diagnostics

func.func @dynamic(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  // expected-error@+1 {{expected a tensor of static shape, found !torch.vtensor<[?,3],f32>}}
  %0 = torch.aten.square %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// -----

func.func @large(%x: !torch.vtensor<[3],si32>) -> !torch.vtensor<[3],si32> {
  %n = torch.constant.int 17
  // expected-error@+1 {{'torch.aten.pow.Tensor_Scalar' of integers to the power 17, expected 0 to 16}}
  %0 = torch.aten.pow.Tensor_Scalar %x, %n : !torch.vtensor<[3],si32>, !torch.int -> !torch.vtensor<[3],si32>
  return %0 : !torch.vtensor<[3],si32>
}
