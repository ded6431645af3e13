"""Random TOSA graphs over all operators of PRO-INT and PRO-FP: shared values, several results, shapes of rank 1 to 5.

`random_graph(seed)` is the text of a module and inputs for it. Results are predictable by construction, so that any right
compiler agrees with any other: integers stay far from an overflow, and floating-point values are either *exact* (multiples
of 1/4 up to 8, which every order of summation gives to the bit) or *approximate* (behind a function or a quotient). Only exact
ones reach operators that jump (floor, comparisons, argmax, casts to integers), and after a few steps approximate ones are
only moved around, since every step may stretch an error.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

Shape = tuple[int, ...]
Array = np.ndarray[Any, Any]

FLOATS, INTEGERS = ("f32", "f16"), ("i8", "i16", "i32")
KINDS = (*FLOATS, *INTEGERS, "i1")
DTYPES = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i1": np.bool_}
BITS = {"i8": 8, "i16": 16, "i32": 32}
LIMIT_FLOAT, LIMIT_INTEGER = 8, 1000
MAX_ELEMENTS, MAX_EXTENT, MAX_ARGUMENTS = 360, 5, 4
MAX_DEPTH = 3  # approximate operators in a row
STRIDES = (1, 2)


@dataclass(frozen=True)
class Value:
    """A value of the graph; `depth` counts the approximate operators before it, 0 for exact ones."""

    name: str
    shape: Shape
    kind: str
    depth: int = 0

    @property
    def type(self) -> str:
        return tensor(self.shape, self.kind)


def tensor(shape: Sequence[int], kind: str) -> str:
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}{kind}>"


class GiveUpError(Exception):
    """This operator does not fit here; another is tried."""


class Graph:
    """A function under construction."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.lines: list[str] = []
        self.values: list[Value] = []
        self.arguments: list[Value] = []
        self.inputs: list[Array] = []
        self.count = 0

    # Values

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def shape(self, rank: int | None = None) -> Shape:
        rank = rank or self.random.choice((1, 2, 3, 4, 4, 4, 5))
        largest = {1: 9, 2: 6, 3: 5, 4: 4, 5: 3}[rank]
        return tuple(self.random.randint(1, largest) for _ in range(rank))

    def argument(self, kind: str, rank: int | None) -> Value:
        shape = self.shape(rank)
        value = Value(f"%x{len(self.arguments)}", shape, kind)
        self.arguments.append(value)
        self.inputs.append(self.array(kind, shape))
        self.values.append(value)
        return value

    def array(self, kind: str, shape: Shape) -> Array:
        """Numbers that a value of this kind may have."""
        if kind == "i1":
            return self.numbers.random(shape) < 0.5
        if kind in FLOATS:
            return (self.numbers.integers(-8, 9, shape) / 2).astype(DTYPES[kind])
        limit = {"i8": 128, "i16": 1 << 15, "i32": LIMIT_INTEGER}[kind]
        return self.numbers.integers(-limit, limit, shape).astype(DTYPES[kind])

    def need(self, kinds: Sequence[str], rank: int | None = None, depth: int = MAX_DEPTH) -> Value:
        """A value of one of these kinds, mostly one that is there."""
        fitting = [
            value
            for value in self.values
            if value.kind in kinds and value.depth <= depth and (rank is None or len(value.shape) == rank)
        ]
        may_add = len(self.arguments) < MAX_ARGUMENTS
        if fitting and (not may_add or self.random.random() < 0.85):
            return self.random.choice(fitting[-6:])
        if may_add:
            return self.argument(self.random.choice(kinds), rank)
        kind = self.random.choice(kinds)
        return self.constant(self.array(kind, self.shape(rank)), kind)

    def constant(self, values: Array, kind: str) -> Value:
        """A `tosa.const`; arrays that are all equal become splats."""
        value = Value(self.name(), values.shape, kind)
        flat = values.reshape(-1).tolist()
        text = literal(flat[0]) if len(set(flat)) == 1 else nested(values.tolist())
        self.lines.append(
            f'{value.name} = "tosa.const"() {{values = dense<{text}> : {value.type}}} : () -> {value.type}'
        )
        return value

    def single(self, number: float, kind: str) -> Value:
        return self.constant(np.array([number], DTYPES[kind]), kind)

    def numbers_of(self, numbers: Sequence[int]) -> tuple[str, str]:
        """A `tosa.const_shape`: name and type."""
        name, rank = self.name(), len(numbers)
        kind = f"!tosa.shape<{rank}>"
        self.lines.append(
            f"{name} = tosa.const_shape {{values = dense<{list(numbers)}> : tensor<{rank}xindex>}} : () -> {kind}"
        )
        return name, kind

    # Operators

    def emit(
        self,
        operator: str,
        operands: Sequence[Value | tuple[str, str]],
        shape: Sequence[int],
        kind: str,
        attributes: str = "",
        depth: int = 0,
    ) -> Value:
        """One operator; its value is not offered to others until `add`."""
        if prod(shape) > MAX_ELEMENTS or 0 in shape:
            raise GiveUpError
        pairs = [(item.name, item.type) if isinstance(item, Value) else item for item in operands]
        value = Value(self.name(), tuple(shape), kind, depth)
        names, types = ", ".join(name for name, _ in pairs), ", ".join(text for _, text in pairs)
        braces = f" {{{attributes}}}" if attributes else ""
        self.lines.append(f"{value.name} = tosa.{operator} {names}{braces} : ({types}) -> {value.type}")
        return value

    def add(self, value: Value) -> None:
        """Offer a value, after what keeps its numbers small."""
        self.values.append(self.limited(value))

    def limited(self, value: Value) -> Value:
        if value.kind in FLOATS:
            bounds = f"min_val = -8.0 : {value.kind}, max_val = 8.0 : {value.kind}"
            small = self.emit("clamp", [value], value.shape, value.kind, bounds, value.depth)
            return small if value.depth else self.emit("floor", [small], value.shape, value.kind)
        if value.kind == "i32":
            shape = (1,) * len(value.shape)
            for operator, bound in (("minimum", LIMIT_INTEGER), ("maximum", -LIMIT_INTEGER)):
                limit = self.constant(np.full(shape, bound, np.int32), "i32")
                value = self.emit(operator, [value, limit], value.shape, "i32")
        return value

    def partner(self, value: Value, kind: str | None = None, numbers: Array | None = None) -> Value:
        """Another operand that broadcasts to `value`'s shape: one that is there, or a constant."""
        kind = kind or value.kind
        fitting = [
            other
            for other in self.values
            if other.kind == kind
            and other.depth <= MAX_DEPTH - 1
            and len(other.shape) == len(value.shape)
            and all(extent in (1, whole) for extent, whole in zip(other.shape, value.shape, strict=True))
        ]
        if fitting and numbers is None and self.random.random() < 0.6:
            return self.random.choice(fitting)
        shape = tuple(extent if self.random.random() < 0.5 else 1 for extent in value.shape)
        if numbers is None:
            return self.constant(self.array(kind, shape), kind)
        return self.constant(self.numbers.choice(numbers, shape).astype(DTYPES[kind]), kind)


