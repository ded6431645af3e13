// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-activations)' --split-input-file --verify-diagnostics

func.func @gelu(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
  %how = torch.constant.str "sigmoid"
  // expected-error@+1 {{'torch.aten.gelu' with approximate='sigmoid', expected 'none' or 'tanh'}}
  %0 = torch.aten.gelu %x, %how : !torch.vtensor<[3],f32>, !torch.str -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}
