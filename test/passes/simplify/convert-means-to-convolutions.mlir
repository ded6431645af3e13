// RUN: vgf-opt %s -p vgf-convert-means-to-convolutions --split-input-file | filecheck %s

// CHECK-LABEL: func.func @mean
func.func @mean(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x3x1xf32> {
  // CHECK: %[[W:.+]] = "tosa.const"() <{values = dense<2.500000e-01> : tensor<1x1x1x4xf32>}>
  // CHECK: tosa.conv2d %arg0, %[[W]]
  // CHECK-NEXT: return
  %c = "tosa.const"() <{values = dense<0.25> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.reduce_sum %x {axis = 3 : i32} : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x1xf32>
  %1 = tosa.mul %0, %c, %s : (tensor<1x2x3x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x3x1xf32>
  return %1 : tensor<1x2x3x1xf32>
}

// -----

// A sum and an epsilon: weights of one, and the epsilon is the bias. Rank 3 goes through rank 4.

// CHECK-LABEL: func.func @epsilon
func.func @epsilon(%x: tensor<1x3x4xf32>) -> tensor<1x3x1xf32> {
  // CHECK-DAG: %[[X:.+]] = tosa.reshape %arg0, %{{.+}} -> tensor<1x3x1x4xf32>
  // CHECK-DAG: %[[B:.+]] = "tosa.const"() <{values = dense<1.250000e-01> : tensor<1xf32>}>
  // CHECK-DAG: %[[W:.+]] = "tosa.const"() <{values = dense<1.000000e+00> : tensor<1x1x1x4xf32>}>
  // CHECK: tosa.conv2d %[[X]], %[[W]], %[[B]]
  %e = "tosa.const"() <{values = dense<0.125> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %0 = tosa.reduce_sum %x {axis = 2 : i32} : (tensor<1x3x4xf32>) -> tensor<1x3x1xf32>
  %1 = tosa.add %0, %e : (tensor<1x3x1xf32>, tensor<1x1x1xf32>) -> tensor<1x3x1xf32>
  return %1 : tensor<1x3x1xf32>
}

// -----

// Another axis is made the last one first.

// CHECK-LABEL: func.func @middle_axis
func.func @middle_axis(%x: tensor<1x2x3x4xf32>) -> tensor<1x1x3x4xf32> {
  // CHECK: %[[T:.+]] = tosa.transpose %arg0 {perms = array<i32: 0, 2, 3, 1>}
  // CHECK: %[[C:.+]] = tosa.conv2d %[[T]], {{.*}} -> tensor<1x3x4x1xf32>
  // CHECK: tosa.reshape %[[C]], {{.*}} -> tensor<1x1x3x4xf32>
  %c = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<1x2x3x4xf32>) -> tensor<1x1x3x4xf32>
  %1 = tosa.mul %0, %c, %s : (tensor<1x1x3x4xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x3x4xf32>
  return %1 : tensor<1x1x3x4xf32>
}

// -----

// The sum is read twice; the factors differ.

// CHECK-LABEL: func.func @left_alone
func.func @left_alone(%x: tensor<1x3x4xf32>) -> (tensor<1x3x1xf32>, tensor<1x3x1xf32>, tensor<1x1x4xf32>) {
  // CHECK-NOT: tosa.conv2d
  %c = "tosa.const"() <{values = dense<0.25> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %d = "tosa.const"() <{values = dense<[[[1.0, 2.0, 3.0, 4.0]]]> : tensor<1x1x4xf32>}> : () -> tensor<1x1x4xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.reduce_sum %x {axis = 2 : i32} : (tensor<1x3x4xf32>) -> tensor<1x3x1xf32>
  %1 = tosa.mul %0, %c, %s : (tensor<1x3x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x3x1xf32>
  %2 = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<1x3x4xf32>) -> tensor<1x1x4xf32>
  %3 = tosa.mul %2, %d, %s : (tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1xi8>) -> tensor<1x1x4xf32>
  return %0, %1, %3 : tensor<1x3x1xf32>, tensor<1x3x1xf32>, tensor<1x1x4xf32>
}