def literal(number: object) -> str:
    return str(number).lower() if isinstance(number, bool) else str(number)


def nested(numbers: object) -> str:
    if isinstance(numbers, list):
        return f"[{', '.join(nested(item) for item in numbers)}]"
    return literal(numbers)


def ints(numbers: Sequence[int], width: int = 64) -> str:
    return f"array<i{width}: {', '.join(str(number) for number in numbers)}>"


# Makers of operators: each adds at least one value, or gives up.

SMOOTH = ("cos", "erf", "exp", "sigmoid", "sin", "tanh")
POSITIVE = ("log", "reciprocal", "rsqrt")


def unary(graph: Graph) -> None:
    choice = graph.random.choice(("abs", "ceil", "floor", "negate", "clamp", "identity", "i32", "not", "integer"))
    if choice in ("ceil", "floor"):
        value = graph.need(FLOATS, depth=0)
        graph.add(graph.emit(choice, [value], value.shape, value.kind))
    elif choice == "abs":
        value = graph.need((*FLOATS, "i32"))
        graph.add(graph.emit("abs", [value], value.shape, value.kind, depth=value.depth))
    elif choice == "negate":
        value = graph.need((*FLOATS, *INTEGERS))
        zeros = [graph.single(graph.random.randint(-3, 3) if value.kind == "i8" else 0, value.kind) for _ in range(2)]
        graph.add(graph.emit("negate", [value, *zeros], value.shape, value.kind, depth=value.depth))
    elif choice == "clamp":
        value = graph.need((*FLOATS, "i8", "i16"))
        low, high = sorted(graph.random.sample(range(-6, 7), 2))
        number = ".0" if value.kind in FLOATS else ""
        bounds = f"min_val = {low}{number} : {value.kind}, max_val = {high}{number} : {value.kind}"
        graph.add(graph.emit("clamp", [value], value.shape, value.kind, bounds, value.depth))
    elif choice == "identity":
        value = graph.need(KINDS)
        graph.add(graph.emit("identity", [value], value.shape, value.kind, depth=value.depth))
    elif choice == "i32":
        value = graph.need(("i32",))
        graph.add(graph.emit(graph.random.choice(("clz", "bitwise_not")), [value], value.shape, "i32"))
    elif choice == "integer":
        value = graph.need(("i8", "i16"))
        graph.add(graph.emit("bitwise_not", [value], value.shape, value.kind))
    else:
        value = graph.need(("i1",))
        graph.add(graph.emit("logical_not", [value], value.shape, "i1"))


