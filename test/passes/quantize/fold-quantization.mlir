// RUN: vgf-opt %s -p vgf-fold-quantization --split-input-file | filecheck %s

// A pointwise convolution with a scale for each of its 2 output channels. 0.5 * 0.25 / 0.125 = 1 and 0.5 * 0.5 / 0.125 = 2:
// multipliers of 2^30 with shifts of 30 and 29. The bias 0.25 is 2 steps of 0.125 and 1 step of 0.25. relu is the
// saturation at the zero point -128.

// CHECK-LABEL: func.func @convolution
func.func @convolution(%x: tensor<1x2x3x4xi8>) -> tensor<1x2x3x2xi8> {
  %weight = "tosa.const"() {values = dense<[[[[1, 2, 3, 4]]], [[[5, 6, 7, 8]]]]> : tensor<2x1x1x4xi8>} : () -> tensor<2x1x1x4xi8>
  %bias = "tosa.const"() {values = dense<0.25> : tensor<2xf32>} : () -> tensor<2xf32>
  %zero = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = "vgf.dequantize"(%x) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.5> : tensor<1xf64>, zero_points = dense<3> : tensor<1xi64>} : (tensor<1x2x3x4xi8>) -> tensor<1x2x3x4xf32>
  %1 = "vgf.dequantize"(%weight) {axis = 0 : i64, quant_max = 127 : i64, quant_min = -127 : i64, scales = dense<[0.25, 0.5]> : tensor<2xf64>, zero_points = dense<0> : tensor<2xi64>} : (tensor<2x1x1x4xi8>) -> tensor<2x1x1x4xf32>
  // CHECK: %[[BIAS:.+]] = "tosa.const"() <{values = dense<[2, 1]> : tensor<2xi32>}>
  // CHECK: %[[ZP:.+]] = "tosa.const"() <{values = dense<3> : tensor<1xi8>}>
  // CHECK: %[[ACC:.+]] = tosa.conv2d %arg0, %{{.+}}, %[[BIAS]], %[[ZP]], %{{.+}} {acc_type = i32
  // CHECK: %[[SHIFT:.+]] = "tosa.const"() <{values = dense<[30, 29]> : tensor<2xi8>}>
  // CHECK: %[[OUT:.+]] = "tosa.const"() <{values = dense<-128> : tensor<1xi8>}>
  %2 = tosa.conv2d %0, %1, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x3x4xf32>, tensor<2x1x1x4xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x3x2xf32>
  %3 = tosa.clamp %2 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32>
  // CHECK: %[[CODES:.+]] = tosa.rescale %[[ACC]], %{{.+}}, %[[SHIFT]], %{{.+}}, %[[OUT]] {{.*}}per_channel = true
  // CHECK-NEXT: return %[[CODES]]
  %4 = "vgf.quantize"(%3) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.125> : tensor<1xf64>, zero_points = dense<-128> : tensor<1xi64>} : (tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xi8>
  return %4 : tensor<1x2x3x2xi8>
}

// -----

// A chain of element-wise operators on one tensor is one table, x * sigmoid(x) here. Code 0 is 0.0, which stays code 0.

// CHECK-LABEL: func.func @silu
func.func @silu(%x: tensor<2x3xi8>) -> tensor<2x3xi8> {
  %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  // CHECK: %[[TABLE:.+]] = "tosa.const"() <{values = {{.*}} : tensor<256xi8>}>
  // CHECK-NEXT: %[[CODES:.+]] = tosa.table %arg0, %[[TABLE]] : (tensor<2x3xi8>, tensor<256xi8>) -> tensor<2x3xi8>
  // CHECK-NEXT: return %[[CODES]]
  %0 = "vgf.dequantize"(%x) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.05> : tensor<1xf64>, zero_points = dense<0> : tensor<1xi64>} : (tensor<2x3xi8>) -> tensor<2x3xf32>
  %1 = tosa.sigmoid %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = tosa.mul %0, %1, %shift : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<1xi8>) -> tensor<2x3xf32>
  %3 = "vgf.quantize"(%2) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.05> : tensor<1xf64>, zero_points = dense<0> : tensor<1xi64>} : (tensor<2x3xf32>) -> tensor<2x3xi8>
  return %3 : tensor<2x3xi8>
}

// -----

// Moving data is no arithmetic where the parameters agree.

