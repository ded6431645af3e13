// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-slices)' --split-input-file --verify-diagnostics

func.func @empty(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[0],f32> {
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  // expected-error@+1 {{'torch.aten.slice.Tensor' gives an empty tensor [0], which TOSA has none of}}
  %0 = torch.aten.slice.Tensor %x, %zero, %one, %one, %one : !torch.vtensor<[3],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[0],f32>
  return %0 : !torch.vtensor<[0],f32>
}
