"""The operators that docs/operators.md lists, each with models that use it and inputs for them.

The list of APIs is that of the operators that ExecuTorch's VGF backend documents (ExecuTorch 1.5, backend operator
support table), in its floating-point forms, and some more that models use. A case is a function of tensors or a module.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

Tensors = tuple[Any, ...]
Make = Callable[[torch.dtype, torch.Generator], Tensors]

FLOATS = (torch.float32, torch.float16, torch.bfloat16)
FULL = (torch.float32,)


class Function(nn.Module):
    """A function of tensors as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *tensors: torch.Tensor) -> Any:
        return self.function(*tensors)


@dataclass(frozen=True)
class Case:
    """One model of an API, in the floating-point types in which it is tried; one with a `shader` runs on Vulkan only."""

    api: str
    label: str
    build: Callable[[], nn.Module]
    inputs: Make
    dtypes: tuple[torch.dtype, ...]
    shader: bool = False


CASES: list[Case] = []


def add(
    api: str,
    build: Callable[..., Any],
    inputs: Make,
    dtypes: tuple[torch.dtype, ...] = FULL,
    label: str = "",
    shader: bool = False,
) -> None:
    """A case; `build` is a module class called without arguments, or a function that computes the result."""
    module = isinstance(build, type) and issubclass(build, nn.Module)
    CASES.append(Case(api, label, build if module else lambda: Function(build), inputs, dtypes, shader))


def module(
    api: str, build: Callable[[], nn.Module], inputs: Make, dtypes: tuple[torch.dtype, ...] = FULL, label: str = ""
) -> None:
    """A case whose model `build` makes."""
    CASES.append(Case(api, label, build, inputs, dtypes))


# Inputs


def normal(*shapes: tuple[int, ...], scale: float = 1.0, shift: float = 0.0) -> Make:
    """Normally distributed tensors."""
    return lambda dtype, g: tuple((torch.randn(shape, generator=g) * scale + shift).to(dtype) for shape in shapes)


def uniform(low: float, high: float, *shapes: tuple[int, ...]) -> Make:
    """Uniformly distributed tensors."""
    return lambda dtype, g: tuple((torch.rand(shape, generator=g) * (high - low) + low).to(dtype) for shape in shapes)


def integers(low: int, high: int, *shapes: tuple[int, ...], dtype: torch.dtype = torch.int32) -> Make:
    """Whole numbers of [low, high)."""
    return lambda _, g: tuple(torch.randint(low, high, shape, generator=g, dtype=dtype) for shape in shapes)


def booleans(*shapes: tuple[int, ...]) -> Make:
    """Booleans, half of them true."""
    return lambda _, g: tuple(torch.rand(shape, generator=g) > 0.5 for shape in shapes)


def both(*makes: Make) -> Make:
    """The tensors of several makers."""
    return lambda dtype, g: tuple(tensor for make in makes for tensor in make(dtype, g))


def fixed(*values: Any) -> Make:
    """Floating-point tensors of these values."""
    return lambda dtype, g: tuple(torch.tensor(value, dtype=dtype) for value in values)


x34 = normal((3, 4))
x234 = normal((2, 3, 4))
image = normal((2, 4, 6, 8))
pair = normal((2, 3, 4), (2, 3, 4))
stretched = normal((2, 3, 4), (3, 1))
special = fixed([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1.5, math.inf, -math.inf, math.nan])
ints = integers(-20, 20, (2, 3, 4), (2, 3, 4))


def check_scalar(x: torch.Tensor) -> torch.Tensor:
    torch._assert_scalar(x.shape[0] > 0, "empty")
    return x + 1


def filled(x: torch.Tensor) -> torch.Tensor:
    y = x * 1
    y.fill_(3.5)
    return x + y


