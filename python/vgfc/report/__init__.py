"""What was compiled, and at what cost: counts, bytes and times, as text, JSON and a page to look at."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from torch_mlir import ir

from vgfc import ir as helpers
from vgfc.passmanager import Instrumentation, Step

if TYPE_CHECKING:
    from vgfc.report.graph import ProgramGraph
    from vgfc.report.memory import MemoryReport

NOT_COUNTED = {"tosa.const", "tosa.const_shape", "func.return", "func.call", "tosa.yield"}


def count_operators(module: ir.Module) -> Counter[str]:
    """The TOSA operators of a module by name without `tosa.`, constants left out, in functions at any depth."""
    found: Counter[str] = Counter()

    def visit(block: ir.Block) -> None:
        for op in block.operations:
            name = op.operation.name
            if name.startswith("tosa.") and name not in NOT_COUNTED:
                found[name.removeprefix("tosa.")] += 1
            for region in op.operation.regions:
                for inner in region.blocks:
                    visit(inner)

    visit(module.body)
    return found


@dataclass(frozen=True)
class StepRecord:
    """One pass of the pipeline: its text, wall seconds, and what the module holds after it.

    `operators` counts TOSA operators, `kinds` operators of every dialect by name (TOSA's without `tosa.`). `constant_bytes`
    is what constants take, equal ones once, `value_bytes` the sum over all operators' results.
    """

    text: str
    seconds: float
    operators: int
    kinds: dict[str, int] = field(default_factory=dict)
    constant_bytes: int = 0
    value_bytes: int = 0


COUNTED = re.compile(r"tosa\.|vgf\.|spirv\.Tosa\.|torch\.(aten|prims|operator|quantized_decomposed|torchvision)\b")
TORCH_TENSOR = re.compile(r"!torch\.vtensor<\[([\d,]*)\],(\w+)>")
CONSTANTS = frozenset({"tosa.const", "torch.vtensor.literal", "ml_program.global"})


@cache
def _is_counted(name: str) -> bool:
    return COUNTED.match(name) is not None and name not in NOT_COUNTED


@dataclass
class StepRecorder(Instrumentation):
    """Records every step of a run."""

    records: list[StepRecord] = field(default_factory=list)
    _sizes: dict[ir.Type, int] = field(default_factory=dict)

    def after_step(self, step: Step, module: ir.Module, seconds: float) -> None:
        kinds: Counter[str] = Counter()
        constants: dict[ir.Attribute, int] = {}
        value_bytes = self._count(module.operation, kinds, constants)
        operators = sum(count for name, count in kinds.items() if name.startswith("tosa."))
        named = {name.removeprefix("tosa."): count for name, count in kinds.most_common()}
        self.records.append(StepRecord(step.text, seconds, operators, named, sum(constants.values()), value_bytes))

    def _count(self, parent: ir.Operation, kinds: Counter[str], constants: dict[ir.Attribute, int]) -> int:
        value_bytes = 0
        for region in parent.regions:
            for block in region.blocks:
                for view in block.operations:
                    op = view.operation
                    name = op.name
                    if name in CONSTANTS:
                        attribute = op.attributes["values" if name == "tosa.const" else "value"]
                        kind = op.results[0].type if len(op.results) else ir.TypeAttr(op.attributes["type"]).value
                        constants[attribute] = self._size(kind)
                    elif _is_counted(name):
                        kinds[
                            str(ir.StringAttr(op.attributes["name"]).value) if name == "torch.operator" else name
                        ] += 1
                        for result in op.results:
                            value_bytes += self._size(result.type)
                    if len(op.regions):
                        value_bytes += self._count(op, kinds, constants)
        return value_bytes

    def _size(self, kind: ir.Type) -> int:
        """Bytes of a tensor type of any dialect; 0 for what is no tensor of known shape."""
        found = self._sizes.get(kind)
        if found is None:
            found = self._sizes[kind] = _type_bytes(kind)
        return found


def _type_bytes(kind: ir.Type) -> int:
    if isinstance(kind, ir.RankedTensorType):
        return helpers.size_bytes(kind) if kind.has_static_shape else 0
    match = TORCH_TENSOR.fullmatch(str(kind))
    if match is None or match[2] not in helpers.NUMPY_TYPES:
        return 0
    extents = [int(extent) for extent in match[1].split(",") if extent]
    return int(np.prod(extents, dtype=np.int64)) * np.dtype(helpers.NUMPY_TYPES[match[2]]).itemsize


@dataclass(frozen=True)
class Outside:
    """An operator that is in no graph segment: where it comes from, what runs it, why, and what would change that."""

    operator: str
    kind: str
    file: str | None
    line: int | None
    module_path: str | None
    reason: str
    remedy: str

    def __str__(self) -> str:
        where = f"line {self.line}" if self.file == "-" else f"{self.file}:{self.line}"
        place = f"{where}: " if self.file else ""
        path = f" ({self.module_path})" if self.module_path else ""
        lines = f"{place}{self.operator}{path} runs as {self.kind}: {self.reason}"
        return f"{lines}\n    {self.remedy}" if self.remedy else lines


@dataclass(frozen=True)
class LayerError:
    """How far a quantised layer's results are from the floating-point model's: `layer` is its module path."""

    layer: str
    sqnr_db: float
    cosine: float
    largest_error: float


@dataclass(frozen=True)
class Report:
    """Figures of one compiled program; sizes in bytes, times in seconds."""

    operators: dict[str, int]
    segments: list[str]
    constant_bytes: int
    vgf_bytes: int
    input_bytes: int
    output_bytes: int
    import_seconds: float
    pass_seconds: float
    emit_seconds: float
    steps: list[StepRecord]
    not_in_graph: list[Outside]
    graph: ProgramGraph
    memory: MemoryReport

    @property
    def operator_count(self) -> int:
        """TOSA operators in all segments, constants not counted."""
        return sum(self.operators.values())

    def explain(self) -> str:
        """Every operator that is in no graph: its source line, what runs it, the reason, and what would change it."""
        return "\n".join(str(outside) for outside in self.not_in_graph) or "every operator is in a graph"

    def _outside_line(self) -> list[str]:
        kinds = Counter(outside.kind for outside in self.not_in_graph)
        found = ", ".join(f"{count} on {'the host' if kind == 'host' else 'shaders'}" for kind, count in kinds.items())
        return [f"elsewhere   {found} (--explain says why)"] if found else []

    def to_json(self) -> str:
        """The report as one JSON object."""
        shown = {
            field.name: getattr(self, field.name) for field in fields(self) if field.name not in ("graph", "memory")
        }
        shown["steps"] = [asdict(step) for step in self.steps]
        shown["not_in_graph"] = [asdict(outside) for outside in self.not_in_graph]
        shown["operator_count"] = self.operator_count
        shown["session_bytes"] = self.memory.session_bytes
        return json.dumps(shown, indent=2)

    def to_html(self, title: str = "vgfc report", layer_errors: Sequence[LayerError] = ()) -> str:
        """One self-contained page: passes, the graph, memory over time, constants, operators with their source lines.

        `layer_errors` are shown as a table of their own, the worst first.
        """
        from vgfc.report.page import report_page

        return report_page(self, title, layer_errors)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from vgfc.report.html import framed

        return framed(self.to_html())

    def __str__(self) -> str:
        kinds = ", ".join(f"{count} {name}" for name, count in Counter(self.operators).most_common())
        return "\n".join(
            [
                f"passes      {len(self.steps)} in {self.pass_seconds:.2f} s",
                f"import      {self.import_seconds:.2f} s",
                f"emit        {self.emit_seconds:.2f} s",
                f"segments    {len(self.segments)} ({', '.join(self.segments)})",
                f"operators   {self.operator_count} ({kinds})",
                f"constants   {self.constant_bytes} bytes",
                f"sessions    {self.memory.session_bytes} bytes",
                f"file        {self.vgf_bytes} bytes",
                f"io          {self.input_bytes} bytes in, {self.output_bytes} bytes out",
                *self._outside_line(),
            ]
        )
