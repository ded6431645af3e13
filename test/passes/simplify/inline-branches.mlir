// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-inline-branches)' --split-input-file | filecheck %s

// The condition gets the rank of what it selects between; a result that both sides share needs no selection.

// CHECK-LABEL: func.func @both
func.func @both(%c: tensor<i1>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK-NEXT: %[[SUM:.+]] = tosa.add %arg1, %arg2
  // CHECK: %[[C:.+]] = tosa.reshape %arg0, {{.*}} -> tensor<1x1xi1>
  // CHECK-NEXT: %[[R:.+]] = tosa.select %[[C]], %[[SUM]], %arg2
  // CHECK-NEXT: return %[[R]], %arg1
  %0:2 = tosa.cond_if %c : tensor<i1> -> (tensor<2x3xf32>, tensor<2x3xf32>) {
    %1 = tosa.add %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    tosa.yield %1, %x : tensor<2x3xf32>, tensor<2x3xf32>
  } else {
    tosa.yield %y, %x : tensor<2x3xf32>, tensor<2x3xf32>
  }
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// Sides with arguments of their own; a condition of another rank than the values.

// CHECK-LABEL: func.func @arguments
func.func @arguments(%c: tensor<1x1xi1>, %x: tensor<i32>, %y: tensor<i32>) -> tensor<i32> {
  // CHECK-NEXT: %[[THEN:.+]] = tosa.sub %arg1, %arg2
  // CHECK-NEXT: %[[ELSE:.+]] = tosa.sub %arg2, %arg1
  // CHECK: %[[C:.+]] = tosa.reshape %arg0, {{.*}} -> tensor<i1>
  // CHECK-NEXT: %[[R:.+]] = tosa.select %[[C]], %[[THEN]], %[[ELSE]]
  // CHECK-NEXT: return %[[R]]
  %0 = "tosa.cond_if"(%c, %x, %y) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = tosa.sub %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tosa.yield %1 : tensor<i32>
  }, {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = tosa.sub %b, %a : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tosa.yield %1 : tensor<i32>
  }) : (tensor<1x1xi1>, tensor<i32>, tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// -----

// The inner choice becomes a value of the outer one's side.

// CHECK-LABEL: func.func @nested
func.func @nested(%c: tensor<1xi1>, %d: tensor<1xi1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: %[[ABS:.+]] = tosa.abs %arg2
  // CHECK-NEXT: %[[EXP:.+]] = tosa.exp %arg2
  // CHECK-NEXT: %[[INNER:.+]] = tosa.select %arg1, %[[ABS]], %[[EXP]]
  // CHECK-NEXT: %[[OUTER:.+]] = tosa.select %arg0, %[[INNER]], %arg2
  // CHECK-NEXT: return %[[OUTER]]
  %0 = tosa.cond_if %c : tensor<1xi1> -> tensor<2xf32> {
    %1 = tosa.cond_if %d : tensor<1xi1> -> tensor<2xf32> {
      %2 = tosa.abs %x : (tensor<2xf32>) -> tensor<2xf32>
      tosa.yield %2 : tensor<2xf32>
    } else {
      %2 = tosa.exp %x : (tensor<2xf32>) -> tensor<2xf32>
      tosa.yield %2 : tensor<2xf32>
    }
    tosa.yield %1 : tensor<2xf32>
  } else {
    tosa.yield %x : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}

// -----

// Of a constant condition one side stays, even one that may not be computed in vain.

// CHECK-LABEL: func.func @constant
func.func @constant(%x: tensor<2xi32>, %y: tensor<2xi32>) -> tensor<2xi32> {
  // CHECK-NOT: tosa.cond_if
  // CHECK: %[[Q:.+]] = tosa.intdiv %arg0, %arg1
  // CHECK-NOT: tosa.abs
  // CHECK: return %[[Q]]
  %c = "tosa.const"() <{values = dense<true> : tensor<i1>}> : () -> tensor<i1>
  %0 = tosa.cond_if %c : tensor<i1> -> tensor<2xi32> {
    %1 = tosa.intdiv %x, %y : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    tosa.yield %1 : tensor<2xi32>
  } else {
    %1 = tosa.abs %x : (tensor<2xi32>) -> tensor<2xi32>
    tosa.yield %1 : tensor<2xi32>
  }
  return %0 : tensor<2xi32>
}

// -----

// The condition may be what keeps the divisor from being 0.

// CHECK-LABEL: func.func @guarded
func.func @guarded(%c: tensor<i1>, %x: tensor<2xi32>, %y: tensor<2xi32>) -> tensor<2xi32> {
  // CHECK-NEXT: tosa.cond_if %arg0
  // CHECK-NEXT: tosa.intdiv
  %0 = tosa.cond_if %c : tensor<i1> -> tensor<2xi32> {
    %1 = tosa.intdiv %x, %y : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    tosa.yield %1 : tensor<2xi32>
  } else {
    tosa.yield %x : tensor<2xi32>
  }
  return %0 : tensor<2xi32>
}

// -----

// A loop in the side that is not taken might not end; TOSA selects no i48.

// CHECK-LABEL: func.func @left_alone
func.func @left_alone(%c: tensor<i1>, %x: tensor<i32>, %w: tensor<2xi48>, %v: tensor<2xi48>) -> (tensor<i32>, tensor<2xi48>) {
  // CHECK-NEXT: tosa.cond_if %arg0
  // CHECK: tosa.while_loop
  // CHECK: tosa.cond_if %arg0
  // CHECK-NOT: tosa.select
  %0 = tosa.cond_if %c : tensor<i1> -> tensor<i32> {
    %1 = tosa.while_loop (%n = %x) : (tensor<i32>) -> tensor<i32> {
      %2 = tosa.greater %n, %x : (tensor<i32>, tensor<i32>) -> tensor<i1>
      tosa.yield %2 : tensor<i1>
    } do {
    ^bb0(%n: tensor<i32>):
      tosa.yield %n : tensor<i32>
    }
    tosa.yield %1 : tensor<i32>
  } else {
    tosa.yield %x : tensor<i32>
  }
  %3 = tosa.cond_if %c : tensor<i1> -> tensor<2xi48> {
    tosa.yield %w : tensor<2xi48>
  } else {
    tosa.yield %v : tensor<2xi48>
  }
  return %0, %3 : tensor<i32>, tensor<2xi48>
}
