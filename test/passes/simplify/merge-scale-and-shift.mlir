// RUN: vgf-opt %s -p vgf-merge-scale-and-shift --split-input-file | filecheck %s

// CHECK-LABEL: func.func @merged
func.func @merged(%x: tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32> {
  // CHECK-DAG: %[[W:.+]] = "tosa.const"() <{values = dense<{{.*}}2.000000e+00{{.*}}3.000000e+00{{.*}}> : tensor<1x1x2x1xf32>}>
  // CHECK-DAG: %[[B:.+]] = "tosa.const"() <{values = dense<5.000000e-01> : tensor<2xf32>}>
  // CHECK: tosa.depthwise_conv2d %arg0, %[[W]], %[[B]]
  // CHECK-NEXT: return
  %scale = "tosa.const"() <{values = dense<[[[[2.0, 3.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %shift = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %scale, %x, %s : (tensor<1x1x1x2xf32>, tensor<1x2x3x2xf32>, tensor<1xi8>) -> tensor<1x2x3x2xf32>
  %1 = tosa.add %0, %shift : (tensor<1x2x3x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x2x3x2xf32>
  return %1 : tensor<1x2x3x2xf32>
}

// -----

// The product is read twice; the constants vary by row; rank 3 has no convolution.

// CHECK-LABEL: func.func @left_alone
func.func @left_alone(%x: tensor<1x2x3x2xf32>, %y: tensor<1x3x2xf32>) -> (tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>, tensor<1x3x2xf32>) {
  // CHECK-NOT: depthwise
  %c = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %rows = "tosa.const"() <{values = dense<[[[[2.0]], [[3.0]]]]> : tensor<1x2x1x1xf32>}> : () -> tensor<1x2x1x1xf32>
  %d = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %x, %c, %s : (tensor<1x2x3x2xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x3x2xf32>
  %1 = tosa.add %0, %c : (tensor<1x2x3x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x2x3x2xf32>
  %2 = tosa.mul %x, %rows, %s : (tensor<1x2x3x2xf32>, tensor<1x2x1x1xf32>, tensor<1xi8>) -> tensor<1x2x3x2xf32>
  %3 = tosa.add %2, %c : (tensor<1x2x3x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x2x3x2xf32>
  %4 = tosa.mul %y, %d, %s : (tensor<1x3x2xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x3x2xf32>
  %5 = tosa.add %4, %d : (tensor<1x3x2xf32>, tensor<1x1x1xf32>) -> tensor<1x3x2xf32>
  return %0, %1, %3, %5 : tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>, tensor<1x3x2xf32>
}
