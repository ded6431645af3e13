"""Arrangements of tensors: which operators can work in another one, and which should, so that few views are left."""
