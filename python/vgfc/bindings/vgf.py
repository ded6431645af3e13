"""The vgf dialect, which comes from IRDL and has no classes; without this file every operation would look for one again."""
