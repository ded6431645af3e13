"""Adds a pass, a pipeline, a target and a shader to vgfc; pyproject.toml says which is what."""

PIPELINE = "builtin.module(waves-fold-repeated-abs,tosa-to-vgf)"
TARGET = "TOSA-1.0+INT+FP+fft"
