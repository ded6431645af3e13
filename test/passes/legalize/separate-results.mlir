// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-separate-results)' --split-input-file | filecheck %s

// The first return of a value needs no copy, the second one does, and so does an input.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  // CHECK: %[[ABS:.+]] = tosa.abs %arg0
  // CHECK-NEXT: %[[AGAIN:.+]] = tosa.identity %[[ABS]]
  // CHECK-NEXT: %[[INPUT:.+]] = tosa.identity %arg0
  // CHECK-NEXT: return %[[ABS]], %[[AGAIN]], %[[INPUT]]
  %0 = tosa.abs %x : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %0, %x : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func private @helper
func.func private @helper(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: return %arg0
  return %x : tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @constant
func.func @constant() -> tensor<2xf32> {
  // CHECK: %[[C:.+]] = "tosa.const"
  // CHECK-NEXT: %[[COPY:.+]] = tosa.identity %[[C]]
  // CHECK-NEXT: return %[[COPY]]
  %0 = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
