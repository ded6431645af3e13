"""Passes written in Python, textual pipelines that mix them with upstream's, and running such pipelines.

A pass is a frozen dataclass whose fields are its options:

    @register
    @dataclass(frozen=True)
    class FoldThings(Pass):
        name = "vgf-fold-things"
        max_size_bytes: int = 1024

        def run(self, module: ir.Module) -> None: ...

The text `builtin.module(func.func(canonicalize,cse),vgf-fold-things{max-size-bytes=16})` is parsed here into steps; each
step is one pass, ours or upstream's, and is run alone, so that printing, timing and checking work the same for both.
This is the only module that transforms anything with MLIR's PassManager.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast, get_type_hints

from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from vgfc.diagnostics import CompileError, PassFailure

if TYPE_CHECKING:
    from vgfc.plugins import Plugin

ROOT = "builtin.module"
EXACT = "vgf.exact"  # on the module: results have to stay equal to the bit, also in floating point


class PipelineError(CompileError):
    """The text of a pipeline cannot be understood: unknown pass, unknown option, wrong nesting, bad syntax."""


class Pass(ABC):
    """A transformation of a module. Subclasses are frozen dataclasses; their fields are the options."""

    name: ClassVar[str]
    # How far results may move by design, relative to the largest magnitude of each output: for a pass that rounds anew,
    # float arithmetic to integer arithmetic for example. `--verify-numerics` allows it that much.
    numeric_slack: ClassVar[float] = 0.0
    # Whether floating-point results may be rounded otherwise than before. Such a pass leaves a module with the attribute
    # `vgf.exact` (EXACT) as it is.
    changes_rounding: ClassVar[bool] = False

    @abstractmethod
    def run(self, module: ir.Module) -> None:
        """Transform `module` in place; raises PassFailure (see `vgfc.diagnostics.fail`) on input it cannot handle."""

    @classmethod
    def from_options(cls, options: dict[str, str]) -> Pass:
        """The pass with options given as text; raises PipelineError for an unknown option or a value of another type."""
        fields = {field.name.replace("_", "-"): field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
        types = get_type_hints(cls) if options else {}  # 0.2 ms, which the many passes without options need not pay
        values: dict[str, Any] = {}
        for key, text in options.items():
            if key not in fields:
                known = ", ".join(fields) or "none"
                raise PipelineError(f"pass '{cls.name}' has no option '{key}'; its options are: {known}")
            values[fields[key].name] = _parse_option(cls.name, key, text, types[fields[key].name])
        missing = [
            key
            for key, field in fields.items()
            if key not in options
            and field.default is dataclasses.MISSING
            and field.default_factory is dataclasses.MISSING
        ]
        if missing:
            raise PipelineError(f"pass '{cls.name}' needs the option '{missing[0]}'")
        return cls(**values)

    def to_text(self) -> str:
        """How a pipeline names this pass: options only where they differ from their defaults."""
        shown = []
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if value != field.default:
                text = str(value).lower() if isinstance(value, bool) else str(value)
                shown.append(f"{field.name.replace('_', '-')}={text}")
        return f"{self.name}{{{' '.join(shown)}}}" if shown else self.name


def _parse_option(pass_name: str, key: str, text: str, wanted: Any) -> Any:
    if wanted is bool:
        if text not in ("true", "false", "1", "0"):
            raise PipelineError(f"option '{key}' of pass '{pass_name}': expected true or false, found '{text}'")
        return text in ("true", "1")
    if wanted in (int, float):
        try:
            return wanted(text)
        except ValueError:
            kind = "an integer" if wanted is int else "a number"
            raise PipelineError(f"option '{key}' of pass '{pass_name}': expected {kind}, found '{text}'") from None
    return text


_registered: dict[str, type[Pass]] = {}


PassType = TypeVar("PassType", bound=type[Pass])


def register(cls: PassType) -> PassType:
    """Class decorator: makes a pass known by its name."""
    _registered[cls.name] = cls
    return cls


@cache
def _built_in_modules() -> dict[str, str]:
    """Pass name to module name, from the files' names alone: looking a pass up imports no other."""
    root = Path(__file__).parent / "passes"
    return {
        "vgf-" + path.stem.replace("_", "-"): f"vgfc.passes.{path.parent.name}.{path.stem}"
        for path in sorted(root.glob("*/*.py"))
        if not path.stem.startswith("_")
    }


def _plugins(group: str) -> dict[str, Plugin]:
    from vgfc.plugins import plugins  # reading packages' metadata takes 12 ms, which known passes need not pay

    return plugins(group)


