"""What torch-mlir leaves unlowered, or lowers wastefully, becomes TOSA."""
