"""Device memory of compiled models: what is predicted, what the runtime reports, and what the passes save.

    python -m benchmarks.memory_models sessions [--precision int8] [--stripes] [--json FILE] [model ...]
    python -m benchmarks.memory_models random   [--count 50] [--json FILE]
    python -m benchmarks.memory_models segments [--precision int8] [--json FILE] [model ...]

`sessions`: the session of each of the six models beside the runtime's figure and ExecuTorch's; with `--stripes` as compiled
with `stripes=True`, run on Vulkan, and compared to the bit with the results without. `random`: predictions for random graphs
against the runtime. `segments`: models cut into 4 and 8 segments of as many operators each; what lies between them without
alias groups, with, with those that write in place, and the bound for groups; results compared to the bit on Vulkan. The exit
status is 1 where a prediction is wrong, results differ or a goal is missed (segments: 30 % saved, or groups at their bound).
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from torch_mlir import ir

import vgfc
from benchmarks import models
from vgfc import ir as helpers
from vgfc.compiler import run_pipeline
from vgfc.emit.vgf import emit
from vgfc.frontend.load import parse_mlir
from vgfc.frontend.torch import import_program
from vgfc.memory import entry_program
from vgfc.passmanager import parse_pipeline, run_steps
from vgfc.pipeline import LEGALIZE, MEMORY, PARTITION, PIPELINES, QUANTIZE, SHORTEN, SIMPLIFY
from vgfc.planning import live_ranges, positional_maxima_bytes
from vgfc.quantizer import quantize
from vgfc.runtime.vulkan import VulkanProgram, session_bytes
from vgfc.segments import SEGMENT_NAME, is_constant, partitioned_entry, symbols_of
from vgfc.target import attach, read_target
from vgfc.vgf_file import decode

Row = dict[str, Any]

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
SAVING_GOAL = 0.3
UNARY = ("abs", "ceil", "floor", "exp", "tanh", "sigmoid")
BINARY = ("add", "sub", "maximum", "minimum")


def imported(name: str, precision: str) -> tuple[bytes, list[np.ndarray[Any, Any]]]:
    """One of the six models in the torch dialect, as bytecode, and an example input."""
    model, inputs, calibration = models.get(name)
    if precision == "int8":
        model = quantize(model, calibration, "int8")
    module = import_program(model, inputs)
    return bytecode(module), [tensor.numpy() for tensor in inputs]


def bytecode(module: ir.Module) -> bytes:
    """A module's MLIR bytecode."""
    import io

    stream = io.BytesIO()
    module.operation.write_bytecode(stream)
    return stream.getvalue()


def sessions(options: argparse.Namespace) -> Iterator[Row]:
    """The session of each model, predicted and reported, beside ExecuTorch's."""
    for name in options.models or list(models.SPECS):
        content, inputs = imported(name, options.precision)
        target = TARGETS[options.precision]
        program = vgfc.compile_mlir(content, target=target)
        reference = EXECUTORCH_BYTES[options.precision][name]
        seconds = sum(step.seconds for step in program.report().steps if step.text.startswith("vgf-schedule"))
        row = session_row(name, program, reference, 1.0)
        row["schedule s"] = seconds
        if options.stripes:
            start = time.perf_counter()
            striped = vgfc.compile_mlir(content, target=target, stripes=True)
            seconds = time.perf_counter() - start
            row = session_row(name, striped, reference, STRIPED_SHARE if name in STRIPED_GOALS else 1.0)
            row["unstriped"] = program.memory().session_bytes
            row["operators before"] = program.report().operator_count
            row["equal bits"] = same_bits(results(program, inputs), results(striped, inputs))
            row["good"] = row["good"] and row["equal bits"]
            row["compile s"] = seconds
        yield row


def session_row(name: str, program: Any, reference: int, share: float) -> Row:
    """The figures of one program."""
    memory = program.memory()
    found = session_bytes(program.vgf, decode(program.vgf))
    holder = memory.sessions[0].peak_blocks[0] if memory.sessions and memory.sessions[0].peak_blocks else None
    return {
        "model": name,
        "predicted": memory.session_bytes,
        "runtime": found,
        "live at peak": sum(session.bound_bytes for session in memory.sessions),
        "ExecuTorch": reference,
        "share": memory.session_bytes / reference,
        "operators": program.report().operator_count,
        "largest at peak": "" if holder is None else f"{holder.name} {holder.type}",
        "good": memory.session_bytes == found and memory.session_bytes <= share * reference,
    }


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
        yield {
            "seed": seed,
            "operators": operators,
            "predicted": predicted,
            "runtime": found,
            "good": predicted == found,
        }


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
        for count in (4, 8):
            module = cut_into(content, TARGETS[options.precision], count)
            files = {
                "none": lowered(module, "vgf-plan-memory{algorithm=none}"),
                "groups": lowered(module, "vgf-plan-memory"),
                "in place": lowered(module, "vgf-plan-memory{in-place=true}"),
            }
            sizes = {key: between_bytes(file) for key, file in files.items()}
            port = decode(files["none"]).inputs[0]
            wanted = decode(files["none"]).resources[port.resource]
            given = [encoded(inputs[0], wanted)]
            found = {key: VulkanProgram(file).run(given) for key, file in files.items()}
            equal = same_bits(found["none"], found["groups"]) and same_bits(found["none"], found["in place"])
            described = entry_program(partitioned_entry(module), symbols_of(module))
            bound = sum(positional_maxima_bytes(list(live_ranges(described.program).values())))
            saved = 1 - sizes["groups"] / sizes["none"]
            yield {
                "model": name,
                "segments": len(decode(files["none"]).segments),
                "alone": sizes["none"],
                "groups": sizes["groups"],
                "bound": bound,
                "in place": sizes["in place"],
                "saved": saved,
                "saved in place": 1 - sizes["in place"] / sizes["none"],
                "equal bits": equal,
                "good": equal and (saved >= SAVING_GOAL or sizes["groups"] == bound),
            }


def encoded(values: np.ndarray[Any, Any], resource: Any) -> np.ndarray[Any, Any]:
    """A model's input as a file takes it; codes for an integer file are any, as only equality is looked at."""
    if np.dtype(resource.dtype).kind == "f":
        return values.astype(resource.dtype)
    return np.clip(np.rint(values * 40), -128, 127).astype(resource.dtype)


def main() -> int:
    """Run one command; returns 1 when a figure is not as it should be."""
    commands = {"sessions": sessions, "random": random_graphs, "segments": segments}
    parser = argparse.ArgumentParser("memory_models", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("command", choices=commands)
    parser.add_argument("models", nargs="*", metavar="model", help=", ".join(models.SPECS))
    parser.add_argument("--precision", choices=list(TARGETS), default="fp32")
    parser.add_argument("--stripes", action="store_true", help="sessions: compiled with stripes")
    parser.add_argument("--count", type=int, default=50, help="random: number of graphs")
    parser.add_argument("--json", metavar="FILE", help="write the rows there as well")
    options = parser.parse_args()
    unknown = [name for name in options.models if name not in models.SPECS]
    if unknown:
        parser.error(f"no model is named '{unknown[0]}'; there are: {', '.join(models.SPECS)}")
    rows = []
    for row in commands[options.command](options):
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
    table = Table(*rows[0], title=f"{options.command}, {options.precision}")
    for row in rows:
        table.add_row(*(f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row.values()))
    Console(width=None if sys.stdout.isatty() else 200).print(table)
    good = sum(bool(row["good"]) for row in rows)
    print(f"{good} of {len(rows)} as they should be")
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return int(good != len(rows))


if __name__ == "__main__":
    sys.exit(main())
