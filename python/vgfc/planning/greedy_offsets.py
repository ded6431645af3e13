"""Offsets by placing one buffer after the other, each where it fits best.

The order decides the result. By size, largest first, with the smallest gap that fits is the best single heuristic that
Pisarchyk and Lee ("Efficient memory management for deep neural net inference", 2020) found; the other orders do better on
plans with long-lived buffers.
"""

from collections.abc import Sequence

from vgfc.planning.buffers import Buffer, aligned


def place_in_order(buffers: Sequence[Buffer], order: Sequence[int], alignment_bytes: int = 1) -> tuple[int, ...]:
    """Offset in bytes of each buffer, placed in the order of indices `order`, each in the smallest gap that fits."""
    offsets = [0] * len(buffers)
    placed: list[int] = []
    for index in order:
        buffer = buffers[index]
        taken = sorted(
            (offsets[other], offsets[other] + buffers[other].size_bytes)
            for other in placed
            if buffer.lower < buffers[other].upper and buffers[other].lower < buffer.upper
        )
        best_offset: int | None = None
        best_gap = 0
        top = 0
        for begin, end in taken:
            gap = begin - top
            if gap >= buffer.size_bytes and (best_offset is None or gap < best_gap):
                best_offset = top
                best_gap = gap
            top = max(top, aligned(end, alignment_bytes))
        offsets[index] = top if best_offset is None else best_offset
        placed.append(index)
    return tuple(offsets)


def by_size(buffers: Sequence[Buffer]) -> list[int]:
    """Indices of the buffers, largest first; the one that begins first of equals."""
    return sorted(range(len(buffers)), key=lambda index: (-buffers[index].size_bytes, buffers[index].lower))


def by_lifetime(buffers: Sequence[Buffer]) -> list[int]:
    """Indices of the buffers, longest-lived first; the larger of equals."""
    return sorted(
        range(len(buffers)),
        key=lambda index: (buffers[index].lower - buffers[index].upper, -buffers[index].size_bytes),
    )


def by_area(buffers: Sequence[Buffer]) -> list[int]:
    """Indices of the buffers, largest product of size and lifetime first."""
    return sorted(
        range(len(buffers)),
        key=lambda index: (buffers[index].lower - buffers[index].upper) * buffers[index].size_bytes,
    )


def height_bytes(buffers: Sequence[Buffer], offsets_bytes: Sequence[int]) -> int:
    """Bytes of the arena that holds all buffers at these offsets."""
    return max(
        (offset + buffer.size_bytes for buffer, offset in zip(buffers, offsets_bytes, strict=True)),
        default=0,
    )
