"""Textual pipelines: what parses, what it means, and what every mistake is answered with."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch_mlir import ir

from vgfc.diagnostics import CompileError, fail
from vgfc.dialect import make_context
from vgfc.passmanager import (
    Instrumentation,
    Pass,
    PipelineError,
    Step,
    all_passes,
    parse_options,
    parse_pipeline,
    pipeline_text,
    register,
    run_steps,
)
from vgfc.pipeline import PIPELINES

CONTEXT = make_context()
MODULE = """
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tosa.abs %x : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""


@register
@dataclass(frozen=True)
class TestOptions(Pass):
    __test__ = False
    name = "test-options"
    size_bytes: int = 4
    factor: float = 0.5
    loud: bool = False
    mode: str = "fast"

    def run(self, module: ir.Module) -> None:
        module.operation.attributes["test.seen"] = ir.StringAttr.get(repr(self))


@register
@dataclass(frozen=True)
class TestFails(Pass):
    __test__ = False
    name = "test-fails"

    def run(self, module: ir.Module) -> None:
        function = next(iter(module.body.operations))
        raise fail(next(iter(function.regions[0].blocks[0].operations)), "expected something else, found this")


@register
@dataclass(frozen=True)
class TestBreaks(Pass):
    __test__ = False
    name = "test-breaks"

    def run(self, module: ir.Module) -> None:
        del next(iter(module.body.operations)).attributes["function_type"]


def module() -> ir.Module:
    with CONTEXT:
        return ir.Module.parse(MODULE)


def parse(text: str) -> list[Step]:
    return parse_pipeline(text, PIPELINES, CONTEXT)


def test_options_become_fields() -> None:
    (step,) = parse("builtin.module(test-options{size-bytes=7 factor=2.5 loud mode=slow})")
    assert step.python_pass == TestOptions(7, 2.5, True, "slow")
    assert step.text == "test-options{size-bytes=7 factor=2.5 loud=true mode=slow}"


@pytest.mark.parametrize("name", sorted(PIPELINES))
def test_named_pipelines_print_as_they_parse(name: str) -> None:
    steps = parse(PIPELINES[name]())
    assert parse(pipeline_text(steps)) == steps


def test_nesting_is_kept() -> None:
    steps = parse(
        "builtin.module(func.func(canonicalize, cse), test-options, builtin.module(spirv.module(spirv-update-vce)))"
    )
    assert [step.pipeline() for step in steps] == [
        "builtin.module(func.func(canonicalize))",
        "builtin.module(func.func(cse))",
        "builtin.module(test-options)",
        "builtin.module(builtin.module(spirv.module(spirv-update-vce)))",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("builtin.module(test-option)", "unknown pass 'test-option'; near it:"),
        (
            "builtin.module(test-options{size=1})",
            "has no option 'size'; its options are: size-bytes, factor, loud, mode",
        ),
        ("builtin.module(test-options{size-bytes=x})", "option 'size-bytes' .* expected an integer, found 'x'"),
        ("builtin.module(test-options{loud=maybe})", "expected true or false, found 'maybe'"),
        ("builtin.module(test-options{factor=x})", "expected a number, found 'x'"),
        ("builtin.module(test-options{=1})", "expected name=value at column 1"),
        ("func.func(cse)", r"expected builtin.module\(...\) around the passes"),
        ("builtin.module(cse", r"expected ',' or '\)' at column 19, found the end of the text"),
        ("builtin.module(cse))", "expected ',' or the end of the text at column 20"),
        ("builtin.module(,)", "expected a pass name at column 16, found ','"),
        ("builtin.module(cse{a=1)", "expected '}'"),
        ("builtin.module(func.func(test-options))", "runs on builtin.module, found it nested in func.func"),
        ("builtin.module(tosa-lower{x=1})", "pipeline 'tosa-lower' takes no options"),
        ("builtin.module(spirv-update-vce)", "spirv-update-vce"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(PipelineError, match=message):
        parse(text)


@given(st.text(alphabet="abcse-(){}=,' \"builtin.module", max_size=60))
def test_any_text_is_understood_or_refused(text: str) -> None:
    try:
        parse(text)
    except PipelineError as error:
        assert str(error)


@given(
    st.dictionaries(
        st.from_regex(r"[a-z]+(-[a-z]+)*", fullmatch=True), st.from_regex(r"[a-zA-Z0-9.:*x]+", fullmatch=True)
    )
)
def test_option_text_round_trips(options: dict[str, str]) -> None:
    assert parse_options(" ".join(f"{key}={value}" for key, value in options.items())) == options
    assert parse_options(" ".join(f'{key}="{value} b"' for key, value in options.items())) == {
        key: f"{value} b" for key, value in options.items()
    }


def test_instrumentation_sees_every_step_and_the_failure() -> None:
    seen = []

    class Watch(Instrumentation):
        def before_step(self, step: Step, module: ir.Module) -> None:
            seen.append(("before", step.name))

        def after_step(self, step: Step, module: ir.Module, seconds: float) -> None:
            seen.append(("after", step.name))

        def failed_step(self, step: Step, module: ir.Module) -> None:
            seen.append(("failed", step.name))

    with pytest.raises(CompileError, match=r"'tosa.abs' expected something else, found this"):
        run_steps(parse("builtin.module(func.func(cse),test-fails)"), module(), [Watch()])
    assert seen == [("before", "cse"), ("after", "cse"), ("before", "test-fails"), ("failed", "test-fails")]


def test_a_pass_that_breaks_the_module_is_named() -> None:
    with pytest.raises(CompileError, match=r"pass 'test-breaks' failed: .*function_type"):
        run_steps(parse("builtin.module(test-breaks)"), module())


def test_every_pass_has_a_docstring_that_starts_with_its_name() -> None:
    import sys

    for name, (cls, origin) in all_passes().items():
        if origin == "vgfc" and not name.startswith("test-"):
            assert (sys.modules[cls.__module__].__doc__ or "").startswith(f"{name}: "), name
