// What is written, read back and written again is the same bytes; the text says what the file holds.

// RUN: vgf-translate --mlir-to-vgf %s -o %t.vgf
// RUN: vgf-translate --vgf-to-mlir %t.vgf | filecheck %s
// RUN: vgf-translate --vgf-to-mlir %t.vgf | vgf-translate --mlir-to-vgf | cmp - %t.vgf
// RUN: vgf-translate --vgf-to-mlir %t.vgf --emit-bytecode | vgf-translate --mlir-to-vgf | cmp - %t.vgf
// RUN: vgf-translate --vgf-to-text %t.vgf | filecheck %s --check-prefix=TEXT

// CHECK: func.func @main(%arg0: tensor<1x2x3xf32> {vgf.name = "image"}, %arg1: tensor<1x3x8xf32> {vgf.name = "matrix"})
// CHECK-SAME: -> (tensor<1x2x8xf32> {vgf.name = "scores"})
// The alias group of the value between the segments comes back on the call that makes it.
// CHECK: %[[FIRST:.+]] = call @scale(%arg0) {vgf.alias_groups = array<i64: 4>}
// CHECK: %[[SECOND:.+]] = call @multiply(%[[FIRST]], %arg1) : (tensor<1x2x3xf32>, tensor<1x3x8xf32>) -> tensor<1x2x8xf32>
// CHECK: return %[[SECOND]] : tensor<1x2x8xf32>
// CHECK: func.func private @scale
// CHECK-SAME: attributes {vgf.segment = "graph"}
// CHECK: tosa.mul
// CHECK: func.func private @multiply
// CHECK: "tosa.const"() <{values = dense<[
// CHECK-SAME: {grapharm.graph_constant_id = 0 : i32}
// CHECK: tosa.add
// CHECK: tosa.matmul
// CHECK: tosa.clamp
// CHECK-SAME: {max_val = 6.000000e+00 : f32, min_val = 0.000000e+00 : f32}

// TEXT: VGF 0.
// TEXT: inputs
// TEXT-NEXT: "image" @0 at binding 0
// TEXT-NEXT: "matrix" @1 at binding 1
// TEXT-NEXT: outputs
// TEXT-NEXT: "scores" @2 at binding 2
// TEXT-NEXT: resources
// TEXT-NEXT: @0 = input 1x2x3xR32_SFLOAT
// TEXT-NEXT: @1 = input 1x3x8xR32_SFLOAT
// TEXT-NEXT: @2 = output 1x2x8xR32_SFLOAT
// TEXT-NEXT: @3 = intermediate 1x2x3xR32_SFLOAT, alias group 4
// TEXT-NEXT: @4 = constant 1x3x8xR32_SFLOAT
// TEXT-NEXT: constants
// TEXT-NEXT: constant 0 = @4, 96 bytes: [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, ...] crc32
// TEXT: segment 0 graph "scale"
// TEXT: set 0 binding 0 = @0 (in)
// TEXT: set 0 binding 1 = @3 (out)
// TEXT: graph @scale(%[[X:.+]]: tensor<1x2x3xf32>)
// TEXT: %[[Y:.+]] = MUL(%[[X]], %[[X]], %{{.+}}) : tensor<1x2x3xf32>
// TEXT: return %[[Y]]
// TEXT: segment 1 graph "multiply"
// TEXT: graph constant 0 = constant 0
// TEXT: %[[W:.+]] = graph constant 0 : tensor<1x3x8xf32>
// TEXT: MATMUL(
// TEXT: CLAMP(%{{.+}}) {min_val = 0.0, max_val = 6.0, nan_mode = PROPAGATE} : tensor<1x2x8xf32>

func.func @main(%x: tensor<1x2x3xf32> {vgf.name = "image"}, %m: tensor<1x3x8xf32> {vgf.name = "matrix"})
    -> (tensor<1x2x8xf32> {vgf.name = "scores"}) {
  %0 = call @scale(%x) {vgf.alias_groups = array<i64: 4>} : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %1 = call @multiply(%0, %m) : (tensor<1x2x3xf32>, tensor<1x3x8xf32>) -> tensor<1x2x8xf32>
  return %1 : tensor<1x2x8xf32>
}

func.func private @scale(%x: tensor<1x2x3xf32>) -> tensor<1x2x3xf32> attributes {vgf.segment = "graph"} {
  %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %0 = tosa.mul %x, %x, %shift : (tensor<1x2x3xf32>, tensor<1x2x3xf32>, tensor<1xi8>) -> tensor<1x2x3xf32>
  return %0 : tensor<1x2x3xf32>
}

func.func private @multiply(%x: tensor<1x2x3xf32>, %m: tensor<1x3x8xf32>) -> tensor<1x2x8xf32>
    attributes {vgf.segment = "graph"} {
  %w = "tosa.const"() {values = dense<[[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0],
    [16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]]> : tensor<1x3x8xf32>} : () -> tensor<1x3x8xf32>
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = tosa.add %m, %w : (tensor<1x3x8xf32>, tensor<1x3x8xf32>) -> tensor<1x3x8xf32>
  %1 = tosa.matmul %x, %0, %z, %z : (tensor<1x2x3xf32>, tensor<1x3x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x8xf32>
  %2 = tosa.clamp %1 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  return %2 : tensor<1x2x8xf32>
}
