"""The operators of TOSA 1.0 as the files that carry them number and order them: SPIR-V's instruction set and FlatBuffers.

One table serves the decoder of SPIR-V graphs, the reader and the writer of TOSA FlatBuffers. Sources: the SPIR-V extended
instruction set TOSA.001000.1 (a number for each operator; attributes before inputs) and tosa.fbs of TOSA 1.0 (the same
numbers plus one; one table for each operator, whose fields are the attributes). MLIR's names are the specification's own.
"""

from __future__ import annotations

from dataclasses import dataclass

SPIRV_INSTRUCTION_SET = "TOSA.001000.1"

# How an attribute is written. In SPIR-V every attribute is the id of a constant; in FlatBuffers a scalar or a vector.
AXIS = "axis"  # i32
BOOL = "bool"
INTEGERS = "integers"  # array<i64>, which both files hold as 32-bit numbers
PERMUTATION = "permutation"  # array<i32>
ACCUMULATOR = "accumulator"  # TypeAttr
NUMBER = "number"  # an integer or floating-point attribute of the operand's element type
NAN_MODE = "nan_mode"
ROUNDING_MODE = "rounding_mode"
RESIZE_MODE = "resize_mode"

ENUMERATIONS: dict[str, dict[int, str]] = {
    NAN_MODE: {1: "PROPAGATE", 2: "IGNORE"},
    ROUNDING_MODE: {1: "SINGLE_ROUND", 2: "INEXACT_ROUND", 3: "DOUBLE_ROUND"},
    RESIZE_MODE: {1: "NEAREST_NEIGHBOR", 2: "BILINEAR"},
}
SPIRV_ACCUMULATORS = {1: "i32", 2: "f16", 3: "f32", 4: "i48"}

_KINDS = {
    "axis": AXIS,
    "nan_mode": NAN_MODE,
    "rounding_mode": ROUNDING_MODE,
    "mode": RESIZE_MODE,
    "acc_type": ACCUMULATOR,
    "min_val": NUMBER,
    "max_val": NUMBER,
    "perms": PERMUTATION,
    "kernel": INTEGERS,
    "stride": INTEGERS,
    "dilation": INTEGERS,
    "pad": INTEGERS,
    "out_pad": INTEGERS,
}  # every other attribute is a BOOL


@dataclass(frozen=True)
class Operator:
    """An operator: number in SPIR-V, name in capitals, attributes in SPIR-V's order, inputs in everyone's order.

    `inputs` ends in "..." when the last one may be repeated. `results` is 2 for the complex transforms.
    """

    number: int
    name: str
    attributes: tuple[str, ...]
    inputs: tuple[str, ...]

    @property
    def mlir_name(self) -> str:
        """The name of the operation in MLIR."""
        return f"tosa.{self.name.lower()}"

    @property
    def flatbuffer_number(self) -> int:
        """The operator's number in the `Op` enumeration and in the `Attribute` union of tosa.fbs."""
        return self.number + 1

    @property
    def flatbuffer_attributes(self) -> tuple[str, ...]:
        """The fields of the attribute table: as in SPIR-V, but the accumulator type after `local_bound`."""
        if "local_bound" in self.attributes and "acc_type" in self.attributes:
            others = [name for name in self.attributes if name not in ("local_bound", "acc_type")]
            return (*others, "local_bound", "acc_type")
        return self.attributes

    @property
    def results(self) -> int:
        """How many tensors the operator gives."""
        return 2 if self.name in ("FFT2D", "RFFT2D") else 1

    @property
    def is_variadic(self) -> bool:
        """Whether the last input may be repeated."""
        return self.inputs[-1] == "..."


def kind_of(attribute: str) -> str:
    """How the attribute of this name is written."""
    return _KINDS.get(attribute, BOOL)