// CHECK-LABEL: func.func @movement
func.func @movement(%x: tensor<2x3xi8>) -> tensor<3x2xi8> {
  // CHECK: %[[MOVED:.+]] = tosa.transpose %arg0 {perms = array<i32: 1, 0>} : (tensor<2x3xi8>) -> tensor<3x2xi8>
  // CHECK-NEXT: return %[[MOVED]]
  %0 = "vgf.dequantize"(%x) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.05> : tensor<1xf64>, zero_points = dense<7> : tensor<1xi64>} : (tensor<2x3xi8>) -> tensor<2x3xf32>
  %1 = tosa.transpose %0 {perms = array<i32: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = "vgf.quantize"(%1) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.05> : tensor<1xf64>, zero_points = dense<7> : tensor<1xi64>} : (tensor<3x2xf32>) -> tensor<3x2xi8>
  return %2 : tensor<3x2xi8>
}

// -----

// Joining tensors of two scales rescales the one that differs, and no other.

// CHECK-LABEL: func.func @concat
func.func @concat(%x: tensor<2x3xi8>, %y: tensor<2x3xi8>) -> tensor<4x3xi8> {
  // CHECK: %[[Y:.+]] = tosa.rescale %arg1
  // CHECK-NOT: tosa.rescale
  // CHECK: %[[BOTH:.+]] = tosa.concat %arg0, %[[Y]] {axis = 0 : i32}
  // CHECK-NEXT: return %[[BOTH]]
  %0 = "vgf.dequantize"(%x) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.5> : tensor<1xf64>, zero_points = dense<7> : tensor<1xi64>} : (tensor<2x3xi8>) -> tensor<2x3xf32>
  %1 = "vgf.dequantize"(%y) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.25> : tensor<1xf64>, zero_points = dense<0> : tensor<1xi64>} : (tensor<2x3xi8>) -> tensor<2x3xf32>
  %2 = tosa.concat %0, %1 {axis = 0 : i32} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %3 = "vgf.quantize"(%2) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.5> : tensor<1xf64>, zero_points = dense<7> : tensor<1xi64>} : (tensor<4x3xf32>) -> tensor<4x3xi8>
  return %3 : tensor<4x3xi8>
}

// -----

// The scales of the operands of an addition meet in 32 bits: 0.5 is twice 0.25, so that both are exact there.

// CHECK-LABEL: func.func @add
func.func @add(%x: tensor<2x3xi8>, %y: tensor<2x3xi8>) -> tensor<2x3xi8> {
  // CHECK-DAG: %[[X:.+]] = tosa.rescale %arg0, {{.*}} -> tensor<2x3xi32>
  // CHECK-DAG: %[[Y:.+]] = tosa.rescale %arg1, {{.*}} -> tensor<2x3xi32>
  // CHECK: %[[SUM:.+]] = tosa.add %[[X]], %[[Y]]
  // CHECK: %[[CODES:.+]] = tosa.rescale %[[SUM]], {{.*}} -> tensor<2x3xi8>
  // CHECK-NEXT: return %[[CODES]]
  %0 = "vgf.dequantize"(%x) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.5> : tensor<1xf64>, zero_points = dense<7> : tensor<1xi64>} : (tensor<2x3xi8>) -> tensor<2x3xf32>
  %1 = "vgf.dequantize"(%y) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.25> : tensor<1xf64>, zero_points = dense<3> : tensor<1xi64>} : (tensor<2x3xi8>) -> tensor<2x3xf32>
  %2 = tosa.add %0, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = "vgf.quantize"(%2) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.7> : tensor<1xf64>, zero_points = dense<-2> : tensor<1xi64>} : (tensor<2x3xf32>) -> tensor<2x3xi8>
  return %3 : tensor<2x3xi8>
}

// -----

// Between a quantize and a dequantize nothing is known of integers here: with floating point in the target it stays.

// CHECK-LABEL: func.func @stays
func.func @stays(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "vgf.quantize"(%arg0)
  // CHECK-NEXT: %[[REAL:.+]] = "vgf.dequantize"
  // CHECK-NEXT: %[[SIN:.+]] = tosa.sin %[[REAL]]
  // CHECK-NEXT: return %[[SIN]]
  %0 = "vgf.quantize"(%x) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.5> : tensor<1xf64>, zero_points = dense<7> : tensor<1xi64>} : (tensor<2x3xf32>) -> tensor<2x3xi8>
  %1 = "vgf.dequantize"(%0) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.5> : tensor<1xf64>, zero_points = dense<7> : tensor<1xi64>} : (tensor<2x3xi8>) -> tensor<2x3xf32>
  %2 = tosa.sin %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// -----

