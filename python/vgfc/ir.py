"""Typed helpers over the MLIR bindings; the only place that works round their traps.

Shapes are tuples of ints; arrays are numpy, with ml_dtypes for the element types numpy lacks (bf16, fp8) and plain int8 /
int64 for i4 / i48.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, cast

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from torch_mlir import ir
from torch_mlir.dialects import func, tosa
from torch_mlir.rewrite import RewritePatternSet, walk_and_apply_patterns

Array = NDArray[Any]
Pattern = Callable[[Any, Any], bool | None]

NO_MATCH = True  # what a rewrite pattern returns when it leaves the operation alone

NUMPY_TYPES: dict[str, Any] = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "i1": np.bool_,
    "i4": np.int8,
    "i8": np.int8,
    "ui8": np.uint8,
    "i16": np.int16,
    "ui16": np.uint16,
    "i32": np.int32,
    "i48": np.int64,
    "i64": np.int64,
    "si8": np.int8,
    "si16": np.int16,
    "si32": np.int32,
    "si64": np.int64,
    "index": np.int64,
}
BITS = {"i1": 8, "i4": 4, "i48": 48, "bf16": 16, "f8E4M3FN": 8, "f8E5M2": 8}
HEX_BLOB = re.compile(r'dense<"0x([0-9A-Fa-f]*)">')
SCALAR = re.compile(r"0x[0-9A-Fa-f]+|[-+]?[0-9][0-9.eE+-]*")


# Types


def shape(value: ir.Value | ir.Type) -> tuple[int, ...]:
    """The static shape of a ranked tensor, () for a scalar one; a dynamic extent is -1."""
    kind = value if isinstance(value, ir.Type) else value.type
    ranked = ir.RankedTensorType(kind)
    return tuple(-1 if ranked.is_dynamic_dim(axis) else ranked.get_dim_size(axis) for axis in range(ranked.rank))


def element_type(value: ir.Value | ir.Type) -> ir.Type:
    """The element type of a ranked tensor."""
    kind = value if isinstance(value, ir.Type) else value.type
    return ir.RankedTensorType(kind).element_type


def tensor(dimensions: Sequence[int], element: ir.Type) -> ir.RankedTensorType:
    """The ranked tensor type of this shape and element type."""
    return ir.RankedTensorType.get(list(dimensions), element)


def numpy_type(element: ir.Type) -> Any:
    """The numpy type that holds values of an MLIR element type; raises KeyError for one that no tensor here has."""
    return NUMPY_TYPES[str(element)]


def size_bytes(kind: ir.Type) -> int:
    """The bytes that a tensor of this type takes in device memory; i4 counts as stored, two to a byte."""
    element = element_type(kind)
    name = str(element)
    bits = BITS.get(name) or np.dtype(NUMPY_TYPES[name]).itemsize * 8
    return (int(np.prod(shape(kind), dtype=np.int64)) * bits + 7) // 8


def is_float(element: ir.Type) -> bool:
    """Whether an element type is a floating-point one."""
    return isinstance(element, ir.FloatType)


# Constants


def array_of(attribute: ir.Attribute) -> Array:
    """The values of a dense elements attribute, in its shape.

    Raises ValueError for an attribute whose bytes the bindings do not give out (dense_resource).
    """
    if not isinstance(attribute, ir.DenseElementsAttr):
        raise ValueError(f"expected inline values (dense<...>), found {str(attribute).split('<')[0]}")
    dense = cast(Any, attribute)
    dimensions = shape(dense.type)
    element = element_type(dense.type)
    name = str(element)
    wanted = NUMPY_TYPES[name]
    if name in ("bf16", "f8E4M3FN", "f8E5M2", "i4", "i48"):
        values = _parse_dense_text(str(dense), name, dense.is_splat)
    else:
        values = np.asarray(dense)
    if values.dtype != wanted:
        values = values.astype(wanted)
    if dense.is_splat:
        return np.broadcast_to(values.reshape(-1)[0], dimensions)
    return values.reshape(dimensions)


def _parse_dense_text(text: str, name: str, is_splat: bool) -> Array:
    """Values of the element types for which the bindings have no buffer, from the printed form."""
    wanted = NUMPY_TYPES[name]
    storage = np.dtype(wanted)
    blob = HEX_BLOB.match(text)
    if blob is None:
        body = text[: text.rindex(":")].removeprefix("dense<")
        unsigned = np.dtype(f"u{storage.itemsize}")
        values = [
            np.array(int(word, 16), unsigned).view(storage)
            if word.startswith("0x")
            else np.array(float(word), storage)
            if name[0] != "i"
            else np.array(int(word), storage)
            for word in SCALAR.findall(body)
        ]
        return np.array(values, storage)
    raw = np.frombuffer(bytes.fromhex(blob[1]), np.uint8)
    if name == "i48":
        padded = np.zeros((raw.size // 6, 8), np.uint8)
        padded[:, :6] = raw.reshape(-1, 6)
        return (padded.view(np.int64).reshape(-1) << 16) >> 16
    if name == "i4":
        return ((raw.astype(np.int8) << 4) >> 4).astype(np.int8)
    return raw.view(storage)


def dense(values: Array, element: ir.Type) -> ir.DenseElementsAttr:
    """A dense elements attribute of `element` type; stored as a splat when all values are the same bits."""
    kind = tensor(np.shape(values), element)  # before ascontiguousarray, which makes a scalar a vector
    values = np.ascontiguousarray(values, dtype=numpy_type(element))
    if values.size > 1 and _is_splat(values):
        values = values.reshape(-1)[:1]
    if str(element) == "i48":
        return ir.DenseElementsAttr.get(np.ascontiguousarray(values.reshape(-1, 1).view(np.uint8)[:, :6]), type=kind)
    return ir.DenseElementsAttr.get(
        values.view(np.uint8) if values.ndim else values.reshape(1).view(np.uint8), type=kind
    )


def _is_splat(values: Array) -> bool:
    raw = values.reshape(-1).view(
        f"V{values.dtype.itemsize}" if values.dtype.itemsize > 8 else f"u{values.dtype.itemsize}"
    )
    return bool(raw[0] == raw[-1] and (raw == raw[0]).all())


def constant(values: Array, element: ir.Type) -> ir.Value:
    """A new `tosa.const` at the current insertion point and location."""
    attribute = dense(values, element)
    return tosa.ConstOp(attribute).output


def constant_value(value: ir.Value) -> Array | None:
    """The array behind a value made by `tosa.const` (or `arith.constant` of a tensor), None for any other value.

    Looks through transposes and reshapes of a constant, so that a large one need not be written anew for each of them.
    """
    owner = defining(value)
    if owner is not None and owner.name in ("tosa.transpose", "tosa.reshape"):
        values = constant_value(owner.operands[0])
        if values is None or owner.name == "tosa.reshape":
            return None if values is None else values.reshape(shape(value))
        return values.transpose(int_list(owner.attributes["perms"]))
    if owner is None or owner.name not in ("tosa.const", "arith.constant"):
        return None
    attribute = owner.attributes["values" if owner.name == "tosa.const" else "value"]
    return array_of(attribute) if isinstance(attribute, ir.DenseElementsAttr) else None


def splat_value(value: ir.Value) -> float | int | bool | None:
    """The one number that a constant consists of, None when the value is no constant or has several."""
    owner = defining(value)
    if owner is None or owner.name != "tosa.const":
        return None
    attribute = owner.attributes["values"]
    if not isinstance(attribute, ir.DenseElementsAttr) or not attribute.is_splat:
        return None
    return cast("float | int | bool", array_of(attribute).reshape(-1)[0].item())


def const_shape(dimensions: Sequence[int]) -> ir.Value:
    """A new `tosa.const_shape` at the current insertion point and location."""
    values = np.array(list(dimensions), np.int64)
    kind = ir.Type.parse(f"!tosa.shape<{len(values)}>")
    attribute = ir.DenseElementsAttr.get(values.view(np.uint8), type=tensor([len(values)], ir.IndexType.get()))
    return ir.Operation.create("tosa.const_shape", results=[kind], attributes={"values": attribute}).result


def shape_value(value: ir.Value) -> tuple[int, ...] | None:
    """The numbers behind a value made by `tosa.const_shape`, None for any other value."""
    owner = defining(value)
    if owner is None or owner.name != "tosa.const_shape":
        return None
    return tuple(int(number) for number in np.asarray(owner.attributes["values"]).reshape(-1))


# Operations and uses


def defining(value: ir.Value) -> ir.Operation | None:
    """The operation that makes `value`, None for a block argument."""
    owner = value.owner
    return None if isinstance(owner, ir.Block) else cast(ir.Operation, owner.operation)


def has_one_use(value: ir.Value) -> bool:
    """Whether exactly one operand anywhere reads `value`."""
    uses = iter(value.uses)
    return next(uses, None) is not None and next(uses, None) is None


def functions(module: ir.Module) -> list[func.FuncOp]:
    """The functions of a module that have a body, in order; a list, so that the module may change meanwhile."""
    return [op for op in list(module.body.operations) if isinstance(op, func.FuncOp) and not op.is_external]


def copy_module(module: ir.Module) -> ir.Module:
    """A copy in the same context; constants are shared."""
    with module.context, ir.Location.unknown():
        copy = ir.Module.create(loc=module.operation.location)
        for op in module.body.operations:
            copy.body.append(op.operation.clone())
        for name in module.operation.attributes:
            copy.operation.attributes[name] = module.operation.attributes[name]
    return copy


def bytecode(module: ir.Module) -> bytes:
    """The module as MLIR bytecode."""
    stream = io.BytesIO()
    module.operation.write_bytecode(stream)
    return stream.getvalue()


def fingerprint(module: ir.Module) -> list[object]:
    """Equal for two states of modules of one context exactly when they print the same, locations apart.

    Attributes are compared by identity, so that this costs no more than walking the operations.
    """
    found: list[object] = []
    numbers: dict[ir.Value, int] = {}

    def add(op: ir.Operation) -> None:
        found.append(op.name)
        found.extend((name, op.attributes[name]) for name in op.attributes)
        found.extend(numbers[value] for value in op.operands)
        for value in op.results:
            numbers[value] = len(numbers)
            found.append(value.type)
        for region in op.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    numbers[argument] = len(numbers)
                    found.append(argument.type)
                for inner in block.operations:
                    add(inner.operation)
                found.append("end")

    add(module.operation)
    return found


def entry(module: ir.Module) -> func.FuncOp | None:
    """The one public function with a body, None when there is none or there are several."""
    public = [op for op in functions(module) if "sym_visibility" not in op.attributes]
    return public[0] if len(public) == 1 else None


def segment_kind(function: func.FuncOp) -> str | None:
    """What `vgf.segment` says of a function: "graph", "compute", "host"; None for one that is no segment."""
    if "vgf.segment" not in function.attributes:
        return None
    return cast(str, ir.StringAttr(function.attributes["vgf.segment"]).value)


def operations(function: func.FuncOp) -> Iterator[ir.Operation]:
    """The operations of a function's first block without its terminator, from a list made now."""
    for op in list(function.entry_block.operations)[:-1]:
        yield op.operation