def _load_plugin(plugin: Plugin) -> type[Pass]:
    cls = plugin.load()
    if not (isinstance(cls, type) and issubclass(cls, Pass) and dataclasses.is_dataclass(cls)):
        raise PipelineError(f"package '{plugin.origin}', pass '{plugin.name}': expected a dataclass derived from Pass")
    if cls.name != plugin.name:
        raise PipelineError(
            f"package '{plugin.origin}': expected the pass '{plugin.name}' to have this name, found '{cls.name}'"
        )
    return register(cls)


def find_pass(name: str) -> type[Pass] | None:
    """The pass of this name, importing its file if need be; None when no such pass of ours (or of a plug-in) exists."""
    if name not in _registered and name in _built_in_modules():
        importlib.import_module(_built_in_modules()[name])
    if name not in _registered and name not in upstream_pass_names() and name in _plugins("vgfc.passes"):
        _load_plugin(_plugins("vgfc.passes")[name])
    return _registered.get(name)


def all_passes() -> dict[str, tuple[type[Pass], str]]:
    """Every pass of ours and of plug-ins: name to (class, where it comes from: `vgfc` or the distribution's name).

    Raises CompileError for a plug-in that cannot be loaded, or whose name is taken.
    """
    found = {}
    for name in _built_in_modules():
        cls = find_pass(name)
        assert cls is not None, f"{_built_in_modules()[name]} does not register '{name}'"
        found[name] = (cls, "vgfc")
    for name, plugin in _plugins("vgfc.passes").items():
        if name in found or name in upstream_pass_names():
            raise PipelineError(f"package '{plugin.origin}' adds a pass '{name}', a name that is taken")
        cls = find_pass(name)
        assert cls is not None, "a plug-in either loads or raises"
        found[name] = (cls, plugin.origin)
    return dict(sorted(found.items()))


def plugin_pipelines() -> dict[str, tuple[Callable[[], str], str]]:
    """The named pipelines that packages add: name to (what makes its text, the distribution's name)."""

    def text_of(plugin: Plugin) -> str:
        value = plugin.load()
        text = value() if callable(value) else value
        if not isinstance(text, str):
            kind = type(text).__name__
            raise PipelineError(f"package '{plugin.origin}', pipeline '{plugin.name}': expected text, found {kind}")
        return text

    return {name: (partial(text_of, plugin), plugin.origin) for name, plugin in _plugins("vgfc.pipelines").items()}


# Pipelines


@dataclass(frozen=True)
class Step:
    """One pass of a pipeline: where it is nested, its name, and the pass itself when it is one of ours."""

    anchors: tuple[str, ...]
    text: str
    python_pass: Pass | None

    @property
    def name(self) -> str:
        """The pass's name without options."""
        return self.text.split("{")[0]

    def pipeline(self) -> str:
        """The step alone, as a pipeline from the root."""
        text = self.text
        for anchor in reversed(self.anchors):
            text = f"{anchor}({text})"
        return text


@dataclass(frozen=True)
class _Element:
    name: str
    options: str | None
    children: tuple[_Element, ...] | None


TOKEN = re.compile(r"[A-Za-z0-9_.+-]+")


