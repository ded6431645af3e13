"""What can watch a pipeline run: printing the IR, timing, and reproducers; named and printed as mlir-opt does."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TextIO

from torch_mlir import ir

from vgfc.passmanager import Instrumentation, Step, pipeline_text


@dataclass
class PrintIR(Instrumentation):
    """Prints the module before and after the named steps; `None` names all of them."""

    stream: TextIO
    before: Collection[str] | None = ()
    after: Collection[str] | None = ()
    only_changes: bool = False
    debug_info: bool = False
    _last: str = field(default="", init=False)

    def _print(self, title: str, text: str) -> None:
        self.stream.write(f"// -----// {title} //----- //\n{text}\n")

    def _asm(self, module: ir.Module) -> str:
        return str(module.operation.get_asm(enable_debug_info=self.debug_info))

    def before_step(self, step: Step, module: ir.Module) -> None:
        if self.before is None or step.name in self.before:
            self._print(f"IR Dump Before {step.text}", self._asm(module))
        if self.only_changes:
            self._last = self._asm(module)

    def after_step(self, step: Step, module: ir.Module, seconds: float) -> None:
        if self.after is not None and step.name not in self.after:
            return
        text = self._asm(module)
        if self.only_changes and text == self._last:
            self._print(f"IR Dump After {step.text} (no change)", "")
        else:
            self._print(f"IR Dump After {step.text}", text)

    def failed_step(self, step: Step, module: ir.Module) -> None:
        if self.after is None or step.name in self.after:
            self._print(f"IR Dump After {step.text} Failed", self._asm(module))


@dataclass
class Timing(Instrumentation):
    """Adds up wall seconds per step, in the order in which they ran."""

    rows: list[tuple[str, float]] = field(default_factory=list)

    def after_step(self, step: Step, module: ir.Module, seconds: float) -> None:
        self.rows.append((step.text, seconds))

    def table(self) -> str:
        """The report that `--mlir-timing` prints."""
        total = sum(seconds for _, seconds in self.rows)
        lines = [f"Total Execution Time: {total:.4f} seconds", "", "  ----Wall Time----  ----Name----"]
        for name, seconds in self.rows:
            share = 100 * seconds / total if total else 0.0
            lines.append(f"  {seconds:8.4f} ({share:5.1f}%)  {name}")
        return "\n".join(lines)


def reproducer_text(module: ir.Module, steps: Sequence[Step]) -> str:
    """A module and the steps that fail on it, in the form that MLIR's own tools write and `--run-reproducer` reads."""
    pipeline = pipeline_text(steps).replace("\\", "\\\\").replace('"', '\\"')
    resource = f'{{-#\n  external_resources: {{\n    mlir_reproducer: {{\n      pipeline: "{pipeline}",\n'
    resource += "      disable_threading: false,\n      verify_each: true\n    }\n  }\n#-}\n"
    return f"{module.operation.get_asm(enable_debug_info=True)}\n\n{resource}"