def nested(op: ir.Operation) -> Iterator[ir.Operation]:
    """The operations in the regions of an operation, at any depth, each before those inside it."""
    for region in op.regions:
        for block in region.blocks:
            for inner in list(block.operations):
                yield inner.operation
                yield from nested(inner.operation)


def read_values(op: ir.Operation) -> list[ir.Value]:
    """What an operation and those in its regions read."""
    return [*op.operands, *(value for inner in nested(op) for value in inner.operands)]


def redirect(op: ir.Operation, replacements: dict[ir.Value, ir.Value]) -> None:
    """Let an operation and those in its regions read the replacements."""
    for reader in (op, *nested(op)):
        for index, value in enumerate(reader.operands):
            if value in replacements:
                reader.operands[index] = replacements[value]


EFFECTS = frozenset({"tosa.variable", "tosa.variable_write", "tosa.custom", "tosa.assert_equal_shape"})


def is_pure(op: ir.Operation) -> bool:
    """Whether an operation only makes its results, so that it may go when nothing reads them."""
    known = op.name.startswith(("tosa.", "vgf.")) or op.name == "arith.constant"
    return known and op.name not in EFFECTS and not len(op.regions)


def attributes_of(op: ir.Operation) -> dict[str, ir.Attribute]:
    """All attributes of an operation."""
    return {name: op.attributes[name] for name in op.attributes}


