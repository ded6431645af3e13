// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-note-integer-ranges)' --split-input-file | filecheck %s

// Two inputs that fit 32 bits have a sum that may not.

// CHECK: module attributes {vgf.notes = ["{{.*}}aten.add.Tensor computes 64-bit integers in 32 bits: its result may be anywhere in [-4294967296, 4294967294]"]}
func.func @sum(%i: !torch.vtensor<[3],si64>, %j: !torch.vtensor<[3],si64>) -> !torch.vtensor<[3],si64> {
  %one = torch.constant.int 1
  %0 = torch.aten.add.Tensor %i, %j, %one : !torch.vtensor<[3],si64>, !torch.vtensor<[3],si64>, !torch.int -> !torch.vtensor<[3],si64>
  return %0 : !torch.vtensor<[3],si64>
}

// -----

// A place in a row of 8, times 100, is proved to fit; so is a count.

// CHECK: module {
func.func @place(%x: !torch.vtensor<[2,8],f32>, %b: !torch.vtensor<[9],i1>) -> (!torch.vtensor<[2],si64>, !torch.vtensor<[],si64>) {
  %one = torch.constant.int 1
  %hundred = torch.constant.int 100
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.aten.argmax %x, %one, %false : !torch.vtensor<[2,8],f32>, !torch.int, !torch.bool -> !torch.vtensor<[2],si64>
  %1 = torch.aten.mul.Scalar %0, %hundred : !torch.vtensor<[2],si64>, !torch.int -> !torch.vtensor<[2],si64>
  %2 = torch.aten.sum %b, %none : !torch.vtensor<[9],i1>, !torch.none -> !torch.vtensor<[],si64>
  return %1, %2 : !torch.vtensor<[2],si64>, !torch.vtensor<[],si64>
}

// -----

// 32-bit integers wrap in PyTorch too; moving 64-bit ones about changes no value.

// CHECK: module {
func.func @same(%i: !torch.vtensor<[3],si32>, %j: !torch.vtensor<[3],si64>) -> (!torch.vtensor<[3],si32>, !torch.vtensor<[1,3],si64>) {
  %zero = torch.constant.int 0
  %0 = torch.aten.mul.Tensor %i, %i : !torch.vtensor<[3],si32>, !torch.vtensor<[3],si32> -> !torch.vtensor<[3],si32>
  %1 = torch.aten.unsqueeze %j, %zero : !torch.vtensor<[3],si64>, !torch.int -> !torch.vtensor<[1,3],si64>
  return %0, %1 : !torch.vtensor<[3],si32>, !torch.vtensor<[1,3],si64>
}

// -----

// Held to a small range first, a power fits; after a note a value counts as fitting, so that there is one note and not two.

// CHECK: module attributes {vgf.notes = ["{{.*}}aten.pow.Tensor_Scalar computes {{.*}}"]}
// CHECK-NOT: , "
func.func @powers(%i: !torch.vtensor<[3],si64>) -> (!torch.vtensor<[3],si64>, !torch.vtensor<[3],si64>) {
  %low = torch.constant.int -100
  %high = torch.constant.int 100
  %four = torch.constant.int 4
  %three = torch.constant.int 3
  %size = torch.prim.ListConstruct %three : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.clamp %i, %low, %high : !torch.vtensor<[3],si64>, !torch.int, !torch.int -> !torch.vtensor<[3],si64>
  %1 = torch.aten.pow.Tensor_Scalar %0, %four : !torch.vtensor<[3],si64>, !torch.int -> !torch.vtensor<[3],si64>
  %2 = torch.aten.pow.Tensor_Scalar %i, %four : !torch.vtensor<[3],si64>, !torch.int -> !torch.vtensor<[3],si64>
  %3 = torch.aten.view %2, %size : !torch.vtensor<[3],si64>, !torch.list<int> -> !torch.vtensor<[3],si64>
  return %1, %3 : !torch.vtensor<[3],si64>, !torch.vtensor<[3],si64>
}