def function(graph: Graph) -> None:
    value = graph.need(("f32",), depth=MAX_DEPTH - 1)
    operator = graph.random.choice((*SMOOTH, *POSITIVE, "pow"))
    if operator in SMOOTH:
        graph.add(graph.emit(operator, [value], value.shape, "f32", depth=value.depth + 1))
        return
    positive = graph.emit("abs", [value], value.shape, "f32", depth=value.depth)
    half = graph.constant(np.full((1,) * len(value.shape), 0.5, np.float32), "f32")
    positive = graph.emit("add", [positive, half], value.shape, "f32", depth=value.depth)
    operands = [positive]
    if operator == "pow":
        operands.append(graph.partner(value, numbers=np.array([-1, -0.5, 0.5, 1, 1.5, 2])))
    graph.add(graph.emit(operator, operands, value.shape, "f32", depth=value.depth + 1))


def arithmetic(graph: Graph) -> None:
    operator = graph.random.choice(("add", "sub", "mul", "mul", "maximum", "minimum"))
    value = graph.need(("f32", "f32", "f16", "i32"), depth=MAX_DEPTH - 1)
    operands = [value, graph.partner(value)]
    depth = max(operand.depth for operand in operands)
    graph.random.shuffle(operands)
    if operator == "mul":
        shift = graph.random.choice((0, 0, 2)) if value.kind == "i32" else 0
        result = graph.emit(
            "mul", [*operands, graph.single(shift, "i8")], value.shape, value.kind, depth=depth + (depth > 0)
        )
    else:
        result = graph.emit(operator, operands, value.shape, value.kind, depth=depth)
    graph.add(result)


def narrow_product(graph: Graph) -> None:
    value = graph.need(("i8",))
    operands = [value, graph.partner(value), graph.single(0, "i8")]
    graph.add(graph.emit("mul", operands, value.shape, "i32"))


def scaled(graph: Graph) -> None:
    """A product or a sum with constants, as normalisations have them; powers of two stay exact."""
    value = graph.need(("f32",), depth=MAX_DEPTH - 1)
    factor = graph.partner(value, numbers=np.array([0.25, 0.5, 2.0, 1.0, -1.0]))
    value = graph.emit("mul", [value, factor, graph.single(0, "i8")], value.shape, "f32", depth=value.depth)
    offset = graph.partner(value, numbers=np.array([-2.0, 0.5, 0.0, 1.0]))
    graph.add(graph.emit(graph.random.choice(("add", "sub")), [value, offset], value.shape, "f32", depth=value.depth))


def bits(graph: Graph) -> None:
    value = graph.need(INTEGERS)
    operator = graph.random.choice(
        (
            "bitwise_and",
            "bitwise_or",
            "bitwise_xor",
            "logical_left_shift",
            "logical_right_shift",
            "arithmetic_right_shift",
        )
    )
    if "shift" in operator:
        other = graph.partner(value, numbers=np.arange(4))
        # bits that a logical shift moves in at the top of an i32 would be far from small
        operator = "logical_left_shift" if operator == "logical_right_shift" and value.kind == "i32" else operator
    else:
        other = graph.partner(value)
    rounds = f"round = {literal(graph.random.random() < 0.5)}" if operator == "arithmetic_right_shift" else ""
    graph.add(graph.emit(operator, [value, other], value.shape, value.kind, rounds))


