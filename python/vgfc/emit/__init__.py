"""Encodes what the module says; no choice is made here."""
