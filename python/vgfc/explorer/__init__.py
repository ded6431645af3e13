"""VGF files and TOSA modules in Model Explorer: `model-explorer model.vgf --extensions=vgfc.explorer`.

Segments are groups, operators keep their module paths and source lines. The data providers colour the operators by the bytes
of their results, of their constants, and live in the session while they run.
"""
