"""A straight-line program as the planners see it: values with sizes, instructions that read and write them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from vgfc.planning.buffers import Buffer


@dataclass(frozen=True, slots=True)
class Instruction:
    """What one operator reads and writes, as indices of values."""

    operands: tuple[int, ...]
    results: tuple[int, ...]


@dataclass(frozen=True)
class Program:
    """Instructions in the order in which they run, over values numbered from 0.

    sizes_bytes:   size of each value; 0 for one that is stored elsewhere (graph input or output, constant), so costs nothing.
    instructions:  each value is written by at most one of them, before it is read; one that none writes exists from the start.
    kept:          values that have to stay until the end.

    Raises ValueError when a value does not exist, is written twice or is read before it is written.
    """

    sizes_bytes: tuple[int, ...]
    instructions: tuple[Instruction, ...]
    kept: frozenset[int] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        writer: dict[int, int] = {}
        for position, instruction in enumerate(self.instructions):
            for value in (*instruction.operands, *instruction.results):
                if not 0 <= value < len(self.sizes_bytes):
                    raise ValueError(f"instruction {position} has value {value}, wanted below {len(self.sizes_bytes)}")
            for value in instruction.results:
                if value in writer:
                    raise ValueError(f"value {value} is written by instructions {writer[value]} and {position}")
                writer[value] = position
        for position, instruction in enumerate(self.instructions):
            for value in instruction.operands:
                if writer.get(value, -1) >= position:
                    raise ValueError(f"instruction {position} reads value {value}, which {writer[value]} writes")
        for value in self.kept:
            if not 0 <= value < len(self.sizes_bytes):
                raise ValueError(f"value {value} is kept, wanted below {len(self.sizes_bytes)}")

    def reordered(self, order: Sequence[int]) -> "Program":
        """The same program with its instructions in another order (a permutation of their indices)."""
        return Program(self.sizes_bytes, tuple(self.instructions[index] for index in order), self.kept)


def live_ranges(program: Program) -> dict[int, Buffer]:
    """Lifetime of every value that takes storage: value -> buffer named after it.

    Instruction i runs in instant i; what it reads and what it writes is live in that instant together. A value is live from
    the instruction that writes it, or from the start, up to and including the last that reads it. A value that nothing
    touches has no lifetime unless it is kept.
    """
    return {
        value: Buffer(str(value), lower, upper, program.sizes_bytes[value])
        for value, (lower, upper) in lifetimes(program).items()
    }


def lifetimes(program: Program) -> dict[int, tuple[int, int]]:
    """The lifetimes of `live_ranges` alone: value -> (first instant, instant after the last), values in ascending order."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for position, instruction in enumerate(program.instructions):
        for value in instruction.operands:
            first.setdefault(value, 0)  # none that is written is read first
            last[value] = position
        for value in instruction.results:
            first[value] = last[value] = position
    for value in program.kept:
        first.setdefault(value, 0)
        last[value] = max(len(program.instructions) - 1, 0)
    sizes = program.sizes_bytes
    return {value: (first[value], last[value] + 1) for value in sorted(first) if sizes[value] > 0}


def footprints_bytes(program: Program) -> list[int]:
    """Bytes live while each instruction runs."""
    change = [0] * (len(program.instructions) + 1)
    for value, (lower, upper) in lifetimes(program).items():
        if program.instructions:
            change[lower] += program.sizes_bytes[value]
            change[upper] -= program.sizes_bytes[value]
    footprints = []
    live = 0
    for difference in change[:-1]:
        live += difference
        footprints.append(live)
    return footprints


def peak_bytes(program: Program) -> int:
    """The most bytes live while one instruction runs, in the order the program has; 0 for an empty program."""
    return max(footprints_bytes(program), default=0)
