"""What the passes that turn torch operators into TOSA share: reading operands, types, and the loop that replaces.

A converter gets a `Call` and gives the TOSA values that replace the operator's results, or None to leave it alone. Torch
values that TOSA has no type for are carried in one that it has: 64-bit integers and uint8 as i32, scalars as tensors of
one element. Between a converted and an unconverted operator stands a `builtin.unrealized_conversion_cast`, or, where the
types agree, also `torch_c.to_builtin_tensor` and `torch_c.from_builtin_tensor`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc import build
from vgfc.diagnostics import PassFailure, fail
from vgfc.host_operators import HOST_OPERATORS
from vgfc.ir import (
    Array,
    array_of,
    constant,
    constant_value,
    defining,
    element_type,
    functions,
    shape,
    shape_value,
    tensor,
)
from vgfc.passmanager import Pass, find_pass
from vgfc.segments import HOST_REASON
from vgfc.tosa_numpy import evaluate

CASTS = ("builtin.unrealized_conversion_cast", "torch_c.from_builtin_tensor", "torch_c.to_builtin_tensor")

ITEMS = ("torch.aten.item", "torch.aten._local_scalar_dense")
CARRIED_AS_I32 = ("si64", "si32", "ui8", "i64", "i32")
INTEGER_RANGES = {
    "i1": (0, 1),
    "si8": (-(2**7), 2**7 - 1),
    "ui8": (0, 2**8 - 1),
    "si16": (-(2**15), 2**15 - 1),
    "si32": (-(2**31), 2**31 - 1),
    "si64": (-(2**63), 2**63 - 1),
}
# torch.ScalarType numbers, as operands of type dtype hold them
DTYPES = {0: "ui8", 1: "si8", 2: "si16", 3: "si32", 4: "si64", 5: "f16", 6: "f32", 7: "f64", 11: "i1", 15: "bf16"}
RANKS = {"i1": 0, "ui8": 1, "si8": 1, "si16": 2, "si32": 3, "si64": 4, "bf16": 5, "f16": 5, "f32": 6, "f64": 7}

Converter = Callable[["Call"], Any]  # gives an ir.Value, a list (None: a result nothing reads) or None
Table = Mapping[str, Converter]


def torch_shape(value: ir.Value) -> tuple[int, ...]:
    """The shape of a !torch.vtensor; raises PassFailure where it is unknown or dynamic."""
    sizes = _vtensor(value)[0]
    if sizes is None or any(size < 0 for size in sizes):
        owner = defining(value)
        location = owner.location if owner is not None else ir.Location.unknown()
        raise PassFailure(f"expected a tensor of static shape, found {value.type}", location)
    return sizes


def torch_dtype(value: ir.Value) -> str:
    """The element type of a !torch.vtensor as the type spells it: f32, si64, i1, ..."""
    return _vtensor(value)[1]


def _vtensor(value: ir.Value) -> tuple[tuple[int, ...] | None, str]:
    text = str(value.type)
    if not text.startswith("!torch.vtensor<["):
        owner = defining(value)
        location = owner.location if owner is not None else ir.Location.unknown()
        raise PassFailure(f"expected a !torch.vtensor with a shape, found {text}", location)
    return _parsed(text)


@functools.cache
def _parsed(text: str) -> tuple[tuple[int, ...], str]:
    """Shape (-1: dynamic) and element type from the text of a !torch.vtensor type."""
    sizes, _, dtype = text.removeprefix("!torch.vtensor<[").removesuffix(">").partition("],")
    return tuple(-1 if size == "?" else int(size) for size in sizes.split(",") if size), dtype


def carried_element(dtype: str) -> ir.Type:
    """The TOSA element type that carries values of a torch element type."""
    if dtype in CARRIED_AS_I32:
        return build.i32()
    return ir.Type.parse(dtype.removeprefix("s") if dtype[:2] == "si" else dtype)


def carried_type(value: ir.Value) -> ir.RankedTensorType:
    """The TOSA type that carries a !torch.vtensor."""
    return tensor(torch_shape(value) or (1,), carried_element(torch_dtype(value)))


def is_tensor(value: ir.Value) -> bool:
    """Whether a torch value is a tensor."""
    return str(value.type).startswith("!torch.vtensor")


def is_none(value: ir.Value) -> bool:
    """Whether a torch value is None."""
    return str(value.type) == "!torch.none"


def carried(value: ir.Value) -> ir.Value:
    """The TOSA value behind a torch tensor: what a converted operator made, a new constant, or a new cast of it."""
    wanted = carried_type(value)
    owner = defining(value)
    if owner is not None and owner.name in CASTS and owner.operands[0].type == wanted:
        return owner.operands[0]
    if owner is not None and owner.name == "torch.vtensor.literal":
        return literal(owner, wanted)
    return build.operation("builtin.unrealized_conversion_cast", wanted, [value])


def is_unconverted(value: ir.Value) -> bool:
    """Whether a torch operator makes this value, other than a literal."""
    owner = defining(value)
    return owner is not None and owner.name.startswith("torch.") and owner.name != "torch.vtensor.literal"


def known_integers(value: ir.Value) -> Array | None:
    """The values of an integer tensor that follow from constants, as int64; None where they depend on an input."""
    owner = defining(value)
    if owner is None or str(element_type(value)) not in ("i32", "i1"):
        return None
    if owner.name == "tosa.const":
        return array_of(owner.attributes["values"])
    if owner.name == CASTS[0]:
        inner = defining(owner.operands[0])
        return known_integers(inner.operands[0]) if inner is not None and inner.name == CASTS[0] else None
    operands = []
    for operand in owner.operands:
        numbers = shape_value(operand)
        known = np.array(numbers, np.int64) if numbers is not None else _small(operand)
        if known is None:
            return None
        operands.append(known)
    return evaluate(owner, operands) if owner.name.startswith("tosa.") else None


def _small(operand: ir.Value) -> Array | None:
    if str(operand.type).startswith("!tosa.shape"):
        return None
    known = constant_value(operand)
    return known_integers(operand) if known is None else known


def literal(op: ir.Operation, wanted: ir.RankedTensorType) -> ir.Value:
    """The constant of a torch.vtensor.literal; raises PassFailure for numbers that do not fit 32 bits."""
    attribute = op.attributes["value"]
    if element_type(attribute.type) == wanted.element_type and shape(attribute.type) == shape(wanted):
        return ir.Operation.create("tosa.const", results=[wanted], attributes={"values": attribute}).result
    values = array_of(attribute)
    if str(wanted.element_type) == "i32" and values.dtype.itemsize > 4:
        check_range(op, values)
    return constant(values.reshape(shape(wanted)), wanted.element_type)


def check_range(op: ir.Operation, values: Array) -> None:
    """Raises PassFailure where 64-bit values do not fit the 32 bits that carry them."""
    low, high = INTEGER_RANGES["si32"]
    outside = values[(values < low) | (values > high)]
    if outside.size:
        raise fail(op, f"holds the 64-bit integer {outside.flat[0]}, expected one that 32 bits can carry")


@dataclass
class Call:
    """One torch operator and its operands."""

    op: ir.Operation
    name: str

    def __len__(self) -> int:
        return len(self.op.operands)

    def error(self, message: str) -> PassFailure:
        """The failure to raise for this operator."""
        return PassFailure(f"'{self.name}' {message}", self.op.location)

    def operand(self, index: int) -> ir.Value:
        """An operand as it is in the torch dialect."""
        return self.op.operands[index]

    def has(self, index: int) -> bool:
        """Whether an operand is there and is not None."""
        return index < len(self.op.operands) and not is_none(self.op.operands[index])

    # Tensors

    def tensor(self, index: int = 0) -> ir.Value:
        """A tensor operand in TOSA, in the type that carries it."""
        return carried(self.op.operands[index])

    def tensor_as(self, index: int, element: ir.Type) -> ir.Value:
        """A tensor operand converted to an element type; a constant is converted here and now."""
        return build.cast(self.tensor(index), element)

    def shape(self, index: int = 0) -> tuple[int, ...]:
        """The shape of a tensor operand as torch has it: () for a scalar."""
        return torch_shape(self.op.operands[index])

    @property
    def rank(self) -> int:
        """The rank of the first operand in TOSA, where a scalar has one axis."""
        return max(len(self.shape()), 1)

    def dtype(self, index: int = 0) -> str:
        """The element type of a tensor operand as torch spells it."""
        return torch_dtype(self.op.operands[index])

    def tensors(self, index: int) -> list[ir.Value]:
        """The torch values of a list of tensors."""
        owner = defining(self.op.operands[index])
        if owner is None or owner.name != "torch.prim.ListConstruct":
            raise self.error(f"expected a list of tensors written out as operand {index}, found another value")
        return list(owner.operands)

    def literal(self, index: int) -> Array | None:
        """The values of a tensor operand that is known now, in torch's type; None for any other."""
        owner = defining(self.op.operands[index])
        if owner is None:
            return None
        if owner.name == "torch.vtensor.literal":
            return array_of(owner.attributes["value"])
        if owner.name in CASTS:
            source = defining(owner.operands[0])
            if source is not None and source.name == "tosa.const":
                return array_of(source.attributes["values"]).reshape(self.shape(index))
        return None

    def waits(self, index: int) -> bool:
        """Whether a tensor operand is made by a torch operator that a later pass may still convert."""
        return is_unconverted(self.op.operands[index])

    # Results

    @cached_property
    def result_shape(self) -> tuple[int, ...]:
        """The shape of the first result as torch has it."""
        return torch_shape(self.op.results[0])

    @cached_property
    def result_dtype(self) -> str:
        """The element type of the first result as torch spells it."""
        return torch_dtype(self.op.results[0])

    @cached_property
    def element(self) -> ir.Type:
        """The TOSA element type of the first result."""
        return carried_element(self.result_dtype)

    # Numbers

    def number(self, index: int) -> float | int | bool:
        """A number operand; raises PassFailure when it is not known now."""
        value = scalar_constant(self.op.operands[index])
        if value is None:
            raise self.error(f"expected a number known at compile time as operand {index}, found one that is computed")
        return value

    def integer(self, index: int, default: int | None = None) -> int:
        """An integer operand; `default` for None or a missing one."""
        if default is not None and not self.has(index):
            return default
        return int(self.number(index))

    def real(self, index: int, default: float | None = None) -> float:
        """A floating-point operand; `default` for None or a missing one."""
        if default is not None and not self.has(index):
            return default
        return float(self.number(index))

    def flag(self, index: int, default: bool = False) -> bool:
        """A boolean operand; `default` for None or a missing one."""
        return bool(self.number(index)) if self.has(index) else default

    def text(self, index: int, default: str = "") -> str:
        """A string operand; `default` for None or a missing one."""
        if not self.has(index):
            return default
        owner = defining(self.op.operands[index])
        if owner is None or owner.name != "torch.constant.str":
            raise self.error(f"expected a string known at compile time as operand {index}")
        return str(ir.StringAttr(owner.attributes["value"]).value)

    def ints(self, index: int) -> list[int]:
        """A list of integers."""
        return [int(number) for number in self.numbers(index)]

    def numbers(self, index: int) -> list[float | int | bool]:
        """A list of numbers; raises PassFailure when one is not known now."""
        owner = defining(self.op.operands[index])
        values = [scalar_constant(item) for item in owner.operands] if owner is not None else [None]
        if owner is None or owner.name != "torch.prim.ListConstruct" or None in values:
            raise self.error(f"expected numbers known at compile time as operand {index}, found computed ones")
        return [value for value in values if value is not None]

    def axis(self, index: int, rank: int) -> int:
        """An axis operand, counted from the front."""
        axis = self.integer(index)
        return axis + max(rank, 1) if axis < 0 else axis

    def axes(self, index: int, rank: int) -> list[int]:
        """A list of axes, counted from the front; all of them for None and for an empty list."""
        if not self.has(index):
            return list(range(rank))
        found = [axis + max(rank, 1) if axis < 0 else axis for axis in self.ints(index)]
        return found or list(range(rank))


