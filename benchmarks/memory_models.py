"""Device memory of compiled models: what is predicted, what the runtime reports, and what the passes save.

    python -m benchmarks.memory_models sessions [--precision int8] [--stripes] [--run] [--json FILE] [model ...]
    python -m benchmarks.memory_models peaks    [--precision int8] [--json FILE] [model ...]
    python -m benchmarks.memory_models segments [--precision int8] [--json FILE] [model ...]
    python -m benchmarks.memory_models random   [--count 50] [--json FILE]

`sessions`: the session of each of the six models beside the runtime's figure, ExecuTorch's, and its own with nothing cut into
parts; with `--stripes` as compiled with `stripes=True`; with `--run` results with and without parts are compared to the bit on
Vulkan. `peaks`: what a session is full with when nothing is cut, and the three single cuts that save most bytes for each
operator more. `segments`: models cut into 4 and 8 segments of as many operators each; what lies between them without alias
groups, with, with those that write in place, and the least that groups can take; results compared to the bit on Vulkan.
`random`: predictions for random graphs against the runtime. Below the table are the goals; the exit status is 1 where one is
missed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from torch_mlir import ir

import vgfc
from benchmarks import models
from benchmarks.memory_planning import Goal, Report, Row, show
from vgfc import ir as helpers
from vgfc.compiler import run_pipeline
from vgfc.emit.vgf import emit
from vgfc.frontend.load import parse_mlir
from vgfc.frontend.torch import import_program
from vgfc.ir import bytecode
from vgfc.memory import entry_program
from vgfc.passmanager import parse_pipeline, run_steps
from vgfc.pipeline import LEGALIZE, MEMORY, PARTITION, PIPELINES, QUANTIZE, SHORTEN, SIMPLIFY
from vgfc.planning import live_ranges, plan_groups
from vgfc.quantizer import quantize
from vgfc.runtime.vulkan import VulkanProgram, session_bytes
from vgfc.segments import SEGMENT_NAME, is_constant, partitioned_entry, symbols_of
from vgfc.stretches import stretches
from vgfc.stripe_search import FIRST_PARTS, Choice, Segment
from vgfc.target import attach, read_target
from vgfc.vgf_file import decode

TARGETS = {"fp32": None, "int8": "TOSA-1.0+INT"}
# Session bytes of ExecuTorch 1.5.1's files for the same models, as benchmarks/compare_executorch.py measures them.
EXECUTORCH_BYTES = {
    "fp32": {
        "cnn": 143360,
        "mobilenet_v2": 13447168,
        "resnet18": 7024640,
        "nss_unet": 11010048,
        "encoder": 1114368,
        "convnext": 507904,
    },
    "int8": {
        "cnn": 84992,
        "mobilenet_v2": 8178688,
        "resnet18": 4164608,
        "nss_unet": 4915200,
        "encoder": 591104,
        "convnext": 309824,
    },
}
STRIPED_GOALS = ("mobilenet_v2", "resnet18", "nss_unet")  # at most STRIPED_SHARE of ExecuTorch's with stripes
STRIPED_SHARE = 0.6
SUM_SAVING = 0.1  # of ExecuTorch's sessions, in sum over the six models
GROUP_SAVING = 0.3  # of what lies between segments
COUNTS = (4, 8)  # segments that models are cut into
REPEATED_SHARE = 0.1  # of a model's multiplications, that a cut among the cheapest may do twice
LONGEST_STRETCH = 6
UNARY = ("abs", "ceil", "floor", "exp", "tanh", "sigmoid")
BINARY = ("add", "sub", "maximum", "minimum")


def imported(name: str, precision: str) -> tuple[bytes, list[np.ndarray[Any, Any]]]:
    """One of the six models in the torch dialect, as bytecode, and an example input."""
    model, inputs, calibration = models.get(name)
    if precision == "int8":
        model = quantize(model, calibration, "int8")
    module = import_program(model, inputs)
    return bytecode(module), [tensor.numpy() for tensor in inputs]


def sessions(options: argparse.Namespace) -> Iterator[Row]:
    """The session of each model, predicted and reported, beside ExecuTorch's."""
    for name in options.models or list(models.SPECS):
        content, inputs = imported(name, options.precision)
        target = TARGETS[options.precision]
        start = time.perf_counter()
        program = vgfc.compile_mlir(content, target=target, stripes=options.stripes or None)
        seconds = time.perf_counter() - start
        uncut = vgfc.compile_mlir(content, target=target, stripes=False)
        reference = EXECUTORCH_BYTES[options.precision][name]
        memory = program.memory()
        row: Row = {
            "model": name,
            "predicted": memory.session_bytes,
            "runtime": session_bytes(program.vgf, decode(program.vgf)),
            "live at peak": sum(session.bound_bytes for session in memory.sessions),
            "ExecuTorch": reference,
            "share": memory.session_bytes / reference,
            "uncut": uncut.memory().session_bytes,
            "operators": program.report().operator_count,
            "operators uncut": uncut.report().operator_count,
            "compile s": seconds,
        }
        if options.run:
            row["equal bits"] = same_bits(results(program, inputs), results(uncut, inputs))
        yield row


