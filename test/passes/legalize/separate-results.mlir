// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-separate-results)' --split-input-file | filecheck %s

// The first return of a value needs no copy, the second one does, and so does an input.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  // CHECK: %[[ABS:.+]] = tosa.abs %arg0
  // CHECK-NEXT: %[[AGAIN:.+]] = tosa.clamp %[[ABS]] {max_val = 0x7F800000 : f32, min_val = 0xFF800000 : f32}
  // CHECK-NEXT: %[[INPUT:.+]] = tosa.clamp %arg0 {max_val = 0x7F800000 : f32, min_val = 0xFF800000 : f32}
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
  // CHECK-NEXT: %[[COPY:.+]] = tosa.clamp %[[C]] {max_val = 0x7F800000 : f32, min_val = 0xFF800000 : f32}
  // CHECK-NEXT: return %[[COPY]]
  %0 = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// What copies an integer depends on its width.

// CHECK-LABEL: func.func @integers
func.func @integers(%a: tensor<2xi8>, %b: tensor<2xi16>, %c: tensor<2xi32>, %d: tensor<2xi1>) -> (tensor<2xi8>, tensor<2xi16>, tensor<2xi32>, tensor<2xi1>) {
  // CHECK-NEXT: %[[A:.+]] = tosa.clamp %arg0 {max_val = 127 : i8, min_val = -128 : i8}
  // CHECK-NEXT: %[[B:.+]] = tosa.clamp %arg1 {max_val = 32767 : i16, min_val = -32768 : i16}
  // CHECK-NEXT: %[[C:.+]] = tosa.bitwise_or %arg2, %arg2
  // CHECK-NEXT: %[[D:.+]] = tosa.logical_or %arg3, %arg3
  // CHECK-NEXT: return %[[A]], %[[B]], %[[C]], %[[D]]
  return %a, %b, %c, %d : tensor<2xi8>, tensor<2xi16>, tensor<2xi32>, tensor<2xi1>
}
