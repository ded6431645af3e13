// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-bits,vgf-finish-torch-conversion)' --split-input-file | filecheck %s

// CHECK-LABEL: func.func @shift
func.func @shift(%x: !torch.vtensor<[3],si32>) -> !torch.vtensor<[3],si32> {
  // CHECK: %[[TWO:.+]] = "tosa.const"() <{values = dense<2> : tensor<1xi32>}>
  // CHECK: tosa.logical_left_shift %arg0, %[[TWO]]
  %two = torch.constant.int 2
  %0 = torch.aten.__lshift__.Scalar %x, %two : !torch.vtensor<[3],si32>, !torch.int -> !torch.vtensor<[3],si32>
  return %0 : !torch.vtensor<[3],si32>
}

// -----

// An amount that is computed may be one that TOSA leaves undefined: it is limited, and all bits are shifted out.

// CHECK-LABEL: func.func @computed
func.func @computed(%x: !torch.vtensor<[3],si32>, %n: !torch.vtensor<[3],si32>) -> !torch.vtensor<[3],si32> {
  // CHECK: %[[FITS:.+]] = tosa.greater %{{.+}}, %arg1
  // CHECK: %[[SHIFTED:.+]] = tosa.logical_left_shift %arg0
  // CHECK: %[[ZERO:.+]] = "tosa.const"() <{values = dense<0> : tensor<1xi32>}>
  // CHECK: tosa.select %[[FITS]], %[[SHIFTED]], %[[ZERO]]
  %0 = torch.aten.bitwise_left_shift.Tensor %x, %n : !torch.vtensor<[3],si32>, !torch.vtensor<[3],si32> -> !torch.vtensor<[3],si32>
  return %0 : !torch.vtensor<[3],si32>
}

// -----

// On booleans a bit operation is the logical one.

// CHECK-LABEL: func.func @booleans
func.func @booleans(%x: !torch.vtensor<[3],i1>, %y: !torch.vtensor<[3],i1>) -> !torch.vtensor<[3],i1> {
  // CHECK: tosa.logical_xor %arg0, %arg1
  %0 = torch.aten.bitwise_xor.Tensor %x, %y : !torch.vtensor<[3],i1>, !torch.vtensor<[3],i1> -> !torch.vtensor<[3],i1>
  return %0 : !torch.vtensor<[3],i1>
}
