// An operator outside TOSA keeps its names and its bytes.

// RUN: vgf-translate --mlir-to-tosa %s | vgf-translate --tosa-to-mlir | filecheck %s

// CHECK: tosa.custom %arg0 {domain_name = "example.domain", implementation_attrs = "a\00b\FF", operator_name = "twice"} : (tensor<4xf32>) -> tensor<4xf32>

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tosa.custom %x {domain_name = "example.domain", operator_name = "twice", implementation_attrs = "a\00b\FF"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
