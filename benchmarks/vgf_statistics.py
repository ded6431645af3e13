"""What is in a VGF, whoever made it: operators counted from the SPIR-V words, constants and file in bytes."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from vgfc.tosa_encoding import OPERATORS
from vgfc.vgf_file import decode

HEADER_WORDS = 5
EXT_INST_IMPORT, EXT_INST = 11, 12  # SPIR-V specification 1.6, "Extended Instructions"


@dataclass(frozen=True)
class Statistics:
    """Operators of all graphs by TOSA name (compute shaders count as SHADER), segments, sizes in bytes."""

    operators: dict[str, int]
    segments: int
    constant_bytes: int
    vgf_bytes: int

    @property
    def operator_count(self) -> int:
        """Operators in all segments; constants are none."""
        return sum(self.operators.values())


def statistics(content: bytes) -> Statistics:
    """The figures of one file; raises CompileError for a damaged one."""
    file = decode(content)
    operators: Counter[str] = Counter()
    for segment in file.segments:
        if segment.kind == "graph":
            operators.update(graph_operators(file.modules[segment.module].code))
        else:
            operators["SHADER"] += 1
    constant_bytes = sum(len(constant.data) for constant in file.constants)
    return Statistics(dict(operators), len(file.segments), constant_bytes, len(content))


def graph_operators(code: bytes) -> Iterator[str]:
    """The name of each TOSA operator in a SPIR-V module, in order."""
    words = struct.unpack(f"<{len(code) // 4}I", code)
    instruction_sets = set()
    position = HEADER_WORDS
    while position < len(words):
        length, opcode = words[position] >> 16, words[position] & 0xFFFF
        operands = words[position + 1 : position + length]
        if opcode == EXT_INST_IMPORT and struct.pack(f"<{length - 2}I", *operands[1:]).startswith(b"TOSA."):
            instruction_sets.add(operands[0])
        elif opcode == EXT_INST and operands[2] in instruction_sets:
            yield OPERATORS[operands[3]].name
        position += length
