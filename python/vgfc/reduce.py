"""Shrinking a module that shows a fault: fewer results, operations and functions, smaller shapes, plainer constants.

What counts as the fault is a question to a callable; every change that leaves the module valid and the fault in place is
kept, until none is left to make (delta debugging; Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input",
2002).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc import ir as helpers
from vgfc.diagnostics import CompileError
from vgfc.dialect import make_context

Change = Callable[[ir.Module], bool]  # changes the module; returns whether there was something to change
Question = Callable[[str], bool]  # whether a module's text shows the fault

CONSTANTS = ("tosa.const", "tosa.const_shape", "arith.constant")
SMALL = (1, 2, 3, 4)


def reduce_module(text: str, shows_fault: Question) -> str:
    """The text of a smaller module that still shows the fault; the text itself where nothing can go.

    Raises CompileError where the text does not parse, or does not show the fault to begin with.
    """
    context = make_context()
    module = _parse(text, context)
    if module is None:
        raise CompileError("the module to reduce does not parse")
    text = str(module)  # as every smaller module will be printed
    if not shows_fault(text):
        raise CompileError("the module to reduce does not show the fault")
    reducer = _Reducer(text, shows_fault, context)
    while reducer.one_round():
        pass
    return reducer.text


def _parse(text: str, context: ir.Context) -> ir.Module | None:
    try:
        return ir.Module.parse(text, context)
    except ir.MLIRError:
        return None


class _Reducer:
    def __init__(self, text: str, shows_fault: Question, context: ir.Context) -> None:
        self.text = text
        self.shows_fault = shows_fault
        self.context = context
        self.refused: set[str] = set()

    def attempt(self, change: Change) -> bool:
        """Keep a change if the module stays valid and shows the fault."""
        module = _parse(self.text, self.context)
        assert module is not None
        with self.context, ir.Location.unknown():
            if not change(module):
                return False
            _erase_unused(module)
            try:
                module.operation.verify()
            except ir.MLIRError:
                return False
        text = str(module)
        if text == self.text or text in self.refused:
            return False
        if not self.shows_fault(text):
            self.refused.add(text)
            return False
        self.text = text
        return True

    def one_round(self) -> bool:
        """Try every kind of change once, wherever it can be made; returns whether any was kept."""
        kept = self.attempt(_splat_constants)
        kept |= self.attempt(_inline_calls)
        for kind in (
            _results_alone,
            _results_gone,
            _operations_bypassed,
            _operations_cut,
            _arguments_gone,
            _shapes,
            _constants,
        ):
            kept |= self.try_all(kind)
        return kept

    def try_all(self, changes: Callable[[ir.Module], Iterator[Change]]) -> bool:
        """Try a family of changes, and again from the start after each that is kept."""
        kept = False
        position = 0
        while True:
            module = _parse(self.text, self.context)
            assert module is not None
            with self.context:
                candidates = list(changes(module))
            if position >= len(candidates):
                return kept
            if self.attempt(candidates[position]):
                kept = True  # what stands at this position now is another change
            else:
                position += 1


# Reading and rewriting functions


def _functions(module: ir.Module) -> list[func.FuncOp]:
    return [function for function in helpers.functions(module) if len(function.regions[0].blocks) == 1]


def _terminator(function: func.FuncOp) -> ir.Operation:
    return list(function.entry_block.operations)[-1].operation


def _entry(module: ir.Module) -> func.FuncOp | None:
    """The function whose boundary may change: the public one, where no other operation names it."""
    entry = helpers.entry(module)
    return entry if entry is not None and len(entry.regions[0].blocks) == 1 else None


def _set_results(function: func.FuncOp, values: list[ir.Value]) -> None:
    old = _terminator(function)
    with ir.InsertionPoint(old):
        func.ReturnOp(values)
    old.erase()
    _refresh_type(function)


def _refresh_type(function: func.FuncOp) -> None:
    """Make the function's type that of its block and terminator; attributes of its boundary go."""
    inputs = [argument.type for argument in function.arguments]
    results = [value.type for value in _terminator(function).operands]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results))
    for name in ("arg_attrs", "res_attrs"):
        if name in function.attributes:
            del function.attributes[name]


