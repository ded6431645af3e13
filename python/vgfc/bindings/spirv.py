"""The SPIR-V dialect without its operation classes."""