def quotient(graph: Graph) -> None:
    value = graph.need(("i32",))
    divisor = graph.partner(value, numbers=np.array([-7, -2, 1, 3, 5]))
    graph.add(graph.emit("intdiv", [value, divisor], value.shape, "i32"))


def logic(graph: Graph) -> None:
    value = graph.need(("i1",))
    operator = graph.random.choice(("logical_and", "logical_or", "logical_xor"))
    graph.add(graph.emit(operator, [value, graph.partner(value)], value.shape, "i1"))


def comparison(graph: Graph) -> None:
    value = graph.need(("f32", "i32"), depth=0)
    other = graph.partner(value)
    if other.depth:
        raise GiveUpError
    operator = graph.random.choice(("equal", "greater", "greater_equal"))
    graph.add(graph.emit(operator, [value, other], value.shape, "i1"))


def selection(graph: Graph) -> None:
    value = graph.need(KINDS)
    condition, other = graph.partner(value, "i1"), graph.partner(value)
    operands = [value, other]
    graph.random.shuffle(operands)
    depth = max(value.depth, other.depth)
    graph.add(graph.emit("select", [condition, *operands], value.shape, value.kind, depth=depth))


def reduction(graph: Graph) -> None:
    operator = graph.random.choice(
        ("reduce_sum", "reduce_sum", "reduce_max", "reduce_min", "reduce_product", "reduce_any", "reduce_all", "mean")
    )
    if operator in ("reduce_any", "reduce_all"):
        kinds: tuple[str, ...] = ("i1",)
    elif operator in ("reduce_max", "reduce_min"):
        kinds = (*FLOATS, *INTEGERS)
    else:
        kinds = ("f32",) if operator in ("reduce_product", "mean") else ("f32", "i32")
    value = graph.need(kinds, depth=MAX_DEPTH - 1)
    axis = graph.random.randrange(len(value.shape))
    shape = (*value.shape[:axis], 1, *value.shape[axis + 1 :])
    step = int(operator in ("reduce_product", "mean") or value.depth > 0)
    name = "reduce_sum" if operator == "mean" else operator
    result = graph.emit(name, [value], shape, value.kind, f"axis = {axis} : i32", value.depth + step)
    if operator == "mean":
        factor = graph.constant(np.full((1,) * len(shape), 1 / value.shape[axis], np.float32), "f32")
        result = graph.emit("mul", [result, factor, graph.single(0, "i8")], shape, "f32", depth=result.depth)
    graph.add(result)


def argmax(graph: Graph) -> None:
    value = graph.need(("f32", "f16", "i8", "i16"), depth=0)
    if len(value.shape) < 2:
        raise GiveUpError
    axis = graph.random.randrange(len(value.shape))
    shape = (*value.shape[:axis], *value.shape[axis + 1 :])
    graph.add(graph.emit("argmax", [value], shape, "i32", f"axis = {axis} : i32"))


def movement(graph: Graph) -> None:
    value = graph.need(KINDS, depth=MAX_DEPTH + 9)
    shape, rank, choose = value.shape, len(value.shape), graph.random
    operator = choose.choice(
        ("transpose", "transpose", "reshape", "reshape", "slice", "pad", "tile", "reverse", "concat")
    )
    attributes = ""
    operands: list[Value | tuple[str, str]] = [value]
    if operator == "transpose":
        order = choose.sample(range(rank), rank)
        attributes, result = f"perms = {ints(order, 32)}", [shape[axis] for axis in order]
    elif operator == "reshape":
        result = regrouped(graph, shape)
        operands.append(graph.numbers_of(result))
    elif operator == "slice":
        start = [choose.randrange(extent) for extent in shape]
        result = [choose.randint(1, extent - first) for extent, first in zip(shape, start, strict=True)]
        operands += [graph.numbers_of(start), graph.numbers_of(result)]
    elif operator == "pad":
        amounts = [choose.choice((0, 0, 1, 2)) for _ in range(2 * rank)]
        result = [extent + amounts[2 * axis] + amounts[2 * axis + 1] for axis, extent in enumerate(shape)]
        number = choose.random() < 0.5 if value.kind == "i1" else choose.randint(-2, 2)
        operands += [graph.numbers_of(amounts), graph.single(number, value.kind)]
    elif operator == "tile":
        multiples = [choose.choice((1, 1, 2)) for _ in shape]
        result = [extent * multiple for extent, multiple in zip(shape, multiples, strict=True)]
        operands.append(graph.numbers_of(multiples))
    elif operator == "reverse":
        attributes, result = f"axis = {choose.randrange(rank)} : i32", list(shape)
    else:
        axis = choose.randrange(rank)
        operands = [*operands, *graph.random.choices(alike(graph, value, axis), k=choose.randint(1, 2))]
        extents = [operand.shape[axis] for operand in operands if isinstance(operand, Value)]
        attributes, result = f"axis = {axis} : i32", [*shape[:axis], sum(extents), *shape[axis + 1 :]]
    depth = max(operand.depth for operand in operands if isinstance(operand, Value))
    graph.values.append(graph.emit(operator, operands, result, value.kind, attributes, depth))


