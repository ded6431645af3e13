"""TOSA as lean as an expert would write it: constants, batch norm, clamps, transposes, pads, casts."""
