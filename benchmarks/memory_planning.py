"""Measures the memory planners on fixed instances: one command each, a table or JSON, exit status 1 where a goal is missed.

    python benchmarks/memory_planning.py networks      offset plans and alias groups of twelve real networks
    python benchmarks/memory_planning.py mobilenets    alias groups of MobileNet v1 and v2, as in Pisarchyk and Lee (2020)
    python benchmarks/memory_planning.py minimalloc    the eleven challenging instances of MiniMalloc
    python benchmarks/memory_planning.py wired         orders of randomly wired stages, as in Xie et al. (2019)

Every plan is checked by the checker. Times are of one thread: wall seconds and, as other work on the machine does not change
them, processor seconds.
"""

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.table import Table

from vgfc.planning import (
    Buffer,
    Instruction,
    Program,
    check_groups,
    check_offsets,
    check_order,
    fit_offsets,
    greedy_by_breadth,
    greedy_by_size,
    greedy_by_size_improved,
    group_sizes_bytes,
    largest_live_sum_bytes,
    live_ranges,
    peak_bytes,
    plan_groups,
    plan_offsets,
    positional_maxima_bytes,
    read_csv,
    schedule,
    session_bytes,
)

DATA = Path(__file__).parent / "data" / "memplan"
MIB = 1 << 20
FP32_BYTES = 4

Result = TypeVar("Result")
Row = dict[str, str | int | float | bool]


@dataclass(frozen=True)
class Goal:
    """A figure, what it has to be, and whether it is."""

    what: str
    figure: float
    wanted: str
    met: bool


@dataclass(frozen=True)
class Report:
    """What one command measured."""

    rows: list[Row]
    goals: list[Goal]


def timed(call: Callable[[], Result]) -> tuple[Result, float, float]:
    """(result of a call, wall seconds, processor seconds)."""
    wall, processor = time.perf_counter(), time.process_time()
    result = call()
    return result, time.perf_counter() - wall, time.process_time() - processor


def require_valid(faults: list[str]) -> None:
    """Ends the program when the checker found a fault: no figure of an invalid plan is worth printing."""
    if faults:
        sys.exit(f"invalid plan: {faults[0]}")


def networks() -> Report:
    """Offset plans against the largest live sum, alias groups against the sum of positional maxima."""
    rows: list[Row] = []
    for path in sorted((DATA / "networks").glob("*.csv")):
        buffers = read_csv(path)
        bound = largest_live_sum_bytes(buffers)
        offsets, offset_wall, offset_cpu = timed(partial(plan_offsets, buffers))
        require_valid(check_offsets(buffers, offsets.offsets_bytes, offsets.height_bytes))
        groups, _, group_cpu = timed(partial(plan_groups, buffers))
        require_valid(check_groups(buffers, groups.groups, groups.sizes_bytes))
        maxima = sum(positional_maxima_bytes(buffers))
        rows.append(
            {
                "network": path.stem,
                "buffers": len(buffers),
                "bound bytes": bound,
                "arena / bound": offsets.height_bytes / bound,
                "wall s": offset_wall,
                "cpu s": offset_cpu,
                "groups bound": maxima,
                "by size": sum(group_sizes_bytes(buffers, greedy_by_size(buffers))) / maxima,
                "groups / bound": groups.total_bytes / maxima,
                "proved": groups.optimal,
                "groups cpu s": group_cpu,
            }
        )
    ratios = [float(row["groups / bound"]) for row in rows]
    arena = max(float(row["arena / bound"]) for row in rows)
    times = [float(row["cpu s"]) for row in rows]
    return Report(
        rows,
        [
            Goal("largest arena / bound", arena, "1", arena == 1),
            Goal("longest offset planning, cpu s", max(times), "<= 1", max(times) <= 1),
            Goal("median offset planning, cpu s", statistics.median(times), "<= 0.1", statistics.median(times) <= 0.1),
            Goal("mean groups / bound", statistics.mean(ratios), "<= 1.15", statistics.mean(ratios) <= 1.15),
            Goal("largest groups / bound", max(ratios), "<= 1.30", max(ratios) <= 1.30),
        ],
    )


