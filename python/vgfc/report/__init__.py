"""What was compiled, and at what cost: counts, bytes and times, as text and JSON."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field

from torch_mlir import ir

from vgfc.passmanager import Instrumentation, Step

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
    """One pass of the pipeline: its text, wall seconds, and the number of TOSA operators after it."""

    text: str
    seconds: float
    operators: int


@dataclass
class StepRecorder(Instrumentation):
    """Records every step of a run."""

    records: list[StepRecord] = field(default_factory=list)

    def after_step(self, step: Step, module: ir.Module, seconds: float) -> None:
        self.records.append(StepRecord(step.text, seconds, sum(count_operators(module).values())))


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

    @property
    def operator_count(self) -> int:
        """TOSA operators in all segments, constants not counted."""
        return sum(self.operators.values())

    def to_json(self) -> str:
        """The report as one JSON object."""
        return json.dumps({**asdict(self), "operator_count": self.operator_count}, indent=2)

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
                f"file        {self.vgf_bytes} bytes",
                f"io          {self.input_bytes} bytes in, {self.output_bytes} bytes out",
                *(["", *(str(outside) for outside in self.not_in_graph)] if self.not_in_graph else []),
            ]
        )
