// RUN: vgf-opt %s -p vgf-share-constants --split-input-file | filecheck %s

// CHECK-LABEL: func.func @equal
func.func @equal(%x: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK-NEXT: %[[C:.+]] = "tosa.const"() <{values = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>
  // CHECK-NEXT: %[[SUM:.+]] = tosa.add %arg0, %[[C]]
  // CHECK-NEXT: tosa.maximum %[[SUM]], %[[C]]
  %a = "tosa.const"() <{values = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>}> : () -> tensor<3xf32>
  %0 = tosa.add %x, %a : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %b = "tosa.const"() <{values = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>}> : () -> tensor<3xf32>
  %1 = tosa.maximum %0, %b : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// -----

// Other shape, other type, other zero: these are not equal.

// CHECK-LABEL: func.func @different
func.func @different(%x: tensor<1xf32>, %y: tensor<1x1xf32>) -> (tensor<1xf32>, tensor<1x1xf32>, tensor<1xf32>) {
  // CHECK-COUNT-3: "tosa.const"
  %a = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %b = "tosa.const"() <{values = dense<0.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %c = "tosa.const"() <{values = dense<-0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.add %x, %a : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %1 = tosa.add %y, %b : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %2 = tosa.add %x, %c : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  return %0, %1, %2 : tensor<1xf32>, tensor<1x1xf32>, tensor<1xf32>
}

// -----

// Shapes are constants as well.

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<6xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK-NEXT: %[[SHAPE:.+]] = tosa.const_shape
  // CHECK-NEXT: tosa.reshape %arg0, %[[SHAPE]]
  // CHECK-NEXT: tosa.exp
  // CHECK-NEXT: tosa.reshape %{{.+}}, %[[SHAPE]]
  %s = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.reshape %x, %s : (tensor<6xf32>, !tosa.shape<2>) -> tensor<2x3xf32>
  %1 = tosa.exp %x : (tensor<6xf32>) -> tensor<6xf32>
  %t = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %2 = tosa.reshape %1, %t : (tensor<6xf32>, !tosa.shape<2>) -> tensor<2x3xf32>
  return %0, %2 : tensor<2x3xf32>, tensor<2x3xf32>
}
