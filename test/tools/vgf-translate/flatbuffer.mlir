// TOSA FlatBuffers keep names, operators and locations.

// RUN: vgf-translate --mlir-to-tosa %s -o %t.tosa
// RUN: vgf-translate --tosa-to-mlir %t.tosa | filecheck %s
// RUN: vgf-translate --tosa-to-mlir %t.tosa --mlir-print-debuginfo | filecheck %s --check-prefix=LOCATION
// RUN: vgf-translate --tosa-to-mlir %t.tosa | vgf-translate --mlir-to-tosa | vgf-translate --tosa-to-mlir | filecheck %s
// RUN: vgf-compile %t.tosa -o %t.vgf --quiet
// RUN: vgf-translate --vgf-to-text %t.vgf | filecheck %s --check-prefix=COMPILED

// CHECK: func.func @main(%arg0: tensor<2x3xf32> {vgf.name = "x"}) -> (tensor<3x2xf32> {vgf.name = "y"})
// CHECK-NEXT: %[[E:.+]] = tosa.exp %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[T:.+]] = tosa.transpose %[[E]] {perms = array<i32: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: return %[[T]]

// LOCATION: tosa.exp %arg0 {{.*}} loc(#[[PLACE:.+]])
// LOCATION: #[[PLACE]] = loc("{{.*}}flatbuffer.mlir":24:{{.*}})

// COMPILED: "x" @0
// COMPILED: TRANSPOSE

func.func @main(%x: tensor<2x3xf32> {vgf.name = "x"}) -> (tensor<3x2xf32> {vgf.name = "y"}) {
  // The line below is the one that the location names.

  %0 = tosa.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = tosa.transpose %0 {perms = array<i32: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}