def alike(graph: Graph, value: Value, axis: int) -> list[Value]:
    """Values that can stand beside `value` in a concat along `axis`."""

    def others(shape: Shape) -> Shape:
        return (*shape[:axis], *shape[axis + 1 :])

    return [
        other
        for other in graph.values
        if other.kind == value.kind
        and len(other.shape) == len(value.shape)
        and others(other.shape) == others(value.shape)
    ]


def regrouped(graph: Graph, shape: Shape) -> list[int]:
    """Another shape of as many elements."""
    extents = [1]
    for extent in shape:
        if len(extents) < MAX_EXTENT and graph.random.random() < 0.6:
            extents.append(extent)
        else:
            extents[-1] *= extent
    if len(extents) < MAX_EXTENT and graph.random.random() < 0.3:
        extents.insert(graph.random.randint(0, len(extents)), 1)
    return extents


ACCUMULATORS = {"f32": "f32", "f16": "f32", "i8": "i32"}


def results_of(kind: str) -> str:
    return "i32" if kind == "i8" else kind


def weights(graph: Graph, kind: str, shape: Shape) -> Value:
    """Weights; powers of two keep sums exact in floating point."""
    if kind in FLOATS:
        return graph.constant(graph.numbers.choice([-1.0, 0.0, 0.5, 1.0, 2.0], shape).astype(DTYPES[kind]), kind)
    return graph.constant(graph.numbers.integers(-9, 10, shape).astype(np.int8), "i8")


def zero_points(graph: Graph, kind: str) -> list[Value]:
    first = graph.random.randint(-4, 4) if kind == "i8" else 0
    return [graph.single(first, kind), graph.single(0, kind)]