def scalar_constant(value: ir.Value) -> float | int | bool | None:
    """The number behind a torch scalar value, None when it is not known now."""
    owner = defining(value)
    if owner is None:
        return None
    name = owner.name
    if name == "torch.constant.int":
        return int(ir.IntegerAttr(owner.attributes["value"]).value)
    if name == "torch.constant.float":
        return float(ir.FloatAttr(owner.attributes["value"]).value)
    if name == "torch.constant.bool":
        return bool(ir.IntegerAttr(owner.attributes["value"]).value)
    if name in ("torch.prim.NumToTensor.Scalar", "torch.aten.Float.Scalar", "torch.aten.Float.bool"):
        return scalar_constant(owner.operands[0])
    if name in ("torch.aten.Int.Scalar", "torch.aten.Int.bool", "torch.aten.Int.float"):
        number = scalar_constant(owner.operands[0])
        return None if number is None else int(number)
    if name in ("torch.aten.Int.Tensor", "torch.aten.Float.Tensor", "torch.aten.Bool.Tensor", *ITEMS):
        source = defining(owner.operands[0])
        if source is not None and source.name == "torch.vtensor.literal":
            return cast("float | int | bool", array_of(source.attributes["value"]).reshape(-1)[0].item())
        if source is not None and source.name == "torch.prim.NumToTensor.Scalar":
            return scalar_constant(source.operands[0])
    return None


