// RUN: vgf-opt %s -p vgf-fold-constants --split-input-file | filecheck %s

// A chain is one constant; what only fed it is gone.

// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK-NEXT: "tosa.const"() <{values = dense<[5.000000e-01, 2.500000e-01, 1.000000e+00]> : tensor<3xf32>}>
  // CHECK-NEXT: tosa.maximum
  // CHECK-NEXT: return
  %0 = "tosa.const"() <{values = dense<[3.0, 15.0, 0.0]> : tensor<3xf32>}> : () -> tensor<3xf32>
  %1 = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %2 = tosa.add %0, %1 : (tensor<3xf32>, tensor<1xf32>) -> tensor<3xf32>
  %3 = tosa.rsqrt %2 : (tensor<3xf32>) -> tensor<3xf32>
  %4 = tosa.maximum %x, %3 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %4 : tensor<3xf32>
}

// -----

// Integers: a product of i8 is an i32, rounded when shifted; the average of the two halves goes up.

// CHECK-LABEL: func.func @integers
func.func @integers(%x: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
  // CHECK-DAG: dense<[-3, 4]> : tensor<2xi32>
  // CHECK-DAG: dense<[-16129, 16384]> : tensor<2xi32>
  %0 = "tosa.const"() <{values = dense<[-7, 7]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %1 = "tosa.const"() <{values = dense<[1, 1]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %2 = "tosa.const"() <{values = dense<1> : tensor<1xi8>}> : () -> tensor<1xi8>
  %3 = tosa.mul %0, %1, %2 : (tensor<2xi32>, tensor<2xi32>, tensor<1xi8>) -> tensor<2xi32>
  %4 = "tosa.const"() <{values = dense<[-127, -128]> : tensor<2xi8>}> : () -> tensor<2xi8>
  %5 = "tosa.const"() <{values = dense<[127, -128]> : tensor<2xi8>}> : () -> tensor<2xi8>
  %6 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %7 = tosa.mul %4, %5, %6 : (tensor<2xi8>, tensor<2xi8>, tensor<1xi8>) -> tensor<2xi32>
  %8 = tosa.add %x, %3 : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %9 = tosa.add %x, %7 : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return %8, %9 : tensor<2xi32>, tensor<2xi32>
}

// -----

// A true is 1.0, also when it is a splat.

// CHECK-LABEL: func.func @truth
func.func @truth(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: dense<1.000000e+00> : tensor<4xf32>
  %0 = "tosa.const"() <{values = dense<true> : tensor<4xi1>}> : () -> tensor<4xi1>
  %1 = tosa.cast %0 : (tensor<4xi1>) -> tensor<4xf32>
  %2 = tosa.add %x, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Infinities, NaN and -0.0 go through a transpose as they are.

// CHECK-LABEL: func.func @special
func.func @special(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK-NEXT{LITERAL}: dense<[[0xFF800000, -0.000000e+00], [0x7FC00000, 1.000000e+00]]>
  %0 = "tosa.const"() <{values = dense<[[0xFF800000, 0x7FC00000], [-0.0, 1.0]]> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
  %1 = tosa.transpose %0 {perms = array<i32: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = tosa.add %x, %1 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}

// -----

// An overflow has no result in TOSA: the addition stays for whoever runs it to refuse.

// CHECK-LABEL: func.func @overflow
func.func @overflow() -> tensor<1xi32> {
  // CHECK: tosa.add
  %0 = "tosa.const"() <{values = dense<2147483647> : tensor<1xi32>}> : () -> tensor<1xi32>
  %1 = tosa.add %0, %0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
  return %1 : tensor<1xi32>
}

// -----

// Many narrow integers stay narrow in the file, a few do not.

// CHECK-LABEL: func.func @widened
func.func @widened(%x: tensor<4096xi32>, %y: tensor<4xi32>) -> (tensor<4096xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[MANY:.+]] = "tosa.const"() <{values = dense<3> : tensor<4096xi16>}>
  // CHECK-NEXT: %[[WIDE:.+]] = tosa.cast %[[MANY]]
  // CHECK-NEXT: tosa.add %arg0, %[[WIDE]]
  // CHECK: %[[FEW:.+]] = "tosa.const"() <{values = dense<3> : tensor<4xi32>}>
  // CHECK: tosa.add %arg1, %[[FEW]]
  %0 = "tosa.const"() <{values = dense<3> : tensor<4096xi16>}> : () -> tensor<4096xi16>
  %1 = tosa.cast %0 : (tensor<4096xi16>) -> tensor<4096xi32>
  %2 = tosa.add %x, %1 : (tensor<4096xi32>, tensor<4096xi32>) -> tensor<4096xi32>
  %3 = "tosa.const"() <{values = dense<3> : tensor<4xi16>}> : () -> tensor<4xi16>
  %4 = tosa.cast %3 : (tensor<4xi16>) -> tensor<4xi32>
  %5 = tosa.add %y, %4 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %2, %5 : tensor<4096xi32>, tensor<4xi32>
}
