// RUN: vgf-opt %S/../blend.mlir -p vgf-outline-segments | filecheck %s

// CHECK-LABEL: func.func @blend
// CHECK-NEXT: call @segment_0
// CHECK: func.func private @segment_0
// CHECK: tosa.add
// CHECK: tosa.mul