_CONVOLUTION = "pad stride dilation acc_type local_bound | input weight bias input_zp weight_zp"
_TABLE = {
    "ARGMAX": "axis nan_mode | input",
    "AVG_POOL2D": "kernel stride pad acc_type | input input_zp output_zp",
    "CONV2D": _CONVOLUTION,
    "CONV3D": _CONVOLUTION,
    "DEPTHWISE_CONV2D": _CONVOLUTION,
    "FFT2D": "inverse local_bound | input_real input_imag",
    "MATMUL": "| a b a_zp b_zp",
    "MAX_POOL2D": "kernel stride pad nan_mode | input",
    "RFFT2D": "local_bound | input_real",
    "TRANSPOSE_CONV2D": "out_pad stride acc_type local_bound | input weight bias input_zp weight_zp",
    "CLAMP": "min_val max_val nan_mode | input",
    "ERF": "| input",
    "SIGMOID": "| input",
    "TANH": "| input",
    "ADD": "| input1 input2",
    "ARITHMETIC_RIGHT_SHIFT": "round | input1 input2",
    "BITWISE_AND": "| input1 input2",
    "BITWISE_OR": "| input1 input2",
    "BITWISE_XOR": "| input1 input2",
    "INTDIV": "| input1 input2",
    "LOGICAL_AND": "| input1 input2",
    "LOGICAL_LEFT_SHIFT": "| input1 input2",
    "LOGICAL_RIGHT_SHIFT": "| input1 input2",
    "LOGICAL_OR": "| input1 input2",
    "LOGICAL_XOR": "| input1 input2",
    "MAXIMUM": "nan_mode | input1 input2",
    "MINIMUM": "nan_mode | input1 input2",
    "MUL": "| input1 input2 shift",
    "POW": "| input1 input2",
    "SUB": "| input1 input2",
    "TABLE": "| input1 table",
    "ABS": "| input1",
    "BITWISE_NOT": "| input1",
    "CEIL": "| input1",
    "CLZ": "| input1",
    "COS": "| input1",
    "EXP": "| input1",
    "FLOOR": "| input1",
    "LOG": "| input1",
    "LOGICAL_NOT": "| input1",
    "NEGATE": "| input1 input1_zp output_zp",
    "RECIPROCAL": "| input1",
    "RSQRT": "| input1",
    "SIN": "| input1",
    "SELECT": "| input1 input2 input3",
    "EQUAL": "| input1 input2",
    "GREATER": "| input1 input2",
    "GREATER_EQUAL": "| input1 input2",
    "REDUCE_ALL": "axis | input",
    "REDUCE_ANY": "axis | input",
    "REDUCE_MAX": "axis nan_mode | input",
    "REDUCE_MIN": "axis nan_mode | input",
    "REDUCE_PRODUCT": "axis | input",
    "REDUCE_SUM": "axis | input",
    "CONCAT": "axis | input1 ...",
    "PAD": "| input1 padding pad_const",
    "RESHAPE": "| input1 shape",
    "REVERSE": "axis | input1",
    "SLICE": "| input1 start size",
    "TILE": "| input1 multiples",
    "TRANSPOSE": "perms | input1",
    "GATHER": "| values indices",
    "SCATTER": "| values_in indices input",
    "RESIZE": "mode | input scale offset border",
    "CAST": "| input",
    "RESCALE": "scale32 rounding_mode per_channel input_unsigned output_unsigned | input multiplier shift input_zp output_zp",
}


def _operators() -> tuple[Operator, ...]:
    found = []
    for number, (name, signature) in enumerate(_TABLE.items()):
        attributes, inputs = signature.split("|")
        found.append(Operator(number, name, tuple(attributes.split()), tuple(inputs.split())))
    return tuple(found)


OPERATORS = _operators()  # indexed by SPIR-V's number
BY_MLIR_NAME = {operator.mlir_name: operator for operator in OPERATORS}

# DType of tosa.fbs and MLIR's element types; unsigned ones are stored as their bits.
FLATBUFFER_TYPES = {
    1: "i1",
    2: "i4",
    3: "i8",
    4: "i16",
    5: "i32",
    6: "i48",
    7: "f32",
    8: "f16",
    9: "bf16",
    11: "f8E4M3FN",
    12: "f8E5M2",
}
FLATBUFFER_NUMBERS = {name: number for number, name in FLATBUFFER_TYPES.items()} | {"ui8": 3, "ui16": 4, "ui32": 5}

# Operations that only FlatBuffers know, with their numbers in its `Op` enumeration.
CONST, IDENTITY, CUSTOM, COND_IF, WHILE_LOOP, CONST_SHAPE = 67, 68, 69, 70, 71, 75

# Inputs that are shapes (constants of the graph), not tensors.
SHAPE_INPUTS = {
    "PAD": ("padding",),
    "RESHAPE": ("shape",),
    "SLICE": ("start", "size"),
    "TILE": ("multiples",),
    "RESIZE": ("scale", "offset", "border"),
}
