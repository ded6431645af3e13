"""placeholder"""
from torch_mlir import ir
DOMAIN = "com.arm.VulkanCustomShader"
def is_shader(op: ir.Operation) -> bool:
    return op.name == "tosa.custom" and ir.StringAttr(op.attributes["domain_name"]).value == DOMAIN
