"""TOSA FlatBuffers (version 1.0) of a TOSA module, written directly: no other MLIR build has to read our text.

The entry's calls of segments are expanded in place, `vgf.quantize` and `vgf.dequantize` become the TOSA operators that
mean the same, so that any module between import and lowering can be written. Layout: tosa.fbs of the TOSA serialization
library; tensor bytes are little-endian, i4 values two to a byte (low nibble first), i48 values six bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

import flatbuffers
import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc import ir as helpers
from vgfc import tosa_encoding as encoding
from vgfc.diagnostics import CompileError, fail
from vgfc.interface import entry_function, ports

FILE_IDENTIFIER = b"TOSA"
VERSION = (1, 0, 0, False)  # major, minor, patch, draft
CAST = encoding.BY_MLIR_NAME["tosa.cast"].flatbuffer_number
FLOAT_CODE_LIMIT = float(1 << 24)  # beyond any code of at most 16 bits, and exact in f32


@dataclass
class _Block:
    """What one TosaBasicBlock will hold; offsets are FlatBuffers objects that are finished already."""

    name: str
    operators: list[int] = field(default_factory=list)
    tensors: list[int] = field(default_factory=list)
    shapes: list[int] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)


def encode(module: ir.Module) -> bytes:
    """The `.tosa` bytes of a module; region 0 is its entry, tensors at the boundary have the entry's `vgf.name`s.

    Raises CompileError for what TOSA FlatBuffers cannot say: an operation of another dialect, a dynamic shape, an element
    type that TOSA lacks.
    """
    return _Writer(module).run()


@dataclass(frozen=True)
class Watched:
    """A value that `encode_watched` made an output of the file: the operation, which of its results, and its type.

    `tensor` and `operands` are the file's names of the value and of what the operation reads.
    """

    name: str
    location: ir.Location
    result: int
    type: ir.RankedTensorType
    tensor: str
    operands: tuple[str, ...]


@dataclass(frozen=True)
class WatchedFile:
    """A file whose outputs are `values`, in execution order; `results` are the tensors that the entry returns."""

    content: bytes
    values: list[Watched]
    results: list[str]


def encode_watched(module: ir.Module) -> WatchedFile:
    """As `encode`, but the file's outputs are the results of every operation outside control flow, in execution order.

    Constants are left out, and so are types that the reference model cannot give out in process (i4, i48).
    """
    writer = _Writer(module, watch=True)
    content = writer.run()
    return WatchedFile(content, writer.watched, writer.results)


class _Writer:
    def __init__(self, module: ir.Module, watch: bool = False) -> None:
        self.module = module
        self.watch = watch
        self.watched: list[Watched] = []
        self.results: list[str] = []
        self.builder = flatbuffers.Builder(1 << 16)
        self.strings: dict[str, int] = {}
        self.used_names: set[str] = set()
        self.blocks: list[_Block] = []
        self.block = _Block("main")
        self.callees = _callees(module)

    def run(self) -> bytes:
        entry = entry_function(self.module)
        inputs, outputs = ports(self.module)
        self.blocks.append(self.block)
        names: dict[ir.Value, str] = {}
        for argument, port in zip(entry.arguments, inputs, strict=True):
            names[argument] = self.add_tensor(argument.type, port.name, entry)
            self.block.inputs.append(names[argument])
        returned = list(list(entry.entry_block.operations)[-1].operands)
        wanted = dict(zip(reversed(returned), (port.name for port in reversed(outputs)), strict=True))
        self.results = self.add_body(entry.entry_block, names, wanted)
        if not self.watch:
            self.block.outputs += self.results
        return self.finish()

    # Walking the module

    def add_body(self, block: ir.Block, names: dict[ir.Value, str], wanted: dict[ir.Value, str]) -> list[str]:
        """Write a block's operations; returns the names of what its terminator hands on.

        `names` holds the block's arguments and takes what the operations make; `wanted` are names to use where possible.
        """
        *body, last = list(block.operations)
        for op in body:
            self.add_operation(op.operation, names, wanted)
        return [self.name_of(value, names, last.operation) for value in last.operands]

    def name_of(self, value: ir.Value, names: dict[ir.Value, str], reader: ir.Operation) -> str:
        if value not in names:
            raise fail(reader, "reads a value from outside its region, which a TOSA FlatBuffer cannot say")
        return names[value]

    def add_operation(self, op: ir.Operation, names: dict[ir.Value, str], wanted: dict[ir.Value, str]) -> None:
        operands = [self.name_of(value, names, op) for value in op.operands]
        if op.name == "func.call":
            self.add_call(op, operands, names, wanted)
            return
        if op.name == "tosa.const_shape":
            names[op.results[0]] = self.add_shape(op)
            self.add_operator(encoding.CONST_SHAPE, None, [], [names[op.results[0]]], op)
            return
        if op.name == "tosa.const":
            kind = op.results[0].type
            data = self.constant_bytes(op)
            names[op.results[0]] = name = self.add_tensor(kind, wanted.get(op.results[0], "constant"), op, data)
            self.add_operator(encoding.CONST, None, [], [name], op)
            return
        special = self.SPECIAL.get(op.name)
        if special is None and op.name not in encoding.BY_MLIR_NAME:
            raise fail(op, "is no operation that a TOSA FlatBuffer can hold")
        results = [self.add_tensor(value.type, wanted.get(value, "value"), op) for value in op.results]
        if special is not None:
            special(self, op, operands, results)
        else:
            operator = encoding.BY_MLIR_NAME[op.name]
            attributes = self.attribute_table(op, operator)
            self.add_operator(operator.flatbuffer_number, attributes, operands, results, op)
        names.update(zip(op.results, results, strict=True))
        if self.watch and self.block is self.blocks[0]:
            for index, (value, name) in enumerate(zip(op.results, results, strict=True)):
                if str(helpers.element_type(value)) not in ("i4", "i48"):
                    kind = ir.RankedTensorType(value.type)
                    self.watched.append(Watched(op.name, op.location, index, kind, name, tuple(operands)))
                    self.block.outputs.append(name)

    def add_call(
        self, op: ir.Operation, operands: list[str], names: dict[ir.Value, str], wanted: dict[ir.Value, str]
    ) -> None:
        """Expand the called function in place."""
        callee = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
        if callee not in self.callees:
            raise fail(op, f"calls '{callee}', which has no body here")
        function = self.callees[callee]
        if helpers.segment_kind(function) == "compute":
            raise fail(op, f"calls the compute segment '{callee}', whose shader is not TOSA")
        inner = dict(zip(function.arguments, operands, strict=True))
        returned = list(list(function.entry_block.operations)[-1].operands)
        inner_wanted = {
            value: wanted[result]
            for value, result in zip(reversed(returned), reversed(list(op.results)), strict=True)
            if result in wanted
        }
        names.update(zip(op.results, self.add_body(function.entry_block, inner, inner_wanted), strict=True))

    def add_identity(self, op: ir.Operation, operands: list[str], results: list[str]) -> None:
        self.add_operator(encoding.IDENTITY, None, operands, results, op)

    def add_cond_if(self, op: ir.Operation, operands: list[str], results: list[str]) -> None:
        then_name = self.add_region(op, 0, "then")
        else_name = self.add_region(op, 1, "else")
        table = self.table([("string", then_name), ("string", else_name)])
        self.add_operator(encoding.COND_IF, table, operands, results, op)

    def add_while_loop(self, op: ir.Operation, operands: list[str], results: list[str]) -> None:
        condition_name = self.add_region(op, 0, "condition")
        body_name = self.add_region(op, 1, "body")
        table = self.table([("string", condition_name), ("string", body_name)])
        self.add_operator(encoding.WHILE_LOOP, table, operands, results, op)

    def add_custom(self, op: ir.Operation, operands: list[str], results: list[str]) -> None:
        names = ("operator_name", "domain_name", "implementation_attrs")
        operator, domain, implementation = (ir.StringAttr(op.attributes[name]) for name in names)
        fields = [("string", operator.value), ("string", domain.value), ("raw bytes", implementation.value_bytes)]
        self.add_operator(encoding.CUSTOM, self.table(fields), operands, results, op)

    def add_region(self, op: ir.Operation, index: int, word: str) -> str:
        """A TosaRegion of its own for a region of `op`; returns its name."""
        outer, self.block = self.block, _Block(self.unique(word))
        self.blocks.append(self.block)
        block = op.regions[index].blocks[0]
        names = {argument: self.add_tensor(argument.type, "argument", op) for argument in block.arguments}
        self.block.inputs += names.values()
        self.block.outputs += self.add_body(block, names, {})
        inner, self.block = self.block, outer
        return inner.name

    def add_quantize(self, op: ir.Operation, operands: list[str], results: list[str]) -> None:
        """x -> clamp(round_half_even(x * (1 / scale)) + zero_point), with f32 arithmetic as PyTorch does it."""
        scales, zero_points, dimensions = _quantization(op)
        low, high = (ir.IntegerAttr(op.attributes[name]).value for name in ("quant_min", "quant_max"))
        kind = helpers.shape(op.operands[0])
        value = operands[0]
        if str(helpers.element_type(op.operands[0])) != "f32":
            value = self.unary("cast", value, kind, "f32", op)
        inverse = self.plain_constant((1.0 / scales).astype(np.float32).reshape(dimensions), "f32", op)
        value = self.multiply(value, inverse, kind, "f32", op)
        value = self.clamp(value, kind, "f32", -FLOAT_CODE_LIMIT, FLOAT_CODE_LIMIT, op)
        value = self.unary("cast", value, kind, "i32", op)
        offset = self.plain_constant(zero_points.astype(np.int32).reshape(dimensions), "i32", op)
        value = self.binary("add", value, offset, kind, "i32", op)
        for name, limit in (("maximum", low), ("minimum", high)):
            bound = self.plain_constant(np.full([1] * len(kind), limit, np.int32), "i32", op)
            value = self.binary(name, value, bound, kind, "i32", op)
        is_narrower = _stored(helpers.element_type(op.results[0])) != "i32"
        self.add_operator(CAST if is_narrower else encoding.IDENTITY, None, [value], results, op)

    def add_dequantize(self, op: ir.Operation, operands: list[str], results: list[str]) -> None:
        """code -> (code - zero_point) * scale, with f32 arithmetic as PyTorch does it."""
        scales, zero_points, dimensions = _quantization(op)
        kind = helpers.shape(op.operands[0])
        value = operands[0]
        if _stored(helpers.element_type(op.operands[0])) != "i32":
            value = self.unary("cast", value, kind, "i32", op)
        if str(helpers.element_type(op.operands[0])).startswith("ui"):
            bits = ir.IntegerType(helpers.element_type(op.operands[0])).width
            mask = self.plain_constant(np.full([1] * len(kind), (1 << bits) - 1, np.int32), "i32", op)
            value = self.binary("bitwise_and", value, mask, kind, "i32", op)
        offset = self.plain_constant(zero_points.astype(np.int32).reshape(dimensions), "i32", op)
        value = self.binary("sub", value, offset, kind, "i32", op)
        value = self.unary("cast", value, kind, "f32", op)
        scale = self.plain_constant(scales.astype(np.float32).reshape(dimensions), "f32", op)
        if str(helpers.element_type(op.results[0])) == "f32":
            self.multiply(value, scale, kind, "f32", op, results[0])
            return
        value = self.multiply(value, scale, kind, "f32", op)
        self.add_operator(CAST, None, [value], results, op)

    SPECIAL: ClassVar[dict[str, Callable[[_Writer, ir.Operation, list[str], list[str]], None]]] = {
        "tosa.identity": add_identity,
        "tosa.cond_if": add_cond_if,
        "tosa.while_loop": add_while_loop,
        "tosa.custom": add_custom,
        "vgf.quantize": add_quantize,
        "vgf.dequantize": add_dequantize,
    }

    # Operators that no operation of the module stands for

    def plain_constant(self, values: helpers.Array, element: str, op: ir.Operation) -> str:
        name = self.add_raw_tensor(values.shape, encoding.FLATBUFFER_NUMBERS[element], "constant", values.tobytes())
        self.add_operator(encoding.CONST, None, [], [name], op)
        return name

    def unary(self, name: str, value: str, kind: tuple[int, ...], element: str, op: ir.Operation) -> str:
        return self.new_result(name, [value], kind, element, op, None)

    def binary(self, name: str, left: str, right: str, kind: tuple[int, ...], element: str, op: ir.Operation) -> str:
        attributes = self.table([("i32", 1)]) if name in ("maximum", "minimum") else None
        return self.new_result(name, [left, right], kind, element, op, attributes)

    def multiply(
        self, left: str, right: str, kind: tuple[int, ...], element: str, op: ir.Operation, result: str | None = None
    ) -> str:
        shift = self.plain_constant(np.zeros(1, np.int8), "i8", op)
        return self.new_result("mul", [left, right, shift], kind, element, op, None, result)

    def clamp(self, value: str, kind: tuple[int, ...], element: str, low: float, high: float, op: ir.Operation) -> str:
        bounds = [("bytes", np.float32(bound).tobytes()) for bound in (low, high)]
        return self.new_result("clamp", [value], kind, element, op, self.table([*bounds, ("i32", 1)]))

    def new_result(
        self,
        name: str,
        operands: list[str],
        kind: tuple[int, ...],
        element: str,
        op: ir.Operation,
        attributes: int | None,
        result: str | None = None,
    ) -> str:
        if result is None:
            result = self.add_raw_tensor(kind, encoding.FLATBUFFER_NUMBERS[element], "value", None)
        number = encoding.BY_MLIR_NAME[f"tosa.{name}"].flatbuffer_number
        self.add_operator(number, attributes, operands, [result], op)
        return result

    # FlatBuffers objects

    def unique(self, name: str) -> str:
        candidate, count = name, len(self.used_names)
        while candidate in self.used_names or candidate in ("constant", "value", "argument", "then", "else"):
            candidate, count = f"{name}_{count}", count + 1
        self.used_names.add(candidate)
        return candidate

    def string(self, text: str) -> int:
        if text not in self.strings:
            self.strings[text] = self.builder.CreateString(text)
        return self.strings[text]

    def byte_vector(self, data: bytes) -> int:
        """A [ubyte] (force_align: 8), its length rounded up to 8 as the serialization library writes it."""
        length = -(-len(data) // 8) * 8
        self.builder.StartVector(1, length, 8)
        self.builder.head -= length
        start = self.builder.head
        self.builder.Bytes[start : start + len(data)] = data
        return cast(int, self.builder.EndVector())

    def number_vector(self, numbers: Sequence[int]) -> int:
        return cast(int, self.builder.CreateNumpyVector(np.array(numbers, np.int32)))

    def offset_vector(self, offsets: Sequence[int]) -> int:
        self.builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self.builder.PrependUOffsetTRelative(offset)
        return cast(int, self.builder.EndVector())

    def table(self, fields: Sequence[tuple[str, Any] | None]) -> int:
        """A table whose slots are `fields` in order: (kind, value), or None for one that is left at its default."""
        makers: dict[str, Callable[[Any], int]] = {
            "string": self.string,
            "bytes": self.byte_vector,
            "raw bytes": self.builder.CreateByteVector,
            "i32s": self.number_vector,
            "offsets": self.offset_vector,
            "strings": lambda texts: self.offset_vector([self.string(text) for text in texts]),
        }
        ready = [("offset", makers[item[0]](item[1])) if item and item[0] in makers else item for item in fields]
        self.builder.StartObject(len(fields))
        for slot, item in enumerate(ready):
            if item is None:
                continue
            kind, value = item
            if kind == "offset":
                self.builder.PrependUOffsetTRelativeSlot(slot, value, 0)
            elif kind == "bool":
                self.builder.PrependBoolSlot(slot, value, False)
            elif kind == "u8":
                self.builder.PrependUint8Slot(slot, value, 0)
            else:
                self.builder.PrependInt32Slot(slot, value, None)
        return cast(int, self.builder.EndObject())

    def add_tensor(self, kind: ir.Type, name: str, op: Any, data: bytes | None = None) -> str:
        if not isinstance(kind, ir.RankedTensorType) or not kind.has_static_shape:
            raise fail(op, f"expected tensors of static shape, found {kind}")
        element = str(helpers.element_type(kind))
        if element not in encoding.FLATBUFFER_NUMBERS:
            raise fail(op, f"expected an element type that TOSA has, found {element}")
        return self.add_raw_tensor(helpers.shape(kind), encoding.FLATBUFFER_NUMBERS[element], name, data)

    def add_raw_tensor(self, dimensions: tuple[int, ...], number: int, name: str, data: bytes | None) -> str:
        unique = self.unique(name)
        content = None if data is None else ("bytes", data)
        table = self.table([("string", unique), ("i32s", dimensions), ("i32", number), content])
        self.block.tensors.append(table)
        return unique

    def add_shape(self, op: ir.Operation) -> str:
        name = self.unique("shape")
        numbers = helpers.shape_value(op.results[0])
        assert numbers is not None
        data = struct.pack(f"<{len(numbers)}q", *numbers)
        self.block.shapes.append(self.table([("string", name), ("i32", len(numbers)), ("bytes", data)]))
        return name

    def constant_bytes(self, op: ir.Operation) -> bytes:
        attribute = op.attributes["values"]
        if not isinstance(attribute, ir.DenseElementsAttr):
            raise fail(op, "expected inline values (dense<...>), found opaque ones (dense_resource<...>)")
        return stored_bytes(helpers.array_of(attribute), str(helpers.element_type(attribute.type)))

    def attribute_table(self, op: ir.Operation, operator: encoding.Operator) -> int:
        return self.table([self.attribute_field(op, name) for name in operator.flatbuffer_attributes])

    def attribute_field(self, op: ir.Operation, name: str) -> tuple[str, Any] | None:
        kind = encoding.kind_of(name)
        if name not in op.attributes:
            return ("i32", 1) if kind == encoding.NAN_MODE else None
        attribute = op.attributes[name]
        if kind == encoding.AXIS:
            return "i32", ir.IntegerAttr(attribute).value
        if kind == encoding.BOOL:
            return "bool", ir.BoolAttr(attribute).value
        if kind in (encoding.INTEGERS, encoding.PERMUTATION):
            return "i32s", helpers.int_list(attribute)
        if kind == encoding.ACCUMULATOR:
            return "i32", encoding.FLATBUFFER_NUMBERS[str(ir.TypeAttr(attribute).value)]
        if kind == encoding.NUMBER:
            return "bytes", _number_bytes(attribute)
        word = str(attribute).split("<")[1].rstrip(">")
        return "i32", next(number for number, text in encoding.ENUMERATIONS[kind].items() if text == word)

    def add_operator(
        self, number: int, attributes: int | None, operands: list[str], results: list[str], op: ir.Operation
    ) -> None:
        if attributes is None:
            attributes = self.table([])
        location = self.table([("string", str(op.location))])
        table = self.table(
            [
                ("i32", number),
                ("u8", number),
                ("offset", attributes),
                ("strings", operands),
                ("strings", results),
                ("offset", location),
            ]
        )
        self.block.operators.append(table)

    def finish(self) -> bytes:
        regions = []
        for block in self.blocks:
            table = self.table(
                [
                    ("string", block.name),
                    ("offsets", block.operators),
                    ("offsets", block.tensors),
                    ("strings", block.inputs),
                    ("strings", block.outputs),
                    ("offsets", block.shapes),
                ]
            )
            regions.append(self.table([("string", block.name), ("offsets", [table])]))
        major, minor, patch, draft = VERSION
        self.builder.StartObject(4)
        self.builder.PrependInt32Slot(0, major, -1)
        self.builder.PrependInt32Slot(1, minor, -1)
        self.builder.PrependInt32Slot(2, patch, -1)
        self.builder.PrependBoolSlot(3, draft, True)
        version = self.builder.EndObject()
        root = self.table([("offset", version), ("offsets", regions)])
        self.builder.Finish(root, FILE_IDENTIFIER)
        return bytes(self.builder.Output())


def _callees(module: ir.Module) -> dict[str, func.FuncOp]:
    """Functions with a body by name; a segment that moved into a module of its own is found there."""
    found: dict[str, func.FuncOp] = {}
    for op in module.body.operations:
        nested = op.operation
        if isinstance(op, func.FuncOp):
            if not op.is_external:
                found[op.name.value] = op
        elif nested.name == "builtin.module":
            for inner in nested.regions[0].blocks[0].operations:
                if isinstance(inner, func.FuncOp) and not inner.is_external:
                    found[inner.name.value] = inner
    return found


def _stored(element: ir.Type) -> str:
    return encoding.FLATBUFFER_TYPES[encoding.FLATBUFFER_NUMBERS[str(element)]]


def _quantization(op: ir.Operation) -> tuple[helpers.Array, helpers.Array, list[int]]:
    """Scales, zero points and the shape that makes either broadcast to the operand of a vgf.quantize or vgf.dequantize."""
    scales = helpers.array_of(op.attributes["scales"])
    zero_points = helpers.array_of(op.attributes["zero_points"])
    axis = ir.IntegerAttr(op.attributes["axis"]).value
    rank = len(helpers.shape(op.operands[0]))
    if axis >= rank or (axis < 0 and scales.size != 1):
        raise fail(op, f"expected an axis below {rank} for {scales.size} scales, found {axis}")
    return scales, zero_points, [scales.size if index == axis else 1 for index in range(rank)]


def _number_bytes(attribute: ir.Attribute) -> bytes:
    """The value of a clamp's bound in its own type's bytes."""
    if isinstance(attribute, ir.FloatAttr):
        kind = helpers.numpy_type(attribute.type)
        return np.array(attribute.value, kind).tobytes()
    number = ir.IntegerAttr(attribute)
    return np.array(number.value, helpers.numpy_type(number.type)).tobytes()


def stored_bytes(values: helpers.Array, element: str) -> bytes:
    """A tensor's values as a TOSA FlatBuffer stores them; raises CompileError for no such type, and for an i4 of -8.

    TOSA's int4_t ends at -7 (specification 1.0, "Number formats"), and the reference model reads a tensor that holds -8 as
    zeros without a word.
    """
    if element not in helpers.NUMPY_TYPES:
        raise CompileError(f"expected an element type that TOSA has, found {element}")
    flat = np.ascontiguousarray(values, helpers.NUMPY_TYPES[element]).reshape(-1)
    if element == "i4":
        if flat.size and not -7 <= int(flat.min()) <= int(flat.max()) <= 7:
            raise CompileError(f"expected i4 values from -7 to 7, found {int(flat.min())} to {int(flat.max())}")
        nibbles = np.zeros(flat.size + flat.size % 2, np.uint8)
        nibbles[: flat.size] = flat.view(np.uint8) & 0xF
        return (nibbles[0::2] | (nibbles[1::2] << 4)).tobytes()
    if element == "i48":
        return flat.view(np.uint8).reshape(-1, 8)[:, :6].tobytes()
    return flat.tobytes()
