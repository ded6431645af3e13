"""The values of one function as integer forms.

A value gets its form (`vgfc.integer.forms.Form`) from the forms of its operands: a dequantize gives its codes, a curved
chain of element-wise operators on one tensor is looked up, everything else is made by the converter of its operator.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.integer import lookup
from vgfc.integer.chains import ELEMENTWISE, Chains
from vgfc.integer.constants import Constants, parameters_of
from vgfc.integer.forms import Form, NotInteger
from vgfc.integer.numerics import RANGES, Array
from vgfc.ir import defining, element_type, is_float, shape

# What hands a factor on.
PASSING = (
    "tosa.reshape",
    "tosa.tile",
    "tosa.transpose",
    "tosa.maximum",
    "tosa.minimum",
    "tosa.clamp",
    "tosa.negate",
    "tosa.abs",
)

Converter = Callable[["Folder", ir.Operation], Form]


class Folder:
    """One function being folded.

    `has_int16` and `has_int4` are extensions of the target, `is_fine` says that activations have 16 bits.
    """

    def __init__(self, has_int16: bool, has_int4: bool, is_fine: bool, converters: Mapping[str, Converter]) -> None:
        self.has_int16 = has_int16
        self.is_fine = is_fine
        self.has_int4 = has_int4
        self.converters = converters
        self.constants = Constants()
        self.chains = Chains(self.constants)
        self.forms: dict[ir.Value, Form] = {}
        self.refused: dict[ir.Value, NotInteger] = {}

    def form(self, value: ir.Value) -> Form:
        """The integer form of a floating-point value; raises NotInteger where it has none."""
        if value in self.refused:
            raise self.refused[value]
        if value not in self.forms:
            try:
                self.forms[value] = self.make_form(value)
            except NotInteger as refusal:
                self.refused[value] = refusal
                raise
        return self.forms[value]

    def make_form(self, value: ir.Value) -> Form:
        op = defining(value)
        if op is None:
            raise NotInteger(next(iter(value.uses)).owner.operation, "reads an input that is not quantized")
        if op.name == "vgf.dequantize":
            return dequantized_form(op)
        known = self.constants.real(value)
        if known is not None:
            raise NotInteger(op, "is a constant that was never quantized")
        if op.name in ELEMENTWISE and self.chains.is_curved(value):
            return self.curved_form(value, op)
        return self.converted(op)

    def curved_form(self, value: ir.Value, op: ir.Operation) -> Form:
        """A curved chain of element-wise operators: the nearest of a lookup and the operator's own arithmetic."""
        leaf = self.chains.leaf(value)
        assert leaf is not None, "a curved chain has a leaf"
        relative = self.is_factor(value)
        own: list[Callable[[], Form]] = [lambda: self.converted(op)] if op.name in self.converters else []
        lookups: list[Callable[[], Form]] = [
            functools.partial(self.lookup, value, leaf, lookup.Accuracy(tolerance, relative), op)
            for tolerance in (lookup.TOLERANCES_FINE if self.is_fine else lookup.TOLERANCES)
        ]
        own_first = self.is_fine and self.chains.has_power(value)
        first = 2 if relative else 0 if own_first else 1  # an error in relation to each result is small everywhere
        reason: NotInteger | None = None
        for attempt in (*lookups[:first], *own, *lookups[first:]):
            try:
                return attempt()
            except NotInteger as refusal:
                if reason is None or attempt in own:
                    reason = refusal
        assert reason is not None, "there is a lookup at least"
        raise reason

    def is_factor(self, value: ir.Value) -> bool:
        """Whether small results of a chain count: it is divided by, or it divides and is multiplied with."""
        has_power = self.chains.has_power(value)
        for use in value.uses:
            reader = use.owner.operation
            if reader.name in lookup.POWERS or (reader.name == "tosa.matmul" and has_power):
                return True
            if reader.name == "tosa.mul":
                others = [operand for operand in list(reader.operands)[:2] if operand != value]
                is_scaled = bool(others) and self.chains.is_number(others[0])
                if self.is_factor(reader.result) if is_scaled else has_power:
                    return True
            elif reader.name in PASSING and self.is_factor(reader.result):
                return True
        return False

    def converted(self, op: ir.Operation) -> Form:
        """What the converter of an operator makes of it."""
        converter = self.converters.get(op.name)
        if converter is None:
            raise NotInteger(op, "has no integer form")
        with before(op):
            form = converter(self, op)
            # operands that were repeated to the result's shape come without that (see `source`)
            return replace(form, value=build.broadcast_to(form.value, shape(op.result)))

    def lookup(self, value: ir.Value, leaf: ir.Value, accuracy: lookup.Accuracy, at: ir.Operation) -> Form:
        """The chain from `leaf` to `value` by a wide lookup."""
        form = self.form(leaf)
        with before(at):
            return lookup.lookup(form, self.of(value), accuracy, self.has_int16, at)

    def of(self, value: ir.Value) -> Callable[[Array], Array]:
        """A chain of element-wise operators as a function of the numbers of its leaf."""
        return lambda reals: self.chains.evaluate(value, reals)

    def limits_of(self, op: ir.Operation) -> tuple[ir.Value, float, float] | None:
        """(operand, lower, upper limit) of a clamp, or of a maximum or minimum with one number."""
        if op.name == "tosa.clamp":
            if not is_float(element_type(op.result)):
                raise NotInteger(op, "limits integers that no quantize made")
            return (op.operands[0], *(ir.FloatAttr(op.attributes[name]).value for name in ("min_val", "max_val")))
        if op.name in ("tosa.maximum", "tosa.minimum"):
            for source, limit in ((0, 1), (1, 0)):
                number = self.constants.splat(op.operands[limit])
                if number is not None and shape(op.operands[source]) == shape(op.result):
                    ends = (number, np.inf) if op.name == "tosa.maximum" else (-np.inf, number)
                    return op.operands[source], *ends
        return None

    def source(self, value: ir.Value) -> ir.Value:
        """What a value repeats along axes of extent 1 (an element-wise reader broadcasts it anyway), or keeps where finite."""
        op = defining(value)
        if op is not None and op.name == "tosa.select" and self.is_finiteness(op.operands[0]):
            return self.source(op.operands[1])
        if op is not None and op.name == "tosa.tile" and len(shape(op.operands[0])) == len(shape(value)):
            before_shape, after = shape(op.operands[0]), shape(value)
            if all(old in (1, new) for old, new in zip(before_shape, after, strict=True)):
                return self.source(op.operands[0])
        return value

    def is_finiteness(self, condition: ir.Value) -> bool:
        """Whether a condition says that a number is less than infinity, as all integer forms are."""
        op = defining(condition)
        if op is None or op.name != "tosa.greater" or self.constants.splat(op.operands[0]) != np.inf:
            return False
        size = defining(op.operands[1])
        return size is not None and size.name == "tosa.abs"


@contextmanager
def before(op: ir.Operation) -> Iterator[None]:
    """The insertion point before an operation, at its location."""
    with ir.InsertionPoint(op), op.location:
        yield


def dequantized_form(op: ir.Operation) -> Form:
    """The form of a vgf.dequantize of an activation."""
    parameters = parameters_of(op)
    name = str(element_type(op.operands[0]))
    if parameters.axis >= 0:
        raise NotInteger(op, "has a scale for each channel of an activation, expected one scale")
    if name not in ("i8", "i16"):
        raise NotInteger(op, f"has codes of type {name}, expected i8 or i16")
    zero_point = int(parameters.zero_points[0])
    if name == "i16" and zero_point:
        raise NotInteger(op, f"has zero point {zero_point} for 16-bit codes, TOSA has them at 0")
    low, high = RANGES[name]
    return Form(op.operands[0], parameters.scales, -1, zero_point, max(low, parameters.low), min(high, parameters.high))
