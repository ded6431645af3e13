"""The constant section of a VGF file, written without the copies that the VGF library makes of every constant.

The library copies a constant when it is added, again into the stream and once more into the bytes that it hands over: four
times the weights. So it writes the file with a placeholder of one byte for each constant, and the section, the file's last,
is replaced here. Layout: "VGF File Format" of Arm's VGF library, version 0.4.3.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from vgfc.files import Piece
from vgfc.ir import Array

PLACEHOLDER = np.zeros(1, np.uint8)
SECTION_ENTRY_BYTES = 64  # where the header holds offset and size of the constant section, 64 bits each
MAGIC = b"CONST00\0"
METADATA = struct.Struct("<IiQQ")  # resource, sparsity dimension, size in bytes, offset in bytes after the metadata
NOT_SPARSE = -1
ALIGNMENT_BYTES = 8


def with_constants(file: bytes, constants: Sequence[tuple[int, Array]]) -> list[Piece]:
    """The file whose constants were placeholders, with these (resource number, values as uint8) instead, in order.

    The file comes in pieces, so that values go from where they are to where they are written without another copy.
    """
    start, _ = struct.unpack_from("<QQ", file, SECTION_ENTRY_BYTES)
    head = bytearray(file[:start])
    metadata = []
    values: list[Piece] = []
    offset_bytes = 0
    for resource, data in constants:
        metadata.append(METADATA.pack(resource, NOT_SPARSE, data.size, offset_bytes))
        padding_bytes = -data.size % ALIGNMENT_BYTES
        values += [memoryview(data), bytes(padding_bytes)]  # type: ignore[arg-type]  # numpy's stubs know no buffers
        offset_bytes += data.size + padding_bytes
    section = [MAGIC, struct.pack("<Q", len(constants)), *metadata]
    size_bytes = sum(map(len, section)) + offset_bytes
    struct.pack_into("<QQ", head, SECTION_ENTRY_BYTES, start, size_bytes)
    return [bytes(head), *section, *values]
