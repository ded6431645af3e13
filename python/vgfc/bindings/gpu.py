"""The gpu dialect without its operation classes."""