def promoted(left: str, right: str) -> str:
    """The element type in which torch computes on tensors of two types of the same standing."""
    if left == right:
        return left
    pair = {left, right}
    if pair == {"f16", "bf16"}:
        return "f32"
    if pair == {"ui8", "si8"}:
        return "si16"
    return max(left, right, key=lambda dtype: RANKS[dtype])


def category(dtype: str) -> int:
    """0 for booleans, 1 for integers, 2 for floating point."""
    return 0 if dtype == "i1" else 2 if dtype[0] in "fb" else 1


def common_dtype(values: Sequence[ir.Value]) -> str:
    """The element type in which torch computes on these tensors: a scalar counts only when its category is a higher one."""
    with_axes = [torch_dtype(value) for value in values if torch_shape(value)]
    scalars = [torch_dtype(value) for value in values if not torch_shape(value)]
    high = functools.reduce(promoted, with_axes) if with_axes else None
    low = functools.reduce(promoted, scalars) if scalars else None
    if high is None or low is None:
        found = high or low
        assert found is not None, "an operator on tensors has at least one"
        return found
    return high if category(high) >= category(low) else promoted(high, low)


# Replacing


def aten(names: str, converter: Converter) -> dict[str, Converter]:
    """The converter under each of these names of torch.aten, separated by blanks."""
    return {f"torch.aten.{name}": converter for name in names.split()}


