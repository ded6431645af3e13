// RUN: vgf-opt %s -p 'vgf-merge-rescales,func.func(canonicalize)' --split-input-file | filecheck %s

// Times 2^7 (2^30 / 2^23) and then times 2^-9 (2^30 / 2^39) is times 2^-2, a shift of 32.

// CHECK-LABEL: func.func @exact_then_any
func.func @exact_then_any(%x: tensor<4xi8>) -> tensor<4xi8> {
  %multiplier = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
  %up = "tosa.const"() {values = dense<23> : tensor<1xi8>} : () -> tensor<1xi8>
  %down = "tosa.const"() {values = dense<39> : tensor<1xi8>} : () -> tensor<1xi8>
  %in = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %none = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %out = "tosa.const"() {values = dense<-5> : tensor<1xi8>} : () -> tensor<1xi8>
  // CHECK-DAG: %[[SHIFT:.+]] = "tosa.const"() <{values = dense<32> : tensor<1xi8>}>
  // CHECK-DAG: %[[IN:.+]] = "tosa.const"() <{values = dense<3> : tensor<1xi8>}>
  // CHECK-DAG: %[[OUT:.+]] = "tosa.const"() <{values = dense<-5> : tensor<1xi8>}>
  // CHECK: %[[CODES:.+]] = tosa.rescale %arg0, %{{.+}}, %[[SHIFT]], %[[IN]], %[[OUT]] {{.*}} : (tensor<4xi8>, {{.*}} -> tensor<4xi8>
  // CHECK-NEXT: return %[[CODES]]
  %0 = tosa.rescale %x, %multiplier, %up, %in, %none {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<4xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi32>) -> tensor<4xi32>
  %1 = tosa.rescale %0, %multiplier, %down, %none, %out {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<4xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<4xi8>
  return %1 : tensor<4xi8>
}

// -----

// The first one rounds (times 3/4): joining would round once where there are two roundings.

// CHECK-LABEL: func.func @rounding_stays
func.func @rounding_stays(%x: tensor<4xi8>) -> tensor<4xi8> {
  %multiplier = "tosa.const"() {values = dense<1610612736> : tensor<1xi32>} : () -> tensor<1xi32>
  %shift = "tosa.const"() {values = dense<31> : tensor<1xi8>} : () -> tensor<1xi8>
  %zero = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  // CHECK-COUNT-2: tosa.rescale
  %0 = tosa.rescale %x, %multiplier, %shift, %zero, %zero {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<4xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<4xi8>
  %1 = tosa.rescale %0, %multiplier, %shift, %zero, %zero {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<4xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<4xi8>
  return %1 : tensor<4xi8>
}

// -----

// CHECK-LABEL: func.func @identity
func.func @identity(%x: tensor<4xi8>) -> tensor<4xi8> {
  %multiplier = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
  %shift = "tosa.const"() {values = dense<30> : tensor<1xi8>} : () -> tensor<1xi8>
  %zero_point = "tosa.const"() {values = dense<7> : tensor<1xi8>} : () -> tensor<1xi8>
  // CHECK: return %arg0
  %0 = tosa.rescale %x, %multiplier, %shift, %zero_point, %zero_point {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<4xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

// A quarter of the bytes are moved when the narrowing comes first.

// CHECK-LABEL: func.func @narrow_first
func.func @narrow_first(%x: tensor<2x3xi32>) -> tensor<3x2xi8> {
  %multiplier = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
  %shift = "tosa.const"() {values = dense<40> : tensor<1xi8>} : () -> tensor<1xi8>
  %none = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %zero = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  // CHECK: %[[NARROW:.+]] = tosa.rescale %arg0, {{.*}} -> tensor<2x3xi8>
  // CHECK-NEXT: %[[MOVED:.+]] = tosa.transpose %[[NARROW]] {perms = array<i32: 1, 0>} : (tensor<2x3xi8>) -> tensor<3x2xi8>
  // CHECK-NEXT: return %[[MOVED]]
  %0 = tosa.transpose %x {perms = array<i32: 1, 0>} : (tensor<2x3xi32>) -> tensor<3x2xi32>
  %1 = tosa.rescale %0, %multiplier, %shift, %none, %zero {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<3x2xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<3x2xi8>
  return %1 : tensor<3x2xi8>
}
