"""Random input for the compiler: graphs that must keep their numbers, and damaged modules and files that must be refused.

    python -m benchmarks.fuzz graphs --count 5000              # the default pipeline pass by pass, then Vulkan
    python -m benchmarks.fuzz modules --count 20000            # changed attributes, shapes and types, pass by pass
    python -m benchmarks.fuzz files --count 20000              # damaged VGF, TOSA FlatBuffer, MLIR bytecode and text

Every case is made from its seed alone. A case that fails is printed with its seed and text; one that ends the process is found
by the process that started it. The exit status is 1 where anything failed. Short runs of the same are in the tests.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

from torch_mlir import ir

import vgfc
from benchmarks.random_graphs import Array, random_graph
from vgfc.diagnostics import CompileError
from vgfc.dialect import make_context
from vgfc.emit.tosa_flatbuffer import encode
from vgfc.frontend.load import parse_mlir
from vgfc.frontend.tosa_flatbuffer import read_tosa
from vgfc.frontend.vgf import read_vgf
from vgfc.ir import bytecode, copy_module
from vgfc.numerics import VerifyNumerics, compare
from vgfc.passmanager import parse_pipeline, run_pipeline, run_steps
from vgfc.pipeline import LOWER, PIPELINES
from vgfc.runtime.reference import run_reference

ROOT = Path(__file__).resolve().parent.parent
BATCH = 200  # cases of one process
CASE_SECONDS = 60

# Between these and the end of lowering a module is neither TOSA nor SPIR-V that can be encoded.
LOWERING = {step.name for step in parse_pipeline(f"builtin.module({','.join(LOWER)})", PIPELINES)}


class FaultError(Exception):
    """What a case shows to be wrong."""


def check_graph(seed: int, on_vulkan: bool) -> str:
    """Compile a random graph with its numbers checked after every pass, and run it on Vulkan; raises FaultError."""
    graph = random_graph(seed)
    module = ir.Module.parse(graph.text, make_context())
    expected = run_reference(module, graph.inputs)
    verification = VerifyNumerics(inputs=graph.inputs)
    try:
        program = vgfc.compile(module, instrumentations=[verification])
    except CompileError as error:
        raise FaultError(f"{type(error).__name__}: {error}") from error
    unchecked = {name for name, _ in verification.unchecked} - LOWERING
    if unchecked:
        raise FaultError(f"not checked: {', '.join(sorted(unchecked))} ({verification.unchecked[0][1]})")
    if on_vulkan:
        found = program.run(*graph.inputs, device="vulkan")
        _compare(expected, list(found) if isinstance(found, tuple) else [found])
    return "equal"


def _compare(expected: list[Array], found: list[Array]) -> None:
    for index, (wanted, result) in enumerate(zip(expected, found, strict=True)):
        difference = compare(wanted, result, None, f"{index}")
        if difference is not None:
            raise FaultError(f"Vulkan: {difference}")


NUMBER = re.compile(r"(?<![%\w.!<])-?\d+(?:\.\d+)?(?![\w.])")
EXTENT = re.compile(r"(?<=[<x])\d+(?=x)")
WORD = re.compile(r"\b(SINGLE_ROUND|DOUBLE_ROUND|BILINEAR|NEAREST_NEIGHBOR|true|false|f32|f16|i32|i16|i8|i1)\b")
NUMBERS = ("0", "1", "-1", "2", "7", "64", "127", "-128", "2147483647", "-2147483648", "4294967296", "0.0", "1.0e38")
WORDS = (
    "SINGLE_ROUND",
    "INEXACT_ROUND",
    "BILINEAR",
    "true",
    "false",
    "f32",
    "f64",
    "bf16",
    "i64",
    "i48",
    "i4",
    "i8",
    "i1",
    "index",
)
EXTENTS = ("0", "1", "2", "5", "?", "70000")


def damaged_text(seed: int) -> str:
    """A random graph's text with a number, an extent or a word exchanged; mostly one of a constant, which still parses."""
    generator = random.Random(seed)
    lines = random_graph(generator.randrange(500)).text.split("\n")
    for _ in range(generator.randint(1, 2)):
        in_constants = generator.random() < 0.7
        numbers = [index for index, line in enumerate(lines) if in_constants == ('"tosa.const"' in line)]
        index = generator.choice(numbers or [0])
        pattern, choices = generator.choice(((NUMBER, NUMBERS), (NUMBER, NUMBERS), (EXTENT, EXTENTS), (WORD, WORDS)))
        if in_constants:
            pattern, choices = NUMBER, NUMBERS
        matches = list(pattern.finditer(lines[index]))
        if matches:
            match = generator.choice(matches)
            lines[index] = lines[index][: match.start()] + generator.choice(choices) + lines[index][match.end() :]
    return "\n".join(lines)


@cache
def pass_texts() -> list[str]:
    """Each pass of ours alone, in the order of the default pipelines, which all others follow."""
    steps = parse_pipeline("builtin.module(torch-to-tosa,tosa-to-vgf)", PIPELINES)
    return list(dict.fromkeys(step.pipeline() for step in steps if step.python_pass is not None))


