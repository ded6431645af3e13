"""One small function for each TOSA operator and the types that tell its encodings apart; all have one graph of the file."""

from __future__ import annotations

_ELEMENTWISE_UNARY = [
    "abs",
    "ceil",
    "cos",
    "exp",
    "floor",
    "log",
    "reciprocal",
    "rsqrt",
    "sin",
    "erf",
    "sigmoid",
    "tanh",
]
_BINARY_FLOAT = ["add", "sub", "pow", "maximum", "minimum"]
_BINARY_INTEGER = [
    "add",
    "sub",
    "intdiv",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "logical_left_shift",
    "logical_right_shift",
]
_COMPARISONS = ["equal", "greater", "greater_equal"]


def _constant(name: str, values: str, kind: str) -> str:
    return f'%{name} = "tosa.const"() {{values = dense<{values}> : tensor<{kind}>}} : () -> tensor<{kind}>'


def _shape(name: str, values: list[int]) -> str:
    rank = len(values)
    return f"%{name} = tosa.const_shape {{values = dense<{values}> : tensor<{rank}xindex>}} : () -> !tosa.shape<{rank}>"


def _function(arguments: str, results: str, *body: str) -> str:
    lines = "\n  ".join(body)
    return f"func.func @main({arguments}) -> ({results}) {{\n  {lines}\n}}"


def _unary(name: str, kind: str) -> str:
    t = f"tensor<2x3x{kind}>"
    return _function(f"%a: {t}", t, f"%0 = tosa.{name} %a : ({t}) -> {t}", f"return %0 : {t}")


def _binary(name: str, kind: str, result: str | None = None, attributes: str = "") -> str:
    left, right, out = f"tensor<2x3x{kind}>", f"tensor<1x3x{kind}>", f"tensor<2x3x{result or kind}>"
    return _function(
        f"%a: {left}, %b: {right}",
        out,
        f"%0 = tosa.{name} %a, %b {attributes} : ({left}, {right}) -> {out}",
        f"return %0 : {out}",
    )


def _convolution(name: str, kinds: tuple[str, str, str], weights: str, output: str, attributes: str) -> str:
    element, weight, out = kinds
    size = 5 if name == "conv3d" else 4
    source = "tensor<1x2x5x4x3x{0}>" if size == 5 else "tensor<1x5x4x3x{0}>"
    source, w, result = source.format(element), f"tensor<{weights}x{weight}>", f"tensor<{output}x{out}>"
    channels = output.rsplit("x", maxsplit=1)[-1]
    zero = "0.0" if element[0] in "fb" else "1"
    weight_zero = "0.0" if weight[0] in "fb" else "0"
    accumulator = "f32" if out == "f32" else out
    return _function(
        f"%a: {source}",
        result,
        _constant("w", "-2.0" if weight[0] in "fb" else "-2", f"{weights}x{weight}"),
        _constant("c", "0.5" if out[0] in "fb" else "7", f"{channels}x{out}"),
        _constant("z", zero if element in ("i8", "f32", "f16", "bf16") else "0", f"1x{element}"),
        _constant("y", weight_zero, f"1x{weight}"),
        f"%0 = tosa.{name} %a, %w, %c, %z, %y {{acc_type = {accumulator}, {attributes}}} : ({source}, {w}, "
        f"tensor<{channels}x{out}>, tensor<1x{element}>, tensor<1x{weight}>) -> {result}",
        f"return %0 : {result}",
    )


def _pool(name: str, kind: str) -> str:
    source, result = f"tensor<1x5x4x3x{kind}>", f"tensor<1x2x3x3x{kind}>"
    attributes = "kernel = array<i64: 3, 2>, stride = array<i64: 2, 1>, pad = array<i64: 0, 0, 0, 0>"
    if name == "max_pool2d":
        return _function(
            f"%a: {source}",
            result,
            f"%0 = tosa.{name} %a {{{attributes}}} : ({source}) -> {result}",
            f"return %0 : {result}",
        )
    zero, accumulator = ("0.0", "f32") if kind == "f32" else ("3", "i32")
    return _function(
        f"%a: {source}",
        result,
        _constant("z", zero, f"1x{kind}"),
        f"%0 = tosa.{name} %a, %z, %z {{{attributes}, acc_type = {accumulator}}} : ({source}, tensor<1x{kind}>, "
        f"tensor<1x{kind}>) -> {result}",
        f"return %0 : {result}",
    )


def _reduction(name: str, kind: str, attributes: str = "axis = 1 : i32") -> str:
    source, result = f"tensor<2x3x4x{kind}>", f"tensor<2x1x4x{kind}>"
    return _function(
        f"%a: {source}",
        result,
        f"%0 = tosa.{name} %a {{{attributes}}} : ({source}) -> {result}",
        f"return %0 : {result}",
    )