def convolution(graph: Graph) -> None:
    operator = graph.random.choice(("conv2d", "conv2d", "depthwise_conv2d", "conv3d", "transpose_conv2d"))
    rank = 5 if operator == "conv3d" else 4
    value = graph.need(("f32", "f32", "i8", "f16") if operator != "conv3d" else ("f32", "i8"), rank, MAX_DEPTH - 1)
    kind, spatial, channels = value.kind, value.shape[1:-1], value.shape[-1]
    kernel = [graph.random.randint(1, min(3, extent)) for extent in spatial]
    stride = [graph.random.choice(STRIDES) for _ in spatial]
    outputs = graph.random.randint(1, 4)
    if operator == "transpose_conv2d":
        extents = [(extent - 1) * step + size for extent, step, size in zip(spatial, stride, kernel, strict=True)]
        weight_shape: Shape = (outputs, *kernel, channels)
        window = f"out_pad = {ints([0] * 4)}, stride = {ints(stride)}"
    else:
        padding, extents = [], []
        for axis, (extent, size, step) in enumerate(zip(spatial, kernel, stride, strict=True)):
            before, after = graph.random.randint(0, size - 1), graph.random.randint(0, size - 1)
            after += -(extent + before + after - size) % step  # TOSA wants strides to come out even
            if after >= size:
                after, stride[axis] = 0, 1
                before = 0
            padding += [before, after]
            extents.append((extent + before + after - size) // stride[axis] + 1)
        multiplier = graph.random.randint(1, 2)
        outputs = channels * multiplier if operator == "depthwise_conv2d" else outputs
        is_depthwise = operator == "depthwise_conv2d"
        weight_shape = (*kernel, channels, multiplier) if is_depthwise else (outputs, *kernel, channels)
        window = f"pad = {ints(padding)}, stride = {ints(stride)}, dilation = {ints([1] * len(kernel))}"
    result = results_of(kind)
    bias = graph.constant(
        graph.numbers.integers(-5, 6, graph.random.choice((1, outputs))).astype(DTYPES[result]), result
    )
    operands = [value, weights(graph, kind, weight_shape), bias, *zero_points(graph, kind)]
    shape = (value.shape[0], *extents, outputs)
    attributes = f"acc_type = {ACCUMULATORS[kind]}, {window}"
    graph.add(graph.emit(operator, operands, shape, result, attributes, value.depth + (value.depth > 0)))


def matmul(graph: Graph) -> None:
    value = graph.need(("f32", "f32", "i8", "f16"), 3, MAX_DEPTH - 1)
    batch, rows, inner = value.shape
    columns = graph.random.randint(1, 4)
    fitting = [
        other
        for other in graph.values
        if other.kind == value.kind
        and other.depth < MAX_DEPTH
        and len(other.shape) == 3
        and other.shape[:2] == (batch, inner)
    ]
    other = graph.random.choice(fitting) if fitting and graph.random.random() < 0.5 else None
    other = other or weights(graph, value.kind, (batch, inner, columns))
    depth = max(value.depth, other.depth)
    operands = [value, other, *zero_points(graph, value.kind)]
    shape = (batch, rows, other.shape[2])
    graph.add(graph.emit("matmul", operands, shape, results_of(value.kind), depth=depth + (depth > 0)))


def pool(graph: Graph) -> None:
    operator = graph.random.choice(("avg_pool2d", "max_pool2d"))
    value = graph.need(("f32", "f32", "f16", "i8"), 4, MAX_DEPTH - 1)
    kernel = [graph.random.randint(1, extent) for extent in value.shape[1:3]]
    extents = [extent - size + 1 for extent, size in zip(value.shape[1:3], kernel, strict=True)]
    attributes = f"kernel = {ints(kernel)}, pad = {ints([0] * 4)}, stride = {ints([1, 1])}"
    operands, depth = [value], value.depth
    if operator == "avg_pool2d":
        if value.kind == "f16":
            raise GiveUpError
        zero = graph.random.randint(-4, 4) if value.kind == "i8" else 0
        operands += [graph.single(zero, value.kind), graph.single(zero, value.kind)]
        attributes += f", acc_type = {ACCUMULATORS[value.kind]}"
        depth += value.kind in FLOATS
    shape = (value.shape[0], *extents, value.shape[3])
    graph.add(graph.emit(operator, operands, shape, value.kind, attributes, depth))


def resize(graph: Graph) -> None:
    mode = graph.random.choice(("BILINEAR", "NEAREST_NEIGHBOR"))
    value = graph.need(("f32", "i8"), 4, MAX_DEPTH - 1)
    batch, height, width, channels = value.shape
    factor = graph.random.choice((1, 2))
    shape = (batch, (height - 1) * factor + 1, (width - 1) * factor + 1, channels)
    kind = "i32" if value.kind == "i8" and mode == "BILINEAR" else value.kind
    operands = [value, graph.numbers_of([2 * factor, 2] * 2), graph.numbers_of([0, 0]), graph.numbers_of([0, 0])]
    graph.add(graph.emit("resize", operands, shape, kind, f"mode = {mode}", value.depth + (mode == "BILINEAR")))


def gather(graph: Graph) -> None:
    value = graph.need((*FLOATS, *INTEGERS), 3)
    batch, rows, channels = value.shape
    if graph.random.random() < 0.5:
        count = graph.random.randint(1, 6)
        indices = graph.constant(graph.numbers.integers(0, rows, (batch, count)).astype(np.int32), "i32")
        shape = (batch, count, channels)
        graph.values.append(graph.emit("gather", [value, indices], shape, value.kind, depth=value.depth))
        return
    count = graph.random.randint(1, rows)
    order = np.stack(
        [self_permutation[:count] for self_permutation in (graph.numbers.permutation(rows) for _ in range(batch))]
    )
    indices = graph.constant(order.astype(np.int32), "i32")
    updates = graph.constant(graph.array(value.kind, (batch, count, channels)), value.kind)
    graph.values.append(graph.emit("scatter", [value, indices, updates], value.shape, value.kind, depth=value.depth))


def table(graph: Graph) -> None:
    value = graph.need(("i8", "i16"))
    if value.kind == "i8":
        entries = graph.constant(graph.numbers.integers(-128, 128, 256).astype(np.int8), "i8")
        graph.add(graph.emit("table", [value, entries], value.shape, "i8"))
        return
    steps = graph.numbers.integers(-60, 60, 513).cumsum()  # entries of an i16 table may not be far from each other
    entries = graph.constant(np.clip(steps, -30000, 30000).astype(np.int16), "i16")
    # 23 bits: the rescale takes it back to what is small
    wide = graph.emit("table", [value, entries], value.shape, "i32")
    graph.values.append(rescaled(graph, wide, "i16", 1 << 30, 37))


def rescaled(graph: Graph, value: Value, kind: str, multiplier: int, shift: int) -> Value:
    zero_out = graph.random.randint(-5, 5) if kind == "i8" else 0
    zero_in = graph.random.randint(-5, 5) if value.kind == "i8" else 0
    channels = value.shape[-1] if graph.random.random() < 0.3 else 1
    spread = graph.numbers.integers(0, 1 << 20, channels) + multiplier
    operands = [
        value,
        graph.constant(spread.astype(np.int32), "i32"),
        graph.constant(np.full(channels, shift, np.int8), "i8"),
        *(graph.single(zero_in, value.kind), graph.single(zero_out, kind)),
    ]
    rounding = graph.random.choice(("SINGLE_ROUND", "DOUBLE_ROUND")) if shift > 31 else "SINGLE_ROUND"
    attributes = (
        f"scale32 = true, rounding_mode = {rounding}, per_channel = {literal(channels > 1)}, input_unsigned = false, "
        "output_unsigned = false"
    )
    return graph.emit("rescale", operands, value.shape, kind, attributes)


def rescale(graph: Graph) -> None:
    value = graph.need(INTEGERS)
    kind = graph.random.choice([kind for kind in INTEGERS if value.kind != "i16" or kind != "i16"])
    shift = 30 + (6 if value.kind == "i16" and kind != "i16" else graph.random.randint(0, 3))
    graph.add(rescaled(graph, value, kind, 1 << 30, shift))


def cast(graph: Graph) -> None:
    value = graph.need(KINDS, depth=0)
    targets = {
        "f32": ("f16", "i8", "i16", "i32"),
        "f16": ("f32", "i8", "i32"),
        "i1": INTEGERS,
    }.get(value.kind, tuple(kind for kind in (*INTEGERS, "i1", "f32") if kind != value.kind))
    kind = graph.random.choice(targets)
    graph.add(graph.emit("cast", [value], value.shape, kind))


MAKERS: tuple[Callable[[Graph], None], ...] = (
    *(
        unary,
        unary,
        function,
        arithmetic,
        arithmetic,
        narrow_product,
        scaled,
        scaled,
        bits,
        quotient,
        logic,
        comparison,
    ),
    *(selection, reduction, reduction, argmax, movement, movement, movement, movement, convolution, convolution),
    *(matmul, pool, resize, gather, table, rescale, cast),
)


@dataclass(frozen=True)
class RandomGraph:
    """A module's text, and inputs for its entry in order."""

    text: str
    inputs: list[Array]


def random_graph(seed: int) -> RandomGraph:
    """The graph of a seed: 3 to 14 operators (and what keeps their numbers small), 1 to 4 results."""
    graph = Graph(seed)
    graph.argument(graph.random.choice(("f32", "f32", "i8", "i32")), graph.random.choice((None, 3, 4)))
    wanted = graph.random.randint(3, 14)
    while wanted:
        before = len(graph.lines), len(graph.values), graph.count
        try:
            graph.random.choice(MAKERS)(graph)
            wanted -= 1
        except GiveUpError:
            # an argument may have been added, which stays
            del graph.lines[before[0] :]
            kept = [value for value in graph.values[before[1] :] if value in graph.arguments]
            graph.values[before[1] :] = kept
    made = [value for value in graph.values if value not in graph.arguments]
    results = graph.random.sample(made, min(len(made), graph.random.randint(1, 4)))
    if made[-1] not in results:
        results.append(made[-1])
    if graph.random.random() < 0.1:  # results that no operator of their own makes
        results.append(graph.random.choice([*results, *graph.arguments]))
    arguments = ", ".join(f"{value.name}: {value.type}" for value in graph.arguments)
    types = ", ".join(value.type for value in results)
    names = ", ".join(value.name for value in results)
    body = "\n  ".join(graph.lines)
    text = f"func.func @main({arguments}) -> ({types}) {{\n  {body}\n  return {names} : {types}\n}}\n"
    return RandomGraph(text, graph.inputs)
