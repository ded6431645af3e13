"""Stand-ins for the bindings' modules of operation classes that vgfc never uses.

MLIR's bindings import `torch_mlir.dialects.<name>` when they meet the first operation, type or attribute of a dialect; for
torch that is 0.2 s of class definitions, a third of the time that a small model takes. Our folder is searched first (see
`vgfc.dialect`): operations of the dialects in it come as plain `ir.Operation`s. Who imports the classes gets them as ever.
"""
