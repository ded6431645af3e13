// RUN: vgf-opt %s -p vgf-fold-casts --split-input-file | filecheck %s

// i32 holds every i8, so that the float may come from the i8 at once.

// CHECK-LABEL: func.func @widened
func.func @widened(%x: tensor<4xi8>) -> tensor<4xf32> {
  // CHECK-NEXT: tosa.cast %arg0 : (tensor<4xi8>) -> tensor<4xf32>
  // CHECK-NEXT: return
  %0 = tosa.cast %x : (tensor<4xi8>) -> tensor<4xi32>
  %1 = tosa.cast %0 : (tensor<4xi32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// There and back, where the way there keeps every value.

// CHECK-LABEL: func.func @back
func.func @back(%x: tensor<4xf16>, %b: tensor<4xi1>) -> (tensor<4xf16>, tensor<4xi1>) {
  // CHECK-NEXT: return %arg0, %arg1
  %0 = tosa.cast %x : (tensor<4xf16>) -> tensor<4xf32>
  %1 = tosa.cast %0 : (tensor<4xf32>) -> tensor<4xf16>
  %2 = tosa.cast %b : (tensor<4xi1>) -> tensor<4xi8>
  %3 = tosa.cast %2 : (tensor<4xi8>) -> tensor<4xi1>
  return %1, %3 : tensor<4xf16>, tensor<4xi1>
}

// -----

// f16 rounds what f32 held, i16 wraps what i32 held, and i1 keeps one bit: both casts of each pair stay.

// CHECK-LABEL: func.func @narrowed
func.func @narrowed(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xi32>) {
  // CHECK-COUNT-6: tosa.cast
  %0 = tosa.cast %x : (tensor<4xf32>) -> tensor<4xf16>
  %1 = tosa.cast %0 : (tensor<4xf16>) -> tensor<4xf32>
  %2 = tosa.cast %i : (tensor<4xi32>) -> tensor<4xi16>
  %3 = tosa.cast %2 : (tensor<4xi16>) -> tensor<4xi32>
  %4 = tosa.cast %i : (tensor<4xi32>) -> tensor<4xi1>
  %5 = tosa.cast %4 : (tensor<4xi1>) -> tensor<4xi32>
  return %1, %3, %5 : tensor<4xf32>, tensor<4xi32>, tensor<4xi32>
}

// -----

// f32 does not hold every i32.

// CHECK-LABEL: func.func @large_integers
func.func @large_integers(%i: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-COUNT-2: tosa.cast
  %0 = tosa.cast %i : (tensor<4xi32>) -> tensor<4xf32>
  %1 = tosa.cast %0 : (tensor<4xf32>) -> tensor<4xi32>
  return %1 : tensor<4xi32>
}