def check_module(seed: int) -> str:
    """Every pass alone, and the whole pipeline, on a damaged module: it passes or is refused; raises FaultError."""
    text = damaged_text(seed)
    try:
        module = parse_mlir(text)
    except CompileError:
        return "not parsed"
    for single in pass_texts():
        try:
            run_pipeline(copy_module(module), single)
        except CompileError:
            pass
        except Exception as error:  # any other exception is what this looks for
            raise FaultError(f"{single}: {traceback.format_exc(limit=-3)}") from error
    try:
        run_steps(parse_pipeline(PIPELINES["tosa-to-vgf"](), PIPELINES, module.context), module)
    except CompileError:
        return "refused"
    except Exception as error:  # any other exception is what this looks for
        raise FaultError(f"tosa-to-vgf: {traceback.format_exc(limit=-3)}") from error
    return "compiled"


@cache
def sound_files(index: int) -> dict[str, bytes]:
    """One graph in each format."""
    graph = random_graph(index)
    module = ir.Module.parse(graph.text, make_context())
    return {
        "vgf": vgfc.compile(module).vgf,
        "tosa": encode(module),
        "mlir": graph.text.encode(),
        "mlirbc": bytecode(module),
    }


READERS: dict[str, Callable[[bytes], object]] = {
    "vgf": lambda content: read_vgf(content, make_context()),
    "tosa": lambda content: read_tosa(content, make_context()),
    "mlir": parse_mlir,
    "mlirbc": parse_mlir,
}


def check_file(seed: int) -> str:
    """A damaged file is read or refused; raises FaultError."""
    generator = random.Random(seed)
    kind = generator.choice(list(READERS))
    content = bytearray(sound_files(generator.randrange(8))[kind])
    if generator.random() < 0.2:
        del content[generator.randrange(len(content)) :]
    for _ in range(generator.randint(1, 4)):
        if content:
            content[generator.randrange(len(content))] = generator.randrange(256)
    try:
        READERS[kind](bytes(content))
    except CompileError:
        return f"{kind} refused"
    except Exception as error:  # any other exception is what this looks for
        raise FaultError(f"{kind}: {traceback.format_exc(limit=-3)}") from error
    return f"{kind} read"


def run_cases(check: Callable[[int], str], first: int, count: int) -> int:
    """Cases in this process, one line each; returns how many failed."""
    failed = 0
    for seed in range(first, first + count):
        print(f"seed {seed}", flush=True)
        try:
            print(f"outcome {check(seed)}", flush=True)
        except FaultError as error:
            failed += 1
            print(f"FAULT seed {seed}: {error}", flush=True)
    return failed


def run_batches(kind: str, arguments: argparse.Namespace) -> int:
    """Cases in processes of their own; returns how many failed. Prints faults as they come and outcomes at the end."""
    outcomes: Counter[str] = Counter()
    failed = 0
    seed, end = arguments.seed, arguments.seed + arguments.count
    start = time.perf_counter()
    while seed < end:
        count = min(BATCH, end - seed)
        command = [sys.executable, "-m", "benchmarks.fuzz", kind, "--seed", str(seed), "--count", str(count), "--here"]
        command += ["--vulkan-every", str(arguments.vulkan_every)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=CASE_SECONDS * count
            )
            output, ended = done.stdout, f"ended with status {done.returncode}" if done.returncode not in (0, 1) else ""
        except subprocess.TimeoutExpired as expired:
            output, ended = (expired.stdout or b"").decode(), "did not end"
        outcomes.update(re.findall(r"^outcome (.*)$", output, re.MULTILINE))
        faults = re.split(r"^(?=FAULT )", output, flags=re.MULTILINE)[1:]
        for fault in faults:
            print(re.split(r"^(?:seed|outcome) ", fault, flags=re.MULTILINE)[0].rstrip(), flush=True)
        failed += len(faults)
        seen = re.findall(r"^seed (\d+)$", output, re.MULTILINE)
        if ended or len(seen) < count:
            last = int(seen[-1]) if seen else seed
            print(f"FAULT seed {last}: the process {ended or 'stopped'}", flush=True)
            failed += 1
            seed = last + 1
        else:
            seed += count
        print(f"{seed - arguments.seed} of {arguments.count}, {failed} failed", file=sys.stderr, flush=True)
    summary = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    seconds = time.perf_counter() - start
    print(f"{kind}: {arguments.count} cases from seed {arguments.seed}: {summary}; {failed} failed; {seconds:.0f} s")
    return failed


def main() -> int:
    """Run cases; the exit status is 1 where one failed."""
    parser = argparse.ArgumentParser("benchmarks.fuzz", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("kind", choices=("graphs", "modules", "files"))
    parser.add_argument("--count", type=int, default=1000, metavar="N")
    parser.add_argument("--seed", type=int, default=0, help="the first case's; each case adds one")
    parser.add_argument("--vulkan-every", type=int, default=1, metavar="N", help="run only every Nth graph on Vulkan")
    parser.add_argument("--here", action="store_true", help="in this process, one line for each case")
    arguments = parser.parse_args()
    checks: dict[str, Callable[[int], str]] = {
        "graphs": lambda seed: check_graph(seed, seed % arguments.vulkan_every == 0),
        "modules": check_module,
        "files": check_file,
    }
    if arguments.here:
        return 1 if run_cases(checks[arguments.kind], arguments.seed, arguments.count) else 0
    return 1 if run_batches(arguments.kind, arguments) else 0


if __name__ == "__main__":
    sys.exit(main())
