// RUN: vgf-opt %s --pass-pipeline='builtin.module(vgf-convert-torch-convolutions,vgf-finish-torch-conversion)' --split-input-file | filecheck %s

// A stride of 2 reads no padding at the end, and TOSA wants none that is not read.

// CHECK-LABEL: func.func @plain
func.func @plain(%x: !torch.vtensor<[1,3,8,6],f32>, %w: !torch.vtensor<[4,3,3,3],f32>) -> !torch.vtensor<[1,4,4,3],f32> {
  // CHECK: %[[X:.+]] = tosa.transpose %arg0 {perms = array<i32: 0, 2, 3, 1>}
  // CHECK-NEXT: %[[W:.+]] = tosa.transpose %arg1 {perms = array<i32: 0, 2, 3, 1>}
  // CHECK: %[[Y:.+]] = tosa.conv2d %[[X]], %[[W]]
  // CHECK-SAME: dilation = array<i64: 1, 1>, pad = array<i64: 1, 0, 1, 0>, stride = array<i64: 2, 2>
  // CHECK-NEXT: tosa.transpose %[[Y]] {perms = array<i32: 0, 3, 1, 2>}
  %none = torch.constant.none
  %one = torch.constant.int 1
  %g = torch.constant.int 1
  %s0 = torch.constant.int 2
  %s1 = torch.constant.int 2
  %p0 = torch.constant.int 1
  %p1 = torch.constant.int 1
  %stride = torch.prim.ListConstruct %s0, %s1 : (!torch.int, !torch.int) -> !torch.list<int>
  %padding = torch.prim.ListConstruct %p0, %p1 : (!torch.int, !torch.int) -> !torch.list<int>
  %dilation = torch.prim.ListConstruct %one, %one : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.conv2d %x, %w, %none, %stride, %padding, %dilation, %g : !torch.vtensor<[1,3,8,6],f32>, !torch.vtensor<[4,3,3,3],f32>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.int -> !torch.vtensor<[1,4,4,3],f32>
  return %0 : !torch.vtensor<[1,4,4,3],f32>
}

// -----

// Without padding it is the input that is cut, in one slice.

// CHECK-LABEL: func.func @cut
func.func @cut(%x: !torch.vtensor<[1,3,5,5],f32>, %w: !torch.vtensor<[4,3,1,1],f32>) -> !torch.vtensor<[1,4,2,2],f32> {
  // CHECK: tosa.slice
  // CHECK-SAME: -> tensor<1x4x4x3xf32>
  // CHECK-NOT: tosa.slice
  // CHECK: tosa.conv2d
  %none = torch.constant.none
  %one = torch.constant.int 1
  %g = torch.constant.int 1
  %s0 = torch.constant.int 3
  %s1 = torch.constant.int 3
  %p0 = torch.constant.int 0
  %p1 = torch.constant.int 0
  %stride = torch.prim.ListConstruct %s0, %s1 : (!torch.int, !torch.int) -> !torch.list<int>
  %padding = torch.prim.ListConstruct %p0, %p1 : (!torch.int, !torch.int) -> !torch.list<int>
  %dilation = torch.prim.ListConstruct %one, %one : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.conv2d %x, %w, %none, %stride, %padding, %dilation, %g : !torch.vtensor<[1,3,5,5],f32>, !torch.vtensor<[4,3,1,1],f32>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.int -> !torch.vtensor<[1,4,2,2],f32>
  return %0 : !torch.vtensor<[1,4,2,2],f32>
}

// -----

// One group per channel.

