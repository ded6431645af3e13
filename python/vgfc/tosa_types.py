"""What TOSA 1.0 says of each operator: element types, the profile or extension each needs, ranks, constant operands.

Source: the Supported Data Types tables and argument lists of the TOSA specification 1.0.2. Types are spelt as MLIR spells
them. The operators' names are those of MLIR's tosa dialect, without `tosa.`.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_RANK = -1  # as a rank's upper end: what the level allows

_SHORT = {"e4m3": "f8E4M3FN", "e5m2": "f8E5M2"}


@dataclass(frozen=True)
class Row:
    """One line of a Supported Data Types table.

    `types` has one element type per column of the operator; `needs` lists alternatives, of which one must be enabled whole:
    ({"INT"}, {"FP"}) reads as INT or FP, ({"bf16", "fp8e4m3"},) as bf16 together with fp8e4m3.
    """

    types: tuple[str, ...]
    needs: tuple[frozenset[str], ...]

    def describe_needs(self) -> str:
        """The alternatives in words: `INT or FP`, `bf16 and fp8e4m3`."""
        return " or ".join(" and ".join(sorted(group)) for group in self.needs)


@dataclass(frozen=True)
class Operator:
    """What the specification says of one operator.

    `operands` and `results` name, per operand and result in MLIR's order, the column of `columns` that gives its element
    type; "-" is a shape operand, a name ending in "*" takes all operands from there on. The column "acc", where there is
    one, is the acc_type attribute. `ranks` holds the inclusive bounds per operand and then per result, for those
    whose rank is bounded. `constants` are the operands that must be compile-time constants.
    """

    operands: tuple[str, ...]
    results: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    ranks: tuple[tuple[int, int], ...]
    constants: tuple[int, ...]

    def column_of_operand(self, index: int) -> str:
        """The column of the operand at `index`; raises IndexError beyond the last."""
        if self.operands and self.operands[-1].endswith("*") and index >= len(self.operands) - 1:
            return self.operands[-1][:-1]
        return self.operands[index]


def _rows(table: str) -> tuple[Row, ...]:
    """Rows from text: `need types types; need types`, a type of several columns written a/b/c."""
    rows = []
    for part in table.split(";"):
        needs_text, *types = part.split()
        needs = tuple(frozenset(group.split("&")) for group in needs_text.split("|"))
        for columns in types:
            rows.append(Row(tuple(_SHORT.get(name, name) for name in columns.split("/")), needs))
    return tuple(rows)


def _ranks(text: str) -> tuple[tuple[int, int], ...]:
    """Rank bounds from text: `4 1 0- 1-`, where `1-` reads as 1 to what the level allows."""
    bounds = []
    for word in text.split():
        low, open_ended, _ = word.partition("-")
        bounds.append((int(low), MAX_RANK if open_ended else int(low)))
    return tuple(bounds)


def _operator(signature: str, table: str, ranks: str, constants: tuple[int, ...] = ()) -> Operator:
    """An operator from `operands -> results [; more columns]`; columns are in order of first appearance."""
    arguments, _, more = signature.partition(";")
    left, _, right = arguments.partition("->")
    operands, results = tuple(left.split()), tuple(right.split())
    names = [name.removesuffix("*") for name in (*operands, *results, *more.split())]
    columns = tuple(dict.fromkeys(name for name in names if name not in {"-", "i1", "i8"}))
    rows = _rows(table)
    for row in rows:
        assert len(row.types) == len(columns), (signature, row)
    return Operator(operands, results, columns, rows, _ranks(ranks), constants)


_FLOAT = "FP f16 f32; bf16 bf16"
_BOOL = "INT|FP i1"
_MOVED = "INT|FP i1; INT i8 i16 i32; fp8e4m3 e4m3; fp8e5m2 e5m2; FP f16 f32; bf16 bf16"
_HELD = "INT|FP i1 i8 i16 i32; int4 i4; int16 i48; fp8e4m3 e4m3; fp8e5m2 e5m2; FP f16 f32; bf16 bf16"
_INDEXED = "INT i8/i32 i16/i32 i32/i32; fp8e4m3 e4m3/i32; fp8e5m2 e5m2/i32; FP f16/i32 f32/i32; bf16 bf16/i32"
_CONVOLVED = (
    "INT i8/i8/i32/i32; int4 i8/i4/i32/i32; int16 i16/i8/i48/i48; fp8e4m3 e4m3/e4m3/f16/f16; "
    "fp8e5m2 e5m2/e5m2/f16/f16; FP f16/f16/f16/f16 f16/f16/f16/f32 f32/f32/f32/f32; bf16 bf16/bf16/bf16/f32"
)
_VARIABLE = "INT&variable i8; FP&variable f16 f32"


def _unary(table: str) -> Operator:
    return _operator("a -> a", table, "0- 0-")


def _binary(table: str) -> Operator:
    return _operator("a a -> a", table, "0- 0- 0-")


def _comparison() -> Operator:
    return _operator("a a -> i1", "INT i32; " + _FLOAT, "0- 0- 0-")


def _reduction(table: str) -> Operator:
    return _operator("a -> a", table, "1- 1-")


OPERATORS: dict[str, Operator] = {
    # Tensor operators
    "argmax": _operator(
        "in -> out",
        "INT i8/i32; int16 i16/i32; fp8e4m3 e4m3/i32; fp8e5m2 e5m2/i32; FP f16/i32 f32/i32; bf16 bf16/i32",
        "1- 0-",
    ),
    "avg_pool2d": _operator(
        "a a a -> a ; acc",
        "INT i8/i32; int16 i16/i32; fp8e4m3 e4m3/f16; fp8e5m2 e5m2/f16; FP f16/f16 f16/f32 f32/f32; bf16 bf16/f32",
        "4 1 1 4",
        constants=(1, 2),
    ),
    "conv2d": _operator("in weight out in weight -> out ; acc", _CONVOLVED, "4 4 1 1 1 4", constants=(3, 4)),
    "conv3d": _operator("in weight out in weight -> out ; acc", _CONVOLVED, "5 5 1 1 1 5", constants=(3, 4)),
    "depthwise_conv2d": _operator("in weight out in weight -> out ; acc", _CONVOLVED, "4 4 1 1 1 4", constants=(3, 4)),
    "fft2d": _operator("a a -> a a", "fft f32", "3 3 3 3"),
    "matmul": _operator(
        "in in in in -> out",
        "INT i8/i32; int16 i16/i48; fp8e4m3 e4m3/f16; fp8e5m2 e5m2/f16; FP f16/f16 f16/f32 f32/f32; bf16 bf16/f32",
        "3 3 1 1 3",
        constants=(2, 3),
    ),
    "max_pool2d": _operator("a -> a", "INT i8; int16 i16; fp8e4m3 e4m3; fp8e5m2 e5m2; FP f16 f32; bf16 bf16", "4 4"),
    "rfft2d": _operator("a -> a a", "fft f32", "3 3 3"),
    "transpose_conv2d": _operator("in weight out in weight -> out ; acc", _CONVOLVED, "4 4 1 1 1 4", constants=(3, 4)),
    # Activation functions
    "clamp": _unary("INT i8; int16 i16; " + _FLOAT),
    "erf": _unary(_FLOAT),
    "sigmoid": _unary(_FLOAT),
    "tanh": _unary(_FLOAT),
    # Elementwise binary operators
    "add": _binary("INT|FP i32; " + _FLOAT),
    "arithmetic_right_shift": _binary("INT i8 i16 i32"),
    "bitwise_and": _binary("INT i8 i16 i32"),
    "bitwise_or": _binary("INT i8 i16 i32"),
    "bitwise_xor": _binary("INT i8 i16 i32"),
    "intdiv": _binary("INT|FP i32"),
    "logical_and": _binary(_BOOL),
    "logical_left_shift": _binary("INT|FP i8 i16 i32"),
    "logical_right_shift": _binary("INT|FP i8 i16 i32"),
    "logical_or": _binary(_BOOL),
    "logical_xor": _binary(_BOOL),
    "maximum": _binary("INT i32; " + _FLOAT),
    "minimum": _binary("INT i32; " + _FLOAT),
    "mul": _operator(
        "in in i8 -> out",
        "INT i8/i32 i16/i32; INT|FP i32/i32; FP f16/f16 f32/f32; bf16 bf16/bf16",
        "0- 0- 1 0-",
        constants=(2,),
    ),
    "pow": _binary(_FLOAT),
    "sub": _binary("INT|FP i32; " + _FLOAT),
    "table": _operator("in table -> out", "INT i8/i8/i8; int16 i16/i16/i32", "0- 1 0-", constants=(1,)),
    # Elementwise unary operators
    "abs": _unary("INT i32; " + _FLOAT),
    "bitwise_not": _unary("INT i8 i16 i32"),
    "ceil": _unary(_FLOAT),
    "clz": _unary("INT i32"),
    "cos": _unary(_FLOAT),
    "exp": _unary(_FLOAT),
    "floor": _unary(_FLOAT),
    "log": _unary(_FLOAT),
    "logical_not": _unary(_BOOL),
    "negate": _operator("a a a -> a", "INT i8 i16 i32; " + _FLOAT, "0- 1 1 0-", constants=(1, 2)),
    "reciprocal": _unary(_FLOAT),
    "rsqrt": _unary(_FLOAT),
    "sin": _unary(_FLOAT),
    # Elementwise ternary operator and comparisons
    "select": _operator("i1 a a -> a", _BOOL + "; INT i8 i16 i32; " + _FLOAT, "0- 0- 0- 0-"),
    "equal": _comparison(),
    "greater": _comparison(),
    "greater_equal": _comparison(),
    # Reductions
    "reduce_all": _reduction(_BOOL),
    "reduce_any": _reduction(_BOOL),
    "reduce_max": _reduction("INT i8 i16 i32; " + _FLOAT),
    "reduce_min": _reduction("INT i8 i16 i32; " + _FLOAT),
    "reduce_product": _reduction(_FLOAT),
    "reduce_sum": _reduction("INT i32; " + _FLOAT),
    # Data layout
    "concat": _operator(
        "a* -> a", "INT|FP i1; INT i8 i32; int16 i16; fp8e4m3 e4m3; fp8e5m2 e5m2; FP f16 f32; bf16 bf16", "1- 1-"
    ),
    "pad": _operator("a - a -> a", _MOVED, "1- 0- 1 1-", constants=(1, 2)),
    "reshape": _operator("a - -> a", _MOVED, "0- 0- 0-", constants=(1,)),
    "reverse": _operator("a -> a", _MOVED, "1- 1-"),
    "slice": _operator("a - - -> a", _MOVED, "1- 0- 0- 1-", constants=(1, 2)),
    "tile": _operator("a - -> a", _MOVED, "1- 0- 1-", constants=(1,)),
    "transpose": _operator("a -> a", _MOVED, "1- 1-"),
    # Scatter and gather
    "gather": _operator("a index -> a", _INDEXED, "3 2 3"),
    "scatter": _operator("a index a -> a", _INDEXED, "3 2 3 3"),
    # Image, type conversion
    "resize": _operator(
        "in - - - -> out",
        "INT i8/i32 i8/i8; int16 i16/i48 i16/i16; FP f16/f16 f32/f32; bf16 bf16/bf16",
        "4 0- 0- 0- 4",
        constants=(1, 2, 3),
    ),
    "cast": _operator(
        "in -> out",
        "INT i1/i8 i1/i16 i1/i32 i8/i1 i8/i16 i8/i32 i16/i1 i16/i8 i16/i32 i32/i1 i32/i8 i32/i16;"
        "FP i8/f16 i8/f32 i16/f16 i16/f32 i32/f16 i32/f32 f16/i8 f16/i16 f16/i32 f16/f32 f32/i8 f32/i16 f32/i32 f32/f16;"
        "bf16 i8/bf16 i16/bf16 i32/bf16 bf16/i8 bf16/i16 bf16/i32 bf16/f32 f32/bf16;"
        "bf16&fp8e4m3 bf16/e4m3 e4m3/bf16; bf16&fp8e5m2 bf16/e5m2 e5m2/bf16;"
        "fp8e4m3 e4m3/f16 e4m3/f32 f16/e4m3 f32/e4m3; fp8e5m2 e5m2/f16 e5m2/f32 f16/e5m2 f32/e5m2",
        "0- 0-",
    ),
    "rescale": _operator(
        "in multiplier i8 in out -> out",
        # scale32 takes i32 multipliers, without it they are i16; i48 inputs take i16 alone (ERROR_IF of RESCALE)
        "INT "
        + " ".join(f"{a}/{m}/{b}" for a in ("i8", "i16", "i32") for b in ("i8", "i16", "i32") for m in ("i16", "i32"))
        + "; int16 i48/i16/i8 i48/i16/i16 i48/i16/i32",
        "0- 1 1 1 1 0-",
        constants=(1, 2, 3, 4),
    ),
    # Data nodes
    "const": _operator("-> a", _HELD, "0-"),
    "identity": _operator("a -> a", _HELD, "0- 0-"),
    # Variables; the columns are the variable's element type
    "variable": _operator("-> ; a", _VARIABLE, ""),
    "variable_write": _operator("a ->", _VARIABLE, "0-"),
    "variable_read": _operator("-> a", _VARIABLE, "0-"),
}

# Operators without element types of their own; the value lists what they need, as in `Row.needs`.
UNTYPED: dict[str, tuple[frozenset[str], ...]] = {
    "custom": (frozenset({"INT"}), frozenset({"FP"})),
    "cond_if": (frozenset({"controlflow"}),),
    "while_loop": (frozenset({"controlflow"}),),
    "const_shape": (frozenset({"INT"}), frozenset({"FP"})),
}

# TOSA.001000.1, the instruction set that a VGF's graphs are written in, has no instruction for these.
NO_INSTRUCTION = frozenset({"custom", "cond_if", "while_loop", "variable", "variable_write", "variable_read"})
