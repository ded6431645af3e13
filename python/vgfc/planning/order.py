"""Orders of a program's instructions that need less memory than the one it came in, never more.

Each piece of the program is searched exactly; a piece with too many states for the budget gets the best of a beam search, which
is greedy list scheduling that keeps several candidates. Where the objective is not met yet, single instructions are moved
for as long as that helps.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vgfc.planning.budget import Budget, OutOfBudget
from vgfc.planning.exact_order import Lifetimes, order_piece, pieces
from vgfc.planning.program import Instruction, Program, footprints_bytes, peak_bytes

DEFAULT_STEPS = 200_000
BEAM_WIDTH = 64
SEED = 20240301


@dataclass(frozen=True)
class Schedule:
    """An order of a program's instructions (indices), its cost in bytes, and a bound that no order can go below.

    The order is proved optimal when `cost_bytes == lower_bound_bytes`.
    """

    order: tuple[int, ...]
    cost_bytes: int
    lower_bound_bytes: int

    @property
    def optimal(self) -> bool:
        """Whether no order can cost less."""
        return self.cost_bytes == self.lower_bound_bytes


def schedule(
    program: Program,
    objective: Callable[[Program], int] = peak_bytes,
    steps: int | None = DEFAULT_STEPS,
    seconds: float | None = None,
) -> Schedule:
    """The order with the least `objective` found: bytes as a function of a program, at no order less than its `peak_bytes`.

    Of equally good orders the one the program has is kept. The search ends with a proved optimum or after `steps` steps (a
    state or an order looked at) or `seconds`; with `seconds` None the result depends on the arguments alone.
    """
    budget = Budget(steps, seconds)
    incoming = tuple(range(len(program.instructions)))
    best, cost = incoming, objective(program)
    bound, candidates = _low_peak_orders(program, budget)
    for order in candidates:
        order_cost = objective(program.reordered(order))
        if order_cost < cost:
            best, cost = order, order_cost
    if cost > bound:
        best, cost = _move_instructions(program, best, cost, bound, objective, budget)
    return Schedule(best, cost, bound)


def _low_peak_orders(program: Program, budget: Budget) -> tuple[int, list[tuple[int, ...]]]:
    """(lower bound of the peak, orders): the one that changes only pieces that decide the peak, and the best in every piece."""
    riders = _riders(program)
    main = [index for index in range(len(program.instructions)) if index not in riders]
    core = Program(program.sizes_bytes, tuple(program.instructions[index] for index in main), program.kept)
    lifetimes = Lifetimes(core)
    cut = pieces(lifetimes)
    live = lifetimes.start_bytes
    done = 0
    bound = 0
    found: list[tuple[list[int], int, list[int]]] = []  # of every piece: incoming order, its peak, best order
    peak = 0
    for number, piece in enumerate(cut):
        # What the pieces before left over goes to those after, so a small budget is not lost on the first.
        left = None if budget.limit_steps is None else budget.limit_steps - budget.used_steps
        part = budget.part(left // (len(cut) - number)) if left is not None else budget.part(DEFAULT_STEPS)
        incoming_peak = lifetimes.peak_bytes(piece, done, live)
        result = order_piece(lifetimes, piece, live, part)
        order = list(result.order) if result.order is not None else beam_order(lifetimes, piece, done, live, budget)
        order_peak = lifetimes.peak_bytes(order, done, live)
        if incoming_peak <= order_peak:
            order, order_peak = piece, incoming_peak
        found.append((piece, incoming_peak, order))
        peak = max(peak, order_peak)
        bound = max(bound, result.bound_bytes)
        for index in piece:
            live += lifetimes.change_bytes(index, done)
            done |= 1 << index
    needed = [index for piece, incoming_peak, order in found for index in (piece if incoming_peak <= peak else order)]
    lowest = [index for _, _, order in found for index in order]
    return bound, [_with_riders([main[index] for index in order], riders) for order in (needed, lowest)]


def _riders(program: Program) -> dict[int, int]:
    """Instructions that only hand one value out, each with the instruction it best follows at once: that value's writer.

    Such an instruction has results that take no storage and that nothing reads, so it costs nothing where its operand is live
    anyway; kept apart it would stop the program from falling into pieces.
    """
    writer = {value: index for index, item in enumerate(program.instructions) for value in item.results}
    read = {value for item in program.instructions for value in item.operands}

    def hands_out(item: Instruction) -> bool:
        return all(program.sizes_bytes[value] == 0 and value not in read for value in item.results)

    riders = {}
    for index, item in enumerate(program.instructions):
        writers = {writer[value] for value in item.operands if value in writer}
        unwritten = any(program.sizes_bytes[value] > 0 and value not in writer for value in item.operands)
        if len(writers) == 1 and not unwritten and hands_out(item):
            riders[index] = writers.pop()
    return riders


def _with_riders(order: Sequence[int], riders: dict[int, int]) -> tuple[int, ...]:
    following: dict[int, list[int]] = {}
    for rider, leader in riders.items():
        following.setdefault(leader, []).append(rider)
    return tuple(item for index in order for item in (index, *following.get(index, ())))


def beam_order(lifetimes: Lifetimes, piece: Sequence[int], done: int, live: int, budget: Budget) -> list[int]:
    """An order of the instructions of a piece by beam search: one more instruction at a time, the BEAM_WIDTH best are kept.

    Best is the lowest peak so far, then the fewest bytes live. When `budget` ends, only the best is kept from there on.
    """
    beam: dict[int, tuple[int, int, tuple[int, ...]]] = {done: (live, live, ())}
    for _ in piece:
        following: dict[int, tuple[int, int, tuple[int, ...]]] = {}
        for state, (peak, bytes_live, order) in beam.items():
            for index in piece:
                if state >> index & 1 or lifetimes.before[index] & ~state:
                    continue
                reached = max(peak, bytes_live + lifetimes.written_bytes[index])
                after = bytes_live + lifetimes.change_bytes(index, state)
                known = following.get(state | 1 << index)
                if known is None or (reached, after) < known[:2]:
                    following[state | 1 << index] = (reached, after, (*order, index))
        width = BEAM_WIDTH
        try:
            budget.step(len(beam))
        except OutOfBudget:
            width = 1
        beam = dict(sorted(following.items(), key=lambda item: item[1][:2])[:width])
    return list(next(iter(beam.values()))[2])


def _move_instructions(
    program: Program,
    order: tuple[int, ...],
    cost: int,
    bound: int,
    objective: Callable[[Program], int],
    budget: Budget,
) -> tuple[tuple[int, ...], int]:
    """A better order by moving one instruction at a time, to a random place its operands and readers allow.

    A move is kept unless it costs more, or as much with more bytes live in sum; so the search drifts along plateaus.
    """
    generator = random.Random(SEED)
    readers: dict[int, set[int]] = {}
    writers: dict[int, set[int]] = {}
    writer = {value: index for index, item in enumerate(program.instructions) for value in item.results}
    for index, item in enumerate(program.instructions):
        writers[index] = {writer[value] for value in item.operands if value in writer}
        for earlier in writers[index]:
            readers.setdefault(earlier, set()).add(index)
    best = order
    rank = (cost, sum(footprints_bytes(program.reordered(order))))
    # Where nothing can move, as in a chain, no try counts: stop after as many as would have moved everything many times.
    futile = 0
    while cost > bound and futile < 50 * len(order):
        futile += 1
        place = generator.randrange(len(order))
        index = order[place]
        low = place
        while low > 0 and order[low - 1] not in writers[index]:
            low -= 1
        high = place
        while high + 1 < len(order) and order[high + 1] not in readers.get(index, set()):
            high += 1
        if low == high:
            continue
        try:
            budget.step(1 + len(order) // 2)
        except OutOfBudget:
            break
        target = generator.randrange(low, high)
        target += target >= place
        moved = [*order[:place], *order[place + 1 :]]
        moved.insert(target, index)
        candidate = program.reordered(moved)
        candidate_cost = objective(candidate)
        if candidate_cost > rank[0]:
            continue  # the sum of live bytes, which takes as long again, decides nothing
        candidate_rank = (candidate_cost, sum(footprints_bytes(candidate)))
        if candidate_rank <= rank:
            if candidate_rank < rank:
                futile = 0
            order, rank = tuple(moved), candidate_rank
            if rank[0] < cost:
                best, cost = order, rank[0]
    return best, cost
