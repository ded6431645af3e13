"""The torch dialect without its 900 operation classes."""
