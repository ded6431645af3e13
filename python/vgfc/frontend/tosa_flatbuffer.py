"""TOSA FlatBuffers (version 1.0) read into a module; the other direction is `vgfc.emit.tosa_flatbuffer`.

Region 0 becomes the public function `main`, whose arguments and results keep the file's names (`vgf.name`); regions that
cond_if and while_loop refer to become their bodies. The file's tensor names and locations become locations.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import cast

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc import ir as helpers
from vgfc import tosa_encoding as encoding
from vgfc.diagnostics import CompileError, verify
from vgfc.frontend.tosa_attributes import plain_attribute
from vgfc.passmanager import run_pipeline

FILE_IDENTIFIER = b"TOSA"
# What the specification calls an error whatever the target is. Element types and levels are left to the target: an operator
# that it does not take can run on the host.
VALIDATION = "tosa-validate"
VALIDATION_OPTIONS = "strict-op-spec-alignment allow-invalid-op-datatype-combinations"
ENVIRONMENT = (
    '#tosa.target_env<specification_version = "1.1.draft", level = none, profiles = [pro_int, pro_fp], extensions = '
    "[int16, int4, bf16, fp8e4m3, fp8e5m2, fft, variable, controlflow, doubleround, inexactround, dynamic]>"
)
MAX_RANK = 16  # far above the specification's levels; keeps a damaged file from asking for the absurd


class _DamagedError(CompileError):
    def __init__(self, what: str) -> None:
        super().__init__(f"damaged TOSA FlatBuffer: {what}")


class _Table:
    """A FlatBuffers table at a position of the buffer; every access is checked against the buffer's end."""

    def __init__(self, content: bytes, position: int) -> None:
        self.content = content
        self.position = position
        distance = _unpack("<i", content, position)
        self.vtable = position - distance
        self.vtable_size = _unpack("<H", content, self.vtable)

    def field(self, slot: int) -> int:
        """Where the field is stored, 0 when it has its default."""
        entry = 4 + 2 * slot
        if entry + 2 > self.vtable_size:
            return 0
        offset = _unpack("<H", self.content, self.vtable + entry)
        return self.position + offset if offset else 0

    def number(self, slot: int, layout: str = "<i", default: int = 0) -> int:
        at = self.field(slot)
        return _unpack(layout, self.content, at) if at else default

    def flag(self, slot: int) -> bool:
        return self.number(slot, "<B") != 0

    def reference(self, slot: int) -> int:
        at = self.field(slot)
        return at + _unpack("<I", self.content, at) if at else 0

    def vector(self, slot: int, item_size: int) -> tuple[int, int]:
        """Start and length of a vector field, length 0 when it is missing."""
        at = self.reference(slot)
        if not at:
            return 0, 0
        length = _unpack("<I", self.content, at)
        if at + 4 + length * item_size > len(self.content):
            raise _DamagedError(f"a vector of {length} items ends outside the file")
        return at + 4, length

    def data(self, slot: int) -> memoryview:
        start, length = self.vector(slot, 1)
        return memoryview(self.content)[start : start + length]

    def integers(self, slot: int) -> list[int]:
        start, length = self.vector(slot, 4)
        return list(struct.unpack_from(f"<{length}i", self.content, start))

    def string(self, slot: int) -> str:
        return _text(self.data(slot))

    def strings(self, slot: int) -> list[str]:
        found = []
        start, length = self.vector(slot, 4)
        for at in range(start, start + 4 * length, 4):
            position = at + _unpack("<I", self.content, at)
            size = _unpack("<I", self.content, position)
            if position + 4 + size > len(self.content):
                raise _DamagedError("a string ends outside the file")
            found.append(_text(memoryview(self.content)[position + 4 : position + 4 + size]))
        return found

    def table(self, slot: int) -> _Table | None:
        at = self.reference(slot)
        return _Table(self.content, at) if at else None

    def tables(self, slot: int) -> Iterator[_Table]:
        start, length = self.vector(slot, 4)
        for at in range(start, start + 4 * length, 4):
            yield _Table(self.content, at + _unpack("<I", self.content, at))


def _unpack(layout: str, content: bytes, position: int) -> int:
    if position < 0 or position + struct.calcsize(layout) > len(content):
        raise _DamagedError(f"it refers to byte {position} of {len(content)}")
    return cast(int, struct.unpack_from(layout, content, position)[0])


def _text(data: memoryview) -> str:
    try:
        return bytes(data).decode()
    except UnicodeDecodeError:
        raise _DamagedError("a name is not UTF-8") from None


