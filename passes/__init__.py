"""The passes, one a file, in folders in the order in which a model goes through them."""
