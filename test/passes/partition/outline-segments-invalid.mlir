// RUN: vgf-opt %s -p vgf-outline-segments --split-input-file --verify-diagnostics

func.func @unmarked(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'tosa.abs' expected vgf.segment and vgf.segment_index, as vgf-mark-segments and vgf-form-segments write them}}
  %0 = tosa.abs %x {vgf.segment = "graph"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @mixed(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tosa.abs %x {vgf.segment = "graph", vgf.segment_index = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{'tosa.ceil' is of kind host in segment 0, whose other operations are of kind graph}}
  %1 = tosa.ceil %0 {vgf.segment = "host", vgf.segment_index = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @backwards(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tosa.abs %x {vgf.segment = "graph", vgf.segment_index = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{'tosa.ceil' is in segment 0 and reads 'tosa.abs' of the later segment 1}}
  %1 = tosa.ceil %0 {vgf.segment = "graph", vgf.segment_index = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// expected-error@below {{expected one public function with a body, the model's entry}}
module {
  func.func private @only(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