def blocks(op: ir.Operation) -> Iterator[ir.Block]:
    """The blocks inside an operation, inner ones after the block that holds them."""
    for region in op.regions:
        for block in region.blocks:
            yield block
            for inner in list(block.operations):
                if len(inner.operation.regions):
                    yield from blocks(inner.operation)


def convert(module: ir.Module, table: Table) -> None:
    """Replace the torch operators named in `table` in every function of the module; see `Converter`."""
    for function in functions(module):
        for block in list(blocks(function.operation)):
            for view in list(block.operations):
                op = view.operation
                name = operator_name(op)
                if name in table:
                    convert_one(Call(op, name), table[name])


def operator_name(op: ir.Operation) -> str:
    """`torch.aten.relu`, also for an operator that the dialect has no class for and that stands in a torch.operator."""
    return str(ir.StringAttr(op.attributes["name"]).value if op.name == "torch.operator" else op.name)


def convert_one(call: Call, converter: Converter) -> None:
    """Replace one operator by what its converter makes."""
    op = call.op
    with ir.InsertionPoint(op), op.location:
        try:
            values = _converted(call, converter)
        except PassFailure as failure:
            if call.name not in HOST_OPERATORS:
                if failure.source is None:  # about an operand that comes from outside
                    raise PassFailure(failure.message, op.location) from None
                raise
            op.attributes[HOST_REASON] = ir.StringAttr.get(failure.message)
            return
        if values is None:
            return
        for made_value, result in zip(values, op.results, strict=True):
            if made_value is None:
                continue
            wanted = carried_type(result)
            value = build.cast(made_value, wanted.element_type)
            assert shape(value) == shape(wanted), f"{call.name}: made {value.type}, the result is carried as {wanted}"
            back = ir.Operation.create("builtin.unrealized_conversion_cast", results=[result.type], operands=[value])
            result.replace_all_uses_with(back.result)
    op.erase()


def _converted(call: Call, converter: Converter) -> list[ir.Value | None] | None:
    """What the converter makes of an operator, one value for each result that is read."""
    made = converter(call)
    if made is None:
        return None
    values = [made] if isinstance(made, ir.Value) else list(made)
    assert len(values) == len(call.op.results), f"{call.name}: {len(values)} values for {len(call.op.results)} results"
    for value, result in zip(values, call.op.results, strict=True):
        if value is None and next(iter(result.uses), None) is not None:
            raise call.error(f"gives a result {result.type} that cannot be computed, found it read")
    return values


class TorchConversion(Pass):
    """A pass that converts the operators of a table; the front end asks for the table's names."""

    table: ClassVar[Table]

    def run(self, module: ir.Module) -> None:
        convert(module, self.table)


@functools.cache
def converted_operators(pass_names: tuple[str, ...]) -> frozenset[str]:
    """The names (torch.aten.relu) of the operators that these passes convert."""
    found: set[str] = set()
    for name in pass_names:
        cls = find_pass(name)
        if cls is not None and issubclass(cls, TorchConversion):
            found.update(cls.table)
    return frozenset(found)


def erase_unused(function: func.FuncOp, names: Callable[[str], bool]) -> None:
    """Drop the operations with these names whose results nothing reads."""
    for block in reversed(list(blocks(function.operation))):
        for view in reversed(list(block.operations)):
            op = view.operation
            if names(op.name) and not any(next(iter(result.uses), None) for result in op.results):
                op.erase()


def float_compute(element: ir.Type) -> ir.Type:
    """The element type in which PyTorch computes a composite of this type inside: f32 for f16 and bf16."""
    return build.f32() if str(element) in ("f16", "bf16") else element
