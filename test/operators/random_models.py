"""Random models out of the supported operators, as a hypothesis strategy.

A model is a list of steps; each reads values made before and makes one more. Operators with steps in their graph (floor,
comparisons) only read values that are the same to the last bit in every implementation, so that a difference is a fault.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from hypothesis import strategies as st
from torch import nn

Draw = Callable[[st.SearchStrategy[Any]], Any]
Shape = tuple[int, ...]
LARGEST = 4000  # elements in a value


@dataclass
class Step:
    """One operator: a function of the values at `reads`; modules are submodules of the model."""

    label: str
    function: Callable[..., torch.Tensor]
    reads: tuple[int, ...]


@dataclass
class Plan:
    """The shapes of the inputs, the steps, and which values are results."""

    inputs: list[Shape]
    steps: list[Step] = field(default_factory=list)
    results: list[int] = field(default_factory=list)

    def __repr__(self) -> str:
        """What hypothesis prints: one line a step."""
        first = len(self.inputs)
        lines = [f"v{index} = input {list(shape)}" for index, shape in enumerate(self.inputs)]
        lines += [
            f"v{first + index} = {step.label}({', '.join(f'v{read}' for read in step.reads)})"
            for index, step in enumerate(self.steps)
        ]
        return "\n".join(["", *lines, f"return {', '.join(f'v{index}' for index in self.results)}"])


class Model(nn.Module):
    """A plan as a module."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan
        self.parts = nn.ModuleList([step.function for step in plan.steps if isinstance(step.function, nn.Module)])

    def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        values = list(tensors)
        for step in self.plan.steps:
            values.append(step.function(*(values[read] for read in step.reads)))
        return tuple(values[index] for index in self.plan.results)


@dataclass
class State:
    """What is known while a plan grows: the shape of each value, and whether it is exact."""

    draw: Draw
    shapes: list[Shape]
    exact: list[bool]

    def pick(self, fits: Callable[[Shape], bool] = bool, exact: bool = False) -> int | None:
        """A value that fits (by default: that has axes), None when there is none; late ones are likelier."""
        found = [index for index, shape in enumerate(self.shapes) if fits(shape) and (self.exact[index] or not exact)]
        return self.draw(st.sampled_from(found + found[-3:] * 2)) if found else None

    def axis(self, index: int) -> int:
        return self.draw(st.integers(-len(self.shapes[index]), len(self.shapes[index]) - 1))


Made = tuple[str, Callable[..., torch.Tensor], tuple[int, ...]] | None
Maker = Callable[[State], Made]
EXACT_MAKERS: list[Maker] = []
MAKERS: list[Maker] = []


def exact(maker: Maker) -> Maker:
    """An operator that gives the same bits everywhere when its operands are the same."""
    EXACT_MAKERS.append(maker)
    return maker


def rounded(maker: Maker) -> Maker:
    """An operator whose last digits differ between implementations."""
    MAKERS.append(maker)
    return maker