def _erase_unused(module: ir.Module) -> None:
    """Remove operations whose results nobody reads, and private functions that nobody calls."""
    for function in _functions(module):
        helpers.erase_unused(function, lambda op: len(op.results) > 0)
    called = {
        ir.FlatSymbolRefAttr(op.attributes["callee"]).value
        for function in helpers.functions(module)
        for op in helpers.operations(function)
        if op.name == "func.call"
    }
    for op in list(module.body.operations):
        if isinstance(op, func.FuncOp) and "sym_visibility" in op.attributes and op.name.value not in called:
            op.erase()


# Kinds of changes; each is given by position, since a change is made on a fresh copy of the module


def _results_alone(module: ir.Module) -> Iterator[Change]:
    """Return nothing but the results of one operation."""
    entry = _entry(module)
    count = len(list(helpers.operations(entry))) if entry is not None else 0
    for position in range(count):

        def change(module: ir.Module, position: int = position) -> bool:
            function = _entry(module)
            if function is None:
                return False
            op = list(helpers.operations(function))[position]
            values = [value for value in op.results if isinstance(value.type, ir.RankedTensorType)]
            if not values or op.name in CONSTANTS or values == list(_terminator(function).operands):
                return False
            _set_results(function, values)
            return True

        yield change


def _results_gone(module: ir.Module) -> Iterator[Change]:
    """Leave out one result."""
    entry = _entry(module)
    for position in range(len(_terminator(entry).operands) if entry is not None else 0):

        def change(module: ir.Module, position: int = position) -> bool:
            function = _entry(module)
            values = list(_terminator(function).operands) if function is not None else []
            if function is None or len(values) < 2:
                return False
            _set_results(function, [value for index, value in enumerate(values) if index != position])
            return True

        yield change


def _operations_bypassed(module: ir.Module) -> Iterator[Change]:
    """Replace an operation's result by an operand of the same type."""
    for number, function in enumerate(_functions(module)):
        for position in reversed(range(len(list(helpers.operations(function))))):

            def change(module: ir.Module, number: int = number, position: int = position) -> bool:
                op = list(helpers.operations(_functions(module)[number]))[position]
                if len(op.results) != 1:
                    return False
                for operand in op.operands:
                    if operand.type == op.results[0].type:
                        op.results[0].replace_all_uses_with(operand)
                        return True
                return False

            yield change


def _operations_cut(module: ir.Module) -> Iterator[Change]:
    """Replace an operation's results by new arguments of the entry, so that what computed them can go."""
    entry = _entry(module)
    for position in reversed(range(len(list(helpers.operations(entry))) if entry is not None else 0)):

        def change(module: ir.Module, position: int = position) -> bool:
            function = _entry(module)
            if function is None:
                return False
            op = list(helpers.operations(function))[position]
            if op.name in CONSTANTS or not all(isinstance(value.type, ir.RankedTensorType) for value in op.results):
                return False
            for value in op.results:
                value.replace_all_uses_with(function.entry_block.add_argument(value.type, ir.Location.unknown()))
            _refresh_type(function)
            return True

        yield change


def _arguments_gone(module: ir.Module) -> Iterator[Change]:
    """Leave out an argument that nobody reads."""
    entry = _entry(module)
    for position in reversed(range(len(entry.arguments) if entry is not None else 0)):

        def change(module: ir.Module, position: int = position) -> bool:
            function = _entry(module)
            if function is None or next(iter(function.arguments[position].uses), None) is not None:
                return False
            function.entry_block.erase_argument(position)
            _refresh_type(function)
            return True

        yield change


