"""SPIR-V graphs (SPV_ARM_graph with the TOSA.001000.1 instruction set) decoded to plain data. Imports no MLIR.

Layout of the words: SPIR-V specification 1.6, SPV_ARM_tensors, SPV_ARM_graph. Every access is checked, so that a damaged
module ends in a CompileError.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, cast

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from vgfc import tosa_encoding as encoding
from vgfc.diagnostics import CompileError

MAGIC = 0x07230203
HEADER_WORDS = 5
MAX_RANK = 16  # far above the specification's levels; keeps a damaged file from asking for the absurd

# Opcodes, by the specification's names without Op.
NAME, STRING, LINE, NO_LINE, EXT_INST_IMPORT, EXT_INST = 5, 7, 8, 317, 11, 12
TYPE_BOOL, TYPE_INT, TYPE_FLOAT, TYPE_ARRAY, TYPE_STRUCT, TYPE_POINTER = 20, 21, 22, 28, 30, 32
CONSTANT_TRUE, CONSTANT_FALSE, CONSTANT, CONSTANT_COMPOSITE, CONSTANT_NULL = 41, 42, 43, 44, 46
VARIABLE, DECORATE, COMPOSITE_EXTRACT, CONSTANT_COMPOSITE_REPLICATE = 59, 71, 81, 4461
TYPE_TENSOR, GRAPH_CONSTANT, GRAPH_ENTRY_POINT, GRAPH, GRAPH_INPUT = 4163, 4181, 4182, 4183, 4184
GRAPH_SET_OUTPUT, GRAPH_END = 4185, 4186
DECORATION_BINDING, DECORATION_DESCRIPTOR_SET = 33, 34
FLOAT_ENCODINGS = {(16, 0): "bf16", (8, 4214): "f8E4M3FN", (8, 4215): "f8E5M2"}
INTEGERS = {8: "i8", 16: "i16", 32: "i32", 64: "i48"}  # TOSA's int48 travels in 64 bits
NUMPY_TYPES: dict[str, Any] = {
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i48": np.int64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}
NON_SEMANTIC = "NonSemantic."  # instruction sets of this prefix change no result (SPV_KHR_non_semantic_info)
DEBUG_INFO = "NonSemantic.Graph.DebugInfo.1"
DEBUG_OPERATION = 2  # its operands: the graph, a string with the place, the results it is about
PLACE = re.compile(r"(.*):(\d+):(\d+)")


@dataclass(frozen=True)
class TensorType:
    """Element type, spelt as MLIR does, and shape."""

    element: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"tensor<{''.join(f'{extent}x' for extent in self.shape)}{self.element}>"


@dataclass(frozen=True)
class Port:
    """An input or output of a graph: type, the names and numbers of the variable that it is bound to."""

    type: TensorType
    name: str
    descriptor_set: int
    binding: int


@dataclass(frozen=True)
class Location:
    """Where an OpLine says that something comes from."""

    file: str
    line: int
    column: int


@dataclass(frozen=True)
class Constant:
    """A tensor constant: its values, or the number of a graph constant whose values the VGF file holds."""

    id: int
    type: TensorType
    values: NDArray[Any] | None
    graph_constant_id: int | None


@dataclass(frozen=True)
class Application:
    """One TOSA operator: attributes by name in plain Python, operands and results by id."""

    operator: encoding.Operator
    attributes: dict[str, Any]
    operands: tuple[int, ...]
    results: tuple[int, ...]
    types: tuple[TensorType, ...]
    location: Location | None


@dataclass
class Graph:
    """A graph entry point; `inputs` pairs ids with ports, `outputs` as well."""

    name: str
    inputs: list[tuple[int, Port]]
    outputs: list[tuple[int, Port]]
    applications: list[Application]
    constants: dict[int, Constant]


@dataclass(frozen=True)
class _Scalar:
    element: str


@dataclass(frozen=True)
class _Array:
    element: Any


@dataclass(frozen=True)
class _Struct:
    members: tuple[Any, ...]


@dataclass(frozen=True)
class _Instruction:
    opcode: int
    words: Sequence[int]  # without the first, which holds opcode and length
    position: int


@dataclass(frozen=True)
class _Definition:
    """A constant that was seen: its type and what it is made of."""

    instruction: _Instruction
    type: Any


@dataclass(frozen=True)
class _Variable:
    type: Any


@dataclass
class _Body:
    """A graph function as instructions, before its operands are looked at."""

    instructions: list[tuple[_Instruction, Location | None]] = field(default_factory=list)


def instructions(code: bytes) -> Iterator[_Instruction]:
    """The instructions of a module; raises CompileError where it is no whole SPIR-V module."""
    if len(code) % 4 or len(code) < 4 * HEADER_WORDS:
        raise CompileError(f"not a SPIR-V module: expected words of 4 bytes after a header, found {len(code)} bytes")
    words = struct.unpack(f"<{len(code) // 4}I", code)
    if words[0] != MAGIC:
        raise CompileError(f"not a SPIR-V module: expected the magic number {MAGIC:#x}, found {words[0]:#x}")
    at = HEADER_WORDS
    position = 0
    while at < len(words):
        length, opcode = words[at] >> 16, words[at] & 0xFFFF
        if length == 0 or at + length > len(words):
            raise CompileError(f"damaged SPIR-V module: the instruction at word {at} has {length} words")
        yield _Instruction(opcode, words[at + 1 : at + length], position)
        at += length
        position += 1


def read_graphs(code: bytes) -> list[Graph]:
    """The graph entry points of a SPIR-V module.

    Raises CompileError for a damaged module, an instruction that no graph may hold, and another instruction set.
    """
    reader = _Reader()
    for instruction in instructions(code):
        reader.add(instruction)
    return [reader.graph(*entry) for entry in reader.entry_points]


class _Reader:
    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.strings: dict[int, str] = {}
        self.sets: dict[int, str] = {}
        self.types: dict[int, Any] = {}
        self.definitions: dict[int, _Definition] = {}
        self.variables: dict[int, _Variable] = {}
        self.decorations: dict[tuple[int, int], int] = {}
        self.entry_points: list[tuple[int, str, tuple[int, ...]]] = []
        self.bodies: dict[int, _Body] = {}
        self.body: _Body | None = None
        self.line: Location | None = None
        self.values: dict[int, NDArray[Any]] = {}
        self.places: dict[int, Location] = {}

    # First pass: remember

    def add(self, instruction: _Instruction) -> None:
        handler = self.HANDLERS.get(instruction.opcode)
        try:
            if handler is not None:
                handler(self, instruction)
            elif self.body is not None:
                self.body.instructions.append((instruction, self.line))
        except (IndexError, ValueError):  # an instruction with too few words
            raise CompileError(
                f"damaged SPIR-V module: opcode {instruction.opcode} with {len(instruction.words)} words"
            ) from None

    def add_name(self, instruction: _Instruction) -> None:
        self.names[instruction.words[0]] = _string(instruction.words[1:])

    def add_string(self, instruction: _Instruction) -> None:
        self.strings[instruction.words[0]] = _string(instruction.words[1:])

    def add_line(self, instruction: _Instruction) -> None:
        file, line, column = instruction.words
        self.line = Location(self.strings.get(file, ""), line, column)

    def end_line(self, instruction: _Instruction) -> None:
        self.line = None

    def add_set(self, instruction: _Instruction) -> None:
        self.sets[instruction.words[0]] = _string(instruction.words[1:])

    def add_decoration(self, instruction: _Instruction) -> None:
        target, decoration, *operands = instruction.words
        if decoration in (DECORATION_BINDING, DECORATION_DESCRIPTOR_SET):
            self.decorations[target, decoration] = operands[0]

    def add_bool(self, instruction: _Instruction) -> None:
        self.define_type(instruction, _Scalar("i1"))

    def add_int(self, instruction: _Instruction) -> None:
        width = instruction.words[1]
        if width in INTEGERS:
            self.define_type(instruction, _Scalar(INTEGERS[width]))

    def add_float(self, instruction: _Instruction) -> None:
        _, width, *encodings = instruction.words
        element = FLOAT_ENCODINGS.get((width, encodings[0])) if encodings else {16: "f16", 32: "f32"}.get(width)
        if element is not None:
            self.define_type(instruction, _Scalar(element))

    def add_array(self, instruction: _Instruction) -> None:
        self.define_type(instruction, _Array(self.types.get(instruction.words[1])))

    def add_struct(self, instruction: _Instruction) -> None:
        self.define_type(instruction, _Struct(tuple(self.type_of(word) for word in instruction.words[1:])))

    def add_pointer(self, instruction: _Instruction) -> None:
        if instruction.words[2] in self.types:
            self.define_type(instruction, self.types[instruction.words[2]])

    def add_tensor(self, instruction: _Instruction) -> None:
        if len(instruction.words) != 4:
            raise CompileError("expected tensors of known shape, found an OpTypeTensorARM without one")
        element = self.type_of(instruction.words[1])
        shape = tuple(int(extent) for extent in self.array_of(instruction.words[3]))
        rank = int(self.number_of(instruction.words[2]))
        if not isinstance(element, _Scalar) or rank != len(shape) or rank > MAX_RANK or any(e <= 0 for e in shape):
            raise CompileError(f"damaged SPIR-V module: a tensor type of rank {rank} with the shape {list(shape)}")
        self.define_type(instruction, TensorType(element.element, shape))

    def define_type(self, instruction: _Instruction, kind: Any) -> None:
        self.types[instruction.words[0]] = kind

    def add_constant(self, instruction: _Instruction) -> None:
        self.definitions[instruction.words[1]] = _Definition(instruction, self.types.get(instruction.words[0]))

    def add_variable(self, instruction: _Instruction) -> None:
        self.variables[instruction.words[1]] = _Variable(self.types.get(instruction.words[0]))

    def add_entry_point(self, instruction: _Instruction) -> None:
        name = _string(instruction.words[1:])
        used = len(name.encode()) // 4 + 1
        self.entry_points.append((instruction.words[0], name, tuple(instruction.words[1 + used :])))

    def add_application(self, instruction: _Instruction) -> None:
        """Remember an operator, or what debug information, inside a graph or outside, says about results."""
        words = instruction.words
        if self.sets.get(words[2]) == DEBUG_INFO and words[3] == DEBUG_OPERATION:
            match = PLACE.fullmatch(self.strings.get(words[5], ""))
            if match is not None:
                self.places |= dict.fromkeys(words[6:], Location(match[1], int(match[2]), int(match[3])))
        elif self.body is not None and not self.sets.get(words[2], "").startswith(NON_SEMANTIC):
            self.body.instructions.append((instruction, self.line))

    def begin_graph(self, instruction: _Instruction) -> None:
        self.body = self.bodies[instruction.words[1]] = _Body()
        self.line = None

    def end_graph(self, instruction: _Instruction) -> None:
        self.body = None

    HANDLERS: ClassVar[dict[int, Callable[[_Reader, _Instruction], None]]] = {
        NAME: add_name,
        STRING: add_string,
        LINE: add_line,
        NO_LINE: end_line,
        EXT_INST_IMPORT: add_set,
        DECORATE: add_decoration,
        TYPE_BOOL: add_bool,
        TYPE_INT: add_int,
        TYPE_FLOAT: add_float,
        TYPE_ARRAY: add_array,
        TYPE_STRUCT: add_struct,
        TYPE_POINTER: add_pointer,
        TYPE_TENSOR: add_tensor,
        CONSTANT_TRUE: add_constant,
        CONSTANT_FALSE: add_constant,
        CONSTANT: add_constant,
        CONSTANT_COMPOSITE: add_constant,
        CONSTANT_COMPOSITE_REPLICATE: add_constant,
        CONSTANT_NULL: add_constant,
        GRAPH_CONSTANT: add_constant,
        VARIABLE: add_variable,
        GRAPH_ENTRY_POINT: add_entry_point,
        EXT_INST: add_application,
        GRAPH: begin_graph,
        GRAPH_END: end_graph,
    }

    # Types and constants by id

    def type_of(self, number: int) -> Any:
        if number not in self.types:
            raise CompileError(f"%{number} is none of the types that a TOSA graph has")
        return self.types[number]

    def tensor_type(self, number: int) -> TensorType:
        kind = self.type_of(number)
        if not isinstance(kind, TensorType):
            raise CompileError(f"expected %{number} to be a tensor type")
        return kind

    def definition(self, number: int) -> _Definition:
        if number not in self.definitions:
            raise CompileError(f"%{number} is no constant")
        return self.definitions[number]

    def number_of(self, number: int) -> int | float | bool:
        """The value of a scalar constant."""
        value = self.array_of(number)
        if value.size != 1:
            raise CompileError(f"expected %{number} to be one number, found {value.size}")
        return cast("int | float | bool", value.reshape(-1)[0].item())

    def array_of(self, number: int) -> NDArray[Any]:
        """The values of a scalar, array or tensor constant; raises CompileError for a graph constant."""
        if number not in self.values:
            self.values[number] = self.make_array(self.definition(number), number)
        return self.values[number]

    def make_array(self, definition: _Definition, number: int) -> NDArray[Any]:
        opcode, words, kind = definition.instruction.opcode, definition.instruction.words, definition.type
        if opcode in (CONSTANT_TRUE, CONSTANT_FALSE):
            return np.array(opcode == CONSTANT_TRUE)
        if opcode == CONSTANT and isinstance(kind, _Scalar):
            return _scalar(kind.element, words[2:])
        if opcode == CONSTANT_NULL and isinstance(kind, _Scalar):
            return np.zeros((), NUMPY_TYPES[kind.element])
        if opcode == CONSTANT_NULL and isinstance(kind, TensorType):
            return np.broadcast_to(np.zeros((), NUMPY_TYPES[kind.element]), kind.shape)
        if opcode == CONSTANT_COMPOSITE and isinstance(kind, TensorType | _Array):
            parts = self.parts(words[2:], number)
            values = np.stack(parts) if parts else np.zeros(0, np.int32)
            if isinstance(kind, TensorType) and values.shape != kind.shape:
                raise CompileError(
                    f"damaged SPIR-V module: %{number} has values of shape {list(values.shape)} for {kind}"
                )
            return values
        if opcode == CONSTANT_COMPOSITE_REPLICATE and isinstance(kind, TensorType):
            (part,) = self.parts(words[2:3], number)
            if part.shape != kind.shape[len(kind.shape) - part.ndim :]:  # a row, or a single number
                raise CompileError(
                    f"damaged SPIR-V module: %{number} repeats values of shape {list(part.shape)} for {kind}"
                )
            return np.broadcast_to(part, kind.shape)
        raise CompileError(f"expected %{number} to be a constant whose values the module holds")

    def parts(self, numbers: Sequence[int], whole: int) -> list[NDArray[Any]]:
        if any(number >= whole and number not in self.values for number in numbers):
            for number in numbers:
                if self.definition(number).instruction.position >= self.definition(whole).instruction.position:
                    raise CompileError(f"damaged SPIR-V module: %{whole} is made of %{number}, which comes after it")
        parts = [self.array_of(number) for number in numbers]
        if len({(part.shape, part.dtype) for part in parts}) > 1:
            raise CompileError(f"damaged SPIR-V module: the parts of %{whole} have different types")
        return parts

    # Second pass: graphs

    def graph(self, number: int, name: str, interface: tuple[int, ...]) -> Graph:
        if number not in self.bodies:
            raise CompileError(f"the entry point '{name}' has no graph")
        found = Graph(name, [], [], [], {})
        kinds: dict[int, Any] = {}
        structs: dict[int, tuple[int, ...]] = {}
        outputs: dict[int, int] = {}
        pending_extracts: dict[int, dict[int, int]] = {}
        body = self.bodies[number].instructions
        for instruction, _ in body:
            if instruction.opcode == COMPOSITE_EXTRACT and len(instruction.words) == 4:
                _, result, composite, index = instruction.words
                pending_extracts.setdefault(composite, {}).setdefault(index, result)
        aliases: dict[int, int] = {}
        for instruction, location in body:
            words = instruction.words
            if instruction.opcode == GRAPH_INPUT and len(words) == 3:
                index = int(self.number_of(words[2]))
                if index != len(found.inputs):
                    raise CompileError(f"graph '{name}': expected input {len(found.inputs)}, found input {index}")
                found.inputs.append((words[1], self.port(interface, index, self.tensor_type(words[0]), name)))
                kinds[words[1]] = self.tensor_type(words[0])
            elif instruction.opcode == GRAPH_SET_OUTPUT and len(words) == 2:
                outputs[int(self.number_of(words[1]))] = words[0]
            elif instruction.opcode == COMPOSITE_EXTRACT and len(words) == 4:
                if words[2] not in structs or words[3] >= len(structs[words[2]]):
                    raise CompileError(f"graph '{name}': %{words[2]} has no part {words[3]}")
                aliases[words[1]] = structs[words[2]][words[3]]
            elif instruction.opcode == EXT_INST and len(words) >= 4:
                application = self.application(words, location, pending_extracts.get(words[1], {}))
                found.applications.append(application)
                structs[words[1]] = application.results
                kinds.update(zip(application.results, application.types, strict=True))
            else:
                raise CompileError(f"graph '{name}': opcode {instruction.opcode} has no place in a TOSA graph")
        if sorted(outputs) != list(range(len(outputs))):
            raise CompileError(f"graph '{name}': its outputs are numbered {sorted(outputs)}")
        found.applications = [_resolved(application, aliases, self.places) for application in found.applications]
        for application in found.applications:
            for operand in application.operands:
                if operand not in kinds:
                    kinds[operand] = self.constant(operand, found).type
        for unread in self.unread_constants() if len(self.entry_points) == 1 else ():
            self.constant(unread, found)
        for index in range(len(outputs)):
            value = aliases.get(outputs[index], outputs[index])
            if value not in kinds:
                kinds[value] = self.constant(value, found).type
            found.outputs.append((value, self.port(interface, len(found.inputs) + index, kinds[value], name)))
        return found

    def port(self, interface: tuple[int, ...], index: int, kind: TensorType, graph: str) -> Port:
        if index >= len(interface):
            raise CompileError(
                f"graph '{graph}': its interface has {len(interface)} variables, expected more than {index}"
            )
        variable = interface[index]
        if variable not in self.variables or self.variables[variable].type != kind:
            raise CompileError(f"graph '{graph}': variable {index} of its interface is no {kind}")
        return Port(
            kind,
            self.names.get(variable, ""),
            self.decorations.get((variable, DECORATION_DESCRIPTOR_SET), 0),
            self.decorations.get((variable, DECORATION_BINDING), index),
        )

    def unread_constants(self) -> list[int]:
        """Tensor constants that nothing refers to; they stay, so that a module comes back as it is."""
        read: set[int] = set()
        for definition in self.definitions.values():
            if definition.instruction.opcode in (CONSTANT_COMPOSITE, CONSTANT_COMPOSITE_REPLICATE):
                read.update(definition.instruction.words[2:])
        for body in self.bodies.values():
            for instruction, _ in body.instructions:
                read.update(instruction.words[4:] if instruction.opcode == EXT_INST else instruction.words)
        tensors = (number for number, found in self.definitions.items() if isinstance(found.type, TensorType))
        return [number for number in tensors if number not in read]

    def constant(self, number: int, graph: Graph) -> Constant:
        if number in graph.constants:
            return graph.constants[number]
        definition = self.definition(number)
        kind = definition.type
        if not isinstance(kind, TensorType):
            raise CompileError(f"expected %{number} to be a tensor")
        if definition.instruction.opcode == GRAPH_CONSTANT:
            found = Constant(number, kind, None, definition.instruction.words[2])
        else:
            found = Constant(number, kind, self.array_of(number), None)
        graph.constants[number] = found
        return found

    def application(
        self,
        words: Sequence[int],
        location: Location | None,
        extracts: dict[int, int],
    ) -> Application:
        result_type, result, instruction_set, number, *operands = words
        if self.sets.get(instruction_set) != encoding.SPIRV_INSTRUCTION_SET:
            raise CompileError(
                f"expected the instruction set {encoding.SPIRV_INSTRUCTION_SET}, "
                f"found {self.sets.get(instruction_set, 'none')}"
            )
        if number >= len(encoding.OPERATORS):
            raise CompileError(f"{encoding.SPIRV_INSTRUCTION_SET} has no operator number {number}")
        operator = encoding.OPERATORS[number]
        split = len(operator.attributes)
        wanted = len(operator.inputs)
        count = len(operands) - split
        if count < 1 or (count != wanted and not operator.is_variadic):
            raise CompileError(f"{operator.name}: expected {wanted} inputs, found {max(count, 0)}")
        attributes = {
            name: self.attribute(operator, name, operand)
            for name, operand in zip(operator.attributes, operands, strict=False)
        }
        kind = self.type_of(result_type)
        results: tuple[int, ...]
        if operator.results == 1:
            results, kinds = (result,), (self.tensor_type(result_type),)
        elif isinstance(kind, _Struct) and len(kind.members) == operator.results:
            # a part that nobody extracts has no id; a negative number is one that no module holds
            results = tuple(extracts.get(index, -(result * 4 + index)) for index in range(operator.results))
            kinds = kind.members
        else:
            raise CompileError(f"{operator.name}: expected a structure of {operator.results} tensors as the result")
        return Application(
            operator,
            attributes,
            tuple(operands[split:]),
            results,
            cast("tuple[TensorType, ...]", kinds),
            location,
        )

    def attribute(self, operator: encoding.Operator, name: str, number: int) -> Any:
        """An attribute as bool, int, list of ints, word of an enumeration, element type, or array of one number."""
        kind = encoding.kind_of(name)
        if kind in (encoding.INTEGERS, encoding.PERMUTATION):
            return [int(value) for value in self.array_of(number).reshape(-1)]
        if kind == encoding.NUMBER:
            return self.array_of(number).reshape(-1)[:1]
        value = self.number_of(number)
        if kind == encoding.AXIS:
            return int(value)
        if kind == encoding.BOOL:
            return bool(value)
        words = encoding.SPIRV_ACCUMULATORS if kind == encoding.ACCUMULATOR else encoding.ENUMERATIONS[kind]
        if int(value) not in words:
            raise CompileError(f"{operator.name}: {name} {int(value)} is none of {', '.join(words.values())}")
        return words[int(value)]


def _resolved(application: Application, aliases: dict[int, int], places: dict[int, Location]) -> Application:
    """The application with extracts of a part replaced by the part, and with the place that debug information gives."""
    operands = tuple(aliases.get(operand, operand) for operand in application.operands)
    location = application.location or places.get(application.results[0])
    return replace(application, operands=operands, location=location)


def _string(words: Sequence[int]) -> str:
    """A nul-terminated literal string."""
    raw = struct.pack(f"<{len(words)}I", *words)
    return raw.split(b"\0", 1)[0].decode(errors="replace")


def _scalar(element: str, words: Sequence[int]) -> NDArray[Any]:
    """A scalar constant: its low-order bits come first, and narrow ones fill a whole word."""
    dtype = np.dtype(NUMPY_TYPES[element])
    raw = struct.pack(f"<{len(words)}I", *words)
    if len(raw) < dtype.itemsize or element == "i1":
        raise CompileError(f"damaged SPIR-V module: a constant of type {element} in {len(words)} words")
    return np.frombuffer(raw[: dtype.itemsize], dtype).reshape(())
