// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-finish-torch-conversion)' --split-input-file | filecheck %s

// A scalar becomes a tensor of one element and 64-bit integers become 32-bit ones; what the model has stays readable.

// CHECK-LABEL: func.func @signature
// CHECK-SAME: (%arg0: tensor<1xi32> {vgf.model_type = tensor<i64>, vgf.name = "x"}, %arg1: tensor<2xf32> {vgf.name = "y"})
// CHECK-SAME: -> (tensor<1xi32> {vgf.model_type = tensor<i64>}, tensor<2xf32>)
func.func @signature(%x: !torch.vtensor<[],si64> {vgf.name = "x"}, %y: !torch.vtensor<[2],f32> {vgf.name = "y"}) -> (!torch.vtensor<[],si64>, !torch.vtensor<[2],f32>) {
  // CHECK-NEXT: %[[ABS:.+]] = tosa.abs %arg0 : (tensor<1xi32>) -> tensor<1xi32>
  // CHECK-NEXT: return %[[ABS]], %arg1
  %0 = builtin.unrealized_conversion_cast %x : !torch.vtensor<[],si64> to tensor<1xi32>
  %1 = tosa.abs %0 : (tensor<1xi32>) -> tensor<1xi32>
  %2 = builtin.unrealized_conversion_cast %1 : tensor<1xi32> to !torch.vtensor<[],si64>
  return %2, %y : !torch.vtensor<[],si64>, !torch.vtensor<[2],f32>
}

// -----

// A cast between two operators goes, and so does what nothing reads.

// CHECK-LABEL: func.func @chain
func.func @chain(%x: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> {
  // CHECK-NEXT: %[[EXP:.+]] = tosa.exp %arg0
  // CHECK-NEXT: %[[LOG:.+]] = tosa.log %[[EXP]]
  // CHECK-NEXT: return %[[LOG]]
  %unread = torch.constant.int 3
  %0 = builtin.unrealized_conversion_cast %x : !torch.vtensor<[2],f32> to tensor<2xf32>
  %1 = tosa.exp %0 : (tensor<2xf32>) -> tensor<2xf32>
  %2 = builtin.unrealized_conversion_cast %1 : tensor<2xf32> to !torch.vtensor<[2],f32>
  %3 = builtin.unrealized_conversion_cast %2 : !torch.vtensor<[2],f32> to tensor<2xf32>
  %4 = tosa.log %3 : (tensor<2xf32>) -> tensor<2xf32>
  %5 = builtin.unrealized_conversion_cast %4 : tensor<2xf32> to !torch.vtensor<[2],f32>
  return %5 : !torch.vtensor<[2],f32>
}

// -----

// A constant that is returned, and a module of TOSA, which is left alone.

// CHECK-LABEL: func.func @constant
func.func @constant() -> !torch.vtensor<[2],si64> {
  // CHECK-NEXT: %[[C:.+]] = "tosa.const"() <{values = dense<[1, 2]> : tensor<2xi32>}>
  // CHECK-NEXT: return %[[C]]
  %0 = torch.vtensor.literal(dense<[1, 2]> : tensor<2xsi64>) : !torch.vtensor<[2],si64>
  return %0 : !torch.vtensor<[2],si64>
}

// CHECK-LABEL: func.func private @no_torch(%arg0: tensor<2xi64>) -> tensor<2xi64>
func.func private @no_torch(%x: tensor<2xi64>) -> tensor<2xi64> {
  // CHECK-NEXT: return %arg0
  return %x : tensor<2xi64>
}
