"""Integer arithmetic in place of quantised floating point: numbers, integer forms of values, and operators on them."""
