// RUN: vgf-opt %s -p vgf-outline-host-operators --split-input-file | filecheck %s

// A sort has no TOSA form: it becomes a call of a function of the host, whose 64-bit indices come back as i32.

// CHECK-LABEL: func.func @sort
func.func @sort(%x: !torch.vtensor<[2,3],f32>) -> (!torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],si64>) {
  %dim = torch.constant.int 1
  %descending = torch.constant.bool false
  // CHECK: %[[IN:.+]] = builtin.unrealized_conversion_cast %arg0 : !torch.vtensor<[2,3],f32> to tensor<2x3xf32>
  // CHECK: %[[OUT:.+]]:2 = call @aten_sort_0(%[[IN]]) : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  // CHECK-DAG: builtin.unrealized_conversion_cast %[[OUT]]#0
  // CHECK-DAG: builtin.unrealized_conversion_cast %[[OUT]]#1 : tensor<2x3xi32> to !torch.vtensor<[2,3],si64>
  %values, %indices = torch.aten.sort %x, %dim, %descending : !torch.vtensor<[2,3],f32>, !torch.int, !torch.bool -> !torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],si64>
  return %values, %indices : !torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],si64>
}
// CHECK: func.func private @aten_sort_0(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) attributes {vgf.host_function = "torch.aten.sort", vgf.reason = "torch.aten.sort has no form in TOSA 1.0"}
// CHECK: tm_tensor.sort
// CHECK: tosa.cast {{.*}} : (tensor<2x3xi64>) -> tensor<2x3xi32>

// -----

// A converter that gave up left its reason; 64-bit indices go in as i32, the constant goes into the function.

// CHECK-LABEL: func.func @scatter_add
func.func @scatter_add(%x: !torch.vtensor<[4],f32>, %i: !torch.vtensor<[2],si64>) -> !torch.vtensor<[4],f32> {
  %dim = torch.constant.int 0
  %s = torch.vtensor.literal(dense<[1.0, 2.0]> : tensor<2xf32>) : !torch.vtensor<[2],f32>
  // CHECK: call @aten_scatter_add_0({{.*}}) : (tensor<4xf32>, tensor<2xi32>) -> tensor<4xf32>
  %0 = torch.aten.scatter_add %x, %dim, %i, %s {vgf.reason = "adds at computed indices"} : !torch.vtensor<[4],f32>, !torch.int, !torch.vtensor<[2],si64>, !torch.vtensor<[2],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}
// CHECK: func.func private @aten_scatter_add_0({{.*}}) {{.*}} attributes {vgf.host_function = "torch.aten.scatter_add", vgf.reason = "adds at computed indices"}
// CHECK: tosa.cast {{.*}} : (tensor<2xi32>) -> tensor<2xi64>

// -----

// An operator that is in no table of tested ones stays.

// CHECK-LABEL: func.func @untested
func.func @untested(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32> {
  // CHECK: torch.aten.tan
  %0 = torch.aten.tan %x : !torch.vtensor<[2,3],f32> -> !torch.vtensor<[2,3],f32>
  return %0 : !torch.vtensor<[2,3],f32>
}
