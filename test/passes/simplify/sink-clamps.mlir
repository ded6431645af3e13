// RUN: vgf-opt %s -p vgf-sink-clamps --split-input-file | filecheck %s

// CHECK-LABEL: func.func @sunk
func.func @sunk(%x: tensor<1x4x4x2xf32>) -> tensor<1x2x2x2xf32> {
  // CHECK-NEXT: %[[POOL:.+]] = tosa.max_pool2d %arg0
  // CHECK-NEXT: tosa.clamp %[[POOL]] {{.*}} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  // CHECK-NEXT: return
  %0 = tosa.clamp %x {min_val = 0.0 : f32, max_val = 0.5 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.max_pool2d %0 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x2xf32>) -> tensor<1x2x2x2xf32>
  return %1 : tensor<1x2x2x2xf32>
}

// -----

// Another reads the clamped value; a pool of stride 1 that keeps the size gains nothing; NaN is taken differently.

// CHECK-LABEL: func.func @left_alone
func.func @left_alone(%x: tensor<1x4x4x2xf32>, %y: tensor<1x4x4x2xf32>) -> (tensor<1x4x4x2xf32>, tensor<1x2x2x2xf32>, tensor<1x4x4x2xf32>, tensor<1x2x2x2xf32>) {
  // CHECK: tosa.clamp
  // CHECK-NEXT: tosa.max_pool2d
  %0 = tosa.clamp %x {min_val = 0.0 : f32, max_val = 0.5 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.max_pool2d %0 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x2xf32>) -> tensor<1x2x2x2xf32>
  // CHECK-NEXT: tosa.clamp
  // CHECK-NEXT: tosa.max_pool2d
  %2 = tosa.clamp %y {min_val = 0.0 : f32, max_val = 0.5 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %3 = tosa.max_pool2d %2 {kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK-NEXT: tosa.clamp
  // CHECK-NEXT: tosa.max_pool2d
  %4 = tosa.clamp %y {min_val = 0.0 : f32, max_val = 0.5 : f32, nan_mode = IGNORE} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %5 = tosa.max_pool2d %4 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x2xf32>) -> tensor<1x2x2x2xf32>
  return %0, %1, %3, %5 : tensor<1x4x4x2xf32>, tensor<1x2x2x2xf32>, tensor<1x4x4x2xf32>, tensor<1x2x2x2xf32>
}