def session_goals(options: argparse.Namespace, rows: list[Row]) -> list[Goal]:
    """Predictions, what ExecuTorch takes for each model and in sum, and bits."""
    right = sum(row["predicted"] == row["runtime"] for row in rows)
    above = sum(float(row["share"]) > 1 for row in rows)
    goals = [
        Goal("sessions predicted to the byte", right, str(len(rows)), right == len(rows)),
        Goal("sessions above ExecuTorch's", above, "0", above == 0),
    ]
    if len(rows) == len(models.SPECS):
        share = sum(float(row["predicted"]) for row in rows) / sum(float(row["ExecuTorch"]) for row in rows)
        goals.append(Goal("below ExecuTorch, in sum", 1 - share, f">= {SUM_SAVING}", 1 - share >= SUM_SAVING))
    if options.stripes:
        for row in rows:
            if row["model"] in STRIPED_GOALS:
                share = float(row["share"])
                goals.append(
                    Goal(f"{row['model']}, of ExecuTorch's", share, f"<= {STRIPED_SHARE}", share <= STRIPED_SHARE)
                )
    if options.run:
        equal = sum(bool(row["equal bits"]) for row in rows)
        goals.append(Goal("results equal to the bit", equal, str(len(rows)), equal == len(rows)))
    return goals


def peaks(options: argparse.Namespace) -> Iterator[Row]:
    """What each model's session is full with when nothing is cut, and the cuts that save most for each operator more."""
    for name in options.models or list(models.SPECS):
        content, _ = imported(name, options.precision)
        program = vgfc.compile_mlir(content, target=TARGETS[options.precision], stripes=False)
        blocks = program.memory().sessions[0].peak_blocks
        with program.module.context:
            (function,) = (op for op in helpers.functions(program.module) if helpers.segment_kind(op) == "graph")
            segment = Segment(function)
            for choice in cheapest_cuts(segment, 3) or [None]:
                now = segment.session_bytes
                row: Row = {"model": name, "session": now}
                row["at the peak"] = ", ".join(f"{block.name} {block.type}" for block in blocks[:3])
                row["cut"] = "no single one saves" if choice is None else described_cut(segment, choice)
                row["session then"] = now if choice is None else choice.session_bytes
                row["operators more"] = 0 if choice is None else choice.operators - segment.operators
                yield row
            del segment, function, choice


def cheapest_cuts(segment: Segment, count: int) -> list[Choice]:
    """The cuts that save most of the session for each operator more, of stretches that end in different operators."""
    allowed = REPEATED_SHARE * sum(segment.work.values())
    best: dict[int, tuple[float, Choice]] = {}
    for stretch in stretches(segment.described, segment.worth_cutting(), LONGEST_STRETCH):
        for parts in FIRST_PARTS:
            choice = segment.weigh(stretch, parts)
            if choice is None or choice.repeated > allowed or choice.session_bytes >= segment.session_bytes:
                continue
            worth = (segment.session_bytes - choice.session_bytes) / (choice.operators - segment.operators)
            if worth > best.get(stretch.members[-1], (0.0, choice))[0]:
                best[stretch.members[-1]] = worth, choice
    return [choice for _, choice in sorted(best.values(), key=lambda item: -item[0])[:count]]


def described_cut(segment: Segment, choice: Choice) -> str:
    """A cut in words."""
    names = [segment.described.operations[index].name.removeprefix("tosa.") for index in choice.stretch.members]
    return f"{', '.join(names)} in {len(choice.parts)} along axis {choice.stretch.axis}"


def peak_goals(options: argparse.Namespace, rows: list[Row]) -> list[Goal]:
    """A table to read; it has no goals."""
    return []


