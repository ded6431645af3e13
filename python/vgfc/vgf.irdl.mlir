// The vgf dialect: what upstream MLIR has no operation for. A stock tool loads it with --irdl-file; vgfc loads this file.
// A constraint value that is used twice would demand equal attributes, so that each has its own.
irdl.dialect @vgf {
  // Floating point to integer codes as PyTorch does it: x / scale rounded half to even, plus the zero point, clamped to
  // [quant_min, quant_max]. scales: tensor<nxf64>, zero_points: tensor<nxi64>, where n is 1 (axis = -1) or the extent of
  // the axis that has a scale for each index.
  irdl.operation @quantize {
    %input = irdl.base "!builtin.tensor"
    %output = irdl.base "!builtin.tensor"
    %scales = irdl.base "#builtin.dense_typed_elements"
    %zero_points = irdl.base "#builtin.dense_typed_elements"
    %axis = irdl.base "#builtin.integer"
    %quant_min = irdl.base "#builtin.integer"
    %quant_max = irdl.base "#builtin.integer"
    irdl.attributes {
      "scales" = %scales, "zero_points" = %zero_points, "axis" = %axis, "quant_min" = %quant_min, "quant_max" = %quant_max
    }
    irdl.operands(input: %input)
    irdl.results(output: %output)
  }
  // Integer codes to floating point: (code - zero point) * scale. Attributes as for vgf.quantize.
  irdl.operation @dequantize {
    %input = irdl.base "!builtin.tensor"
    %output = irdl.base "!builtin.tensor"
    %scales = irdl.base "#builtin.dense_typed_elements"
    %zero_points = irdl.base "#builtin.dense_typed_elements"
    %axis = irdl.base "#builtin.integer"
    %quant_min = irdl.base "#builtin.integer"
    %quant_max = irdl.base "#builtin.integer"
    irdl.attributes {
      "scales" = %scales, "zero_points" = %zero_points, "axis" = %axis, "quant_min" = %quant_min, "quant_max" = %quant_max
    }
    irdl.operands(input: %input)
    irdl.results(output: %output)
  }
}
