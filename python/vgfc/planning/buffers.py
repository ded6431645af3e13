"""Buffers with lifetimes, and the bounds no plan can go below.

Time is a sequence of instants; a buffer is live from `lower` up to, but not including, `upper`. The CSV form is the one
MiniMalloc (Moffitt, ASPLOS 2023) reads: a header `id,lower,upper,size`, one buffer a line.
"""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

CSV_COLUMNS = ("id", "lower", "upper", "size")


@dataclass(frozen=True, slots=True)
class Buffer:
    """Storage for one value: `size_bytes` from instant `lower` up to, not including, `upper`.

    Raises ValueError for an empty lifetime or a negative size.
    """

    name: str
    lower: int
    upper: int
    size_bytes: int

    def __post_init__(self) -> None:
        if self.lower >= self.upper:
            raise ValueError(f"buffer '{self.name}' is live from {self.lower} to {self.upper}, wanted lower < upper")
        if self.size_bytes < 0:
            raise ValueError(f"buffer '{self.name}' has {self.size_bytes} bytes, wanted at least 0")

    def overlaps(self, other: "Buffer") -> bool:
        """Whether both are live at some instant."""
        return self.lower < other.upper and other.lower < self.upper


def read_csv(path: Path) -> list[Buffer]:
    """Buffers of a CSV file, in its order; raises ValueError naming the file and line where it is malformed."""
    buffers = []
    with path.open(newline="") as lines:
        reader = csv.DictReader(lines)
        missing = [column for column in CSV_COLUMNS if column not in (reader.fieldnames or ())]
        if missing:
            raise ValueError(f"{path}: no column '{missing[0]}', wanted {','.join(CSV_COLUMNS)}")
        for row in reader:
            try:
                buffers.append(Buffer(row["id"], int(row["lower"]), int(row["upper"]), int(row["size"])))
            except (TypeError, ValueError) as error:
                raise ValueError(f"{path}:{reader.line_num}: {error}") from error
    return buffers


def aligned(size_bytes: int, alignment_bytes: int) -> int:
    """`size_bytes` rounded up to a multiple of `alignment_bytes`."""
    return -(-size_bytes // alignment_bytes) * alignment_bytes


def crowded_instants(buffers: Iterable[Buffer]) -> list[tuple[int, list[int]]]:
    """(instant, indices of the buffers live then) for every instant whose live set no other live set contains.

    Each bound and each overlap is decided by these instants alone; there are at most as many as buffers. Sorted by time.
    """
    events: list[tuple[int, bool, int]] = []
    for index, buffer in enumerate(buffers):
        events.append((buffer.lower, True, index))
        events.append((buffer.upper, False, index))
    events.sort()
    live: set[int] = set()
    instants = []
    # A live set is largest where a buffer has begun and the next thing to happen is an end.
    for (instant, begins, index), following in pairwise([*events, (0, False, -1)]):
        if begins:
            live.add(index)
            if not following[1]:
                instants.append((instant, sorted(live)))
        else:
            live.discard(index)
    return instants


def peak(buffers: Sequence[Buffer]) -> tuple[int, list[int]]:
    """(first instant with the largest live sum, indices of the buffers live then); (0, []) when there are none."""

    def live_bytes(instant: tuple[int, list[int]]) -> int:
        return sum(buffers[index].size_bytes for index in instant[1])

    return max(crowded_instants(buffers), key=live_bytes, default=(0, []))


def largest_live_sum_bytes(buffers: Sequence[Buffer]) -> int:
    """The most bytes live at one instant: no arena can be smaller."""
    return sum(buffers[index].size_bytes for index in peak(buffers)[1])


def positional_maxima_bytes(buffers: Sequence[Buffer]) -> tuple[int, ...]:
    """Sizes below which no set of alias groups can go, largest first (Pisarchyk and Lee 2020, section 4).

    Entry i is the largest, over all instants, of the i-th largest live size: at that instant i + 1 buffers of at least that
    size are in different groups, so at least i + 1 groups are that large. The sum bounds the bytes of any plan.
    """
    maxima: list[int] = []
    for _, live in crowded_instants(buffers):
        sizes = sorted((buffers[index].size_bytes for index in live), reverse=True)
        maxima.extend([0] * (len(sizes) - len(maxima)))
        for position, size in enumerate(sizes):
            maxima[position] = max(maxima[position], size)
    return tuple(maxima)
