// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-movement)' --split-input-file --verify-diagnostics

func.func @empty(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[0],f32> {
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  // expected-error@+1 {{'torch.aten.slice.Tensor' gives an empty tensor [0], which TOSA has none of}}
  %0 = torch.aten.slice.Tensor %x, %zero, %one, %one, %one : !torch.vtensor<[3],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[0],f32>
  return %0 : !torch.vtensor<[0],f32>
}

// -----

func.func @training(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
  %half = torch.constant.float 0.5
  %true = torch.constant.bool true
  // expected-error@+1 {{'torch.aten.dropout' is random in training mode, expected a model in evaluation mode; call model.eval() first}}
  %0 = torch.aten.dropout %x, %half, %true : !torch.vtensor<[3],f32>, !torch.float, !torch.bool -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}
