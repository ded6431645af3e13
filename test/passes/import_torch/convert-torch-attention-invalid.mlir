// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-attention)' --split-input-file --verify-diagnostics

func.func @dropout(%q: !torch.vtensor<[1,2,5,8],f32>, %k: !torch.vtensor<[1,2,7,8],f32>, %v: !torch.vtensor<[1,2,7,8],f32>) -> !torch.vtensor<[1,2,5,8],f32> {
  %none = torch.constant.none
  %zero = torch.constant.float 0.0
  %false = torch.constant.bool false
  %tenth = torch.constant.float 0.1
  // expected-error@+1 {{'torch.aten.scaled_dot_product_attention' drops out with probability 0.1, expected 0; call model.eval() first}}
  %0 = torch.aten.scaled_dot_product_attention %q, %k, %v, %none, %tenth, %false, %none, %false : !torch.vtensor<[1,2,5,8],f32>, !torch.vtensor<[1,2,7,8],f32>, !torch.vtensor<[1,2,7,8],f32>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[1,2,5,8],f32>
  return %0 : !torch.vtensor<[1,2,5,8],f32>
}
