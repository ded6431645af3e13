// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-scalar-conditions)' --split-input-file | filecheck %s
// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-scalar-conditions,func.func(tosa-to-scf))' --split-input-file | filecheck %s --check-prefix=SCF

// A choice inside a loop: both conditions, at any depth. What upstream makes of them is valid.

// CHECK-LABEL: func.func @nested
// SCF-LABEL: func.func @nested
func.func @nested(%c: tensor<1x1xi1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: tosa.while_loop
  // CHECK: %[[MORE:.+]] = tosa.reshape {{.*}} : (tensor<1xi1>, !tosa.shape<0>) -> tensor<i1>
  // CHECK-NEXT: yield %[[MORE]] : tensor<i1>
  // CHECK: %[[C:.+]] = tosa.reshape %arg0, {{.*}} -> tensor<i1>
  // CHECK-NEXT: tosa.cond_if %[[C]] : tensor<i1>
  // SCF: scf.while
  // SCF: tensor.extract %{{.+}}[] : tensor<i1>
  // SCF: tensor.extract %{{.+}}[] : tensor<i1>
  // SCF-NEXT: scf.if
  %one = "tosa.const"() <{values = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
  %0:2 = tosa.while_loop (%n = %one, %v = %x) : (tensor<1xi32>, tensor<2xf32>) -> (tensor<1xi32>, tensor<2xf32>) {
    %more = tosa.equal %n, %one : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1>
    tosa.yield %more : tensor<1xi1>
  } do {
  ^bb0(%n: tensor<1xi32>, %v: tensor<2xf32>):
    %less = tosa.sub %n, %one : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
    %1 = tosa.cond_if %c : tensor<1x1xi1> -> tensor<2xf32> {
      tosa.yield %v : tensor<2xf32>
    } else {
      tosa.yield %x : tensor<2xf32>
    }
    tosa.yield %less, %1 : tensor<1xi32>, tensor<2xf32>
  }
  return %0#1 : tensor<2xf32>
}

// -----

// A scalar already.

// CHECK-LABEL: func.func @scalar
// SCF-LABEL: func.func @scalar
func.func @scalar(%c: tensor<i1>, %x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: tosa.cond_if %arg0
  %0 = tosa.cond_if %c : tensor<i1> -> tensor<2xf32> {
    tosa.yield %x : tensor<2xf32>
  } else {
    tosa.yield %y : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}