def nan_mode(op: ir.Operation) -> str:
    """The NaN mode of a TOSA operation as MLIR spells it, which is PROPAGATE where the operation does not say."""
    return str(op.attributes["nan_mode"]) if "nan_mode" in op.attributes else "#tosa.nan_mode<PROPAGATE>"


def replace(op: ir.Operation, *values: ir.Value) -> None:
    """Let everything that reads the results of `op` read `values` instead, one for each, and erase `op`."""
    for result, value in zip(op.results, values, strict=True):
        result.replace_all_uses_with(value)
    op.erase()


def erase_unused(function: func.FuncOp, may_go: Callable[[ir.Operation], bool] = is_pure) -> None:
    """Erase the operations of the function's first block that may go and whose results nothing reads, to the last."""
    for op in reversed(list(operations(function))):
        if may_go(op) and not any(True for result in op.results for _ in result.uses):
            op.erase()


def rewrite_each(module: ir.Module, names: Collection[str], rewrite: Callable[[ir.Operation], None]) -> None:
    """Call `rewrite` on each operation of these names, function by function in order, then erase what nothing reads.

    `rewrite` may erase its own operation and those before it.
    """
    for function in functions(module):
        for op in operations(function):
            if op.name in names:
                rewrite(op)
        erase_unused(function)


def apply_patterns(module: ir.Module, *patterns: tuple[Any, Pattern]) -> None:
    """Walk the module once and try each (operation class or name, pattern) on the operations that fit.

    A pattern returns NO_MATCH to leave an operation alone and None after changing it.
    """
    pattern_set = RewritePatternSet()
    for root, pattern in patterns:
        pattern_set.add(root, pattern)
    walk_and_apply_patterns(module.operation, pattern_set.freeze())


def int_list(attribute: ir.Attribute) -> list[int]:
    """The numbers of a dense i32/i64 array attribute or of an ArrayAttr of integers."""
    if isinstance(attribute, ir.ArrayAttr):
        return [ir.IntegerAttr(item).value for item in attribute]
    return [int(number) for number in cast(Any, attribute)]