def _clamp(kind: str, low: str, high: str, attributes: str = "") -> str:
    t = f"tensor<2x3x{kind}>"
    return _function(
        f"%a: {t}",
        t,
        f"%0 = tosa.clamp %a {{min_val = {low} : {kind}, max_val = {high} : {kind}{attributes}}} : ({t}) -> {t}",
        f"return %0 : {t}",
    )


def _cast(source: str, target: str) -> str:
    a, b = f"tensor<2x3x{source}>", f"tensor<2x3x{target}>"
    return _function(f"%a: {a}", b, f"%0 = tosa.cast %a : ({a}) -> {b}", f"return %0 : {b}")


def _rescale(source: str, target: str, multipliers: str, kind: str, attributes: str, channels: int) -> str:
    a, b = f"tensor<2x3x{source}>", f"tensor<2x3x{target}>"
    return _function(
        f"%a: {a}",
        b,
        _constant("m", multipliers, f"{channels}x{kind}"),
        _constant("s", "30" if kind == "i32" else "14", f"{channels}xi8"),
        _constant("x", "0" if source != "i8" else "5", f"1x{source}"),
        _constant("y", "-3" if target == "i8" else "0", f"1x{target}"),
        f"%0 = tosa.rescale %a, %m, %s, %x, %y {{{attributes}, input_unsigned = false, output_unsigned = false}} : ({a}, "
        f"tensor<{channels}x{kind}>, tensor<{channels}xi8>, tensor<1x{source}>, tensor<1x{target}>) -> {b}",
        f"return %0 : {b}",
    )


def _resize(kind: str, out: str, mode: str) -> str:
    a, b = f"tensor<1x3x4x2x{kind}>", f"tensor<1x6x8x2x{out}>"
    return _function(
        f"%a: {a}",
        b,
        _shape("s", [4, 2, 4, 2]),
        _shape("o", [-1, -1]),
        _shape("r", [1, 1]),
        f"%0 = tosa.resize %a, %s, %o, %r {{mode = {mode}}} : ({a}, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> {b}",
        f"return %0 : {b}",
    )


_WINDOW = "pad = array<i64: 1, 1, 0, 1>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 1>"
_FLOATS = ("f32", "f32", "f32")
_COMPLEX = "tensor<1x4x8xf32>"

