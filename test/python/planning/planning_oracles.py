"""Random planning problems and slow, obviously right answers to small ones, which share no code with the planners."""

from itertools import permutations

from hypothesis import strategies

from vgfc.planning import Buffer, Instruction, Program


@strategies.composite
def buffer_lists(draw: strategies.DrawFn, most: int = 6, latest: int = 7, largest: int = 6) -> list[Buffer]:
    """Up to `most` buffers with small sizes and crowded lifetimes."""
    buffers = []
    for index in range(draw(strategies.integers(1, most))):
        lower = draw(strategies.integers(0, latest - 1))
        upper = draw(strategies.integers(lower + 1, latest))
        buffers.append(Buffer(f"b{index}", lower, upper, draw(strategies.integers(1, largest))))
    return buffers


@strategies.composite
def crowded_lists(draw: strategies.DrawFn, capacity: int = 5, most: int = 7) -> list[Buffer]:
    """At most `most` buffers of which those live at any one instant, from the first to the last, have `capacity` bytes."""
    live: list[tuple[int, int]] = []
    finished: list[Buffer] = []
    now = 0
    while len(finished) + len(live) < most - 1:
        free = capacity - sum(size for _, size in live)
        while free > 0:
            size = draw(strategies.integers(1, free)) if len(finished) + len(live) < most - 1 else free
            live.append((now, size))
            free -= size
        now += 1
        ended = draw(strategies.sets(strategies.integers(0, len(live) - 1), min_size=1))
        for index in sorted(ended, reverse=True):
            lower, size = live.pop(index)
            finished.append(Buffer(f"b{len(finished)}", lower, now, size))
    finished.extend(
        Buffer(f"b{len(finished) + index}", lower, now, size) for index, (lower, size) in enumerate(live) if lower < now
    )
    return finished


@strategies.composite
def programs(draw: strategies.DrawFn, most: int = 6, largest: int = 9) -> Program:
    """Up to `most` instructions in a valid order; some values kept, some stored elsewhere, some never read or written."""
    sizes = [draw(strategies.integers(0, largest))]
    instructions = []
    for _ in range(draw(strategies.integers(1, most))):
        operands = draw(strategies.sets(strategies.integers(0, len(sizes) - 1), max_size=3))
        results = []
        for _ in range(draw(strategies.integers(1, 2))):
            results.append(len(sizes))
            sizes.append(draw(strategies.integers(0, largest)))
        instructions.append(Instruction(tuple(sorted(operands)), tuple(results)))
    kept = draw(strategies.frozensets(strategies.integers(0, len(sizes) - 1), max_size=2))
    return Program(tuple(sizes), tuple(instructions), kept)


def naive_peak_bytes(program: Program, order: tuple[int, ...]) -> int:
    """The peak by asking, at every instruction of an order and for every value, whether it has to be there."""
    steps = [program.instructions[index] for index in order]
    written = {value for step in steps for value in step.results}
    peak = 0
    for now, step in enumerate(steps):
        live = 0
        for value, size in enumerate(program.sizes_bytes):
            read_now_or_later = any(value in later.operands for later in steps[now:])
            read_later_or_kept = any(value in later.operands for later in steps[now + 1 :]) or value in program.kept
            exists = value not in written or any(value in earlier.results for earlier in steps[:now])
            if value in step.results or (exists and (read_now_or_later or read_later_or_kept)):
                live += size
        peak = max(peak, live)
    return peak


def valid_orders(program: Program) -> list[tuple[int, ...]]:
    """Every order in which values are written before they are read."""
    orders = []
    written = {value for item in program.instructions for value in item.results}
    for order in permutations(range(len(program.instructions))):
        there: set[int] = set()
        valid = True
        for index in order:
            valid = valid and all(
                value in there or value not in written for value in program.instructions[index].operands
            )
            there.update(program.instructions[index].results)
        if valid:
            orders.append(order)
    return orders


def naive_height_bytes(buffers: list[Buffer]) -> int:
    """The least height of an arena: over all orders, every buffer as low as those placed before it allow."""
    best = sum(buffer.size_bytes for buffer in buffers)

    def place(waiting: list[Buffer], placed: list[tuple[Buffer, int]], height: int) -> None:
        nonlocal best
        if height >= best:
            return
        if not waiting:
            best = height
        for position, buffer in enumerate(waiting):
            # The lowest place is at the bottom or on top of another buffer.
            offset = min(
                candidate
                for candidate in [0, *(below + other.size_bytes for other, below in placed)]
                if all(
                    other.upper <= buffer.lower
                    or buffer.upper <= other.lower
                    or below + other.size_bytes <= candidate
                    or candidate + buffer.size_bytes <= below
                    for other, below in placed
                )
            )
            others = waiting[:position] + waiting[position + 1 :]
            place(others, [*placed, (buffer, offset)], max(height, offset + buffer.size_bytes))

    place(buffers, [], 0)
    return best


def naive_total_bytes(buffers: list[Buffer]) -> int:
    """The least total of alias groups, over all ways to part the buffers into groups."""

    def least(index: int, groups: list[list[Buffer]]) -> int:
        if index == len(buffers):
            return sum(max(member.size_bytes for member in group) for group in groups)
        buffer = buffers[index]
        totals = [least(index + 1, [*groups, [buffer]])]
        for position, group in enumerate(groups):
            if all(member.upper <= buffer.lower or buffer.upper <= member.lower for member in group):
                totals.append(least(index + 1, [*groups[:position], [*group, buffer], *groups[position + 1 :]]))
        return min(totals)

    return least(0, [])
