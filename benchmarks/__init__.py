"""Side-by-side measurements, one command each; every figure in the documentation comes from here."""