def _regions(content: bytes) -> dict[str, _Table]:
    """Name and the one basic block of every region, in file order."""
    if content[4:8] != FILE_IDENTIFIER:
        raise CompileError("not a TOSA FlatBuffer: expected the identifier 'TOSA' at byte 4")
    graph = _Table(content, _unpack("<I", content, 0))
    version = graph.table(0)
    if version is None or version.number(0, default=-1) != 1:
        found = "none" if version is None else f"{version.number(0, default=-1)}.{version.number(1, default=-1)}"
        raise CompileError(f"expected a TOSA FlatBuffer of version 1, found version {found}")
    regions = {}
    for region in graph.tables(1):
        blocks = list(region.tables(1))
        name = region.string(0)
        if len(blocks) != 1:
            raise CompileError(f"region '{name}': expected one basic block, found {len(blocks)}")
        if name in regions:
            raise CompileError(f"two regions are named '{name}'")
        regions[name] = blocks[0]
    if not regions:
        raise CompileError("the TOSA FlatBuffer holds no region")
    return regions


def boundary_names(content: bytes) -> tuple[list[str], list[str]]:
    """The names of a file's inputs and outputs, in order; raises CompileError for no TOSA FlatBuffer."""
    block = next(iter(_regions(content).values()))
    return block.strings(3), block.strings(4)


def read_tosa(content: bytes, context: ir.Context) -> ir.Module:
    """The module that a TOSA FlatBuffer describes.

    Raises CompileError for a damaged file, another version, operators outside TOSA 1.0, and a graph that the tosa dialect's
    verifier or upstream's tosa-validate refuses.
    """
    regions = _regions(content)
    with context, ir.Location.unknown():
        module = ir.Module.create()
        reader = _Reader(regions, content)
        reader.read_entry(module)
        verify(module, "the file's graph")
        _validate(module)
    return module


def _validate(module: ir.Module) -> None:
    """Raise CompileError for a graph with one of the specification's ERROR_IF conditions that the verifier does not know."""
    environment = "tosa.target_env"
    module.operation.attributes[environment] = ir.Attribute.parse(ENVIRONMENT)
    try:
        run_pipeline(module, f"builtin.module({VALIDATION}{{{VALIDATION_OPTIONS}}})")
    except CompileError as error:
        cause = error.message.removeprefix(f"pass '{VALIDATION}' failed: ")
        refusal = CompileError(f"the file's graph is invalid: {cause}")
        refusal.source = error.source
        raise refusal from None
    del module.operation.attributes[environment]


class _Tensors:
    """The tensors and shapes of one block by name."""

    def __init__(self, block: _Table) -> None:
        self.tensors: dict[str, _Table] = {}
        for tensor in block.tables(2):
            self.tensors[tensor.string(0)] = tensor
        self.shapes = {shape.string(0): shape for shape in block.tables(5)}

    def type_of(self, name: str) -> ir.Type:
        if name in self.shapes:
            rank = self.shapes[name].number(1)
            if not 0 <= rank <= 2 * MAX_RANK:  # a padding has two numbers for each dimension
                raise _DamagedError(f"shape '{name}' has {rank} numbers")
            return ir.Type.parse(f"!tosa.shape<{rank}>")
        tensor = self.tensor(name)
        number, dimensions = tensor.number(2), tensor.integers(1)
        if number not in encoding.FLATBUFFER_TYPES:
            raise CompileError(f"tensor '{name}': expected an element type of TOSA 1.0, found number {number}")
        if len(dimensions) > MAX_RANK or any(extent < 0 for extent in dimensions):
            raise CompileError(f"tensor '{name}': expected a static shape, found {dimensions}")
        return helpers.tensor(dimensions, ir.Type.parse(encoding.FLATBUFFER_TYPES[number]))

    def tensor(self, name: str) -> _Table:
        if name not in self.tensors:
            raise CompileError(f"an operator refers to '{name}', which the file does not define")
        return self.tensors[name]


