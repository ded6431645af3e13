// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-creation)' --split-input-file --verify-diagnostics

func.func @large() -> !torch.vtensor<[2],si64> {
  %start = torch.constant.int 2147483647
  %end = torch.constant.int 2147483649
  %none = torch.constant.none
  // expected-error@+1 {{'torch.aten.arange.start' holds the 64-bit integer 2147483648, expected one that 32 bits can carry}}
  %0 = torch.aten.arange.start %start, %end, %none, %none, %none, %none : !torch.int, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[2],si64>
  return %0 : !torch.vtensor<[2],si64>
}

// -----

func.func @random() -> !torch.vtensor<[2],f32> {
  %two = torch.constant.int 2
  %size = torch.prim.ListConstruct %two : (!torch.int) -> !torch.list<int>
  %none = torch.constant.none
  // expected-error@+1 {{'torch.aten.randn' is random, which a VGF cannot be; make the numbers outside and pass them in as an input}}
  %0 = torch.aten.randn %size, %none, %none, %none, %none : !torch.list<int>, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}
