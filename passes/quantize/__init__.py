"""Quantised islands become integer TOSA."""
