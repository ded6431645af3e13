"""Order of operators; storage of what lies between segments; constants stored once."""
