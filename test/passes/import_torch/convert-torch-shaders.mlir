// RUN: vgf-opt %s -p vgf-convert-torch-shaders | filecheck %s

// grid_sample's shader is chosen and put together from the call: its modes are definitions, its dispatch covers the output.

// CHECK-LABEL: func.func @grid_sample
func.func @grid_sample(%x: !torch.vtensor<[2,3,8,8],f16>, %g: !torch.vtensor<[2,9,17,2],f16>) -> !torch.vtensor<[2,3,9,17],f16> {
  %nearest = torch.constant.int 1
  %border = torch.constant.int 1
  %align = torch.constant.bool true
  // CHECK: %[[X:.+]] = builtin.unrealized_conversion_cast %arg0 {{.*}} to tensor<2x3x8x8xf16>
  // CHECK: %[[G:.+]] = builtin.unrealized_conversion_cast %arg1 {{.*}} to tensor<2x9x17x2xf16>
  // CHECK: tosa.custom %[[X]], %[[G]] {domain_name = "com.arm.VulkanCustomShader"
  // CHECK-SAME: output_0_binding\22: 2
  // CHECK-SAME: output_0_vkformat\22: \22VK_FORMAT_R16_SFLOAT
  // CHECK-SAME: #define SCALAR float16_t\\n#define NEAREST 1\\n#define PADDING 1\\n#define ALIGN_CORNERS 1
  // CHECK-SAME: workgroup_sizes\22: [3, 2, 2]
  // CHECK-SAME: operator_name = "aten::grid_sampler"
  %0 = torch.aten.grid_sampler %x, %g, %nearest, %border, %align : !torch.vtensor<[2,3,8,8],f16>, !torch.vtensor<[2,9,17,2],f16>, !torch.int, !torch.int, !torch.bool -> !torch.vtensor<[2,3,9,17],f16>
  return %0 : !torch.vtensor<[2,3,9,17],f16>
}

// An operator without a shader stays.

// CHECK-LABEL: func.func @other
func.func @other(%x: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> {
  // CHECK: torch.aten.tan
  %0 = torch.aten.tan %x : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}
