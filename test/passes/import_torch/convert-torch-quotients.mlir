// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-quotients,vgf-finish-torch-conversion)' --split-input-file | filecheck %s

// A constant divisor is inverted now.

// CHECK-LABEL: func.func @divide
func.func @divide(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
  // CHECK: %[[QUARTER:.+]] = "tosa.const"() <{values = dense<2.500000e-01> : tensor<1xf32>}>
  // CHECK: tosa.mul %arg0, %[[QUARTER]]
  // CHECK-NOT: tosa.reciprocal
  %four = torch.constant.int 4
  %0 = torch.aten.div.Scalar %x, %four : !torch.vtensor<[3],f32>, !torch.int -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}

// -----

// A quotient by a power of two is exact, so that rounding it down needs no correction.

// CHECK-LABEL: func.func @floor_by_two
func.func @floor_by_two(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
  // CHECK: %[[HALF:.+]] = tosa.mul %arg0
  // CHECK-NEXT: %[[FLOOR:.+]] = tosa.floor %[[HALF]]
  // CHECK-NEXT: return %[[FLOOR]]
  %two = torch.constant.int 2
  %0 = torch.aten.floor_divide.Scalar %x, %two : !torch.vtensor<[3],f32>, !torch.int -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}

// -----

// Integers are divided as such; a quotient below 0 that is not whole is one less when rounded down.

// CHECK-LABEL: func.func @integers
func.func @integers(%x: !torch.vtensor<[3],si32>, %y: !torch.vtensor<[3],si32>) -> !torch.vtensor<[3],si32> {
  // CHECK: %[[Q:.+]] = tosa.intdiv %arg0, %arg1
  // CHECK: %[[BELOW:.+]] = tosa.cast %{{.+}} : (tensor<3xi1>) -> tensor<3xi32>
  // CHECK: tosa.sub %[[Q]], %[[BELOW]]
  %0 = torch.aten.floor_divide %x, %y : !torch.vtensor<[3],si32>, !torch.vtensor<[3],si32> -> !torch.vtensor<[3],si32>
  return %0 : !torch.vtensor<[3],si32>
}