class Layers:
    """A network written down as the outputs of its layers, with activations fused (Howard et al. 2017, Sandler et al. 2018)."""

    def __init__(self) -> None:
        self.sizes_bytes = [0]  # value 0 is the image, which is not planned
        self.instructions: list[Instruction] = []

    def layer(self, side: int, channels: int, *inputs: int) -> int:
        """Adds a layer with an output of side x side x channels in fp32; returns its value."""
        self.sizes_bytes.append(side * side * channels * FP32_BYTES)
        self.instructions.append(Instruction(inputs, (len(self.sizes_bytes) - 1,)))
        return len(self.sizes_bytes) - 1

    def buffers(self) -> list[Buffer]:
        """Lifetimes of all outputs; the last is read by the softmax after it."""
        self.instructions.append(Instruction((len(self.sizes_bytes) - 1,), ()))
        return list(live_ranges(Program(tuple(self.sizes_bytes), tuple(self.instructions))).values())


def mobilenet_v1() -> list[Buffer]:
    """MobileNet v1, 224 pixels, width 1: a convolution, 13 depthwise separable ones, pooling, 1001 classes."""
    net = Layers()
    side, channels = 112, 32
    value = net.layer(side, channels, 0)
    blocks = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]
    for outputs, stride in blocks:
        side //= stride
        value = net.layer(side, channels, value)
        value = net.layer(side, outputs, value)
        channels = outputs
    net.layer(1, 1001, net.layer(1, channels, value))
    return net.buffers()


def mobilenet_v2() -> list[Buffer]:
    """MobileNet v2, 224 pixels, width 1: 17 inverted residuals between two convolutions, pooling, 1001 classes."""
    net = Layers()
    side, channels = 112, 32
    value = net.layer(side, channels, 0)
    stages = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for expansion, outputs, repeats, first_stride in stages:
        for repeat in range(repeats):
            stride = first_stride if repeat == 0 else 1
            inner = net.layer(side, channels * expansion, value) if expansion > 1 else value
            side //= stride
            inner = net.layer(side, channels * expansion, inner)
            inner = net.layer(side, outputs, inner)
            value = net.layer(side, outputs, value, inner) if stride == 1 and channels == outputs else inner
            channels = outputs
    net.layer(1, 1001, net.layer(1, 1280, net.layer(side, 1280, value)))
    return net.buffers()


def mobilenets() -> Report:
    """Alias groups of the two MobileNets; the paper's best totals are 4.594 and 6.891 MiB."""
    rows: list[Row] = []
    goals = []
    for name, buffers, tensors, most_mib in (
        ("MobileNet v1", mobilenet_v1(), 29, 4.594),
        ("MobileNet v2", mobilenet_v2(), 64, 6.891),
    ):
        plan, wall, cpu = timed(partial(plan_groups, buffers))
        require_valid(check_groups(buffers, plan.groups, plan.sizes_bytes))
        total = plan.total_bytes / MIB
        row: Row = {
            "network": name,
            "buffers": len(buffers),
            "maxima MiB": sum(positional_maxima_bytes(buffers)) / MIB,
        }
        for heuristic in (greedy_by_size, greedy_by_size_improved, greedy_by_breadth):
            title = heuristic.__name__.removeprefix("greedy_").replace("_", " ")
            row[title] = sum(group_sizes_bytes(buffers, heuristic(buffers))) / MIB
        row |= {
            "plan MiB": total,
            "groups": len(plan.sizes_bytes),
            "proved": plan.optimal,
            "wall s": wall,
            "cpu s": cpu,
        }
        rows.append(row)
        goals.append(Goal(f"{name}, tensors", len(buffers), str(tensors), len(buffers) == tensors))
        goals.append(Goal(f"{name}, MiB", total, f"<= {most_mib}", round(total, 3) <= most_mib))
        goals.append(Goal(f"{name}, proved optimal", float(plan.optimal), "1", plan.optimal))
    return Report(rows, goals)


def minimalloc() -> Report:
    """Capacity plans of MiniMalloc's instances; 41 s is what its own C++ needed for all on a machine like the one aimed at."""
    rows: list[Row] = []
    for path in sorted((DATA / "minimalloc").glob("[A-K].*.csv")):
        buffers = read_csv(path)
        capacity = int(path.name.split(".")[1])
        fit, wall, cpu = timed(partial(fit_offsets, buffers, capacity))
        if fit.offsets_bytes is not None:
            require_valid(check_offsets(buffers, fit.offsets_bytes, capacity))
        rows.append(
            {
                "instance": path.name.split(".")[0],
                "buffers": len(buffers),
                "capacity": capacity,
                "bound bytes": largest_live_sum_bytes(buffers),
                "fits": fit.offsets_bytes is not None,
                "steps": fit.steps,
                "wall s": wall,
                "cpu s": cpu,
            }
        )
    fitted = sum(bool(row["fits"]) for row in rows)
    total = sum(float(row["cpu s"]) for row in rows)
    return Report(
        rows,
        [
            Goal("instances that fit", fitted, "11", fitted == 11),
            Goal("all instances, cpu s", total, "<= 41", total <= 41),
        ],
    )


