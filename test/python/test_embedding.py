"""vgfc inside a larger MLIR toolchain: the caller's context, module, pass manager and diagnostic handlers."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from torch_mlir import ir
from torch_mlir.passmanager import PassManager

import vgfc
from vgfc.diagnostics import PassFailure
from vgfc.passmanager import PipelineError, all_passes

PAIR = """
func.func @pair(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %0 = tosa.transpose %x {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x2x3x4xf32>) -> tensor<1x3x4x2xf32>
  %1 = tosa.transpose %0 {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x3x4x2xf32>) -> tensor<1x2x3x4xf32>
  %2 = tosa.abs %1 : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %2 : tensor<1x2x3x4xf32>
}
"""
# A graph segment whose constant has no values in the module: vgf-assign-graph-constants refuses it.
OPAQUE = """
func.func private @segment_0() -> tensor<17xf32> attributes {vgf.segment = "graph"} {
  %0 = "tosa.const"() <{values = dense_resource<blob> : tensor<17xf32>}> : () -> tensor<17xf32>
  return %0 : tensor<17xf32>
}
"""


def callers_module(text: str) -> ir.Module:
    context = ir.Context()
    vgfc.register(context)
    with context:
        return ir.Module.parse(text)


def test_pipeline_runs_on_the_callers_module() -> None:
    module = callers_module(PAIR)
    vgfc.run_pipeline(module, "builtin.module(vgf-fold-transpose-pairs,func.func(cse))")
    text = str(module)
    assert "tosa.transpose" not in text
    assert "tosa.abs %arg0" in text


def test_registering_twice_changes_nothing() -> None:
    context = ir.Context()
    vgfc.register(context)
    vgfc.register(context)
    with context:
        ir.Module.parse(PAIR)


def test_pass_runs_beside_native_ones_in_a_pass_manager() -> None:
    module = callers_module(PAIR)
    with module.context:
        manager = PassManager("builtin.module")
        manager.add("func.func(canonicalize)")
        vgfc.add_pass(manager, "vgf-fold-transpose-pairs")
        manager.add("func.func(cse)")
        manager.run(module.operation)
    assert "tosa.transpose" not in str(module)


def outcome(text: str, name: str, through_manager: bool) -> str:
    """The module after one pass alone, or what the pass said against it."""
    module = callers_module(text)
    try:
        with module.context:
            if through_manager:
                manager = PassManager("builtin.module")
                vgfc.add_pass(manager, name)
                manager.run(module.operation)
            else:
                vgfc.run_pipeline(module, f"builtin.module({name})")
    except vgfc.CompileError as error:
        return error.message
    return str(module)


@pytest.mark.parametrize("name", [name for name, (_, origin) in all_passes().items() if origin == "vgfc"])
def test_every_pass_alone_does_the_same_in_a_pass_manager(name: str) -> None:
    assert outcome(PAIR, name, through_manager=True) == outcome(PAIR, name, through_manager=False)


def test_pass_manager_of_functions_is_refused() -> None:
    module = callers_module(PAIR)
    with module.context:
        manager = PassManager("func.func")
        vgfc.add_pass(manager, "vgf-fold-transpose-pairs")
        with pytest.raises(PipelineError, match=r"runs on builtin\.module, found a pass manager on func\.func"):
            manager.run(next(iter(module.body.operations)).operation)


@pytest.mark.parametrize("text", ["canonicalize", "", "vgf-fold-transpose-pairs,vgf-fold-transpose-pairs"])
def test_only_one_pass_of_ours_can_be_added(text: str) -> None:
    with ir.Context():
        manager = PassManager("builtin.module")
        with pytest.raises(PipelineError, match="expected one pass of vgfc"):
            vgfc.add_pass(manager, text)


def failure_messages(module: ir.Module, through_manager: bool) -> list[str]:
    messages: list[str] = []
    module.context.emit_error_diagnostics = True

    def handler(diagnostic: ir.Diagnostic) -> bool:
        messages.append(f"{diagnostic.severity.name}: {diagnostic.message}")
        return True

    module.context.attach_diagnostic_handler(handler)
    with module.context, pytest.raises(PassFailure, match="expected inline values"):
        if through_manager:
            manager = PassManager("builtin.module")
            vgfc.add_pass(manager, "vgf-assign-graph-constants")
            manager.run(module.operation)
        else:
            vgfc.run_pipeline(module, "builtin.module(vgf-assign-graph-constants)")
    return messages


@pytest.mark.parametrize("through_manager", [False, True])
def test_diagnostics_go_to_the_callers_handler_and_nothing_is_printed(
    through_manager: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    (message,) = failure_messages(callers_module(OPAQUE), through_manager)
    assert message.startswith("ERROR: 'tosa.const' expected inline values")
    assert capfd.readouterr() == ("", "")


def test_compiling_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    vgfc.compile_mlir(PAIR)
    assert capfd.readouterr() == ("", "")


def test_the_callers_module_is_not_touched_by_compile() -> None:
    module = callers_module(PAIR)
    before = str(module)
    program = vgfc.compile(module)
    assert str(module) == before
    assert program.vgf == vgfc.compile_mlir(PAIR).vgf


def test_text_and_bytecode_of_another_build_give_the_same_program() -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / "torch-mlir-opt", "--emit-bytecode"],
        input=PAIR.encode(),
        capture_output=True,
        check=True,
    )
    assert done.stdout.startswith(b"ML\xefR")
    assert vgfc.compile_mlir(done.stdout).vgf == vgfc.compile_mlir(PAIR).vgf


def test_compiled_text_computes_what_it_says() -> None:
    values = np.random.default_rng(0).standard_normal((1, 2, 3, 4)).astype(np.float32)
    found = vgfc.compile_mlir(PAIR).run(values, device="reference")
    np.testing.assert_array_equal(found, np.abs(values))


def test_two_contexts_in_two_threads() -> None:
    alone = [vgfc.compile_mlir(text).vgf for text in (PAIR, PAIR.replace("abs", "exp"))]
    found: dict[int, list[bytes]] = {0: [], 1: []}

    def work(index: int, barrier: threading.Barrier) -> None:
        barrier.wait()
        for _ in range(5):
            found[index].append(vgfc.compile_mlir((PAIR, PAIR.replace("abs", "exp"))[index]).vgf)

    barrier = threading.Barrier(2)
    threads = [threading.Thread(target=work, args=(index, barrier)) for index in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {0: [alone[0]] * 5, 1: [alone[1]] * 5}


def test_importing_vgfc_loads_neither_torch_nor_the_runtimes() -> None:
    script = (
        "import sys, vgfc, vgfc.passmanager, vgfc.compiler; "
        "print([name for name in ('torch', 'scenario_runner_py', 'tosa_reference_model') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