UNARY_EXACT: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "abs": torch.abs, "neg": torch.neg, "relu": torch.relu, "relu6": F.relu6, "hardtanh": F.hardtanh,
    "clamp": lambda x: x.clamp(-0.7, 1.3), "clamp_min": lambda x: x.clamp(min=0.2), "square": torch.square,
    "half": lambda x: x * 0.5, "plus": lambda x: x + 1.25, "from": lambda x: 2.0 - x, "clone": torch.clone,
}  # fmt: skip
UNARY_STEPS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "floor": torch.floor, "ceil": torch.ceil, "round": torch.round, "trunc": torch.trunc, "sign": torch.sign,
    "gt": lambda x: (x > 0.25).to(x.dtype), "where": lambda x: torch.where(x < 0, x * 2, x - 1),
    "eq": lambda x: (x == x.round()).to(x.dtype),
    "floordiv": lambda x: x // 0.75, "remainder": lambda x: x % 1.5, "int": lambda x: x.int().to(x.dtype),
    "threshold": lambda x: F.threshold(x, 0.5, -1.0), "hardshrink": F.hardshrink,
    "logical": lambda x: ((x > 0) & (x < 1)).to(x.dtype),
}  # fmt: skip
UNARY: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "exp": lambda x: x.clamp(-4, 4).exp(), "log": lambda x: (x.abs() + 0.5).log(), "sqrt": lambda x: (x.abs() + 0.1).sqrt(),
    "rsqrt": lambda x: (x.abs() + 0.3).rsqrt(), "reciprocal": lambda x: 1 / (x.abs() + 0.5),
    "sin": lambda x: x.clamp(-9, 9).sin(),
    "cos": lambda x: x.clamp(-9, 9).cos(), "tanh": torch.tanh, "sigmoid": torch.sigmoid, "erf": torch.erf, "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu, "elu": F.elu, "selu": F.selu, "celu": F.celu,
    "mish": F.mish, "softplus": F.softplus, "hardswish": F.hardswish, "hardsigmoid": F.hardsigmoid, "leaky": F.leaky_relu,
    "log1p": lambda x: x.abs().log1p(), "expm1": lambda x: x.clamp(-4, 4).expm1(), "atan": torch.atan, "asinh": torch.asinh,
    "asin": lambda x: (x * 0.9).tanh().asin(), "pow3": lambda x: x.clamp(-3, 3) ** 3,
    "pow_frac": lambda x: (x.abs() + 0.2) ** 0.7,
    "logsigmoid": F.logsigmoid, "tan": lambda x: x.clamp(-1, 1).tan(), "sinh": lambda x: x.clamp(-3, 3).sinh(),
}  # fmt: skip


def one_of(table: dict[str, Callable[[torch.Tensor], torch.Tensor]], from_exact: bool = False) -> Maker:
    """A maker for an operator of one operand."""

    def maker(state: State) -> Made:
        index = state.pick(lambda shape: True, exact=from_exact)
        name = state.draw(st.sampled_from(sorted(table)))
        return None if index is None else (name, table[name], (index,))

    return maker


exact(one_of(UNARY_EXACT))
exact(one_of(UNARY_STEPS, from_exact=True))
rounded(one_of(UNARY))


def broadcastable(left: Shape, right: Shape) -> bool:
    try:
        return math.prod(torch.broadcast_shapes(left, right)) <= LARGEST
    except RuntimeError:
        return False


BINARY: dict[str, Callable[..., torch.Tensor]] = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "maximum": torch.maximum, "minimum": torch.minimum,
}  # fmt: skip


@exact
def binary(state: State) -> Made:
    left = state.pick(lambda shape: True)
    assert left is not None
    right = state.pick(lambda shape: broadcastable(shape, state.shapes[left]))
    name = state.draw(st.sampled_from(sorted(BINARY)))
    return None if right is None else (name, BINARY[name], (left, right))


@rounded
def division(state: State) -> Made:
    left = state.pick(lambda shape: True)
    assert left is not None
    right = state.pick(lambda shape: broadcastable(shape, state.shapes[left]))
    return None if right is None else ("div", lambda x, y: x / (y.abs() + 0.5), (left, right))


# Shapes


@exact
def permute(state: State) -> Made:
    index = state.pick()
    if index is None:
        return None
    order = state.draw(st.permutations(range(len(state.shapes[index]))))
    return f"permute{order}", lambda x: x.permute(order), (index,)


@exact
def reshape(state: State) -> Made:
    index = state.pick()
    if index is None:
        return None
    count = math.prod(state.shapes[index])
    target = []
    for _ in range(state.draw(st.integers(0, 3))):
        divisors = [number for number in range(1, count + 1) if count % number == 0]
        target.append(state.draw(st.sampled_from(divisors)))
        count //= target[-1]
    target.append(count)
    return f"reshape{target}", lambda x: x.reshape(target), (index,)


@exact
def unsqueeze(state: State) -> Made:
    index = state.pick(lambda shape: len(shape) < 5)
    if index is None:
        return None
    axis = state.draw(st.integers(0, len(state.shapes[index])))
    return f"unsqueeze[{axis}]", lambda x: x.unsqueeze(axis), (index,)


