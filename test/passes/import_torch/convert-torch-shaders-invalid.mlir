// RUN: vgf-opt %s -p vgf-convert-torch-shaders --split-input-file --verify-diagnostics

func.func @bicubic(%x: !torch.vtensor<[2,3,8,8],f32>, %g: !torch.vtensor<[2,9,17,2],f32>) -> !torch.vtensor<[2,3,9,17],f32> {
  %bicubic = torch.constant.int 2
  %zeros = torch.constant.int 0
  %align = torch.constant.bool true
  // expected-error@+1 {{grid_sample: expected bilinear or nearest interpolation, found bicubic}}
  %0 = torch.aten.grid_sampler %x, %g, %bicubic, %zeros, %align : !torch.vtensor<[2,3,8,8],f32>, !torch.vtensor<[2,9,17,2],f32>, !torch.int, !torch.int, !torch.bool -> !torch.vtensor<[2,3,9,17],f32>
  return %0 : !torch.vtensor<[2,3,9,17],f32>
}

// -----

func.func @computed(%x: !torch.vtensor<[2,3,8,8],f32>, %g: !torch.vtensor<[2,9,17,2],f32>, %mode: !torch.int) -> !torch.vtensor<[2,3,9,17],f32> {
  %zeros = torch.constant.int 0
  %align = torch.constant.bool true
  // expected-error@+1 {{has the argument 'interpolation_mode', which is computed, expected one known at compile time}}
  %0 = torch.aten.grid_sampler %x, %g, %mode, %zeros, %align : !torch.vtensor<[2,3,8,8],f32>, !torch.vtensor<[2,9,17,2],f32>, !torch.int, !torch.int, !torch.bool -> !torch.vtensor<[2,3,9,17],f32>
  return %0 : !torch.vtensor<[2,3,9,17],f32>
}