class _Reader:
    def __init__(self, regions: dict[str, _Table], content: bytes) -> None:
        self.regions = regions
        self.content = content
        self.open_regions: list[str] = []

    def read_entry(self, module: ir.Module) -> None:
        name, block = next(iter(self.regions.items()))
        self.open_regions.append(name)
        tensors = _Tensors(block)
        input_names, output_names = block.strings(3), block.strings(4)
        inputs = [tensors.type_of(name) for name in input_names]
        outputs = [tensors.type_of(name) for name in output_names]
        with ir.InsertionPoint(module.body):
            function = func.FuncOp("main", (inputs, outputs))
        function.attributes["arg_attrs"] = _name_attributes(input_names)
        function.attributes["res_attrs"] = _name_attributes(output_names)
        body = function.add_entry_block([ir.Location.name(name) for name in input_names])
        with ir.InsertionPoint(body):
            func.ReturnOp(self.read_block(block, tensors, list(body.arguments)))

    def read_block(self, block: _Table, tensors: _Tensors, arguments: list[ir.Value]) -> list[ir.Value]:
        """Make the block's operations at the insertion point; returns its outputs."""
        values = dict(zip(block.strings(3), arguments, strict=True))
        for record in block.tables(1):
            self.read_operator(record, tensors, values)
        return [self.value_of(name, values) for name in block.strings(4)]

    def value_of(self, name: str, values: dict[str, ir.Value]) -> ir.Value:
        if name not in values:
            raise CompileError(f"'{name}' is read before an operator or an input gives it a value")
        return values[name]

    def read_operator(self, record: _Table, tensors: _Tensors, values: dict[str, ir.Value]) -> None:
        number, names = record.number(0), record.strings(4)
        operands = [self.value_of(name, values) for name in record.strings(3)]
        kinds = [tensors.type_of(name) for name in names]
        with self.location_of(record, names):
            op = self.make_operation(number, record.table(2), operands, kinds, names, tensors)
        values.update(zip(names, op.results, strict=True))

    def location_of(self, record: _Table, names: list[str]) -> ir.Location:
        """The location that the file gives the operator, else its first result's name."""
        location = record.table(5)
        text = location.string(0) if location is not None else ""
        if text.startswith("loc(") and text != "loc(unknown)":
            try:  # the bindings parse locations only behind an operation
                return ir.Module.parse(f"module {{}} {text}").operation.location
            except ir.MLIRError:  # written by another tool, in words of its own
                pass
        return ir.Location.name(names[0]) if names else ir.Location.unknown()

    def make_operation(
        self,
        number: int,
        attributes: _Table | None,
        operands: list[ir.Value],
        kinds: list[ir.Type],
        names: list[str],
        tensors: _Tensors,
    ) -> ir.Operation:
        if 1 <= number <= len(encoding.OPERATORS):
            operator = encoding.OPERATORS[number - 1]
            found = {}
            for slot, name in enumerate(operator.flatbuffer_attributes):
                attribute = _attribute(attributes, slot, name, operands)
                if attribute is not None:
                    found[name] = attribute
            return ir.Operation.create(operator.mlir_name, kinds, operands, found)
        if number == encoding.IDENTITY:
            return ir.Operation.create("tosa.identity", kinds, operands)
        if number in (encoding.CONST, encoding.CONST_SHAPE) and len(names) == 1:
            return self.make_constant(number, names[0], kinds[0], tensors)
        if number in (encoding.COND_IF, encoding.WHILE_LOOP) and attributes is not None:
            regions = [attributes.string(0), attributes.string(1)]
            return self.make_control_flow(number, regions, operands, kinds)
        if number == encoding.CUSTOM and attributes is not None:
            custom = {
                "operator_name": ir.StringAttr.get(attributes.string(0)),
                "domain_name": ir.StringAttr.get(attributes.string(1)),
                "implementation_attrs": ir.StringAttr.get(bytes(attributes.data(2))),
            }
            return ir.Operation.create("tosa.custom", kinds, operands, custom)
        raise CompileError(f"operator number {number} ('{', '.join(names)}') is none that can be read here")

    def make_constant(self, number: int, name: str, kind: ir.Type, tensors: _Tensors) -> ir.Operation:
        if number == encoding.CONST_SHAPE:
            if name not in tensors.shapes:
                raise CompileError(f"'{name}' is no shape of the file")
            shape = tensors.shapes[name]
            data, rank = shape.data(2), shape.number(1)
            if len(data) < 8 * rank:
                raise _DamagedError(f"shape '{name}' has {len(data)} bytes for {rank} numbers")
            return cast(ir.Operation, helpers.const_shape(struct.unpack_from(f"<{rank}q", data)).owner)
        tensor = tensors.tensor(name)
        element = encoding.FLATBUFFER_TYPES[tensor.number(2)]
        data = tensor.data(3)
        offset, size = tensor.number(7, "<Q"), tensor.number(8, "<Q")
        if offset > 1:
            if offset + size > len(self.content):
                raise _DamagedError(f"the values of '{name}' end outside the file")
            data = memoryview(self.content)[offset : offset + size]
        values = _values(data, element, helpers.shape(kind), name)
        attribute = helpers.dense(values, helpers.element_type(kind))
        return ir.Operation.create("tosa.const", [kind], attributes={"values": attribute})

    def make_control_flow(
        self, number: int, names: list[str], operands: list[ir.Value], kinds: list[ir.Type]
    ) -> ir.Operation:
        name = "tosa.cond_if" if number == encoding.COND_IF else "tosa.while_loop"
        carried = operands[1:] if number == encoding.COND_IF else operands
        op = ir.Operation.create(name, kinds, operands, regions=2)
        for region, region_name in zip(op.regions, names, strict=True):
            if region_name not in self.regions:
                raise CompileError(f"{name} refers to region '{region_name}', which the file does not hold")
            if region_name in self.open_regions:
                raise CompileError(f"region '{region_name}' contains itself")
            self.open_regions.append(region_name)
            record = self.regions[region_name]
            if len(record.strings(3)) != len(carried):
                raise CompileError(
                    f"region '{region_name}': expected {len(carried)} inputs, found {len(record.strings(3))}"
                )
            tensors = _Tensors(record)
            for name_inside, value in zip(record.strings(3), carried, strict=True):
                if tensors.type_of(name_inside) != value.type:
                    raise CompileError(
                        f"region '{region_name}': input '{name_inside}' is {tensors.type_of(name_inside)}, {name} gives it "
                        f"{value.type}"
                    )
            block = region.blocks.append(*[value.type for value in carried])
            with ir.InsertionPoint(block):
                outputs = self.read_block(record, tensors, list(block.arguments))
                ir.Operation.create("tosa.yield", operands=outputs)
            self.open_regions.pop()
        return op


