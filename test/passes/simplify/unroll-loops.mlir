// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-unroll-loops{max-operators=12})' --split-input-file | filecheck %s

// Three turns, each on what the one before left; the counter's own operators stay behind, unread.

// CHECK-LABEL: func.func @three
func.func @three(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NOT: tosa.while_loop
  // CHECK: %[[A:.+]] = tosa.mul %arg0, %arg0
  // CHECK: %[[B:.+]] = tosa.mul %[[A]], %[[A]]
  // CHECK: %[[C:.+]] = tosa.mul %[[B]], %[[B]]
  // CHECK-NOT: tosa.mul
  // CHECK: return %[[C]]
  %three = "tosa.const"() <{values = dense<3> : tensor<i32>}> : () -> tensor<i32>
  %one = "tosa.const"() <{values = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0:2 = tosa.while_loop (%n = %three, %v = %x) : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>) {
    %zero = "tosa.const"() <{values = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %more = tosa.greater %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %more : tensor<i1>
  } do {
  ^bb0(%n: tensor<i32>, %v: tensor<2xf32>):
    %less = tosa.sub %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %w = tosa.mul %v, %v, %shift : (tensor<2xf32>, tensor<2xf32>, tensor<1xi8>) -> tensor<2xf32>
    tosa.yield %less, %w : tensor<i32>, tensor<2xf32>
  }
  return %0#1 : tensor<2xf32>
}

// -----

// No turn: the operands come out. The values swap places otherwise, which a copy of the wrong ones would hide.

// CHECK-LABEL: func.func @none
func.func @none(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK: return %arg0, %arg1
  %never = "tosa.const"() <{values = dense<false> : tensor<1xi1>}> : () -> tensor<1xi1>
  %0:2 = tosa.while_loop (%v = %x, %w = %y) : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    tosa.yield %never : tensor<1xi1>
  } do {
  ^bb0(%v: tensor<2xf32>, %w: tensor<2xf32>):
    tosa.yield %w, %v : tensor<2xf32>, tensor<2xf32>
  }
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xf32>
}

// -----

// A choice inside the body reads the copy's values; the loop inside the loop is unrolled first.

// CHECK-LABEL: func.func @inside
func.func @inside(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NOT: tosa.while_loop
  // CHECK: %[[A:.+]] = tosa.exp %arg1
  // CHECK: %[[B:.+]] = tosa.cond_if
  // CHECK-NEXT: yield %[[A]]
  // CHECK: yield %arg1
  // CHECK: return %[[B]]
  %yes = "tosa.const"() <{values = dense<true> : tensor<i1>}> : () -> tensor<i1>
  %no = "tosa.const"() <{values = dense<false> : tensor<i1>}> : () -> tensor<i1>
  %0:2 = tosa.while_loop (%go = %yes, %v = %x) : (tensor<i1>, tensor<2xf32>) -> (tensor<i1>, tensor<2xf32>) {
    tosa.yield %go : tensor<i1>
  } do {
  ^bb0(%go: tensor<i1>, %v: tensor<2xf32>):
    %1:2 = tosa.while_loop (%again = %yes, %w = %v) : (tensor<i1>, tensor<2xf32>) -> (tensor<i1>, tensor<2xf32>) {
      tosa.yield %again : tensor<i1>
    } do {
    ^bb0(%again: tensor<i1>, %w: tensor<2xf32>):
      %u = tosa.exp %w : (tensor<2xf32>) -> tensor<2xf32>
      tosa.yield %no, %u : tensor<i1>, tensor<2xf32>
    }
    %2 = tosa.cond_if %c : tensor<i1> -> tensor<2xf32> {
      tosa.yield %1#1 : tensor<2xf32>
    } else {
      tosa.yield %v : tensor<2xf32>
    }
    tosa.yield %no, %2 : tensor<i1>, tensor<2xf32>
  }
  return %0#1 : tensor<2xf32>
}

// -----

// Seven turns of two operators are more than twelve.

// CHECK-LABEL: func.func @too_many
func.func @too_many(%x: tensor<i32>) -> tensor<i32> {
  // CHECK: tosa.while_loop
  %seven = "tosa.const"() <{values = dense<7> : tensor<i32>}> : () -> tensor<i32>
  %zero = "tosa.const"() <{values = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "tosa.const"() <{values = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %0:2 = tosa.while_loop (%n = %seven, %v = %x) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>) {
    %more = tosa.greater %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %more : tensor<i1>
  } do {
  ^bb0(%n: tensor<i32>, %v: tensor<i32>):
    %less = tosa.sub %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tosa.yield %less, %v : tensor<i32>, tensor<i32>
  }
  return %0#1 : tensor<i32>
}

// -----

// An input decides; floating point decides.

// CHECK-LABEL: func.func @unknown
func.func @unknown(%go: tensor<i1>) -> (tensor<i1>, tensor<f32>) {
  // CHECK: tosa.while_loop
  // CHECK: tosa.while_loop
  %no = "tosa.const"() <{values = dense<false> : tensor<i1>}> : () -> tensor<i1>
  %half = "tosa.const"() <{values = dense<0.5> : tensor<f32>}> : () -> tensor<f32>
  %0 = tosa.while_loop (%g = %go) : (tensor<i1>) -> tensor<i1> {
    tosa.yield %g : tensor<i1>
  } do {
  ^bb0(%g: tensor<i1>):
    tosa.yield %no : tensor<i1>
  }
  %1 = tosa.while_loop (%f = %half) : (tensor<f32>) -> tensor<f32> {
    %more = tosa.greater %f, %half : (tensor<f32>, tensor<f32>) -> tensor<i1>
    tosa.yield %more : tensor<i1>
  } do {
  ^bb0(%f: tensor<f32>):
    tosa.yield %f : tensor<f32>
  }
  return %0, %1 : tensor<i1>, tensor<f32>
}
