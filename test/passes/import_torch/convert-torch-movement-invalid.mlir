// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-movement)' --split-input-file --verify-diagnostics

func.func @training(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
  %half = torch.constant.float 0.5
  %true = torch.constant.bool true
  // expected-error@+1 {{'torch.aten.dropout' is random in training mode, expected a model in evaluation mode; call model.eval() first}}
  %0 = torch.aten.dropout %x, %half, %true : !torch.vtensor<[3],f32>, !torch.float, !torch.bool -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}
