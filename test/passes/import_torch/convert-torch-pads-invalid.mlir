// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-pads)' --split-input-file --verify-diagnostics

func.func @mode(%x: !torch.vtensor<[1,3],f32>) -> !torch.vtensor<[1,5],f32> {
  %one = torch.constant.int 1
  %none = torch.constant.none
  %mode = torch.constant.str "mirror"
  %sides = torch.prim.ListConstruct %one, %one : (!torch.int, !torch.int) -> !torch.list<int>
  // expected-error@+1 {{'torch.aten.pad' in mode 'mirror', expected one of constant, reflect, replicate, circular}}
  %0 = torch.aten.pad %x, %sides, %mode, %none : !torch.vtensor<[1,3],f32>, !torch.list<int>, !torch.str, !torch.none -> !torch.vtensor<[1,5],f32>
  return %0 : !torch.vtensor<[1,5],f32>
}