class _Parser:
    """Recursive descent over MLIR's textual pipeline grammar: name, name{options}, anchor(list)."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def error(self, wanted: str) -> PipelineError:
        found = f"'{self.text[self.at]}'" if self.at < len(self.text) else "the end of the text"
        return PipelineError(f"pass pipeline '{self.text}': expected {wanted} at column {self.at + 1}, found {found}")

    def skip_space(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def peek(self) -> str:
        self.skip_space()
        return self.text[self.at] if self.at < len(self.text) else ""

    def parse_list(self, closing: str) -> tuple[_Element, ...]:
        elements: list[_Element] = []
        if self.peek() == closing:
            return ()
        while True:
            elements.append(self.parse_element())
            if self.peek() != ",":
                return tuple(elements)
            self.at += 1

    def parse_element(self) -> _Element:
        self.skip_space()
        match = TOKEN.match(self.text, self.at)
        if match is None:
            raise self.error("a pass name")
        self.at = match.end()
        options = self.parse_options() if self.peek() == "{" else None
        if self.peek() != "(":
            return _Element(match[0], options, None)
        self.at += 1
        children = self.parse_list(")")
        if self.peek() != ")":
            raise self.error("',' or ')'")
        self.at += 1
        return _Element(match[0], options, children)

    def parse_options(self) -> str:
        start, depth, quote = self.at + 1, 0, ""
        while self.at < len(self.text):
            char = self.text[self.at]
            if quote:
                quote = "" if char == quote else quote
            elif char in "'\"":
                quote = char
            elif char == "{":
                depth += 1
            elif char == "}":
                depth -= 1
                if depth == 0:
                    self.at += 1
                    return self.text[start : self.at - 1]
            self.at += 1
        raise self.error("'}'")


OPTION = re.compile(r"\s*([A-Za-z0-9_-]+)(?:=(\"[^\"]*\"|'[^']*'|\{[^}]*\}|[^\s]*))?")


def parse_options(text: str) -> dict[str, str]:
    """`a=1 b="x y" flag` as a dictionary; a name alone means true."""
    options: dict[str, str] = {}
    position = 0
    text = text.strip()
    while position < len(text):
        match = OPTION.match(text, position)
        if match is None:
            raise PipelineError(f"pass options '{text}': expected name=value at column {position + 1}")
        value = match[2]
        options[match[1]] = "true" if value is None else value[1:-1] if value[:1] in ("'", '"', "{") else value
        position = match.end()
    return options


NamedPipelines = dict[str, Callable[[], str]]


def parse_pipeline(text: str, named: NamedPipelines | None = None, context: ir.Context | None = None) -> list[Step]:
    """The steps of `builtin.module(...)`; names in `named` are replaced by the pipelines they stand for.

    `context` is only asked which upstream passes there are; a new one is made for that when none is given.

    Raises PipelineError for bad syntax, unknown passes and options, and a pass of ours that is nested in an operation
    other than the module.
    """
    parser = _Parser(text)
    elements = parser.parse_list("")
    if parser.peek():
        raise parser.error("',' or the end of the text")
    if len(elements) != 1 or elements[0].name != ROOT or elements[0].children is None:
        raise PipelineError(f"pass pipeline '{text}': expected {ROOT}(...) around the passes")
    context = context or ir.Context()
    steps: list[Step] = []
    for child in elements[0].children:
        _add_steps(child, (ROOT,), named or {}, context, steps)
    return steps


def _add_steps(
    element: _Element, anchors: tuple[str, ...], named: NamedPipelines, context: ir.Context, steps: list[Step]
) -> None:
    if element.children is not None:
        for child in element.children:
            _add_steps(child, (*anchors, element.name), named, context, steps)
        return
    cls = None if element.name in named else find_pass(element.name)
    expand = named.get(element.name)
    if cls is None and expand is None and element.name not in upstream_pass_names():
        expand, _ = plugin_pipelines().get(element.name, (None, ""))
    if expand is not None:
        if element.options is not None:
            raise PipelineError(f"pipeline '{element.name}' takes no options, found '{{{element.options}}}'")
        steps += parse_pipeline(expand(), named, context)
        return
    if cls is None:
        step = Step(anchors, element.name + (f"{{{element.options}}}" if element.options is not None else ""), None)
        _check_native(step, named, context)
        steps.append(step)
        return
    if anchors != (ROOT,):
        raise PipelineError(f"pass '{element.name}' runs on {ROOT}, found it nested in {anchors[-1]}")
    python_pass = cls.from_options(parse_options(element.options or ""))
    steps.append(Step(anchors, python_pass.to_text(), python_pass))


def _check_native(step: Step, named: NamedPipelines, context: ir.Context) -> None:
    """Let MLIR parse a step of its own passes; its complaint, or the names that come near, become the error."""
    try:
        with context:
            PassManager.parse(step.pipeline())
        return
    except ValueError as error:
        text = str(error)
    if "does not refer to a registered pass" in text:
        import difflib  # only when something is misspelt

        ours = [*_built_in_modules(), *_plugins("vgfc.passes"), *named, *plugin_pipelines()]
        candidates = [*ours, *upstream_pass_names()]
        close = difflib.get_close_matches(step.name, candidates, n=5, cutoff=0.5)
        hint = f"; near it: {', '.join(close)}" if close else ""
        raise PipelineError(f"unknown pass '{step.name}'{hint} (vgf-opt --list-passes lists all)")
    raise PipelineError(f"pass '{step.text}': {' '.join(text.split())}")


@cache
def upstream_pass_names() -> frozenset[str]:
    """The passes that the MLIR bindings carry, from a generated list (`tools/generate_docs.py`)."""
    path = Path(__file__).parent / "upstream_passes.json"
    return frozenset(json.loads(path.read_text(encoding="utf-8")))


def pipeline_text(steps: Iterable[Step]) -> str:
    """The steps as one textual pipeline that parses back to them; neighbours with one nesting share it."""
    parts: list[str] = []
    group: list[str] = []
    nesting: tuple[str, ...] = ()

    def flush() -> None:
        if group:
            parts.append("(".join([*nesting, ",".join(group)]) + ")" * len(nesting) if nesting else ",".join(group))
            group.clear()

    for step in steps:
        if step.anchors[1:] != nesting:
            flush()
            nesting = step.anchors[1:]
        group.append(step.text)
    flush()
    return f"{ROOT}({','.join(parts)})"


# Running


class Instrumentation:
    """Called around every step; the base class does nothing."""

    def before_step(self, step: Step, module: ir.Module) -> None:
        """`step` is about to run on `module`."""

    def after_step(self, step: Step, module: ir.Module, seconds: float) -> None:
        """`step` ran and its result verified."""

    def failed_step(self, step: Step, module: ir.Module) -> None:
        """`step` failed; `module` may be half rewritten."""


def run_steps(
    steps: Sequence[Step], module: ir.Module, instrumentations: Sequence[Instrumentation] = (), verify: bool = True
) -> None:
    """Run `steps` in order on `module`, in place.

    Raises CompileError where a pass fails or leaves invalid IR; diagnostics go to the context's handlers when the
    context was told so (`context.emit_error_diagnostics = True`), as with upstream's own PassManager.
    """
    for step in steps:
        for instrumentation in instrumentations:
            instrumentation.before_step(step, module)
        start = time.perf_counter()
        try:
            _run_step(step, module, verify)
        except CompileError:
            for instrumentation in instrumentations:
                instrumentation.failed_step(step, module)
            raise
        seconds = time.perf_counter() - start
        for instrumentation in instrumentations:
            instrumentation.after_step(step, module, seconds)


def _run_step(step: Step, module: ir.Module, verify: bool) -> None:
    context = module.context
    if step.python_pass is None:
        with context:
            manager = PassManager.parse(step.pipeline())
            manager.enable_verifier(verify)
            try:
                manager.run(module.operation)
            except ir.MLIRError as error:
                raise _native_failure(step, error) from None
        return
    _run_python_pass(step.python_pass, module)
    if verify:
        try:
            module.operation.verify()
        except ir.MLIRError as error:
            raise _native_failure(step, error) from None


def _run_python_pass(python_pass: Pass, module: ir.Module) -> None:
    context = module.context
    if python_pass.changes_rounding and EXACT in module.operation.attributes:
        return
    try:
        with context, ir.Location.unknown():
            python_pass.run(module)
    except PassFailure as failure:
        if context.emit_error_diagnostics:
            failure.location.emit_error(failure.message)
        raise


def add_pass(manager: PassManager, python_pass: Pass | str) -> None:
    """Append one of our passes to a PassManager of the bindings, after what it holds and before what is added later.

    `python_pass` is a pass or its text (`vgf-fold-clamps`, `vgf-x{size-bytes=4}`). The manager has to run on
    builtin.module; `manager.run` then raises PassFailure where the pass fails. Raises PipelineError for an unknown pass or
    one of upstream's, which `manager.add` takes.
    """
    if isinstance(python_pass, str):
        steps = parse_pipeline(f"{ROOT}({python_pass})")
        if len(steps) != 1 or steps[0].python_pass is None:
            raise PipelineError(f"expected one pass of vgfc or of a plug-in, found '{python_pass}'")
        python_pass = steps[0].python_pass
    chosen = python_pass

    def run(op: ir.Operation, _: Any) -> None:
        if op.name != ROOT:
            raise PipelineError(f"pass '{chosen.name}' runs on {ROOT}, found a pass manager on {op.name}")
        _run_python_pass(chosen, cast(ir.Module, op.opview))  # a ModuleOp has what passes use of a Module

    manager.add(run, name=type(chosen).__name__, argument=chosen.to_text())


def _native_failure(step: Step, error: ir.MLIRError) -> CompileError:
    details = error.error_diagnostics
    if not details:
        return CompileError(f"pass '{step.name}' failed")
    return CompileError(f"pass '{step.name}' failed: {details[0].message}", details[0].location)


def run_pipeline(module: ir.Module, text: str, named: NamedPipelines | None = None, verify: bool = True) -> None:
    """Parse a textual pipeline and run it on `module`, in place; raises PipelineError and CompileError."""
    run_steps(parse_pipeline(text, named, module.context), module, verify=verify)
