"""Random TOSA graphs whose numbers are exact in f32: small integers and powers of two, so that any right rewrite agrees
to the last bit."""

from __future__ import annotations

from math import prod

from hypothesis import strategies as st

Shape = tuple[int, ...]

MAX_ELEMENTS = 400
HEADER = """  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
"""


class Builder:
    """A function under construction: its lines and the values that there are."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.values: list[tuple[str, Shape]] = []
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def pick(self, options: list) -> object:
        return self.draw(st.sampled_from(options))

    def emit(self, operator: str, operands: list[tuple[str, str]], result: Shape, attributes: str = "") -> str:
        """One line of an operator on (name, type) operands."""
        name = self.name()
        names = ", ".join(operand for operand, _ in operands)
        types = ", ".join(kind for _, kind in operands)
        self.lines.append(f"  {name} = tosa.{operator} {names} {attributes} : ({types}) -> {tensor(result)}")
        return name

    def add(self, name: str, shape: Shape) -> None:
        self.values.append((name, shape))

    def constant(self, shape: Shape, scales: bool = False) -> tuple[str, str]:
        """A constant of small integers, or of powers of two."""
        options = [0.5, 1.0, 2.0] if scales else [-2.0, -1.0, 0.0, 1.0, 3.0]
        count = prod(shape)
        numbers = [self.pick(options) for _ in range(min(count, 6))]
        numbers = [numbers[index % len(numbers)] for index in range(count)]
        name = self.name()
        kind = tensor(shape)
        self.lines.append(
            f'  {name} = "tosa.const"() <{{values = dense<{nested(numbers, shape)}> : {kind}}}> : () -> {kind}'
        )
        return name, kind

    def shape_constant(self, numbers: list[int] | Shape) -> tuple[str, str]:
        name = self.name()
        kind = f"!tosa.shape<{len(numbers)}>"
        self.lines.append(
            f"  {name} = tosa.const_shape {{values = dense<{list(numbers)}> : tensor<{len(numbers)}xindex>}} : () -> {kind}"
        )
        return name, kind

    def limited(self, name: str, shape: Shape) -> str:
        """A value kept small, so that products stay exact."""
        return self.emit("clamp", [(name, tensor(shape))], shape, "{min_val = -8.0 : f32, max_val = 8.0 : f32}")


def tensor(shape: Shape) -> str:
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}f32>"


def nested(numbers: list, shape: Shape) -> str:
    if not shape:
        return str(numbers[0])
    step = len(numbers) // shape[0]
    return "[" + ", ".join(nested(numbers[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])) + "]"


def factors(number: int) -> list[int]:
    """The prime factors of a number, the smallest first."""
    found, divisor = [], 2
    while number > 1:
        if number % divisor:
            divisor += 1
        else:
            found.append(divisor)
            number //= divisor
    return found


def transpose(b: Builder, name: str, shape: Shape) -> None:
    order = b.draw(st.permutations(range(len(shape))))
    result = tuple(shape[axis] for axis in order)
    b.add(
        b.emit("transpose", [(name, tensor(shape))], result, f"{{perms = array<i32: {', '.join(map(str, order))}>}}"),
        result,
    )


def reshape(b: Builder, name: str, shape: Shape) -> None:
    extents = [1]
    for factor in [factor for extent in shape for factor in factors(extent)]:
        if len(extents) < 5 and b.draw(st.booleans()):
            extents.append(factor)
        else:
            extents[-1] *= factor
    if len(extents) < 5 and b.draw(st.booleans()):
        extents.insert(b.draw(st.integers(0, len(extents))), 1)
    result = tuple(extents)
    b.add(b.emit("reshape", [(name, tensor(shape)), b.shape_constant(result)], result), result)


def unary(b: Builder, name: str, shape: Shape) -> None:
    operator = b.pick(["abs", "floor", "clamp"])
    if operator == "clamp":
        b.add(b.limited(name, shape), shape)
    else:
        b.add(b.emit(str(operator), [(name, tensor(shape))], shape), shape)


def binary(b: Builder, name: str, shape: Shape) -> None:
    operator = b.pick(["add", "sub", "mul", "maximum"])
    fitting = [
        (other, extents)
        for other, extents in b.values
        if len(extents) == len(shape) and all(e in (1, s) for e, s in zip(extents, shape, strict=True))
    ]
    if fitting and b.draw(st.booleans()):
        other, extents = b.pick(fitting)
        operand = (other, tensor(extents))
    else:
        extents = tuple(extent if b.draw(st.booleans()) else 1 for extent in shape)
        operand = b.constant(extents, scales=operator == "mul")
    operands = [(name, tensor(shape)), operand]
    if b.draw(st.booleans()):
        operands.reverse()
    if operator == "mul":
        operands.append(("%shift", "tensor<1xi8>"))
    b.add(b.limited(b.emit(str(operator), operands, shape), shape), shape)


def reduce(b: Builder, name: str, shape: Shape) -> None:
    axis = b.draw(st.integers(0, len(shape) - 1))
    result = tuple(1 if index == axis else extent for index, extent in enumerate(shape))
    operator = b.pick(["reduce_sum", "reduce_max"])
    b.add(b.limited(b.emit(str(operator), [(name, tensor(shape))], result, f"{{axis = {axis} : i32}}"), result), result)


def concat(b: Builder, name: str, shape: Shape) -> None:
    axis = b.draw(st.integers(0, len(shape) - 1))
    fitting = [
        (other, extents)
        for other, extents in b.values
        if len(extents) == len(shape) and extents[:axis] == shape[:axis] and extents[axis + 1 :] == shape[axis + 1 :]
    ]
    other, extents = b.pick(fitting)
    result = (*shape[:axis], shape[axis] + extents[axis], *shape[axis + 1 :])
    operands = [(name, tensor(shape)), (other, tensor(extents))]
    b.add(b.emit("concat", operands, result, f"{{axis = {axis} : i32}}"), result)


def cut(b: Builder, name: str, shape: Shape) -> None:
    start = [b.draw(st.integers(0, extent - 1)) if b.draw(st.booleans()) else 0 for extent in shape]
    size = tuple(b.draw(st.integers(1, extent - first)) for extent, first in zip(shape, start, strict=True))
    operands = [(name, tensor(shape)), b.shape_constant(start), b.shape_constant(size)]
    b.add(b.emit("slice", operands, size), size)


def pad(b: Builder, name: str, shape: Shape) -> None:
    amounts = [b.draw(st.integers(0, 2)) if b.draw(st.booleans()) else 0 for _ in range(2 * len(shape))]
    result = tuple(extent + amounts[2 * axis] + amounts[2 * axis + 1] for axis, extent in enumerate(shape))
    operands = [(name, tensor(shape)), b.shape_constant(amounts), ("%zero", "tensor<1xf32>")]
    b.add(b.emit("pad", operands, result), result)


def tile(b: Builder, name: str, shape: Shape) -> None:
    multiples = [b.draw(st.sampled_from([1, 1, 2])) for _ in shape]
    result = tuple(extent * multiple for extent, multiple in zip(shape, multiples, strict=True))
    b.add(b.emit("tile", [(name, tensor(shape)), b.shape_constant(multiples)], result), result)


def reverse(b: Builder, name: str, shape: Shape) -> None:
    axis = b.draw(st.integers(0, len(shape) - 1))
    b.add(b.emit("reverse", [(name, tensor(shape))], shape, f"{{axis = {axis} : i32}}"), shape)


def convolution(b: Builder, name: str, shape: Shape) -> None:
    kernel = b.pick([1, 1, 3]) if min(shape[1:3]) >= 3 else 1
    channels = b.draw(st.integers(1, 3))
    weight = b.constant((channels, kernel, kernel, shape[3]), scales=True)
    bias = b.constant((channels,))
    result = (*shape[:1], shape[1] - kernel + 1, shape[2] - kernel + 1, channels)
    zero = ("%zero", "tensor<1xf32>")
    attributes = (
        "{acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}"
    )
    b.add(
        b.limited(b.emit("conv2d", [(name, tensor(shape)), weight, bias, zero, zero], result, attributes), result),
        result,
    )


def product(b: Builder, name: str, shape: Shape) -> None:
    columns = b.draw(st.integers(1, 3))
    weight = b.constant((shape[0], shape[2], columns), scales=True)
    result = (shape[0], shape[1], columns)
    zero = ("%zero", "tensor<1xf32>")
    b.add(b.limited(b.emit("matmul", [(name, tensor(shape)), weight, zero, zero], result), result), result)


def pool(b: Builder, name: str, shape: Shape) -> None:
    result = (shape[0], shape[1] - 1, shape[2], shape[3])
    attributes = "{kernel = array<i64: 2, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}"
    b.add(b.emit("max_pool2d", [(name, tensor(shape))], result, attributes), result)


ANY_RANK = [transpose, reshape, transpose, reshape, unary, binary, binary, reduce, concat, cut, pad, tile, reverse]


@st.composite
def graphs(draw: st.DrawFn) -> str:
    """The text of a function with one or two arguments and one to three results."""
    b = Builder(draw)
    arguments = []
    for index in range(draw(st.integers(1, 2))):
        shape = draw(st.sampled_from([(2, 3, 4), (1, 4, 6), (1, 3, 4, 2), (6, 4), (1, 2, 2, 4), (2, 2, 3, 2)]))
        arguments.append(f"%x{index}: {tensor(shape)}")
        b.add(f"%x{index}", shape)
    for _ in range(draw(st.integers(2, 12))):
        name, shape = b.pick(b.values[-4:])
        makers = list(ANY_RANK)
        if len(shape) == 4:
            makers += [convolution, convolution]
            if shape[1] > 1:
                makers.append(pool)
        if len(shape) == 3:
            makers += [product, product]
        before = list(b.lines), list(b.values), b.count
        b.pick(makers)(b, name, shape)
        if prod(b.values[-1][1]) > MAX_ELEMENTS or 0 in b.values[-1][1]:
            b.lines, b.values, b.count = before
    results = {b.pick(b.values[-3:]) for _ in range(draw(st.integers(1, 3)))}
    results = sorted(results | {b.values[-1]})
    kinds = ", ".join(tensor(shape) for _, shape in results)
    names = ", ".join(name for name, _ in results)
    body = "\n".join(b.lines)
    return f"func.func @main({', '.join(arguments)}) -> ({kinds}) {{\n{HEADER}{body}\n  return {names} : {kinds}\n}}\n"
