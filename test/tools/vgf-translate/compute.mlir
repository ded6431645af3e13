// A compute segment comes back with its shader, bindings and dispatch shape, and goes out as the same bytes.

// RUN: vgf-translate --mlir-to-vgf %s -o %t.vgf
// RUN: vgf-translate --vgf-to-mlir %t.vgf | filecheck %s
// RUN: vgf-translate --vgf-to-mlir %t.vgf | vgf-translate --mlir-to-vgf | cmp - %t.vgf
// RUN: vgf-translate --vgf-to-text %t.vgf | filecheck %s --check-prefix=TEXT

// CHECK: %[[A:.+]] = call @graph(%arg0)
// CHECK: %[[B:.+]] = call @shader(%[[A]])
// CHECK: return %[[B]]
// CHECK: func.func private @graph
// CHECK: tosa.abs
// CHECK: func.func private @shader
// CHECK-SAME: attributes {vgf.segment = "compute"}
// CHECK-NEXT: tosa.custom %arg0 {domain_name = "com.arm.VulkanCustomShader", implementation_attrs = "{
// CHECK-SAME: entry_point\22: \22main\22
// CHECK-SAME: input_0_binding\22: 0
// CHECK-SAME: input_0_descriptorset\22: 0
// CHECK-SAME: input_0_vkformat\22: \22VK_FORMAT_R32_SFLOAT\22
// CHECK-SAME: output_0_binding\22: 1
// CHECK-SAME: shader_language\22: \22SPIR-V\22
// CHECK-SAME: workgroup_sizes\22: [8, 1, 1]
// CHECK-SAME: operator_name = "shader"

// TEXT: segment 1 compute "shader"
// TEXT-NEXT: module 1 "shader", SPIR-V, entry point "main"
// TEXT-NEXT: set 0 binding 0 = @2 (in)
// TEXT-NEXT: set 0 binding 1 = @1 (out)
// TEXT-NEXT: dispatch 8 x 1 x 1
// TEXT-NEXT: words of SPIR-V

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @graph(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @shader(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @graph(%x: tensor<8xf32>) -> tensor<8xf32> attributes {vgf.segment = "graph"} {
  %0 = tosa.abs %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @shader(%x: tensor<8xf32>) -> tensor<8xf32> attributes {vgf.segment = "compute"} {
  %0 = tosa.custom %x {domain_name = "com.arm.VulkanCustomShader", operator_name = "mylib::twice", implementation_attrs = "{\22entry_point\22: \22main\22, \22input_0_binding\22: 0, \22output_0_binding\22: 1, \22shader_language\22: \22GLSL\22, \22workgroup_sizes\22: [8, 1, 1], \22shader_code\22: \22#version 460\5Cn#extension GL_ARM_tensors : require\5Cnlayout(set = 0, binding = 0) uniform tensorARM<float, 1> source;\5Cnlayout(set = 0, binding = 1) uniform tensorARM<float, 1> target;\5Cnvoid main() { uint[1] place = uint[1](gl_GlobalInvocationID.x); float value; tensorReadARM(source, place, value); tensorWriteARM(target, place, 2.0 * value); }\22}"} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
