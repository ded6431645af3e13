"""Modules that show a fault become small, stay valid, and still show it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from torch_mlir import ir

from vgfc import ir as helpers
from vgfc.diagnostics import CompileError
from vgfc.dialect import make_context
from vgfc.reduce import reduce_module
from vgfc.tools import vgf_reduce

CHAIN = "\n".join(
    f"  %{index + 1} = tosa.{name} %{index} : (tensor<1x16x24xf32>) -> tensor<1x16x24xf32>"
    for index, name in enumerate(["exp", "sigmoid", "abs", "tanh", "ceil", "floor", "exp", "log", "erf"])
)
MODEL = f"""
func.func @main(%x: tensor<1x16x24xf32>, %unused: tensor<4xi8>) -> (tensor<1x16x24xf32>, tensor<1x16x24xf32>, tensor<2xf32>) {{
  %0 = call @front(%x) : (tensor<1x16x24xf32>) -> tensor<1x16x24xf32>
{CHAIN}
  %other = "tosa.const"() {{values = dense<[1.5, 2.5]> : tensor<2xf32>}} : () -> tensor<2xf32>
  %o = tosa.abs %other : (tensor<2xf32>) -> tensor<2xf32>
  return %5, %9, %o : tensor<1x16x24xf32>, tensor<1x16x24xf32>, tensor<2xf32>
}}
func.func private @front(%x: tensor<1x16x24xf32>) -> tensor<1x16x24xf32> {{
  %w = "tosa.const"() {{values = dense<{[[[float(n) for n in range(24)]]]}> : tensor<1x1x24xf32>}} : () -> tensor<1x1x24xf32>
  %0 = tosa.maximum %x, %w : (tensor<1x16x24xf32>, tensor<1x1x24xf32>) -> tensor<1x16x24xf32>
  return %0 : tensor<1x16x24xf32>
}}
"""


def operations(text: str) -> list[str]:
    module = ir.Module.parse(text, make_context())
    return [op.name for function in helpers.functions(module) for op in helpers.operations(function)]


def test_one_operation_is_left() -> None:
    reduced = reduce_module(MODEL, lambda text: "tosa.tanh" in text)
    assert operations(reduced) == ["tosa.tanh"]
    assert "tensor<1x1x1xf32>" in reduced  # every extent became 1
    assert reduced.count("%arg") == 2  # one argument and its use


def test_two_that_belong_together_are_left() -> None:
    def shows_fault(text: str) -> bool:
        """tanh of something that sigmoid went into."""
        module = ir.Module.parse(text, make_context())
        for function in helpers.functions(module):
            for op in helpers.operations(function):
                found = helpers.defining(op.operands[0]) if op.name == "tosa.tanh" else None
                while found is not None:
                    if found.name == "tosa.sigmoid":
                        return True
                    found = helpers.defining(found.operands[0]) if found.operands else None
        return False

    assert operations(reduce_module(MODEL, shows_fault)) == ["tosa.sigmoid", "tosa.tanh"]


def test_a_constant_that_matters_stays() -> None:
    reduced = reduce_module(MODEL, lambda text: "1.500000e+00" in text)
    assert operations(reduced) == ["tosa.const"]
    assert "dense<1.500000e+00>" in reduced


def test_a_shape_that_matters_stays() -> None:
    reduced = reduce_module(MODEL, lambda text: "x24xf32" in text and "tosa.erf" in text)
    assert operations(reduced) == ["tosa.erf"]
    assert "tensor<1x1x24xf32>" in reduced


def test_what_shows_no_fault_is_refused() -> None:
    with pytest.raises(CompileError, match="does not show the fault"):
        reduce_module(MODEL, lambda text: False)
    with pytest.raises(CompileError, match="does not parse"):
        reduce_module("nonsense", lambda text: True)


def test_the_command_and_its_reproducer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A command fails with one message for tanh and another for exp: the reduction must not slip from one to the other."""
    script = tmp_path / "check.py"
    script.write_text(
        "import sys\n"
        "text = open(sys.argv[1]).read()\n"
        "assert 'mlir_reproducer' in text, 'the pipeline is gone'\n"
        "if 'tosa.tanh' in text: sys.exit(f'{sys.argv[1]}:7:5: error: tanh of {len(text)} characters')\n"
        "if 'tosa.exp' in text: sys.exit('error: exp')\n"
    )
    resource = (
        '{-#\n  external_resources: {\n    mlir_reproducer: {\n      pipeline: "builtin.module()"\n    }\n  }\n#-}\n'
    )
    (tmp_path / "in.mlir").write_text(MODEL + resource)
    arguments = [str(tmp_path / "in.mlir"), "-o", str(tmp_path / "out.mlir"), "--json", "--"]
    assert vgf_reduce.main([*arguments, sys.executable, str(script), "{}"]) == 0
    reduced = (tmp_path / "out.mlir").read_text()
    assert "mlir_reproducer" in reduced
    assert operations(reduced.split("{-#")[0]) == ["tosa.tanh"]
    figures = json.loads(capsys.readouterr().err)
    assert figures["lines_after"] < 15 < figures["lines_before"]


def test_match_says_what_the_failure_is(tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text(MODEL)
    arguments = [str(tmp_path / "in.mlir"), "-o", str(tmp_path / "out.mlir"), "--match", "tosa.log", "--quiet", "--"]
    assert vgf_reduce.main([*arguments, "cat"]) == 0
    assert operations((tmp_path / "out.mlir").read_text()) == ["tosa.log"]


def test_a_command_that_does_not_fail_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.mlir").write_text(MODEL)
    assert vgf_reduce.main([str(tmp_path / "in.mlir"), "--", "true"]) == 1
    assert "does not show the fault" in capsys.readouterr().err
    assert vgf_reduce.main([str(tmp_path / "in.mlir"), "--", "no-such-command-here"]) == 1
    assert "cannot run 'no-such-command-here': no such file or directory" in capsys.readouterr().err