def _attribute(record: _Table | None, slot: int, name: str, operands: list[ir.Value]) -> ir.Attribute | None:
    """The attribute in a slot of an attribute table, None for one that is at MLIR's default as well."""
    kind = encoding.kind_of(name)
    if record is None:
        raise _DamagedError(f"an operator lacks its attribute '{name}'")
    if kind == encoding.AXIS:
        return plain_attribute(name, record.number(slot))
    if kind == encoding.BOOL:
        return plain_attribute(name, record.flag(slot))
    if kind in (encoding.INTEGERS, encoding.PERMUTATION):
        return plain_attribute(name, record.integers(slot))
    if kind == encoding.NUMBER:
        if not operands:
            raise CompileError(f"{name}: the operator has no operand to clamp")
        return plain_attribute(name, _values(record.data(slot), str(helpers.element_type(operands[0])), (1,), name))
    number = record.number(slot)
    is_integer = bool(operands) and not helpers.is_float(helpers.element_type(operands[0]))
    if kind == encoding.NAN_MODE and number == 0 and is_integer:
        return None
    words = encoding.FLATBUFFER_TYPES if kind == encoding.ACCUMULATOR else encoding.ENUMERATIONS[kind]
    if number not in words:
        raise CompileError(f"{name}: expected one of {', '.join(words.values())}, found number {number}")
    return plain_attribute(name, words[number])


def _values(data: memoryview, element: str, shape: tuple[int, ...], name: str) -> helpers.Array:
    """The numbers that the file stores as `data`; their count is the shape's."""
    count = math.prod(shape)
    bits = helpers.BITS.get(element) or np.dtype(helpers.NUMPY_TYPES[element]).itemsize * 8
    needed = (count * bits + 7) // 8
    if len(data) < needed:
        raise _DamagedError(f"'{name}' has {len(data)} bytes of values, its shape and type need {needed}")
    raw = np.frombuffer(data[:needed], np.uint8)
    if element == "i4":
        nibbles = np.stack([raw & 0xF, raw >> 4], axis=1).reshape(-1)[:count].astype(np.int8)
        return cast(helpers.Array, ((nibbles ^ 8) - 8).reshape(shape))
    if element == "i48":
        padded = np.zeros((count, 8), np.uint8)
        padded[:, :6] = raw.reshape(count, 6)
        return cast(helpers.Array, ((padded.view(np.int64) << 16) >> 16).reshape(shape))
    if element == "i1":
        return cast(helpers.Array, (raw != 0).reshape(shape))
    return cast(helpers.Array, raw.view(helpers.NUMPY_TYPES[element]).reshape(shape))


def _name_attributes(names: list[str]) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([ir.DictAttr.get({"vgf.name": ir.StringAttr.get(name)}) for name in names])