// CHECK-LABEL: func.func @depthwise
func.func @depthwise(%x: !torch.vtensor<[1,2,4,4],f32>, %w: !torch.vtensor<[4,1,3,3],f32>) -> !torch.vtensor<[1,4,2,2],f32> {
  // CHECK: %[[W:.+]] = tosa.reshape %arg1
  // CHECK-SAME: -> tensor<2x2x3x3xf32>
  // CHECK: tosa.transpose %[[W]] {perms = array<i32: 2, 3, 0, 1>}
  // CHECK: tosa.depthwise_conv2d
  %none = torch.constant.none
  %one = torch.constant.int 1
  %g = torch.constant.int 2
  %s0 = torch.constant.int 1
  %s1 = torch.constant.int 1
  %p0 = torch.constant.int 0
  %p1 = torch.constant.int 0
  %stride = torch.prim.ListConstruct %s0, %s1 : (!torch.int, !torch.int) -> !torch.list<int>
  %padding = torch.prim.ListConstruct %p0, %p1 : (!torch.int, !torch.int) -> !torch.list<int>
  %dilation = torch.prim.ListConstruct %one, %one : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.conv2d %x, %w, %none, %stride, %padding, %dilation, %g : !torch.vtensor<[1,2,4,4],f32>, !torch.vtensor<[4,1,3,3],f32>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.int -> !torch.vtensor<[1,4,2,2],f32>
  return %0 : !torch.vtensor<[1,4,2,2],f32>
}

// -----

// Two groups are one convolution; a weight that is computed is padded to its blocks.

// CHECK-LABEL: func.func @groups
func.func @groups(%x: !torch.vtensor<[1,4,4,4],f32>, %w: !torch.vtensor<[6,2,1,1],f32>) -> !torch.vtensor<[1,6,4,4],f32> {
  // CHECK: tosa.pad
  // CHECK: tosa.pad
  // CHECK: %[[W:.+]] = tosa.concat
  // CHECK-SAME: -> tensor<6x4x1x1xf32>
  // CHECK: tosa.conv2d
  // CHECK-NOT: tosa.conv2d
  %none = torch.constant.none
  %one = torch.constant.int 1
  %g = torch.constant.int 2
  %s0 = torch.constant.int 1
  %s1 = torch.constant.int 1
  %p0 = torch.constant.int 0
  %p1 = torch.constant.int 0
  %stride = torch.prim.ListConstruct %s0, %s1 : (!torch.int, !torch.int) -> !torch.list<int>
  %padding = torch.prim.ListConstruct %p0, %p1 : (!torch.int, !torch.int) -> !torch.list<int>
  %dilation = torch.prim.ListConstruct %one, %one : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.conv2d %x, %w, %none, %stride, %padding, %dilation, %g : !torch.vtensor<[1,4,4,4],f32>, !torch.vtensor<[6,2,1,1],f32>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.int -> !torch.vtensor<[1,6,4,4],f32>
  return %0 : !torch.vtensor<[1,6,4,4],f32>
}

// -----

// One axis is an image of height 1.

// CHECK-LABEL: func.func @one_axis
func.func @one_axis(%x: !torch.vtensor<[1,3,9],f32>, %w: !torch.vtensor<[4,3,3],f32>) -> !torch.vtensor<[1,4,9],f32> {
  // CHECK: tosa.reshape %arg0
  // CHECK-SAME: -> tensor<1x3x1x9xf32>
  // CHECK: tosa.conv2d
  // CHECK-SAME: pad = array<i64: 0, 0, 1, 1>
  %none = torch.constant.none
  %one = torch.constant.int 1
  %g = torch.constant.int 1
  %s0 = torch.constant.int 1
  %p0 = torch.constant.int 1
  %stride = torch.prim.ListConstruct %s0 : (!torch.int) -> !torch.list<int>
  %padding = torch.prim.ListConstruct %p0 : (!torch.int) -> !torch.list<int>
  %dilation = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.conv1d %x, %w, %none, %stride, %padding, %dilation, %g : !torch.vtensor<[1,3,9],f32>, !torch.vtensor<[4,3,3],f32>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.int -> !torch.vtensor<[1,4,9],f32>
  return %0 : !torch.vtensor<[1,4,9],f32>
}