// 4096 numbers that were never quantized are 16-bit codes in the file, at the finest scale that 16 bits have room for: 2^-14
// of the operand's, in which 0.49 is 32113.

// CHECK-LABEL: func.func @positions
func.func @positions(%x: tensor<64x64xi8>) -> tensor<64x64xi8> {
  // CHECK-DAG: %[[STORED:.+]] = "tosa.const"() <{values = dense<{{.*}}> : tensor<64x64xi16>}>
  // CHECK-DAG: %[[FINE:.+]] = tosa.rescale %arg0, {{.+}} : (tensor<64x64xi8>, {{.+}}) -> tensor<64x64xi32>
  // CHECK: %[[WIDE:.+]] = tosa.cast %[[STORED]]
  // CHECK: %[[SUM:.+]] = tosa.add %[[FINE]], %[[WIDE]]
  // CHECK: tosa.rescale %[[SUM]]
  %some = "tosa.const"() {values = dense<[[0.1, 0.49, -0.3, 0.2]]> : tensor<1x4xf32>} : () -> tensor<1x4xf32>
  %times = tosa.const_shape {values = dense<[64, 16]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %positions = tosa.tile %some, %times : (tensor<1x4xf32>, !tosa.shape<2>) -> tensor<64x64xf32>
  %0 = "vgf.dequantize"(%x) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.25> : tensor<1xf64>, zero_points = dense<0> : tensor<1xi64>} : (tensor<64x64xi8>) -> tensor<64x64xf32>
  %1 = tosa.add %0, %positions : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = "vgf.quantize"(%1) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.25> : tensor<1xf64>, zero_points = dense<0> : tensor<1xi64>} : (tensor<64x64xf32>) -> tensor<64x64xi8>
  return %2 : tensor<64x64xi8>
}

// -----

// Rows are written into a tensor as codes: both are quantized as the result is.

// CHECK-LABEL: func.func @scatter
func.func @scatter(%x: tensor<1x4x2xi8>, %i: tensor<1x3xi32>, %y: tensor<1x3x2xi8>) -> tensor<1x4x2xi8> {
  // CHECK: %[[ROWS:.+]] = tosa.rescale %arg2
  // CHECK: %[[CODES:.+]] = tosa.scatter %arg0, %arg1, %[[ROWS]] : (tensor<1x4x2xi8>, tensor<1x3xi32>, tensor<1x3x2xi8>)
  // CHECK-NEXT: return %[[CODES]]
  %0 = "vgf.dequantize"(%x) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.5> : tensor<1xf64>, zero_points = dense<3> : tensor<1xi64>} : (tensor<1x4x2xi8>) -> tensor<1x4x2xf32>
  %1 = "vgf.dequantize"(%y) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.25> : tensor<1xf64>, zero_points = dense<0> : tensor<1xi64>} : (tensor<1x3x2xi8>) -> tensor<1x3x2xf32>
  %2 = tosa.scatter %0, %i, %1 : (tensor<1x4x2xf32>, tensor<1x3xi32>, tensor<1x3x2xf32>) -> tensor<1x4x2xf32>
  %3 = "vgf.quantize"(%2) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.5> : tensor<1xf64>, zero_points = dense<3> : tensor<1xi64>} : (tensor<1x4x2xf32>) -> tensor<1x4x2xi8>
  return %3 : tensor<1x4x2xi8>
}

// -----

// A scatter in front of arithmetic joins its operands at a common scale in 32 bits; one that is returned, as 8-bit codes
// where both have the same parameters.

