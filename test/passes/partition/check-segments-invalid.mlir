// RUN: vgf-opt %s -p vgf-check-segments --split-input-file --verify-diagnostics

func.func @outside(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'tosa.abs' is in no segment, expected the entry to call segments alone}}
  %0 = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @no_kind(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'func.call' calls @helper, whose vgf.segment is absent, expected graph, compute, host}}
  %0 = call @helper(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @helper(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @segment_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{'func.call' calls @segment_0 a second time, expected each segment to be dispatched once}}
  %1 = call @segment_0(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @segment_0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {vgf.segment = "graph"} {
  %0 = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @illegal(%x: tensor<4xi64>) -> tensor<4xi64> {
  %0 = call @segment_0(%x) : (tensor<4xi64>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}
func.func private @segment_0(%x: tensor<4xi64>) -> tensor<4xi64> attributes {vgf.segment = "graph"} {
  // expected-error@+1 {{'tosa.abs' is in a graph segment: TOSA has no abs of i64}}
  %0 = tosa.abs %x : (tensor<4xi64>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

func.func @not_a_shader(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @segment_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// expected-error@+1 {{'func.func' is a compute segment, expected one shader in it, found tosa.abs}}
func.func private @segment_0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {vgf.segment = "compute"} {
  %0 = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @marks(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @segment_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @segment_0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {vgf.segment = "graph"} {
  // expected-error@+1 {{'tosa.abs' still has vgf.segment_index, expected it on no operation of a segment}}
  %0 = tosa.abs %x {vgf.segment_index = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Quantisation that was not folded: a cut could come between it and the operator whose type it gives.

func.func @unfolded(%x: tensor<4xf32>) -> tensor<4xi8> {
  %0 = call @segment_0(%x) : (tensor<4xf32>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}
func.func private @segment_0(%x: tensor<4xf32>) -> tensor<4xi8> attributes {vgf.segment = "host"} {
  // expected-error@+1 {{'vgf.quantize' is left over, expected quantisation to be folded before the model is cut}}
  %0 = "vgf.quantize"(%x) {scales = dense<0.1> : tensor<1xf64>, zero_points = dense<0> : tensor<1xi64>, axis = -1 : i64, quant_min = -128 : i64, quant_max = 127 : i64} : (tensor<4xf32>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}
