// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-finish-torch-conversion)' --split-input-file --verify-diagnostics

func.func @unknown(%x: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> {
  %one = torch.constant.int 1
  // expected-error@+1 {{the operator aten.cummax_like is not supported; docs/operators.md lists those that are}}
  %0 = torch.operator "torch.aten.cummax_like"(%x, %one) : (!torch.vtensor<[2],f32>, !torch.int) -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}

// -----

func.func @large() -> !torch.vtensor<[1],si64> {
  // expected-error@+1 {{'torch.vtensor.literal' holds the 64-bit integer 4294967296, expected one that 32 bits can carry}}
  %0 = torch.vtensor.literal(dense<4294967296> : tensor<1xsi64>) : !torch.vtensor<[1],si64>
  return %0 : !torch.vtensor<[1],si64>
}
