// RUN: vgf-opt %s -p vgf-form-segments --split-input-file --verify-diagnostics

func.func @unmarked(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'tosa.abs' expected a vgf.segment attribute, as vgf-mark-segments writes it}}
  %0 = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

module attributes {vgf.target = {tosa = "TOSA-1.0+FP", constant_bytes = 19 : i64}} {
  func.func @over_budget(%x: tensor<5xf32>) -> tensor<5xf32> {
    %a = "tosa.const"() {values = dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>} : () -> tensor<5xf32>
    // expected-error@+1 {{'tosa.add' is over the target's budget by itself: 19 bytes of constants}}
    %0 = tosa.add %x, %a {vgf.segment = "graph"} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
    return %0 : tensor<5xf32>
  }
}
