// Integers that the model computes itself are no codes of a quantised model, and constants of them are folded as TOSA says.
// RUN: vgf-opt %s --pass-pipeline='builtin.module(torch-to-tosa,tosa-simplify)' | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK: %[[PRODUCT:.+]] = "tosa.const"() <{values = dense<742> : tensor<1xi32>}>
// CHECK: %[[CLAMP:.+]] = tosa.clamp %arg0
// CHECK: %[[MOVED:.+]] = tosa.reshape %[[CLAMP]]
// CHECK: return %[[MOVED]], %[[PRODUCT]]
func.func @main(%x: tensor<2x3xi8>) -> (tensor<3x2xi8>, tensor<1xi32>) {
  %a = "tosa.const"() {values = dense<14> : tensor<1xi8>} : () -> tensor<1xi8>
  %b = "tosa.const"() {values = dense<53> : tensor<1xi8>} : () -> tensor<1xi8>
  %zero = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %0 = tosa.mul %a, %b, %zero : (tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1xi32>
  %1 = tosa.clamp %x {min_val = -3 : i8, max_val = 5 : i8} : (tensor<2x3xi8>) -> tensor<2x3xi8>
  %shape = tosa.const_shape {values = dense<[3, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %2 = tosa.reshape %1, %shape : (tensor<2x3xi8>, !tosa.shape<2>) -> tensor<3x2xi8>
  return %2, %0 : tensor<3x2xi8>, tensor<1xi32>
}