OPERATORS: dict[str, str] = {
    **{f"{name}_{kind}": _unary(name, kind) for name in _ELEMENTWISE_UNARY for kind in ("f32", "f16", "bf16")},
    **{f"{name}_i32": _unary(name, "i32") for name in ("abs", "clz", "bitwise_not")},
    "logical_not": _unary("logical_not", "i1"),
    **{f"{name}_f32": _binary(name, "f32") for name in _BINARY_FLOAT},
    **{f"{name}_i32": _binary(name, "i32") for name in _BINARY_INTEGER},
    **{f"{name}_f32": _binary(name, "f32", "i1") for name in _COMPARISONS},
    **{f"{name}": _binary(name, "i1") for name in ("logical_and", "logical_or", "logical_xor")},
    "maximum_ignore": _binary("maximum", "f32", attributes="{nan_mode = IGNORE}"),
    "arithmetic_right_shift_rounded": _binary("arithmetic_right_shift", "i32", attributes="{round = true}"),
    "arithmetic_right_shift_i8": _binary("arithmetic_right_shift", "i8", attributes="{round = false}"),
    "conv2d_f32": _convolution("conv2d", _FLOATS, "6x3x2x3", "1x3x4x6", _WINDOW),
    "conv2d_i8": _convolution("conv2d", ("i8", "i8", "i32"), "6x3x2x3", "1x3x4x6", _WINDOW),
    "conv2d_i16": _convolution("conv2d", ("i16", "i8", "i48"), "6x3x2x3", "1x3x4x6", _WINDOW),
    "conv2d_local_bound": _convolution(
        "conv2d", _FLOATS, "6x3x2x3", "1x3x4x6", _WINDOW + ", local_bound = true"
    ),
    "conv3d_f32": _convolution(
        "conv3d",
        _FLOATS,
        "2x1x3x2x3",
        "1x2x3x3x2",
        "pad = array<i64: 0, 0, 0, 0, 0, 0>, stride = array<i64: 1, 1, 1>, dilation = array<i64: 1, 1, 1>",
    ),
    "depthwise_conv2d_f32": _convolution("depthwise_conv2d", _FLOATS, "3x2x3x2", "1x3x4x6", _WINDOW),
    "transpose_conv2d_f32": _convolution(
        "transpose_conv2d", _FLOATS, "2x3x2x3", "1x11x6x2", "out_pad = array<i64: 0, 0, 1, 0>, stride = array<i64: 2, 1>"
    ),
    "avg_pool2d_f32": _pool("avg_pool2d", "f32"),
    "avg_pool2d_i8": _pool("avg_pool2d", "i8"),
    "max_pool2d_f32": _pool("max_pool2d", "f32"),
    "max_pool2d_i8": _pool("max_pool2d", "i8"),
    "matmul_i8": _function(
        "%a: tensor<2x3x4xi8>, %b: tensor<2x4x5xi8>",
        "tensor<2x3x5xi32>",
        _constant("x", "2", "1xi8"),
        _constant("y", "-1", "1xi8"),
        "%0 = tosa.matmul %a, %b, %x, %y : (tensor<2x3x4xi8>, tensor<2x4x5xi8>, tensor<1xi8>, tensor<1xi8>) -> "
        "tensor<2x3x5xi32>",
        "return %0 : tensor<2x3x5xi32>",
    ),
    "rfft2d": _function(
        f"%a: {_COMPLEX}",
        "tensor<1x4x5xf32>, tensor<1x4x5xf32>",
        f"%0, %1 = tosa.rfft2d %a : ({_COMPLEX}) -> (tensor<1x4x5xf32>, tensor<1x4x5xf32>)",
        "return %0, %1 : tensor<1x4x5xf32>, tensor<1x4x5xf32>",
    ),
    "fft2d": _function(
        f"%a: {_COMPLEX}, %b: {_COMPLEX}",
        f"{_COMPLEX}, {_COMPLEX}",
        f"%0, %1 = tosa.fft2d %a, %b {{inverse = true}} : ({_COMPLEX}, {_COMPLEX}) -> ({_COMPLEX}, {_COMPLEX})",
        f"return %0, %1 : {_COMPLEX}, {_COMPLEX}",
    ),
    "fft2d_second_part_unused": _function(
        f"%a: {_COMPLEX}, %b: {_COMPLEX}",
        _COMPLEX,
        f"%0, %1 = tosa.fft2d %a, %b {{inverse = false}} : ({_COMPLEX}, {_COMPLEX}) -> ({_COMPLEX}, {_COMPLEX})",
        f"return %0 : {_COMPLEX}",
    ),
    "argmax_f32": _function(
        "%a: tensor<2x3x4xf32>",
        "tensor<2x4xi32>",
        "%0 = tosa.argmax %a {axis = 1 : i32, nan_mode = IGNORE} : (tensor<2x3x4xf32>) -> tensor<2x4xi32>",
        "return %0 : tensor<2x4xi32>",
    ),
    "clamp_f32": _clamp("f32", "-0.5", "0.75"),
    "clamp_f16": _clamp("f16", "-0.5", "0.75", ", nan_mode = IGNORE"),
    "clamp_bf16": _clamp("bf16", "-0.5", "0.75"),
    "clamp_infinite": _clamp("f32", "0.0", "0x7F800000"),
    "clamp_i8": _clamp("i8", "-100", "100"),
    "clamp_i16": _clamp("i16", "-300", "300"),
    "mul_f32": _function(
        "%a: tensor<2x3xf32>, %b: tensor<2x1xf32>",
        "tensor<2x3xf32>",
        _constant("s", "0", "1xi8"),
        "%0 = tosa.mul %a, %b, %s : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<1xi8>) -> tensor<2x3xf32>",
        "return %0 : tensor<2x3xf32>",
    ),
    "mul_i32_shifted": _function(
        "%a: tensor<2x3xi32>, %b: tensor<2x1xi32>",
        "tensor<2x3xi32>",
        _constant("s", "3", "1xi8"),
        "%0 = tosa.mul %a, %b, %s : (tensor<2x3xi32>, tensor<2x1xi32>, tensor<1xi8>) -> tensor<2x3xi32>",
        "return %0 : tensor<2x3xi32>",
    ),
    "negate_i8": _function(
        "%a: tensor<2x3xi8>",
        "tensor<2x3xi8>",
        _constant("x", "2", "1xi8"),
        _constant("y", "-1", "1xi8"),
        "%0 = tosa.negate %a, %x, %y : (tensor<2x3xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x3xi8>",
        "return %0 : tensor<2x3xi8>",
    ),
    "table_i8": _function(
        "%a: tensor<2x3xi8>",
        "tensor<2x3xi8>",
        _constant("t", str([(value * 7) % 256 - 128 for value in range(256)]), "256xi8"),
        "%0 = tosa.table %a, %t : (tensor<2x3xi8>, tensor<256xi8>) -> tensor<2x3xi8>",
        "return %0 : tensor<2x3xi8>",
    ),
    "select_f32": _function(
        "%c: tensor<2x3xi1>, %a: tensor<2x3xf32>, %b: tensor<1x3xf32>",
        "tensor<2x3xf32>",
        "%0 = tosa.select %c, %a, %b : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>",
        "return %0 : tensor<2x3xf32>",
    ),
    **{f"{name}_f32": _reduction(name, "f32") for name in ("reduce_sum", "reduce_product", "reduce_max", "reduce_min")},
    "reduce_max_ignore": _reduction("reduce_max", "f32", "axis = 1 : i32, nan_mode = IGNORE"),
    "reduce_sum_i32": _reduction("reduce_sum", "i32"),
    "reduce_all": _reduction("reduce_all", "i1"),
    "reduce_any": _reduction("reduce_any", "i1"),
    "concat_three": _function(
        "%a: tensor<2x3xf32>, %b: tensor<2x1xf32>",
        "tensor<2x7xf32>",
        "%0 = tosa.concat %a, %b, %a {axis = 1 : i32} : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x3xf32>) -> "
        "tensor<2x7xf32>",
        "return %0 : tensor<2x7xf32>",
    ),
    "pad_f32": _function(
        "%a: tensor<2x3xf32>",
        "tensor<3x6xf32>",
        _shape("p", [0, 1, 2, 1]),
        _constant("v", "-1.5", "1xf32"),
        "%0 = tosa.pad %a, %p, %v : (tensor<2x3xf32>, !tosa.shape<4>, tensor<1xf32>) -> tensor<3x6xf32>",
        "return %0 : tensor<3x6xf32>",
    ),
    "reshape_i8": _function(
        "%a: tensor<2x3xi8>",
        "tensor<3x1x2xi8>",
        _shape("s", [3, 1, 2]),
        "%0 = tosa.reshape %a, %s : (tensor<2x3xi8>, !tosa.shape<3>) -> tensor<3x1x2xi8>",
        "return %0 : tensor<3x1x2xi8>",
    ),
    "reverse_i32": _function(
        "%a: tensor<2x3xi32>",
        "tensor<2x3xi32>",
        "%0 = tosa.reverse %a {axis = 1 : i32} : (tensor<2x3xi32>) -> tensor<2x3xi32>",
        "return %0 : tensor<2x3xi32>",
    ),
    "slice_f32": _function(
        "%a: tensor<2x5xf32>",
        "tensor<1x3xf32>",
        _shape("b", [1, 2]),
        _shape("s", [1, 3]),
        "%0 = tosa.slice %a, %b, %s : (tensor<2x5xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x3xf32>",
        "return %0 : tensor<1x3xf32>",
    ),
    "tile_f32": _function(
        "%a: tensor<2x3xf32>",
        "tensor<4x9xf32>",
        _shape("m", [2, 3]),
        "%0 = tosa.tile %a, %m : (tensor<2x3xf32>, !tosa.shape<2>) -> tensor<4x9xf32>",
        "return %0 : tensor<4x9xf32>",
    ),
    "transpose_f32": _function(
        "%a: tensor<2x3x4xf32>",
        "tensor<4x2x3xf32>",
        "%0 = tosa.transpose %a {perms = array<i32: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>",
        "return %0 : tensor<4x2x3xf32>",
    ),
    "gather_f32": _function(
        "%a: tensor<1x4x3xf32>",
        "tensor<1x5x3xf32>",
        _constant("i", "[[3, 0, 2, 2, 1]]", "1x5xi32"),
        "%0 = tosa.gather %a, %i : (tensor<1x4x3xf32>, tensor<1x5xi32>) -> tensor<1x5x3xf32>",
        "return %0 : tensor<1x5x3xf32>",
    ),
    "scatter_f32": _function(
        "%a: tensor<1x4x3xf32>, %b: tensor<1x2x3xf32>",
        "tensor<1x4x3xf32>",
        _constant("i", "[[3, 0]]", "1x2xi32"),
        "%0 = tosa.scatter %a, %i, %b : (tensor<1x4x3xf32>, tensor<1x2xi32>, tensor<1x2x3xf32>) -> tensor<1x4x3xf32>",
        "return %0 : tensor<1x4x3xf32>",
    ),
    "resize_bilinear": _resize("f32", "f32", "BILINEAR"),
    "resize_nearest_i8": _resize("i8", "i8", "NEAREST_NEIGHBOR"),
    **{
        f"cast_{source}_{target}": _cast(source, target)
        for source, target in (("f32", "i8"), ("f32", "f16"), ("f32", "bf16"), ("i8", "i32"), ("i1", "i8"), ("i16", "f32"))
    },
    "rescale_single": _rescale(
        "i32", "i8", "[1073741824]", "i32", "scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false", 1
    ),
    "rescale_per_channel": _rescale(
        "i8", "i32", "[1073741824, 1200000000, 1300000000]", "i32",
        "scale32 = true, rounding_mode = DOUBLE_ROUND, per_channel = true", 3,
    ),
    "rescale_i16_multiplier": _rescale(
        "i32", "i16", "[17000]", "i16", "scale32 = false, rounding_mode = SINGLE_ROUND, per_channel = false", 1
    ),
}  # fmt: skip
