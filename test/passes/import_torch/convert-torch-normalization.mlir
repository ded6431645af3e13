// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-normalization,vgf-finish-torch-conversion)' --split-input-file | filecheck %s

// n * eps is 8e-5, and sqrt(8) has gone into the weight.

// CHECK-LABEL: func.func @layer_norm
func.func @layer_norm(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,8],f32> {
  // CHECK: %[[SUM:.+]] = tosa.reduce_sum %arg0 {axis = 1 : i32}
  // CHECK: %[[MEAN:.+]] = tosa.mul %[[SUM]]
  // CHECK: %[[APART:.+]] = tosa.sub %arg0, %[[MEAN]]
  // CHECK: %[[SQUARED:.+]] = tosa.mul %[[APART]], %[[APART]]
  // CHECK: %[[SQUARES:.+]] = tosa.reduce_sum %[[SQUARED]] {axis = 1 : i32}
  // CHECK: dense<8.000000e-05>
  // CHECK: %[[MORE:.+]] = tosa.add %[[SQUARES]]
  // CHECK: %[[SCALE:.+]] = tosa.rsqrt %[[MORE]]
  // CHECK: %[[SCALED:.+]] = tosa.mul %[[APART]], %[[SCALE]]
  // CHECK: %[[WEIGHT:.+]] = "tosa.const"() <{values = dense<5.65685415> : tensor<1x8xf32>}>
  // CHECK: tosa.mul %[[SCALED]], %[[WEIGHT]]
  %eight = torch.constant.int 8
  %shape = torch.prim.ListConstruct %eight : (!torch.int) -> !torch.list<int>
  %weight = torch.vtensor.literal(dense<2.0> : tensor<8xf32>) : !torch.vtensor<[8],f32>
  %none = torch.constant.none
  %eps = torch.constant.float 1.0e-5
  %false = torch.constant.bool false
  %0 = torch.aten.layer_norm %x, %shape, %weight, %none, %eps, %false : !torch.vtensor<[4,8],f32>, !torch.list<int>, !torch.vtensor<[8],f32>, !torch.none, !torch.float, !torch.bool -> !torch.vtensor<[4,8],f32>
  return %0 : !torch.vtensor<[4,8],f32>
}

// -----

// Known statistics: (x - 1) / sqrt(3 + 1) * 4 + 5 is 2 x + 3.

// CHECK-LABEL: func.func @batch_norm
func.func @batch_norm(%x: !torch.vtensor<[1,2,3],f32>) -> !torch.vtensor<[1,2,3],f32> {
  // CHECK: dense<2.000000e+00> : tensor<2xf32>
  // CHECK: dense<3.000000e+00> : tensor<2xf32>
  // CHECK: %[[SCALED:.+]] = tosa.mul %arg0
  // CHECK-SAME: (tensor<1x2x3xf32>, tensor<1x2x1xf32>
  // CHECK-NEXT: tosa.add %[[SCALED]]
  // CHECK-NOT: tosa.rsqrt
  %weight = torch.vtensor.literal(dense<4.0> : tensor<2xf32>) : !torch.vtensor<[2],f32>
  %bias = torch.vtensor.literal(dense<5.0> : tensor<2xf32>) : !torch.vtensor<[2],f32>
  %mean = torch.vtensor.literal(dense<1.0> : tensor<2xf32>) : !torch.vtensor<[2],f32>
  %variance = torch.vtensor.literal(dense<3.0> : tensor<2xf32>) : !torch.vtensor<[2],f32>
  %false = torch.constant.bool false
  %momentum = torch.constant.float 0.1
  %eps = torch.constant.float 1.0
  %0 = torch.aten.batch_norm %x, %weight, %bias, %mean, %variance, %false, %momentum, %eps, %false : !torch.vtensor<[1,2,3],f32>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>, !torch.bool, !torch.float, !torch.float, !torch.bool -> !torch.vtensor<[1,2,3],f32>
  return %0 : !torch.vtensor<[1,2,3],f32>
}

// -----

// CHECK-LABEL: func.func @softmax
func.func @softmax(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32> {
  // CHECK-NEXT: %[[MAX:.+]] = tosa.reduce_max %arg0 {axis = 1 : i32}
  // CHECK-NEXT: %[[MOVED:.+]] = tosa.sub %arg0, %[[MAX]]
  // CHECK-NEXT: %[[EXP:.+]] = tosa.exp %[[MOVED]]
  // CHECK-NEXT: %[[SUM:.+]] = tosa.reduce_sum %[[EXP]] {axis = 1 : i32}
  // CHECK-NEXT: %[[INVERSE:.+]] = tosa.reciprocal %[[SUM]]
  // CHECK: tosa.mul %[[EXP]], %[[INVERSE]]
  %minus = torch.constant.int -1
  %none = torch.constant.none
  %0 = torch.aten.softmax.int %x, %minus, %none : !torch.vtensor<[2,3],f32>, !torch.int, !torch.none -> !torch.vtensor<[2,3],f32>
  return %0 : !torch.vtensor<[2,3],f32>
}
