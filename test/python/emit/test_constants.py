"""The constant section that we write against the VGF library's own, byte for byte."""

import io

import numpy as np
import pytest
import vgfpy

from vgfc.emit.constants import PLACEHOLDER, with_constants

R8_SINT = 14
TENSOR = 1000460000


def library_file(sizes: list[int], values: list[np.ndarray]) -> bytes:
    """A file with constants of these shapes, all of it written by the library; `values` need not have the shapes."""
    encoder = vgfpy.CreateEncoder(321)
    encoder.AddInputResource(TENSOR, R8_SINT, [3], [], None)  # so that resources and constants count differently
    for size, data in zip(sizes, values, strict=True):
        encoder.AddConstant(encoder.AddConstantResource(R8_SINT, [size], []), data)
    encoder.Finish()
    stream = io.BytesIO()
    assert encoder.WriteTo(stream)
    return stream.getvalue()


@pytest.mark.parametrize("sizes", [[], [1], [8], [7, 16, 9], list(range(1, 20))])
def test_same_bytes_as_the_library(sizes: list[int]) -> None:
    random = np.random.default_rng(7)
    values = [random.integers(0, 256, size, np.uint8) for size in sizes]
    declared = library_file(sizes, [PLACEHOLDER] * len(sizes))
    found = with_constants(declared, [(index + 1, data) for index, data in enumerate(values)])
    assert b"".join(found) == library_file(sizes, values)
