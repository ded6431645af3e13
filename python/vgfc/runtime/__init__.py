"""Running VGF files: on a Vulkan device, and on the TOSA reference model."""