def _shapes(module: ir.Module) -> Iterator[Change]:
    """Make every extent of one size smaller, in all types and constants at once."""
    extents: set[int] = set()
    for function in _functions(module):
        for value in _values(function):
            if isinstance(value.type, ir.RankedTensorType):
                extents.update(helpers.shape(value))
    for extent in sorted(extents, reverse=True):
        for smaller in dict.fromkeys((*SMALL, extent // 2)):
            if 0 < smaller < extent:
                yield partial(_resize, extent=extent, smaller=smaller)


def _values(function: func.FuncOp) -> Iterator[ir.Value]:
    yield from function.arguments
    for op in helpers.operations(function):
        yield from op.results


def _resize(module: ir.Module, extent: int, smaller: int) -> bool:
    changed = False
    for function in _functions(module):
        for op in helpers.operations(function):
            if op.name in CONSTANTS:
                _resize_constant(op, extent, smaller)
        for value in _values(function):
            kind = value.type
            if isinstance(kind, ir.RankedTensorType) and extent in helpers.shape(kind):
                dimensions = [smaller if size == extent else size for size in helpers.shape(kind)]
                value.set_type(helpers.tensor(dimensions, helpers.element_type(kind)))
                changed = True
        _refresh_type(function)
    return changed


def _resize_constant(op: ir.Operation, extent: int, smaller: int) -> None:
    name = "value" if op.name == "arith.constant" else "values"
    attribute = op.attributes[name]
    if not isinstance(attribute, ir.DenseElementsAttr):
        return
    if op.name == "tosa.const_shape":
        numbers = [smaller if number == extent else number for number in helpers.shape_value(op.results[0]) or ()]
        kind = attribute.type
        op.attributes[name] = ir.DenseElementsAttr.get(np.array(numbers, np.int64).view(np.uint8), type=kind)
        return
    values = helpers.array_of(attribute)
    kept = tuple(slice(0, smaller) if size == extent else slice(None) for size in values.shape)
    op.attributes[name] = helpers.dense(values[kept], helpers.element_type(attribute.type))


def _splat_constants(module: ir.Module) -> bool:
    """Give every constant one value throughout: the first that is no zero."""
    changed = False
    for function in _functions(module):
        for op in helpers.operations(function):
            changed |= op.name == "tosa.const" and _splat(op)
    return changed


def _splat(op: ir.Operation) -> bool:
    attribute = op.attributes["values"]
    if not isinstance(attribute, ir.DenseElementsAttr) or attribute.is_splat:
        return False
    values = helpers.array_of(attribute)
    chosen = values[values != 0][:1] if (values != 0).any() else values.reshape(-1)[:1]
    op.attributes["values"] = helpers.dense(np.broadcast_to(chosen, values.shape), helpers.element_type(attribute.type))
    return True


def _constants(module: ir.Module) -> Iterator[Change]:
    """Make one constant a splat, or a splat of 0 or 1."""
    for number, function in enumerate(_functions(module)):
        for position, op in enumerate(helpers.operations(function)):
            if op.name != "tosa.const":
                continue
            for wanted in (None, 0, 1):

                def change(
                    module: ir.Module, number: int = number, position: int = position, wanted: int | None = wanted
                ) -> bool:
                    op = list(helpers.operations(_functions(module)[number]))[position]
                    if wanted is None:
                        return _splat(op)
                    attribute = op.attributes["values"]
                    if not isinstance(attribute, ir.DenseElementsAttr):
                        return False
                    values = helpers.array_of(attribute)
                    if attribute.is_splat and values.reshape(-1)[0] in (0, 1):
                        return False  # as plain as it gets: 0 and 1 would take turns
                    plain = np.full(values.shape, wanted, values.dtype)
                    op.attributes["values"] = helpers.dense(plain, helpers.element_type(attribute.type))
                    return True

                yield change


def _inline_calls(module: ir.Module) -> bool:
    """Put the bodies of called functions in place of their calls."""
    if not any(op.name == "func.call" for function in _functions(module) for op in helpers.operations(function)):
        return False
    from vgfc.passmanager import run_pipeline

    run_pipeline(module, "builtin.module(inline)")
    return True
