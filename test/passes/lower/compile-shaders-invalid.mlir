// RUN: vgf-opt %s -p vgf-compile-shaders --split-input-file --verify-diagnostics

func.func private @syntax(%x: tensor<4xf32>) -> tensor<4xf32> attributes {vgf.segment = "compute"} {
  // expected-error-re@+1 {{'my::op' does not compile: {{.*}}'nonsense' : undeclared identifier{{.*}}}}
  %0 = tosa.custom %x {domain_name = "com.arm.VulkanCustomShader", implementation_attrs = "{\22entry_point\22: \22main\22, \22input_0_binding\22: 0, \22output_0_binding\22: 1, \22shader_code\22: \22#version 460\\nvoid main() { nonsense; }\\n\22, \22shader_language\22: \22GLSL\22, \22workgroup_sizes\22: [1, 1, 1]}", operator_name = "my::op"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @language(%x: tensor<4xf32>) -> tensor<4xf32> attributes {vgf.segment = "compute"} {
  // expected-error@+1 {{'tosa.custom' has a shader in HLSL, expected GLSL or SPIR-V}}
  %0 = tosa.custom %x {domain_name = "com.arm.VulkanCustomShader", implementation_attrs = "{\22entry_point\22: \22main\22, \22input_0_binding\22: 0, \22output_0_binding\22: 1, \22shader_code\22: \22x\22, \22shader_language\22: \22HLSL\22, \22workgroup_sizes\22: [1, 1, 1]}", operator_name = "my::op"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @not_json(%x: tensor<4xf32>) -> tensor<4xf32> attributes {vgf.segment = "compute"} {
  // expected-error@+1 {{'tosa.custom' expected JSON in its implementation_attrs}}
  %0 = tosa.custom %x {domain_name = "com.arm.VulkanCustomShader", implementation_attrs = "{", operator_name = "my::op"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @missing(%x: tensor<4xf32>) -> tensor<4xf32> attributes {vgf.segment = "compute"} {
  // expected-error@+1 {{'tosa.custom' has no input_0_binding in its implementation_attrs}}
  %0 = tosa.custom %x {domain_name = "com.arm.VulkanCustomShader", implementation_attrs = "{\22entry_point\22: \22main\22, \22output_0_binding\22: 1, \22shader_code\22: \22x\22, \22shader_language\22: \22GLSL\22, \22workgroup_sizes\22: [1, 1, 1]}", operator_name = "my::op"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @workgroups(%x: tensor<4xf32>) -> tensor<4xf32> attributes {vgf.segment = "compute"} {
  // expected-error@+1 {{'tosa.custom' expected three workgroup_sizes of at least 1, found [0, 1, 1]}}
  %0 = tosa.custom %x {domain_name = "com.arm.VulkanCustomShader", implementation_attrs = "{\22entry_point\22: \22main\22, \22input_0_binding\22: 0, \22output_0_binding\22: 1, \22shader_code\22: \22x\22, \22shader_language\22: \22GLSL\22, \22workgroup_sizes\22: [0, 1, 1]}", operator_name = "my::op"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
