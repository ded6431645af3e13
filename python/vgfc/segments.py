"""How segments are written in a module, before and after outlining; the words that the partition passes share.

The marks on operations (`SEGMENT`, `SEGMENT_NAME`, `SEGMENT_INDEX`) exist between `vgf-mark-segments` and
`vgf-outline-segments`; what remains is `SEGMENT` on each segment's function and `HOST_REASON` on host operations.
"""

from __future__ import annotations

from math import prod

from torch_mlir import ir
from torch_mlir.dialects import func

from vgfc.diagnostics import PassFailure
from vgfc.ir import entry, functions, operations, segment_kind, shape

KINDS = ("graph", "compute", "host")
SEGMENT = "vgf.segment"  # on an operation or a segment's function: one of KINDS
SEGMENT_NAME = "vgf.segment_name"  # on an operation: those of different names share no segment
SEGMENT_INDEX = "vgf.segment_index"  # on an operation: place of its segment in the dispatch order
HOST_REASON = "vgf.reason"  # on an operation that the host runs, or a host function: why no graph can
HOST_FUNCTION = "vgf.host_function"  # on a private function that only the host can call: the operator that it is
SEGMENT_OF = "vgf.segment_of"  # on the module: the user's wishes, as vgf-mark-segments takes them
REQUIRE_FULL_GRAPH = "vgf.require_full_graph"  # on the module: the host is an error
STRIPE = "vgf.stripe"  # on the module: whether the user wants less memory at the price of more operators
MAX_INLINE_ELEMENTS = 16  # what upstream's tosa-to-spirv-tosa-mark-graph-constants leaves in the SPIR-V
ALIAS_GROUPS = "vgf.alias_groups"  # on a call of a segment: an alias group for each result, -1 for none
CONSTANTS = ("tosa.const", "tosa.const_shape", "arith.constant")


def wants_stripes(module: ir.Module) -> bool | None:
    """Whether large tensors are to be computed part by part; None where the user said nothing."""
    attributes = module.operation.attributes
    return ir.BoolAttr(attributes[STRIPE]).value if STRIPE in attributes else None


def is_graph_constant(op: ir.Operation) -> bool:
    """Whether a `tosa.const` of a graph segment is stored in the file's constant section, not in the SPIR-V."""
    if _is_returned(op):
        return True  # the emulation layer never writes an output that is a bare OpConstantNull
    if prod(shape(op.results[0])) <= MAX_INLINE_ELEMENTS:
        return False
    values = op.attributes["values"]
    return not (isinstance(values, ir.DenseElementsAttr) and values.is_splat)


def _is_returned(op: ir.Operation) -> bool:
    """Whether a function returns the constant itself, if need be through the identity that gives a result its own value."""
    users = [use.owner.operation for use in op.results[0].uses]
    return any(user.name == "func.return" or (user.name == "tosa.identity" and _is_returned(user)) for user in users)


def is_constant(op: ir.Operation) -> bool:
    """Whether an operation is a constant, of which every segment that reads it gets a copy."""
    return op.name in CONSTANTS


def partitioned_entry(module: ir.Module) -> func.FuncOp:
    """The model's entry; raises PassFailure when the module has none, or several."""
    function = entry(module)
    if function is None:
        raise PassFailure("expected one public function with a body, the model's entry", module.operation.location)
    return function


def function_of_call(op: ir.Operation, symbols: dict[str, func.FuncOp]) -> func.FuncOp | None:
    """The function that a `func.call` calls, None for any other operation and for a function without a body."""
    return symbols.get(ir.FlatSymbolRefAttr(op.attributes["callee"]).value) if op.name == "func.call" else None


def symbols_of(module: ir.Module) -> dict[str, func.FuncOp]:
    """The functions with a body by name."""
    return {function.name.value: function for function in functions(module)}


def is_outlined(module: ir.Module) -> bool:
    """Whether the entry consists of calls of segments alone."""
    symbols = symbols_of(module)
    called = [function_of_call(op, symbols) for op in operations(partitioned_entry(module))]
    return bool(called) and all(function is not None and segment_kind(function) in KINDS for function in called)


def string(op: ir.Operation, name: str) -> str | None:
    """The text of a string attribute, None where there is no such attribute."""
    return ir.StringAttr(op.attributes[name]).value if name in op.attributes else None


def host_operator(function: func.FuncOp) -> str | None:
    """The operator that a function of the host is, None for any other function."""
    return string(function.operation, HOST_FUNCTION)


def shown_name(op: ir.Operation, symbols: dict[str, func.FuncOp]) -> str:
    """The operator as its user knows it: a shader's own name, the operator that a function of the host is."""
    if op.name == "tosa.custom":
        return string(op, "operator_name") or op.name
    callee = function_of_call(op, symbols)
    return (host_operator(callee) if callee is not None else None) or str(op.name)