def results(program: Any, inputs: list[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
    """A program's outputs on Vulkan, as a list."""
    found = program.run(*inputs, device="vulkan")
    return list(found) if isinstance(found, tuple) else [found]


def same_bits(first: list[np.ndarray[Any, Any]], second: list[np.ndarray[Any, Any]]) -> bool:
    """Whether two lists of tensors are the same to the last bit."""
    return len(first) == len(second) and all(
        left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()
        for left, right in zip(first, second, strict=True)
    )


def random_graph(seed: int) -> str:
    """TOSA text of a random graph: branches, joins, growing and shrinking tensors of fp32 and fp16."""
    generator = random.Random(seed)
    shapes = [tuple(generator.choice((1, 3, 8, 20)) for _ in range(3))]
    kinds = ["f32"]
    lines = []

    def type_of(number: int) -> str:
        return f"tensor<{'x'.join(map(str, shapes[number]))}x{kinds[number]}>"

    def add(text: str, operands: list[int], shape: tuple[int, ...], kind: str) -> None:
        shapes.append(shape)
        kinds.append(kind)
        number = len(shapes) - 1
        types = ", ".join(type_of(operand) for operand in operands)
        lines.append(f"  %{number} = {text} : ({types}) -> {type_of(number)}")

    for _ in range(generator.randrange(6, 24)):
        number = generator.randrange(max(0, len(shapes) - 5), len(shapes))
        shape, kind = shapes[number], kinds[number]
        same = [other for other in range(len(shapes)) if (shapes[other], kinds[other]) == (shape, kind)]
        choice = generator.choice(("unary", "unary", "binary", "binary", "concat", "reduce", "cast"))
        axis = generator.randrange(3)
        if choice == "binary":
            other = generator.choice(same)
            add(f"tosa.{generator.choice(BINARY)} %{number}, %{other}", [number, other], shape, kind)
        elif choice == "concat" and shape[axis] <= 64:
            other = generator.choice(same)
            larger = tuple(2 * extent if place == axis else extent for place, extent in enumerate(shape))
            add(f"tosa.concat %{number}, %{other} {{axis = {axis} : i32}}", [number, other], larger, kind)
        elif choice == "reduce" and shape[axis] > 1:
            smaller = tuple(1 if place == axis else extent for place, extent in enumerate(shape))
            add(f"tosa.reduce_max %{number} {{axis = {axis} : i32}}", [number], smaller, kind)
        elif choice == "cast":
            add(f"tosa.cast %{number}", [number], shape, "f16" if kind == "f32" else "f32")
        else:
            add(f"tosa.{generator.choice(UNARY)} %{number}", [number], shape, kind)
    last = len(shapes) - 1
    body = "\n".join(lines)
    return f"func.func @main(%0: {type_of(0)}) -> {type_of(last)} {{\n{body}\n  return %{last} : {type_of(last)}\n}}\n"


def random_graphs(options: argparse.Namespace) -> Iterator[Row]:
    """Predictions for random graphs; one row for each."""
    for seed in range(options.count):
        program = vgfc.compile_mlir(random_graph(seed))
        predicted = program.memory().session_bytes
        found = session_bytes(program.vgf, decode(program.vgf))
        operators = program.report().operator_count
        yield {"seed": seed, "operators": operators, "predicted": predicted, "runtime": found}


def random_goals(options: argparse.Namespace, rows: list[Row]) -> list[Goal]:
    """Every prediction is right."""
    right = sum(row["predicted"] == row["runtime"] for row in rows)
    return [Goal("sessions predicted to the byte", right, str(len(rows)), right == len(rows))]


def cut_into(content: bytes, target: str | None, count: int) -> ir.Module:
    """A model cut into segments of about as many operators each, planned."""
    module = parse_mlir(content)
    if target is not None:
        attach(module, read_target(target))
    front = [*SIMPLIFY, *QUANTIZE, *SHORTEN, *LEGALIZE]
    for text in (PIPELINES["torch-to-tosa"](), f"builtin.module({','.join(front)})"):
        run_steps(parse_pipeline(text, PIPELINES, module.context), module, [])
    with module.context:
        function = helpers.entry(module)
        assert function is not None, "a model has an entry"
        body = [op for op in helpers.operations(function) if not is_constant(op)]
        for place, op in enumerate(body):
            op.attributes[SEGMENT_NAME] = ir.StringAttr.get(str(place * count // len(body)))
        del body, function
    run_steps(
        parse_pipeline(f"builtin.module({','.join([*PARTITION, *MEMORY])})", PIPELINES, module.context), module, []
    )
    return module


def lowered(module: ir.Module, plan: str) -> bytes:
    """The VGF file of a planned module with its alias groups planned again by the pass `plan`."""
    copy = helpers.copy_module(module)
    run_pipeline(copy, f"builtin.module({plan},vgf-check-memory{{in-place=true}})")
    run_pipeline(copy, PIPELINES["tosa-lower"]())
    return emit(copy)


def between_bytes(content: bytes) -> int:
    """What the intermediate resources of a file take: each alias group as much as its largest member."""
    alone = 0
    groups: dict[int, int] = {}
    for resource in decode(content).resources:
        if resource.category != "INTERMEDIATE":
            continue
        size = int(np.prod(resource.shape, dtype=np.int64)) * np.dtype(resource.dtype).itemsize
        if resource.alias_group is None:
            alone += size
        else:
            groups[resource.alias_group] = max(groups.get(resource.alias_group, 0), size)
    return alone + sum(groups.values())


def segments(options: argparse.Namespace) -> Iterator[Row]:
    """Models cut into 4 and 8 segments, with and without alias groups."""
    for name in options.models or list(models.SPECS):
        content, inputs = imported(name, options.precision)
        for count in COUNTS:
            module = cut_into(content, TARGETS[options.precision], count)
            files = {
                "none": lowered(module, "vgf-plan-memory{algorithm=none}"),
                "groups": lowered(module, "vgf-plan-memory"),
                "in place": lowered(module, "vgf-plan-memory{in-place=true}"),
            }
            sizes = {key: between_bytes(file) for key, file in files.items()}
            port = decode(files["none"]).inputs[0]
            given = [encoded(inputs[0], decode(files["none"]).resources[port.resource])]
            found = {key: VulkanProgram(file).run(given) for key, file in files.items()}
            described = entry_program(partitioned_entry(module), symbols_of(module))
            yield {
                "model": name,
                "segments": len(decode(files["none"]).segments),
                "alone": sizes["none"],
                "groups": sizes["groups"],
                "least": plan_groups(list(live_ranges(described.program).values())).lower_bound_bytes,
                "in place": sizes["in place"],
                "saved": 1 - sizes["groups"] / sizes["none"],
                "saved in place": 1 - sizes["in place"] / sizes["none"],
                "equal bits": all(same_bits(found["none"], found[key]) for key in ("groups", "in place")),
            }


def segment_goals(options: argparse.Namespace, rows: list[Row]) -> list[Goal]:
    """Bits; whether fewer bytes are possible; and what is saved, in the single models and in sum."""
    equal = sum(bool(row["equal bits"]) for row in rows)
    least = sum(row["groups"] == row["least"] for row in rows)
    goals = [
        Goal("results equal to the bit", equal, str(len(rows)), equal == len(rows)),
        Goal("groups proved to be the smallest", least, str(len(rows)), least == len(rows)),
    ]
    for count in COUNTS:
        cut = [row for row in rows if row["segments"] == count]
        for way in ("groups", "in place"):
            saved = 1 - sum(float(row[way]) for row in cut) / sum(float(row["alone"]) for row in cut)
            goals.append(
                Goal(f"{count} segments, {way}: saved in sum", saved, f">= {GROUP_SAVING}", saved >= GROUP_SAVING)
            )
            low = sum(1 - float(row[way]) / float(row["alone"]) < GROUP_SAVING for row in cut)
            goals.append(Goal(f"{count} segments, {way}: models that save less", low, "0", low == 0))
    return goals


def encoded(values: np.ndarray[Any, Any], resource: Any) -> np.ndarray[Any, Any]:
    """A model's input as a file takes it; codes for an integer file are any, as only equality is looked at."""
    if np.dtype(resource.dtype).kind == "f":
        return values.astype(resource.dtype)
    return np.clip(np.rint(values * 40), -128, 127).astype(resource.dtype)


COMMANDS: dict[str, tuple[Callable[[argparse.Namespace], Iterator[Row]], Callable[..., list[Goal]]]] = {
    "sessions": (sessions, session_goals),
    "peaks": (peaks, peak_goals),
    "segments": (segments, segment_goals),
    "random": (random_graphs, random_goals),
}


def main() -> int:
    """Run one command; returns 1 when a goal is missed."""
    parser = argparse.ArgumentParser("memory_models", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("models", nargs="*", metavar="model", help=", ".join(models.SPECS))
    parser.add_argument("--precision", choices=list(TARGETS), default="fp32")
    parser.add_argument("--stripes", action="store_true", help="sessions: compiled with stripes")
    parser.add_argument("--run", action="store_true", help="sessions: run on Vulkan with and without parts")
    parser.add_argument("--count", type=int, default=50, help="random: number of graphs")
    parser.add_argument("--json", metavar="FILE", help="write rows and goals there as well")
    options = parser.parse_args()
    unknown = [name for name in options.models if name not in models.SPECS]
    if unknown:
        parser.error(f"no model is named '{unknown[0]}'; there are: {', '.join(models.SPECS)}")
    measure, judge = COMMANDS[options.command]
    rows = []
    for row in measure(options):
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
    report = Report(rows, judge(options, rows))
    show(report, f"{options.command}, {options.precision}")
    if options.json:
        Path(options.json).write_text(json.dumps(asdict(report), indent=2) + "\n", encoding="utf-8")
    return int(not all(goal.met for goal in report.goals))


if __name__ == "__main__":
    sys.exit(main())
