"""The order of instructions with the lowest peak of live bytes: exact search over what has run so far.

A state is the set of instructions that have run; the bytes live after it depend on the set alone, not on the order. The lowest
peak over all paths to the full set is found by taking states in the order of the peak needed to reach them (Dijkstra's
algorithm with the maximum in place of the sum), so the first path to the full set is optimal, and the peak of any state taken
before is a lower bound.

- The program is cut wherever everything before precedes everything after in every order; each piece is searched on its own.
  In a chain with branches that is wherever one value is live.
- An instruction that can run without exceeding the peak so far, and after which no more is live than before, is run at once:
  running it later would free no more, and every state between has at least as much live without it.
- No peak is below the operands and results of the hungriest instruction, so every search starts from there.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from vgfc.planning.budget import Budget, OutOfBudget
from vgfc.planning.program import Program


@dataclass(frozen=True)
class PieceOrder:
    """An order of some instructions; None when the budget ended. No order of them has a peak below `bound_bytes`."""

    order: tuple[int, ...] | None
    bound_bytes: int


class Lifetimes:
    """What runs before what, and how many bytes are live after a set of instructions (the bits of an integer) has run."""

    def __init__(self, program: Program) -> None:
        self.count = len(program.instructions)
        self.sizes = program.sizes_bytes
        self.writer = [-1] * len(self.sizes)
        self.readers = [0] * len(self.sizes)
        self.reads = [sorted(set(instruction.operands)) for instruction in program.instructions]
        self.written_bytes = [0] * self.count
        for index, instruction in enumerate(program.instructions):
            for value in instruction.results:
                self.writer[value] = index
            for value in self.reads[index]:
                self.readers[value] |= 1 << index
            self.written_bytes[index] = sum(self.sizes[value] for value in instruction.results)
        self.before = [0] * self.count
        for index, values in enumerate(self.reads):
            for value in values:
                if self.writer[value] >= 0:
                    self.before[index] |= 1 << self.writer[value]
        # What an instruction may free, with who else reads it: kept values and those of no size never matter.
        self.freed: list[list[tuple[int, int]]] = []
        for index, instruction in enumerate(program.instructions):
            mortal = [value for value in self.reads[index] if value not in program.kept and self.sizes[value] > 0]
            unread = [
                value
                for value in instruction.results
                if not self.readers[value] and value not in program.kept and self.sizes[value] > 0
            ]
            self.freed.append([(self.readers[value], self.sizes[value]) for value in mortal])
            self.freed[-1].extend((1 << index, self.sizes[value]) for value in unread)
        self.start_bytes = sum(
            size
            for value, size in enumerate(self.sizes)
            if self.writer[value] < 0 and (self.readers[value] or value in program.kept)
        )

    def change_bytes(self, index: int, done: int) -> int:
        """Bytes live after running instruction `index` beyond those before, when `done` have run."""
        done |= 1 << index
        change = self.written_bytes[index]
        for readers, size in self.freed[index]:
            if not readers & ~done:
                change -= size
        return change

    def peak_bytes(self, order: Sequence[int], done: int = 0, live: int | None = None) -> int:
        """The most bytes live while one instruction of `order` runs, starting after `done` with `live` bytes live."""
        live = self.start_bytes if live is None else live
        peak = 0
        for index in order:
            peak = max(peak, live + self.written_bytes[index])
            live += self.change_bytes(index, done)
            done |= 1 << index
        return peak


def pieces(lifetimes: Lifetimes) -> list[list[int]]:
    """Instructions cut into runs that follow each other in every order; each run in the order of the program."""
    ancestors = [0] * lifetimes.count
    for index in range(lifetimes.count):
        for earlier in _members(lifetimes.before[index]):
            ancestors[index] |= ancestors[earlier] | 1 << earlier
    cuts = []
    common = -1
    for index in range(lifetimes.count - 1, 0, -1):
        common &= ancestors[index]
        if not ((1 << index) - 1) & ~common:
            cuts.append(index)
    bounds = [0, *reversed(cuts), lifetimes.count]
    return [list(range(start, end)) for start, end in pairwise(bounds) if start < end]


def order_piece(lifetimes: Lifetimes, piece: Sequence[int], live_bytes: int, budget: Budget) -> PieceOrder:
    """The order with the lowest peak of the instructions of one piece, when all before it have run.

    `live_bytes` are live when it begins; `budget` counts states.
    """
    begin = (1 << piece[0]) - 1
    members = sum(1 << index for index in piece)
    full = begin | members
    read_bytes = [
        sum(lifetimes.sizes[value] for value in lifetimes.reads[index]) + lifetimes.written_bytes[index]
        for index in piece
    ]
    bound = max(live_bytes, *read_bytes)
    # Of states with the same peak the one furthest on is taken first.
    waiting = [(bound, 0, begin, live_bytes)]
    came_from: dict[int, tuple[int, int]] = {}
    lowest = {begin: bound}
    followers: dict[int, list[int]] = {index: [] for index in piece}
    for index in piece:
        for earlier in _members(lifetimes.before[index] & members):
            followers[earlier].append(index)
    while waiting:
        peak, _, done, live = heapq.heappop(waiting)
        if peak > lowest[done]:
            continue
        if done == full:
            order = []
            while done != begin:
                done, index = came_from[done]
                order.append(index)
            return PieceOrder(tuple(reversed(order)), peak)
        try:
            budget.step()
        except OutOfBudget:
            return PieceOrder(None, peak)
        ready = [index for index in piece if not done >> index & 1 and not lifetimes.before[index] & ~done]
        moves = []
        for index in ready:
            needed = live + lifetimes.written_bytes[index]
            change = lifetimes.change_bytes(index, done)
            if needed <= peak and change <= 0:
                moves = [(index, peak, change)]
                break
            moves.append((index, max(peak, needed), change))
        for index, reached, change in moves:
            state = done | 1 << index
            if reached < lowest.get(state, reached + 1):
                lowest[state] = reached
                came_from[state] = (done, index)
                heapq.heappush(waiting, (reached, -state.bit_count(), state, live + change))
    raise AssertionError("a piece has an order")


def _members(instructions: int) -> list[int]:
    """Indices in a set of instructions, ascending."""
    found = []
    while instructions:
        lowest = instructions & -instructions
        found.append(lowest.bit_length() - 1)
        instructions ^= lowest
    return found
