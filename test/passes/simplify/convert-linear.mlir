// RUN: vgf-opt %s -p vgf-convert-linear --split-input-file | filecheck %s

// The addition behind the second reshape becomes the bias; the weights are turned to [N, 1, 1, K].

// CHECK-LABEL: func.func @with_bias
func.func @with_bias(%x: tensor<1x2x3xf32>) -> tensor<2x4xf32> {
  %w = "tosa.const"() <{values = dense<[[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]]> : tensor<1x3x4xf32>}> : () -> tensor<1x3x4xf32>
  %b = "tosa.const"() <{values = dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf32>}> : () -> tensor<1x4xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %rows = tosa.const_shape {values = dense<[2, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // CHECK-DAG: %[[BIAS:.+]] = "tosa.const"() <{values = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>}>
  // CHECK-DAG: %[[X:.+]] = tosa.reshape %arg0, %{{.+}} : (tensor<1x2x3xf32>, !tosa.shape<4>) -> tensor<1x2x1x3xf32>
  // CHECK-DAG: %[[W:.+]] = "tosa.const"() <{values = dense<{{.+}}1.000000e+00, 5.000000e+00, 9.000000e+00]]], {{.+}}2.000000e+00, 6.000000e+00, 1.000000e+01]]], {{.+}}> : tensor<4x1x1x3xf32>}>
  // CHECK: %[[Y:.+]] = tosa.conv2d %[[X]], %[[W]], %[[BIAS]]
  // CHECK: %[[R:.+]] = tosa.reshape %[[Y]]
  // CHECK: return %[[R]] : tensor<2x4xf32>
  %0 = tosa.matmul %x, %w, %zero, %zero : (tensor<1x2x3xf32>, tensor<1x3x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x4xf32>
  %1 = tosa.reshape %0, %rows : (tensor<1x2x4xf32>, !tosa.shape<2>) -> tensor<2x4xf32>
  %2 = tosa.add %1, %b : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// -----

// An addition that gives each row its own number is no bias.

// CHECK-LABEL: func.func @rows
func.func @rows(%x: tensor<1x2x3xf32>) -> tensor<1x2x2xf32> {
  %w = "tosa.const"() <{values = dense<0.5> : tensor<1x3x2xf32>}> : () -> tensor<1x3x2xf32>
  %b = "tosa.const"() <{values = dense<[[[1.0], [2.0]]]> : tensor<1x2x1xf32>}> : () -> tensor<1x2x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // CHECK: tosa.conv2d
  // CHECK: tosa.add
  %0 = tosa.matmul %x, %w, %zero, %zero : (tensor<1x2x3xf32>, tensor<1x3x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2xf32>
  %1 = tosa.add %0, %b : (tensor<1x2x2xf32>, tensor<1x2x1xf32>) -> tensor<1x2x2xf32>
  return %1 : tensor<1x2x2xf32>
}

// -----

// Weights that arrive at run time, and two batches of them.

// CHECK-LABEL: func.func @left_alone
func.func @left_alone(%x: tensor<1x2x3xf32>, %y: tensor<1x3x4xf32>, %z: tensor<2x2x3xf32>) -> (tensor<1x2x4xf32>, tensor<2x2x2xf32>) {
  %w = "tosa.const"() <{values = dense<0.5> : tensor<2x3x2xf32>}> : () -> tensor<2x3x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // CHECK-COUNT-2: tosa.matmul
  %0 = tosa.matmul %x, %y, %zero, %zero : (tensor<1x2x3xf32>, tensor<1x3x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x4xf32>
  %1 = tosa.matmul %z, %w, %zero, %zero : (tensor<2x2x3xf32>, tensor<2x3x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x2x2xf32>
  return %0, %1 : tensor<1x2x4xf32>, tensor<2x2x2xf32>
}