def copied(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = torch.zeros_like(x)
    z.copy_(y)
    return z + x


def assigned(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = x * 1
    z[1:, 2] = y
    z[0, 0] = 7.0
    return z


def put(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = x * 1
    z[torch.tensor([2, 0])] = y
    return z


class SelfAttention(nn.Module):
    """nn.MultiheadAttention of a tensor with itself."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result, _ = self.attention(x, x, x, need_weights=False)
        return result


# Element by element

add("torch._assert_scalar", check_scalar, x34)
add("torch.abs", torch.abs, x234, FLOATS)
add("torch.abs", torch.abs, special, label="special values")
add("torch.abs", torch.abs, integers(-9, 9, (2, 3)), label="int32")
add("torch.acos", torch.acos, uniform(-1, 1, (2, 3, 4)))
add("torch.acos", torch.acos, fixed([-1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 1e-20]), label="special values")
add("torch.acosh", torch.acosh, uniform(1, 20, (2, 3, 4)))
add("torch.acosh", torch.acosh, fixed([1.0, 1.0001, 1e10, 1e30, math.inf, 0.5]), label="special values")
add("torch.add / +", torch.add, pair, FLOATS)
add("torch.add / +", torch.add, stretched, label="broadcast")
add("torch.add / +", lambda x, y: torch.add(x, y, alpha=2.5) + 1, pair, label="alpha and scalar")
add("torch.add / +", torch.add, integers(-20, 20, (2, 3), (3,), dtype=torch.int64), label="int64")
add("torch.add / +", torch.add, both(integers(0, 9, (2, 3)), normal((2, 3))), label="int32 and floating point")
add("torch.addmm", torch.addmm, normal((4,), (3, 5), (5, 4)))
add(
    "torch.addmm",
    lambda b, x, y: torch.addmm(b, x, y, beta=0.5, alpha=2),
    normal((3, 4), (3, 5), (5, 4)),
    label="beta and alpha",
)
add("torch.alias_copy", torch.alias_copy, x234, FLOATS)
add("torch.amax", lambda x: torch.amax(x, (0, 2)), x234, FLOATS)
add("torch.amax", lambda x: torch.amax(x, 1, keepdim=True), x234, label="keepdim")
add("torch.amin", lambda x: torch.amin(x, (1,)), x234, FLOATS)
add("torch.any", lambda x: torch.any(x > 0.5, 1), x234)
add("torch.any", lambda x: torch.any(x > 2.5), x234, label="whole")
add("torch.arange", lambda x: x + torch.arange(4, dtype=x.dtype), x234)
add("torch.arange", lambda x: x + torch.arange(-1.0, 2.5, 0.9, dtype=x.dtype), x234, label="steps")
add("torch.arange", lambda x: x + torch.arange(3, 11, 2), x234, label="int64")
add("torch.argmax", lambda x: torch.argmax(x, 1), x234, FLOATS)
add("torch.argmax", torch.argmax, x234, label="whole")
add("torch.argmax", lambda x: torch.argmax(x, -1, keepdim=True), integers(-9, 9, (3, 5)), label="int32")
add("torch.as_strided_copy", lambda x: torch.as_strided_copy(x, (2, 3), (4, 1), 2), x234)
add("torch.asin", torch.asin, uniform(-1, 1, (2, 3, 4)))
add("torch.asin", torch.asin, fixed([-1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 1e-20]), label="special values")
add("torch.asinh", torch.asinh, normal((2, 3, 4), scale=5.0))
add("torch.asinh", torch.asinh, fixed([0.0, 1e-6, -1e-6, 1e20, -1e30, math.inf, -math.inf]), label="special values")
add("torch.atan", torch.atan, normal((2, 3, 4), scale=3.0))
add("torch.atan", torch.atan, fixed([0.0, 1e-6, -1e20, math.inf, -math.inf, 0.41421, 2.41422]), label="special values")
add("torch.atanh", torch.atanh, uniform(-0.99, 0.99, (2, 3, 4)))
add("torch.atanh", torch.atanh, fixed([0.0, 1e-6, -1e-6, 0.9999, 1.0, -1.0]), label="special values")
add(
    "torch.batch_norm",
    lambda x, w, b, m, v: torch.batch_norm(x, w, b, m, v * v + 0.5, False, 0.1, 1e-5, False),
    normal((2, 4, 6), (4,), (4,), (4,), (4,)),
)
for name in ("and", "or", "xor"):
    function = getattr(torch, f"bitwise_{name}")
    symbol = {"and": "&", "or": "|", "xor": "^"}[name]
    add(f"torch.bitwise_{name} / {symbol}", function, ints, label="int32")
    add(f"torch.bitwise_{name} / {symbol}", function, booleans((2, 3), (2, 3)), label="bool")
add("torch.bitwise_not / ~", torch.bitwise_not, integers(-20, 20, (2, 3)), label="int32")
add("torch.bitwise_not / ~", torch.bitwise_not, booleans((2, 3)), label="bool")
shifts = both(integers(-20, 20, (2, 3)), integers(0, 8, (2, 3)))
add("torch.bitwise_left_shift / <<", torch.bitwise_left_shift, shifts, label="int32")
add("torch.bitwise_right_shift / >>", torch.bitwise_right_shift, shifts, label="int32")
add("torch.bitwise_right_shift / >>", lambda x: x >> 2, integers(-20, 20, (2, 3)), label="int32 by a number")
add("torch.bmm", torch.bmm, normal((2, 3, 5), (2, 5, 4)), FLOATS)
add("torch.cat", lambda x, y: torch.cat([x, y, x], 1), pair, FLOATS)
add("torch.cat", lambda x: torch.cat([x + i for i in range(70)], 0), normal((1, 2)), label="70 operands")
add("torch.ceil", torch.ceil, normal((2, 3, 4), scale=3.0), FLOATS)
add("torch.clamp", lambda x: torch.clamp(x, -0.5, 0.75), x234, FLOATS)
add("torch.clamp", lambda x: torch.clamp(x, min=0.25), special, label="minimum only, special values")
add("torch.clamp", torch.clamp, normal((2, 3), (2, 3), (2, 3)), label="tensors")
add("torch.clamp", lambda x: torch.clamp(x, -3, 5), integers(-20, 20, (2, 3)), label="int32")
add("torch.clone / torch.Tensor.clone", lambda x: x.clone() + 1, x234)
add("torch.clone / torch.Tensor.clone", torch.clone, x234, label="input returned")
module("torch.conv1d", lambda: nn.Conv1d(4, 6, 3, stride=2, padding=1), normal((2, 4, 9)))
module(
    "torch.conv1d",
    lambda: nn.Conv1d(4, 6, 3, dilation=2, groups=2, bias=False),
    normal((2, 4, 9)),
    label="dilation and groups",
)
CONV2D = "torch.nn.Conv2d / torch.nn.functional.conv2d"
for api in ("torch.conv2d", CONV2D):
    module(api, lambda: nn.Conv2d(4, 6, 3, stride=2, padding=1), image, FLOATS)
module(CONV2D, lambda: nn.Conv2d(4, 8, 3, groups=4, padding=1), image, label="depthwise, multiplier 2")
module(
    CONV2D, lambda: nn.Conv2d(4, 6, (3, 2), groups=2, dilation=(1, 2), bias=False), image, label="2 groups, dilation"
)
module(CONV2D, lambda: nn.Conv2d(32, 32, 3, groups=16, padding=1), normal((1, 32, 5, 5)), label="16 groups")
module(CONV2D, lambda: nn.Conv2d(4, 6, 3, padding="same"), image, label="padding 'same'")
module(CONV2D, lambda: nn.Conv2d(4, 6, 4, padding="same"), image, label="padding 'same', even kernel")
module(CONV2D, lambda: nn.Conv2d(4, 6, 1, stride=3), image, label="input cut")
module(CONV2D, lambda: nn.Conv2d(4, 6, 3), normal((4, 6, 8)), label="without batch")
add(CONV2D, F.conv2d, normal((1, 4, 5, 5), (3, 4, 2, 2)), label="computed weight")
module("torch.conv3d", lambda: nn.Conv3d(2, 4, (2, 3, 3), stride=(1, 2, 1), padding=1), normal((1, 2, 5, 6, 7)), FLOATS)
module("torch.conv3d", lambda: nn.Conv3d(4, 4, 3, groups=2), normal((1, 4, 4, 5, 6)), label="2 groups")
TRANSPOSED = "torch.conv_transpose2d"
module(TRANSPOSED, lambda: nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1), image, FLOATS)
module(TRANSPOSED, lambda: nn.ConvTranspose2d(4, 6, 2, stride=2, groups=2), image, label="2 groups")
module(TRANSPOSED, lambda: nn.ConvTranspose2d(4, 6, 3, dilation=2, padding=1), image, label="dilation")
module(TRANSPOSED, lambda: nn.ConvTranspose2d(4, 6, 2, padding=2, stride=3), image, label="padding of a kernel's size")
module("torch.conv_transpose1d", lambda: nn.ConvTranspose1d(4, 6, 4, stride=2, padding=1), normal((2, 4, 7)))
module(
    "torch.conv_transpose3d",
    lambda: nn.ConvTranspose3d(2, 3, 3, stride=2, padding=1, output_padding=1),
    normal((1, 2, 3, 4, 3)),
)
add("torch.cos", torch.cos, x234, FLOATS)
add("torch.cosh", torch.cosh, x234)
add("torch.cosh", torch.cosh, fixed([0.0, 1e-6, 30.0, -88.9, 89.0, math.inf]), label="special values")
add("torch.cumsum", lambda x: torch.cumsum(x, 1), normal((2, 11, 3)))
add("torch.cumsum", lambda x: torch.cumsum(x, 0), fixed([1.0, 2.0, math.inf, 3.0]), label="infinity")
add("torch.cumsum", lambda x: torch.cumsum(x, -1), integers(-9, 9, (2, 6)), label="int32")
for api in ("torch.div", "torch.div / /"):
    add(api, torch.div, both(x234, uniform(0.5, 3, (2, 3, 4))))
add("torch.div", lambda x: x / 3, x234, label="by a number")
add(
    "torch.div",
    lambda x, y: torch.div(x, y, rounding_mode="floor"),
    both(normal((2, 9), scale=9.0), normal((2, 9))),
    label="floor",
)
add(
    "torch.div",
    lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    both(normal((2, 9), scale=9.0), normal((2, 9))),
    label="trunc",
)
add("torch.div", torch.div, both(integers(-9, 9, (2, 3)), integers(1, 9, (2, 3))), label="int32")
COMPARISONS = {"eq": "==", "ge": ">=", "gt": ">", "le": "<=", "lt": "<", "ne": "!="}
for name, symbol in COMPARISONS.items():
    function = getattr(torch, name)
    add(f"torch.{name} / {symbol}", function, integers(-2, 2, (2, 3, 4), (3, 4)), label="int32")
    add(f"torch.{name} / {symbol}", lambda x, y, f=function: f(x.round(), y.round()), pair)
    add(f"torch.{name} / {symbol}", lambda x, f=function: f(x, 1), special, label="special values and a number")
add("torch.erf", torch.erf, x234, FLOATS)
add("torch.erfinv", torch.erfinv, uniform(-0.999, 0.999, (2, 30)), (torch.float32, torch.float16))
add("torch.erfinv", torch.erfinv, fixed([0.0, 1e-6, 0.9999, 1.0, -1.0]), label="special values")
add("torch.exp", torch.exp, x234, FLOATS)
add("torch.expm1", torch.expm1, normal((2, 3, 4)))
add(
    "torch.expm1",
    torch.expm1,
    fixed([0.0, 1e-6, -1e-6, 0.5, -0.5, 1e-30, -50.0, math.inf, -math.inf]),
    label="special values",
)
add("torch.eye", lambda x: x + torch.eye(3, 4), x34)
add("torch.fill_", filled, x234)
add("torch.flip", lambda x: torch.flip(x, (0, 2)), x234)
add("torch.floor", torch.floor, normal((2, 3, 4), scale=3.0), FLOATS)
add("torch.floor_divide / //", torch.floor_divide, both(normal((2, 30), scale=9.0), normal((2, 30))))
add("torch.floor_divide / //", lambda x: x // 0.1, fixed([0.3, 0.7, 1.0, -0.3, 4.9]), label="near whole quotients")
add(
    "torch.floor_divide / //",
    torch.floor_divide,
    both(integers(-20, 20, (2, 9)), integers(1, 7, (2, 9))),
    label="int32",
)
add(
    "torch.floor_divide / //",
    torch.floor_divide,
    both(integers(-20, 20, (2, 9)), integers(-7, 0, (2, 9))),
    label="int32, negative",
)
add("torch.full", lambda x: x + torch.full((3, 4), 2.5), x34)
add("torch.full_like", lambda x: x + torch.full_like(x, 2.5), x34)
add(
    "torch.gather", lambda x, i: torch.gather(x, 1, i), both(x234, integers(0, 3, (2, 3, 4), dtype=torch.int64)), FLOATS
)
add(
    "torch.gather",
    lambda x, i: torch.gather(x, 2, i),
    both(x234, integers(0, 4, (1, 2, 5), dtype=torch.int64)),
    label="shorter index",
)
add(
    "torch.gather",
    lambda x, i: torch.gather(x, 0, i),
    both(booleans((3, 2)), integers(0, 3, (3, 2), dtype=torch.int64)),
    label="bool",
)
module("torch.group_norm", lambda: nn.GroupNorm(2, 4), image)
add(
    "torch.index_select",
    lambda x, i: torch.index_select(x, 1, i),
    both(x234, integers(0, 3, (5,), dtype=torch.int64)),
    FLOATS,
)
add("torch.index_select", lambda x: torch.index_select(x, 2, torch.tensor([3, 0, 0])), x234, label="known indices")
add(
    "torch.index_select",
    lambda x, i: torch.index_select(x, 0, i),
    both(booleans((3, 2)), integers(0, 3, (4,))),
    label="bool",
)
add("torch.index_put_", put, normal((3, 4), (2, 4)))
add("torch.layer_norm", lambda x, w, b: torch.layer_norm(x, (4,), w, b), normal((2, 3, 4), (4,), (4,)))
module("torch.layer_norm", lambda: nn.LayerNorm((3, 4)), x234, label="two axes")
module("torch.layer_norm", lambda: nn.LayerNorm(4, elementwise_affine=False), x234, label="without weight")
add("torch.linspace", lambda x: x + torch.linspace(-1, 2, 4), x34)
add("torch.log", torch.log, uniform(0.1, 9, (2, 3, 4)), FLOATS)
add("torch.log", torch.log, special, label="special values")
add("torch.log10", torch.log10, uniform(0.1, 9, (2, 3, 4)))
add("torch.log2", torch.log2, uniform(0.1, 9, (2, 3, 4)))
add("torch.log1p", torch.log1p, uniform(-0.9, 9, (2, 3, 4)))
add("torch.log1p", torch.log1p, fixed([0.0, 1e-6, -1e-6, 1e-30, 1e30, math.inf, -1.0]), label="special values")
add("torch.log_softmax", lambda x: torch.log_softmax(x, 1), x234)
for name in ("and", "or", "xor"):
    function = getattr(torch, f"logical_{name}")
    add(f"torch.logical_{name}", lambda x, y, f=function: f(x > 0, y > 0), pair)
    add(f"torch.logical_{name}", function, integers(-1, 2, (2, 3, 4), (2, 3, 4)), label="int32")
add("torch.logical_not", lambda x: torch.logical_not(x > 0), x234)
add("torch.logical_not", torch.logical_not, special, label="special values")
add("torch.logit", torch.logit, uniform(0.01, 0.99, (2, 3, 4)))
add("torch.logit", lambda x: torch.logit(x, 0.1), uniform(0, 1, (2, 3, 4)), label="eps")
MASKED_FILL = "torch.masked_fill / torch.Tensor.masked_fill"
add(MASKED_FILL, lambda x, m: x.masked_fill(m, -math.inf), both(x234, booleans((3, 4))))
MATMUL = "torch.matmul / @"
add(MATMUL, torch.matmul, normal((2, 3, 5), (2, 5, 4)))
add(MATMUL, torch.matmul, normal((2, 1, 3, 5), (4, 5, 6)), label="broadcast batches")
add(MATMUL, torch.matmul, normal((2, 3, 5), (5, 4)), label="matrix of no batch")
add(MATMUL, torch.matmul, normal((5,), (5, 4)), label="vector and matrix")
add(MATMUL, torch.matmul, normal((2, 3, 5), (5,)), label="batch and vector")
add(MATMUL, torch.matmul, normal((5,), (5,)), label="two vectors")
for name in ("max", "min"):
    function = getattr(torch, name)
    add(f"torch.{name}", function, x234, FLOATS)
    add(f"torch.{name}", lambda x, f=function: f(x, 1), x234, label="with indices")
    add(f"torch.{name}", function, pair, label="of two")
add("torch.max_pool1d", lambda x: F.max_pool1d(x, 3, 2, 1), normal((2, 3, 9)))
MAX_POOL = "torch.nn.MaxPool2d / torch.nn.functional.max_pool2d"
for api in ("torch.max_pool2d", MAX_POOL):
    add(api, lambda x: F.max_pool2d(x, 3, 2, 1), image, FLOATS if api == "torch.max_pool2d" else FULL)
module(MAX_POOL, lambda: nn.MaxPool2d(3, 2, ceil_mode=True), normal((1, 2, 6, 8)), label="ceil_mode")
module(MAX_POOL, lambda: nn.MaxPool2d((2, 3), (3, 1)), image, label="input cut")
module("torch.nn.MaxPool3d", lambda: nn.MaxPool3d(2, 2, padding=1), normal((1, 2, 5, 6, 7)))
add("torch.maximum", torch.maximum, pair, FLOATS)
add("torch.maximum", lambda x: torch.maximum(x, torch.zeros(1)), special, label="special values")
add("torch.minimum", torch.minimum, pair, FLOATS)
add("torch.mean", lambda x: torch.mean(x, (1, 2)), x234)
add("torch.mean", torch.mean, x234, label="whole")
add("torch.mm", torch.mm, normal((3, 5), (5, 4)))
add("torch.mul / *", torch.mul, pair, FLOATS)
add("torch.mul / *", lambda x: x * 3, integers(-9, 9, (2, 3)), label="int32")
add("torch.neg / unary -", torch.neg, x234)
add("torch.neg / unary -", torch.neg, integers(-9, 9, (2, 3)), label="int32")
ADAPTIVE = "torch.nn.AdaptiveAvgPool2d / torch.nn.functional.adaptive_avg_pool2d"
add(ADAPTIVE, lambda x: F.adaptive_avg_pool2d(x, 1), image)
add(ADAPTIVE, lambda x: F.adaptive_avg_pool2d(x, (3, 4)), image, label="uniform windows")
add(ADAPTIVE, lambda x: F.adaptive_avg_pool2d(x, (4, 3)), image, label="windows of several sizes")
add("torch.nn.functional.adaptive_max_pool2d", lambda x: F.adaptive_max_pool2d(x, (4, 3)), image)
AVG_POOL = "torch.nn.AvgPool2d / torch.nn.functional.avg_pool2d"
add(AVG_POOL, lambda x: F.avg_pool2d(x, 2), image)
add(AVG_POOL, lambda x: F.avg_pool2d(x, 3, 2, 1), image, label="padding counted")
add(AVG_POOL, lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), image, label="padding not counted")
add(AVG_POOL, lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True), image, label="ceil_mode")
add(AVG_POOL, lambda x: F.avg_pool2d(x, 3, 2, 1, divisor_override=5), image, label="divisor_override")
add("torch.nn.AvgPool1d", lambda x: F.avg_pool1d(x, 3, 2, 1), normal((2, 3, 9)))
add("torch.nn.AvgPool3d", lambda x: F.avg_pool3d(x, 2, 2, 1), normal((1, 2, 5, 6, 7)))
module("torch.nn.BatchNorm2d / torch.nn.functional.batch_norm", lambda: warmed(nn.BatchNorm2d(4)), image)
module("torch.nn.CELU / torch.nn.functional.celu", lambda: nn.CELU(0.7), x234)
module("torch.nn.ELU / torch.nn.functional.elu", lambda: nn.ELU(1.3), x234)
EMBEDDING = "torch.nn.Embedding / torch.nn.functional.embedding"
module(EMBEDDING, lambda: nn.Embedding(10, 4), integers(0, 10, (2, 3), dtype=torch.int64))
module(EMBEDDING, lambda: nn.Embedding(10, 4), integers(0, 10, (2, 3)), label="int32")
PAD = "torch.nn.functional.pad"
add(PAD, lambda x: F.pad(x, (1, 2, 0, 3)), x234, FLOATS)
add(PAD, lambda x: F.pad(x, (1, -1, 0, 2), value=2.5), x234, label="value and cut")
add(PAD, lambda x: F.pad(x, (1, 2, 2, 1), mode="reflect"), image, label="reflect")
add(PAD, lambda x: F.pad(x, (1, 2, 2, 1), mode="replicate"), image, label="replicate")
add(PAD, lambda x: F.pad(x, (1, 2, 2, 1), mode="circular"), image, label="circular")
GELU = "torch.nn.GELU / torch.nn.functional.gelu"
module(GELU, nn.GELU, x234, (torch.float32, torch.bfloat16))
module(GELU, lambda: nn.GELU("tanh"), x234, label="tanh")
module("torch.nn.GroupNorm / torch.nn.functional.group_norm", lambda: nn.GroupNorm(2, 4), image)
module("torch.nn.InstanceNorm2d", lambda: nn.InstanceNorm2d(4, affine=True), image)
module("torch.nn.RMSNorm", lambda: nn.RMSNorm(4), x234)
module("torch.nn.Hardsigmoid / torch.nn.functional.hardsigmoid", nn.Hardsigmoid, normal((2, 3, 4), scale=4.0))
module("torch.nn.Hardswish / torch.nn.functional.hardswish", nn.Hardswish, normal((2, 3, 4), scale=4.0))
module("torch.nn.Hardtanh / torch.nn.functional.hardtanh", lambda: nn.Hardtanh(-0.5, 1.5), x234)
module("torch.nn.ReLU6", nn.ReLU6, normal((2, 3, 4), scale=5.0))
module("torch.nn.LeakyReLU / torch.nn.functional.leaky_relu", lambda: nn.LeakyReLU(0.1), x234)
add("torch.nn.LeakyReLU / torch.nn.functional.leaky_relu", lambda x: F.leaky_relu(x, 1.5), x234, label="steep")
module("torch.nn.PReLU", lambda: nn.PReLU(4, 0.2), image)
LINEAR = "torch.nn.Linear / torch.nn.functional.linear"
module(LINEAR, lambda: nn.Linear(4, 5), x234)
module(LINEAR, lambda: nn.Linear(4, 5, bias=False), normal((4,)), label="vector")
module(LINEAR, lambda: nn.Linear(8, 5), image, label="rank 4")
module("torch.nn.LogSoftmax / torch.nn.functional.log_softmax", lambda: nn.LogSoftmax(-1), x234)
module("torch.nn.SELU / torch.nn.functional.selu", nn.SELU, x234)
module("torch.nn.SiLU / torch.nn.functional.silu", nn.SiLU, x234)
module("torch.nn.Mish", nn.Mish, x234)
module("torch.nn.Softplus", lambda: nn.Softplus(2.0), normal((2, 3, 4), scale=9.0))
module("torch.nn.LogSigmoid", nn.LogSigmoid, normal((2, 3, 4), scale=9.0))
module("torch.nn.GLU", lambda: nn.GLU(1), image)
module("torch.nn.Softsign", nn.Softsign, x234)
module("torch.nn.Tanhshrink", nn.Tanhshrink, x234)
module("torch.nn.Hardshrink", nn.Hardshrink, x234)
module("torch.nn.Softshrink", nn.Softshrink, x234)
module("torch.nn.Threshold", lambda: nn.Threshold(0.1, 20.0), x234)
module("torch.nn.Softmax / torch.nn.functional.softmax", lambda: nn.Softmax(1), x234)
add("torch.ones", lambda x: x + torch.ones(3, 4), x34)
PERMUTE = "torch.permute / torch.Tensor.permute"
add(PERMUTE, lambda x: x.permute(2, 0, 1), x234, FLOATS)
add("torch.pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), normal((1, 8, 3, 5)))
add("torch.pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 2), normal((1, 2, 4, 6)))
add("torch.channel_shuffle", lambda x: F.channel_shuffle(x, 2), image)
add("torch.pow / **", lambda x: x**2, x234, FLOATS)
add("torch.pow / **", lambda x: x**-3, uniform(0.5, 2, (2, 3)), label="negative whole exponent")
add("torch.pow / **", lambda x: x**0.3, uniform(0.1, 2, (2, 3)), label="fraction")
add("torch.pow / **", lambda x, y: x ** y.round(), normal((2, 9), (2, 9), scale=2.0), label="of negative numbers")
add("torch.pow / **", lambda x: 2.5**x, x234, label="of a number")
add("torch.pow / **", lambda x: x**3, integers(-5, 5, (2, 3)), label="int32")
add("torch.reciprocal", torch.reciprocal, uniform(0.3, 3, (2, 3, 4)), FLOATS)
add("torch.reciprocal", torch.reciprocal, special, label="special values")
RELU = "torch.relu / torch.nn.ReLU"
add(RELU, torch.relu, x234)
add(RELU, torch.relu, special, label="special values")
add("torch.remainder", torch.remainder, both(normal((2, 30), scale=9.0), normal((2, 30))))
add("torch.remainder", torch.remainder, both(integers(-20, 20, (2, 9)), integers(1, 7, (2, 9))), label="int32")
add("torch.fmod", torch.fmod, both(normal((2, 30), scale=9.0), normal((2, 30))))
add("torch.repeat_interleave", lambda x: torch.repeat_interleave(x, 3, 1), x234, FLOATS)
add("torch.repeat_interleave", lambda x: torch.repeat_interleave(x, 2), booleans((2, 3)), label="bool, flat")
add("torch.round", torch.round, normal((2, 3, 4), scale=5.0), FLOATS)
add(
    "torch.round",
    torch.round,
    fixed([0.5, 1.5, 2.5, -0.5, -1.5, 1e10, 3e9, -5e20, math.inf, math.nan]),
    label="special values",
)
add("torch.rsqrt", torch.rsqrt, uniform(0.1, 9, (2, 3, 4)))
add("torch.rsqrt", torch.rsqrt, special, label="special values")
add("torch.rsub", lambda x, y: torch.rsub(x, y, alpha=2), pair)
add("torch.rsub", lambda x: 1 - x, x234, label="from a number")
add("torch.scalar_tensor", lambda x: x + torch.scalar_tensor(2.5), x34)
add("torch.select / torch.Tensor.select", lambda x: x.select(1, -1), x234)
add("torch.select_scatter", lambda x, y: torch.select_scatter(x, y, 1, 1), normal((2, 3, 4), (2, 4)))
add("torch.slice_scatter", lambda x, y: torch.slice_scatter(x, y, 1, 1, 3), normal((2, 4, 3), (2, 2, 3)))
add(
    "torch.slice_scatter",
    lambda x, y: torch.slice_scatter(x, y, 1, 0, 4, 2),
    normal((2, 5, 3), (2, 2, 3)),
    label="steps",
)
add("torch.sigmoid / torch.nn.Sigmoid", torch.sigmoid, x234, FLOATS)
add("torch.sign", torch.sign, x234)
add("torch.sign", torch.sign, special, label="special values")
add("torch.sin", torch.sin, x234, FLOATS)
add("torch.sinh", torch.sinh, x234)
add("torch.sinh", torch.sinh, fixed([0.0, 1e-6, -1e-6, 30.0, -88.9, 89.0, math.inf, -math.inf]), label="special values")
add("torch.softmax", lambda x: torch.softmax(x, -1), x234)
add(
    "torch.softmax",
    lambda x: torch.softmax(x, -1),
    fixed([[-math.inf, 0.0, 1.0], [-math.inf, 200.0, -math.inf]]),
    label="special values",
)
SPLIT = "torch.split / torch.Tensor.split"
add(SPLIT, lambda x: x.split(2, 1), normal((2, 5, 3)))
add(SPLIT, lambda x: x.split([1, 3, 1], 1), normal((2, 5, 3)), label="sizes")
add("torch.chunk", lambda x: x.chunk(3, 1), normal((2, 5, 3)))
add("torch.sqrt", torch.sqrt, uniform(0, 9, (2, 3, 4)))
add("torch.sqrt", torch.sqrt, special, label="special values")
for api in ("torch.squeeze", "torch.squeeze / torch.Tensor.squeeze"):
    add(api, lambda x: x.squeeze(), normal((2, 1, 3, 1)))
add("torch.squeeze", lambda x: x.squeeze((1, 3)), normal((2, 1, 3, 1)), label="axes")
add("torch.stack", lambda x, y: torch.stack([x, y], 1), pair)
add("torch.sub / -", torch.sub, pair, FLOATS)
add("torch.sub / -", lambda x: x - 1.5, x234, label="a number")
add("torch.sum", lambda x: torch.sum(x, (0, 2), keepdim=True), x234, FLOATS)
add("torch.sum", torch.sum, x234, label="whole")
add("torch.sum", lambda x: torch.sum(x > 0, 1), x234, label="of booleans")
add("torch.prod", lambda x: torch.prod(x, 1), x234)
add("torch.t / torch.Tensor.t", lambda x: x.t(), x34)
add("torch.tan", torch.tan, uniform(-1.4, 1.4, (2, 3, 4)))
add("torch.tanh / torch.nn.Tanh", torch.tanh, x234, FLOATS)
INDEXING = "torch.Tensor.__getitem__ / tensor indexing"
add(INDEXING, lambda x, i: x[i], both(x234, integers(-2, 2, (5,), dtype=torch.int64)), FLOATS)
add(
    INDEXING,
    lambda x, i, j: x[:, i, j],
    both(x234, integers(-3, 3, (5,), dtype=torch.int64), integers(0, 4, (2, 1), dtype=torch.int64)),
    label="two indices",
)
add(
    INDEXING,
    lambda x, i: x[i, :, torch.tensor([0, 3])],
    both(x234, integers(0, 2, (2,), dtype=torch.int64)),
    label="apart",
)
add(INDEXING, lambda x: x[:, torch.tensor([2, 0, 0, -1])], x234, label="known indices")
SLICING = "torch.Tensor.__getitem__ / tensor slicing"
add(SLICING, lambda x: x[1:, :-1, 1:3], x234, FLOATS)
add(SLICING, lambda x: x[..., ::2], normal((2, 3, 7)), label="steps")
add(SLICING, lambda x: x[:, 1::3, None], normal((2, 7, 3)), label="steps, new axis")
add("torch.Tensor.__setitem__ / tensor indexing assignment", assigned, normal((3, 4, 2), (2, 2)))
add("torch.Tensor.copy_", copied, pair)
add("torch.Tensor.expand", lambda x: x.expand(2, 3, 4), normal((3, 1)))
add("torch.Tensor.repeat", lambda x: x.repeat(2, 1, 3), x34, FLOATS)
add("torch.Tensor.repeat", lambda x: x.repeat(1, 2), booleans((2, 3)), label="bool")
add("torch.Tensor.unfold", lambda x: x.unfold(1, 3, 2), normal((2, 7, 3)), FLOATS)
add("torch.Tensor.unfold", lambda x: x.unfold(1, 2, 2), booleans((2, 6)), label="bool, apart")
add("torch.Tensor.view", lambda x: x.view(6, -1), x234, FLOATS)
TRANSPOSE = "torch.transpose / torch.Tensor.transpose"
add(TRANSPOSE, lambda x: x.transpose(0, -1), x234)
add("torch.tril", lambda x: torch.tril(x, 1), x234)
add("torch.triu", lambda x: torch.triu(x, -1), x234)
add("torch.unbind", lambda x: x.unbind(1), x234)
add("torch.unflatten", lambda x: x.unflatten(1, (2, 3)), normal((2, 6, 3)))
add("torch.unsqueeze / torch.Tensor.unsqueeze", lambda x: x.unsqueeze(1), x234)
add("torch.var", lambda x: torch.var(x, 1), x234)
add("torch.var", lambda x: torch.var(x, (0, 2), correction=0, keepdim=True), x234, label="correction")
add("torch.var", torch.var, x234, label="whole")
add("torch.std", lambda x: torch.std(x, -1), x234)
add("torch.where", lambda x, y: torch.where(x > y, x, y), pair)
add("torch.where", lambda x: torch.where(x > 0, x, 0.0), special, label="special values")
add("torch.zeros", lambda x: x + torch.zeros(3, 4), x34)

add("torch.cond", lambda x: torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, (x,)), x234)
add("torch.cond", lambda x: torch.cond(x.sum() > 99, lambda x: x + 1, lambda x: x * 2, (x,)), x234, label="not taken")


def looped(x: torch.Tensor) -> Any:
    """Three turns, counted by a tensor."""
    return torch.while_loop(lambda n, x: n < 3, lambda n, x: (n + 1, x * 1.5 + 1), (torch.tensor(0), x))[1]


add("torch.while_loop", looped, x234, label="known number of turns")
sampled = both(normal((1, 2, 5, 6)), uniform(-1.2, 1.2, (1, 4, 3, 2)))
for api in ("torch.grid_sampler", "torch.grid_sampler_2d"):
    add(api, lambda x, grid: F.grid_sample(x, grid, align_corners=False), sampled, label="bilinear, zeros", shader=True)
    add(
        api,
        lambda x, grid: F.grid_sample(x, grid, "nearest", "border", align_corners=True),
        sampled,
        label="nearest, border, align_corners",
        shader=True,
    )

# More than the list

add("torch.logsumexp", lambda x: torch.logsumexp(x, 1), x234)
add("torch.linalg.vector_norm", lambda x: torch.linalg.vector_norm(x, dim=-1), x234)
add("torch.linalg.vector_norm", lambda x: torch.linalg.vector_norm(x, 3, dim=-1), x234, label="order 3")
add("torch.nn.functional.normalize", lambda x: F.normalize(x, dim=1), x234)
add("torch.atan2", torch.atan2, normal((2, 30), (2, 30)))
add("torch.roll", lambda x: torch.roll(x, (1, -2), (0, 2)), x234)
add("torch.cumprod", lambda x: torch.cumprod(x, 1), x234)
add("torch.diag_embed", torch.diag_embed, x34)
add("torch.diag_embed", lambda x: torch.diag_embed(x, -1, 0, 2), x34, label="offset and axes")
add("torch.isclose", lambda x: torch.isclose(x, x.round(), atol=0.2), special)
add("torch.logaddexp", torch.logaddexp, pair)
add("torch.xlogy", torch.xlogy, both(x234, uniform(0.1, 2, (2, 3, 4))))
add("torch.cosine_similarity", lambda x, y: F.cosine_similarity(x, y, dim=1), pair)
add("torch.nn.functional.mse_loss", F.mse_loss, pair)
add("torch.nn.functional.cross_entropy", lambda x: F.cross_entropy(x, torch.tensor([1, 3, 0])), x34)
add("torch.cdist", torch.cdist, normal((2, 3, 4), (2, 5, 4)))
add("torch.rot90", lambda x: torch.rot90(x, 1, (1, 2)), x234)
add("torch.meshgrid", lambda x, y: torch.meshgrid(x, y, indexing="ij"), normal((3,), (4,)))
add("torch.kron", torch.kron, normal((2, 3), (3, 2)))
add("torch.cross", torch.cross, normal((2, 3), (2, 3)))
add("torch.nn.functional.unfold", lambda x: F.unfold(x, 3, padding=1), image)
add("torch.nn.functional.fold", lambda x: F.fold(x, (4, 5), 2), normal((1, 8, 12)))
add("torch.isnan", torch.isnan, special)
add("torch.isinf", torch.isinf, special)
add("torch.trunc", torch.trunc, normal((2, 3, 4), scale=3.0))
add("torch.einsum", lambda x, y: torch.einsum("bij,bjk->bik", x, y), normal((2, 3, 5), (2, 5, 4)))
add("torch.nn.functional.one_hot", lambda i: F.one_hot(i, 5).float(), integers(0, 5, (2, 3), dtype=torch.int64))
add("torch.Tensor.to", lambda x: x.to(torch.int32), normal((2, 9), scale=9.0), label="int32")
add("torch.Tensor.to", lambda x: x.to(torch.bool), special, label="bool")
ATTENTION = "torch.nn.functional.scaled_dot_product_attention"
heads = normal((1, 2, 5, 8), (1, 2, 7, 8), (1, 2, 7, 8))
add(ATTENTION, F.scaled_dot_product_attention, heads, FLOATS)
add(
    ATTENTION,
    lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
    normal((1, 2, 5, 8), (1, 2, 5, 8), (1, 2, 5, 8)),
    label="causal",
)
add(ATTENTION, F.scaled_dot_product_attention, both(heads, normal((5, 7))), label="floating-point mask")
add(ATTENTION, F.scaled_dot_product_attention, both(heads, booleans((1, 1, 5, 7))), label="boolean mask")
add(
    ATTENTION,
    lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m & False),
    both(heads, booleans((5, 7))),
    label="all masked",
)
add(
    ATTENTION,
    lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
    normal((1, 4, 5, 8), (1, 2, 7, 8), (1, 2, 7, 8)),
    label="grouped queries",
)
module("torch.nn.MultiheadAttention", SelfAttention, normal((2, 5, 8)))
INTERPOLATE = "torch.nn.functional.interpolate"
for scale in (2, 1.7, 0.5, 3):
    add(INTERPOLATE, lambda x, s=scale: F.interpolate(x, scale_factor=s), image, label=f"nearest, x{scale:g}")
    for aligned in (False, True):
        add(
            INTERPOLATE,
            lambda x, s=scale, a=aligned: F.interpolate(x, scale_factor=s, mode="bilinear", align_corners=a),
            image,
            label=f"bilinear, x{scale:g}{', align_corners' if aligned else ''}",
        )
add(INTERPOLATE, lambda x: F.interpolate(x, (5, 13)), image, FLOATS, label="nearest, size")
add(INTERPOLATE, lambda x: F.interpolate(x, (5, 13), mode="bilinear"), image, FLOATS, label="bilinear, size")
add(
    INTERPOLATE,
    lambda x: F.interpolate(x, (1, 13), mode="bilinear", align_corners=True),
    image,
    label="bilinear, to one row",
)
add(
    INTERPOLATE,
    lambda x: F.interpolate(x, (4, 5), mode="bilinear"),
    normal((1, 2, 100, 3)),
    label="bilinear, to a 25th",
)
add(INTERPOLATE, lambda x: F.interpolate(x, scale_factor=2, mode="nearest-exact"), image, label="nearest-exact")
add(INTERPOLATE, lambda x: F.interpolate(x, scale_factor=1.5, mode="bicubic"), image, label="bicubic")
add(INTERPOLATE, lambda x: F.interpolate(x, scale_factor=2, mode="linear"), normal((2, 3, 5)), label="linear")
add(INTERPOLATE, lambda x: F.interpolate(x, scale_factor=2), normal((2, 3, 5)), label="nearest, one axis")
add(
    INTERPOLATE,
    lambda x: F.interpolate(x, scale_factor=2, mode="trilinear"),
    normal((1, 2, 3, 4, 3)),
    label="trilinear",
)
add(INTERPOLATE, lambda x: F.interpolate(x, scale_factor=2), normal((1, 2, 3, 4, 3)), label="nearest, three axes")


def warmed(norm: nn.BatchNorm2d) -> nn.BatchNorm2d:
    """A batch norm whose statistics and weights are no longer 0 and 1."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for tensor in (norm.weight, norm.bias, norm.running_mean):
            assert tensor is not None
            tensor.copy_(torch.randn(tensor.shape, generator=generator))
        assert norm.running_var is not None
        norm.running_var.copy_(torch.rand(norm.running_var.shape, generator=generator) + 0.5)
    return norm


# What has no form here, and why
NOT_POSSIBLE: dict[str, str] = {
    "torch.while_loop, turns that depend on an input": "TOSA's instruction set in SPIR-V (TOSA.001000.1) has no loops",
}