// CHECK-LABEL: func.func @scatter_of_two_scales
func.func @scatter_of_two_scales(%x: tensor<1x4x2xi8>, %i: tensor<1x3xi32>, %y: tensor<1x3x2xi8>) -> (tensor<1x4x2xi8>, tensor<1x4x2xf32>) {
  // CHECK-DAG: %[[WIDE:.+]] = tosa.scatter %{{.+}}, %arg1, %{{.+}} : (tensor<1x4x2xi32>, tensor<1x3xi32>, tensor<1x3x2xi32>)
  // CHECK-DAG: tosa.abs %[[WIDE]]
  // CHECK-DAG: %[[SAME:.+]] = tosa.scatter %arg0, %arg1, %{{.+}} : (tensor<1x4x2xi8>, tensor<1x3xi32>, tensor<1x3x2xi8>)
  // CHECK-DAG: "vgf.dequantize"(%[[SAME]])
  %0 = "vgf.dequantize"(%x) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.5> : tensor<1xf64>, zero_points = dense<3> : tensor<1xi64>} : (tensor<1x4x2xi8>) -> tensor<1x4x2xf32>
  %1 = "vgf.dequantize"(%y) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.2> : tensor<1xf64>, zero_points = dense<0> : tensor<1xi64>} : (tensor<1x3x2xi8>) -> tensor<1x3x2xf32>
  %2 = tosa.scatter %0, %i, %1 : (tensor<1x4x2xf32>, tensor<1x3xi32>, tensor<1x3x2xf32>) -> tensor<1x4x2xf32>
  %3 = tosa.abs %2 : (tensor<1x4x2xf32>) -> tensor<1x4x2xf32>
  %4 = "vgf.quantize"(%3) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.5> : tensor<1xf64>, zero_points = dense<3> : tensor<1xi64>} : (tensor<1x4x2xf32>) -> tensor<1x4x2xi8>
  %part = tosa.const_shape {values = dense<[1, 3, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %start = tosa.const_shape {values = dense<0> : tensor<3xindex>} : () -> !tosa.shape<3>
  %5 = tosa.slice %0, %start, %part : (tensor<1x4x2xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x3x2xf32>
  %6 = tosa.scatter %0, %i, %5 : (tensor<1x4x2xf32>, tensor<1x3xi32>, tensor<1x3x2xf32>) -> tensor<1x4x2xf32>
  return %4, %6 : tensor<1x4x2xi8>, tensor<1x4x2xf32>
}

// -----

// Integers of a chain on one 8-bit tensor are looked up for each code: 256 * 0.125 fit in 8 bits, 256 * 2.0 do not. TOSA's
// cast rounds to the nearest integer, halves to even: code 4 is 0.5, which is 0.

// CHECK-LABEL: func.func @whole_numbers
func.func @whole_numbers(%x: tensor<2x3xi8>, %y: tensor<2x3xi8>) -> (tensor<2x3xi32>, tensor<2x3xi32>) {
  // CHECK-DAG: %[[NARROW:.+]] = tosa.table %arg0, %{{.+}} : (tensor<2x3xi8>, tensor<256xi8>) -> tensor<2x3xi8>
  // CHECK-DAG: %[[FIRST:.+]] = tosa.cast %[[NARROW]] : (tensor<2x3xi8>) -> tensor<2x3xi32>
  // CHECK-DAG: %[[READ:.+]] = tosa.gather %{{.+}}, %{{.+}} : (tensor<1x256x1xi32>, tensor<1x6xi32>) -> tensor<1x6x1xi32>
  // CHECK-DAG: %[[SECOND:.+]] = tosa.reshape %[[READ]]
  // CHECK: return %[[FIRST]], %[[SECOND]]
  %0 = "vgf.dequantize"(%x) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.125> : tensor<1xf64>, zero_points = dense<0> : tensor<1xi64>} : (tensor<2x3xi8>) -> tensor<2x3xf32>
  %1 = "vgf.dequantize"(%y) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<2.0> : tensor<1xf64>, zero_points = dense<0> : tensor<1xi64>} : (tensor<2x3xi8>) -> tensor<2x3xf32>
  %2 = tosa.cast %0 : (tensor<2x3xf32>) -> tensor<2x3xi32>
  %3 = tosa.cast %1 : (tensor<2x3xf32>) -> tensor<2x3xi32>
  return %2, %3 : tensor<2x3xi32>, tensor<2x3xi32>
}

// -----

// The smallest is the largest of the complements: ~code orders codes the other way, which a negation of -128 would not.

// CHECK-LABEL: func.func @smallest
func.func @smallest(%x: tensor<2x3xi8>) -> tensor<2xi32> {
  // CHECK: %[[COMPLEMENT:.+]] = tosa.bitwise_not %arg0
  // CHECK-NEXT: tosa.argmax %[[COMPLEMENT]] {axis = 1 : i32} : (tensor<2x3xi8>) -> tensor<2xi32>
  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = "vgf.dequantize"(%x) {axis = -1 : i64, quant_max = 127 : i64, quant_min = -128 : i64, scales = dense<0.125> : tensor<1xf64>, zero_points = dense<7> : tensor<1xi64>} : (tensor<2x3xi8>) -> tensor<2x3xf32>
  %1 = tosa.negate %0, %zp, %zp : (tensor<2x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  %2 = tosa.argmax %1 {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2xi32>
  return %2 : tensor<2xi32>
}
