// RUN: vgf-opt %s -p vgf-compile-shaders | filecheck %s

// GLSL becomes SPIR-V, whose words begin with the magic number (AwIjBw in base64); the rest of the description stays.

// CHECK-LABEL: func.func private @glsl
// CHECK: tosa.custom %arg0 {domain_name = "com.arm.VulkanCustomShader"
// CHECK-SAME: \22shader_code\22: \22AwIjBw
// CHECK-SAME: \22shader_language\22: \22SPIR-V\22, \22workgroup_sizes\22: [1, 1, 1]
func.func private @glsl(%x: tensor<4xf32>) -> tensor<4xf32> attributes {vgf.segment = "compute"} {
  %0 = tosa.custom %x {domain_name = "com.arm.VulkanCustomShader", implementation_attrs = "{\22entry_point\22: \22main\22, \22input_0_binding\22: 0, \22output_0_binding\22: 1, \22shader_code\22: \22#version 460\\nvoid main() {}\\n\22, \22shader_language\22: \22GLSL\22, \22workgroup_sizes\22: [1, 1, 1]}", operator_name = "my::op"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// SPIR-V stays as it is.

// CHECK-LABEL: func.func private @spirv
// CHECK: \22shader_code\22: \22AwIjBwABAAA=\22
func.func private @spirv(%x: tensor<4xf32>) -> tensor<4xf32> attributes {vgf.segment = "compute"} {
  %0 = tosa.custom %x {domain_name = "com.arm.VulkanCustomShader", implementation_attrs = "{\22entry_point\22: \22main\22, \22input_0_binding\22: 0, \22output_0_binding\22: 1, \22shader_code\22: \22AwIjBwABAAA=\22, \22shader_language\22: \22SPIR-V\22, \22workgroup_sizes\22: [1, 1, 1]}", operator_name = "my::op"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