@exact
def take_slice(state: State) -> Made:
    index = state.pick()
    if index is None:
        return None
    axis = state.axis(index)
    extent = state.shapes[index][axis]
    start = state.draw(st.integers(0, extent - 1))
    end = state.draw(st.integers(start + 1, extent))
    step = state.draw(st.integers(1, 3))
    count = -(-(end - start) // step)
    places = torch.arange(count) * step + start
    if state.draw(st.booleans()):
        return f"index_select[{axis}, {places.tolist()}]", lambda x: x.index_select(axis, places), (index,)

    def cut(x: torch.Tensor) -> torch.Tensor:
        return x.transpose(0, axis)[start:end:step].transpose(0, axis)

    return f"slice[{axis}, {start}:{end}:{step}]", cut, (index,)


@exact
def select(state: State) -> Made:
    index = state.pick(lambda shape: len(shape) > 1)
    if index is None:
        return None
    axis = state.axis(index)
    place = state.draw(st.integers(0, state.shapes[index][axis] - 1))
    return f"select[{axis}, {place}]", lambda x: x.select(axis, place), (index,)


@exact
def join(state: State) -> Made:
    first = state.pick()
    if first is None:
        return None
    axis = state.axis(first) % len(state.shapes[first])
    shape = state.shapes[first]

    def fits(other: Shape) -> bool:
        return len(other) == len(shape) and all(
            a == b or at == axis for at, (a, b) in enumerate(zip(other, shape, strict=True))
        )

    second = state.pick(fits)
    assert second is not None
    return f"cat[{axis}]", lambda x, y: torch.cat([x, y, x], axis), (first, second)


@exact
def pad(state: State) -> Made:
    index = state.pick(lambda shape: len(shape) in (3, 4))
    if index is None:
        return None
    mode = state.draw(st.sampled_from(["constant", "replicate", "reflect", "circular"]))
    limits = [min(2, extent - 1) for extent in reversed(state.shapes[index][-(len(state.shapes[index]) - 2) :])]
    amounts = [state.draw(st.integers(0, limit)) for limit in limits for _ in range(2)]
    return f"pad[{amounts}, {mode}]", lambda x: F.pad(x, amounts, mode=mode), (index,)


@exact
def flip_or_roll(state: State) -> Made:
    index = state.pick()
    if index is None:
        return None
    axis, amount = state.axis(index), state.draw(st.integers(-2, 3))
    if state.draw(st.booleans()):
        return f"flip[{axis}]", lambda x: x.flip(axis), (index,)
    return f"roll[{axis}, {amount}]", lambda x: x.roll(amount, axis), (index,)


@exact
def repeat(state: State) -> Made:
    index = state.pick(lambda shape: bool(shape) and math.prod(shape) < LARGEST / 4)
    if index is None:
        return None
    if state.draw(st.booleans()):
        multiples = [state.draw(st.integers(1, 2)) for _ in state.shapes[index]]
        return f"repeat{multiples}", lambda x: x.repeat(multiples), (index,)
    axis = state.axis(index)
    return f"repeat_interleave[{axis}]", lambda x: x.repeat_interleave(2, axis), (index,)


@exact
def pixels(state: State) -> Made:
    index = state.pick(lambda shape: len(shape) == 4 and shape[1] % 4 == 0)
    if index is not None:
        return "pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), (index,)
    index = state.pick(lambda shape: len(shape) == 4 and shape[2] % 2 == 0 and shape[3] % 2 == 0)
    return None if index is None else ("pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 2), (index,))


# Reductions


@exact
def extreme(state: State) -> Made:
    index = state.pick()
    if index is None:
        return None
    name, axis, keep = state.draw(st.sampled_from(["amax", "amin"])), state.axis(index), state.draw(st.booleans())
    function = getattr(torch, name)
    return f"{name}[{axis}]", lambda x: function(x, axis, keepdim=keep), (index,)


@exact
def place(state: State) -> Made:
    index = state.pick(exact=True)
    if index is None:
        return None
    axis = state.axis(index)
    name = state.draw(st.sampled_from(["argmax", "argmin"]))
    function = getattr(torch, name)
    return f"{name}[{axis}]", lambda x: function(x, axis, keepdim=True).to(x.dtype), (index,)


@rounded
def reduction(state: State) -> Made:
    index = state.pick()
    if index is None:
        return None
    name = state.draw(st.sampled_from(["sum", "mean", "var", "logsumexp", "norm", "softmax", "log_softmax", "cumsum"]))
    axis, keep = state.axis(index), state.draw(st.booleans())
    if name == "norm":
        return f"norm[{axis}]", lambda x: torch.linalg.vector_norm(x + 0.01, dim=axis, keepdim=keep), (index,)
    if name in ("softmax", "log_softmax", "cumsum"):
        return f"{name}[{axis}]", lambda x: getattr(torch, name)(x, axis), (index,)
    if name == "var":
        return f"var[{axis}]", lambda x: torch.var(x, axis, correction=0, keepdim=keep), (index,)
    function = getattr(torch, name)
    return f"{name}[{axis}, {keep}]", lambda x: function(x, axis, keepdim=keep), (index,)


# Layers


@rounded
def linear(state: State) -> Made:
    index = state.pick()
    if index is None:
        return None
    outputs, bias = state.draw(st.integers(1, 5)), state.draw(st.booleans())
    return f"linear[{outputs}, {bias}]", nn.Linear(state.shapes[index][-1], outputs, bias), (index,)


@rounded
def matmul(state: State) -> Made:
    left = state.pick(lambda shape: len(shape) >= 2)
    if left is None:
        return None
    inner = state.shapes[left][-1]
    right = state.pick(
        lambda shape: len(shape) >= 2 and shape[-2] == inner and broadcastable(shape[:-2], state.shapes[left][:-2])
    )
    if right is None:
        return "gram", lambda x: x @ x.transpose(-1, -2) * 0.3, (left,)
    return "matmul", lambda x, y: x @ y, (left, right)


@rounded
def convolution(state: State) -> Made:
    index = state.pick(lambda shape: len(shape) == 4 and shape[2] > 1 and shape[3] > 1)
    if index is None:
        return None
    channels = state.shapes[index][1]
    groups = state.draw(st.sampled_from([number for number in range(1, channels + 1) if channels % number == 0]))
    outputs = groups * state.draw(st.integers(1, 3))
    kernel = tuple(state.draw(st.integers(1, min(3, extent))) for extent in state.shapes[index][2:])
    stride = tuple(state.draw(st.integers(1, 3)) for _ in range(2))
    padding = tuple(state.draw(st.integers(0, 2)) for _ in range(2))
    bias = state.draw(st.booleans())
    if state.draw(st.integers(0, 3)) == 0 and math.prod(state.shapes[index]) < LARGEST / 8:
        padding = tuple(min(amount, size - 1) for amount, size in zip(padding, kernel, strict=True))
        made: nn.Module = nn.ConvTranspose2d(channels, outputs, kernel, stride, padding, groups=groups, bias=bias)
    else:
        made = nn.Conv2d(channels, outputs, kernel, stride, padding, groups=groups, bias=bias)
    return repr(made), made, (index,)


@rounded
def norm(state: State) -> Made:
    kind = state.draw(st.sampled_from(["layer", "group", "batch", "rms"]))
    index = state.pick(lambda shape: len(shape) >= (3 if kind in ("group", "batch") else 1))
    if index is None:
        return None
    shape = state.shapes[index]
    if kind == "layer":
        return "layer_norm", nn.LayerNorm(shape[-1], eps=1e-2), (index,)
    if kind == "rms":
        return "rms_norm", nn.RMSNorm(shape[-1], eps=1e-2), (index,)
    if kind == "group":
        groups = state.draw(st.sampled_from([number for number in range(1, shape[1] + 1) if shape[1] % number == 0]))
        return f"group_norm[{groups}]", nn.GroupNorm(groups, shape[1], eps=1e-2), (index,)
    scale, shift = torch.linspace(0.5, 1.5, shape[1]), torch.linspace(-1, 1, shape[1])
    return (
        "batch_norm",
        lambda x: F.batch_norm(x, shift.to(x.dtype), scale.to(x.dtype), scale.to(x.dtype), shift.to(x.dtype)),
        (index,),
    )


@exact
def max_pool(state: State) -> Made:
    return pool(state, F.max_pool2d, "max_pool2d")


@rounded
def avg_pool(state: State) -> Made:
    include = state.draw(st.booleans())
    return pool(state, lambda *a, **k: F.avg_pool2d(*a, count_include_pad=include, **k), f"avg_pool2d[{include}]")


def pool(state: State, function: Callable[..., torch.Tensor], name: str) -> Made:
    index = state.pick(lambda shape: len(shape) == 4)
    if index is None:
        return None
    kernel = tuple(state.draw(st.integers(1, min(3, extent))) for extent in state.shapes[index][2:])
    stride = tuple(state.draw(st.integers(1, 3)) for _ in range(2))
    padding = tuple(state.draw(st.integers(0, size // 2)) for size in kernel)
    ceil = state.draw(st.booleans())
    label = f"{name}[{kernel}, {stride}, {padding}, {ceil}]"
    return label, lambda x: function(x, kernel, stride, padding, ceil_mode=ceil), (index,)


@rounded
def resize(state: State) -> Made:
    index = state.pick(lambda shape: len(shape) == 4 and math.prod(shape) < LARGEST / 9)
    if index is None:
        return None
    mode = state.draw(st.sampled_from(["nearest", "bilinear", "aligned", "adaptive"]))
    size = [state.draw(st.integers(1, 3 * extent)) for extent in state.shapes[index][2:]]
    if mode == "adaptive":
        size = [min(new, old) for new, old in zip(size, state.shapes[index][2:], strict=True)]
        return f"adaptive_avg_pool2d{size}", lambda x: F.adaptive_avg_pool2d(x, size), (index,)
    if mode == "nearest":
        return f"nearest{size}", lambda x: F.interpolate(x, size), (index,)
    return f"{mode}{size}", lambda x: F.interpolate(x, size, mode="bilinear", align_corners=mode == "aligned"), (index,)


@rounded
def attention(state: State) -> Made:
    index = state.pick(lambda shape: len(shape) == 4)
    causal = state.draw(st.booleans())
    if index is None:
        return None
    return f"attention[{causal}]", lambda x: F.scaled_dot_product_attention(x, x * 0.5, x, is_causal=causal), (index,)


@st.composite
def plans(draw: Draw) -> Plan:
    """Plans of one to eight steps over one to three inputs."""
    ranks = st.integers(1, 4)
    extents = st.integers(1, 6)
    inputs = [tuple(draw(extents) for _ in range(draw(ranks))) for _ in range(draw(st.integers(1, 3)))]
    if draw(st.booleans()):
        inputs[0] = (
            draw(st.integers(1, 2)),
            draw(st.sampled_from([1, 3, 4, 8])),
            draw(st.integers(2, 9)),
            draw(st.integers(2, 9)),
        )
    plan = Plan(inputs)
    state = State(draw, list(inputs), [True] * len(inputs))
    for _ in range(draw(st.integers(1, 8))):
        maker = draw(st.sampled_from(EXACT_MAKERS + MAKERS * 2))
        made = maker(state)
        if made is None:
            continue
        label, function, reads = made
        try:
            with torch.no_grad():
                result = function(*(torch.zeros(state.shapes[read]) for read in reads))
        except ValueError:  # what PyTorch itself refuses, such as a norm of one element
            continue
        if not 0 < result.numel() <= LARGEST or result.dim() > 5:
            continue
        plan.steps.append(Step(label, function, reads))
        state.shapes.append(tuple(result.shape))
        is_exact = maker in EXACT_MAKERS and all(state.exact[read] for read in reads)
        state.exact.append(is_exact)
    last = len(state.shapes) - 1
    plan.results = sorted({last, *draw(st.lists(st.integers(0, last), max_size=2))})
    return plan