def wired_stage(seed: int, nodes: int = 32, neighbours: int = 4, rewired: float = 0.75) -> Program:
    """A stage wired by a Watts-Strogatz graph, every edge from the lower to the higher node (Xie et al. 2019).

    Each node adds up what reaches it and makes one tensor of 4 to 64 KiB; the tensors no node reads are joined at the end.
    """
    generator = random.Random(seed)
    edges = {(node, (node + step) % nodes) for step in range(1, neighbours // 2 + 1) for node in range(nodes)}
    linked = {frozenset(edge) for edge in edges}
    for edge in sorted(edges):
        if generator.random() < rewired:
            free = [other for other in range(nodes) if other != edge[0] and frozenset((edge[0], other)) not in linked]
            linked.remove(frozenset(edge))
            linked.add(frozenset((edge[0], generator.choice(free))))
    sizes = [0]
    instructions = []
    for node in range(nodes):
        reads = tuple(sorted(min(pair) + 1 for pair in linked if max(pair) == node))
        sizes.append(generator.choice([1, 2, 3, 4, 6, 8, 12, 16]) * 4096)
        instructions.append(Instruction(reads or (0,), (node + 1,)))
    read = {value for instruction in instructions for value in instruction.operands}
    sizes.append(0)
    instructions.append(Instruction(tuple(node for node in range(1, nodes + 1) if node not in read), (nodes + 1,)))
    return Program(tuple(sizes), tuple(instructions))


def wired() -> Report:
    """Orders of ten wired stages: the lowest peak, proved, and the smallest session of the runtime that was found."""
    rows: list[Row] = []
    for seed in range(10):
        program = wired_stage(seed)
        best, wall, cpu = timed(partial(schedule, program))
        require_valid(check_order(program, best.order))
        for_session, _, session_cpu = timed(partial(schedule, program, session_bytes))
        require_valid(check_order(program, for_session.order))
        rows.append(
            {
                "seed": seed,
                "peak before": peak_bytes(program),
                "peak": best.cost_bytes,
                "proved": best.optimal,
                "wall s": wall,
                "cpu s": cpu,
                "session before": session_bytes(program),
                "session": for_session.cost_bytes,
                "session cpu s": session_cpu,
            }
        )
    proved = sum(bool(row["proved"]) for row in rows)
    slowest = max(float(row["cpu s"]) for row in rows)
    worse = sum(
        int(row["peak"]) > int(row["peak before"]) or int(row["session"]) > int(row["session before"]) for row in rows
    )
    return Report(
        rows,
        [
            Goal("stages proved optimal", proved, "10", proved == 10),
            Goal("slowest, cpu s", slowest, "<= 1", slowest <= 1),
            Goal("stages worse than before", worse, "0", worse == 0),
        ],
    )


def show(report: Report, title: str) -> None:
    """Prints the rows as a table and the goals below it."""
    console = Console(width=None if sys.stdout.isatty() else 160)
    table = Table(title=title)
    for column in report.rows[0]:
        table.add_column(column, justify="left" if isinstance(report.rows[0][column], str) else "right")
    for row in report.rows:
        table.add_row(*(f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row.values()))
    console.print(table)
    for goal in report.goals:
        console.print(f"{'met   ' if goal.met else 'MISSED'} {goal.what}: {goal.figure:.4g}, wanted {goal.wanted}")


def main() -> int:
    """Runs one command; returns 1 when a goal is missed."""
    commands = {"networks": networks, "mobilenets": mobilenets, "minimalloc": minimalloc, "wired": wired}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("command", choices=commands)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    report = commands[arguments.command]()
    if arguments.json:
        print(json.dumps(asdict(report), indent=2))
    else:
        show(report, arguments.command)
    return 0 if all(goal.met for goal in report.goals) else 1


if __name__ == "__main__":
    sys.exit(main())
