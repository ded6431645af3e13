"""Every TOSA operator goes out and comes back, through VGF and through TOSA FlatBuffers, to the same operations."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from torch_mlir import ir

from vgfc import ir as helpers
from vgfc.diagnostics import CompileError
from vgfc.dialect import make_context
from vgfc.emit.tosa_flatbuffer import encode
from vgfc.emit.vgf import emit
from vgfc.frontend.tosa_flatbuffer import read_tosa
from vgfc.frontend.vgf import read_vgf
from vgfc.passmanager import run_pipeline
from vgfc.pipeline import LOWER
from vgfc.runtime.reference import run_reference
from vgfc.tosa_encoding import OPERATORS as ENCODED
from vgfc.vgf_file import decode

from .operators import OPERATORS

AS_SEGMENT = re.compile(r"func\.func @main\((.*?)\) -> \((.*?)\) \{", re.DOTALL)
CONSTANTS = ("tosa.const", "tosa.const_shape")


def parse(text: str) -> ir.Module:
    return ir.Module.parse(text, make_context())


def segmented(text: str) -> str:
    """The function as a graph segment that the entry calls."""
    match = AS_SEGMENT.search(text)
    assert match is not None
    arguments, results = match[1], match[2]
    kinds = ", ".join(argument.split(": ")[1] for argument in arguments.split(", %"))
    names = ", ".join(argument.split(":")[0].removeprefix("%") for argument in arguments.split(", %"))
    names = ", ".join(f"%{name}" for name in names.split(", "))
    count = len(results.split(", "))
    returned = ", ".join(f"%r#{index}" for index in range(count))
    entry = (
        f"func.func @main({arguments}) -> ({results}) {{\n"
        f"  %r:{count} = call @segment_0({names}) : ({kinds}) -> ({results})\n"
        f"  return {returned} : {results}\n}}\n"
    )
    segment = AS_SEGMENT.sub(
        f'func.func private @segment_0({arguments}) -> ({results}) attributes {{vgf.segment = "graph"}} {{', text
    )
    return entry + segment


def lowered(text: str) -> bytes:
    module = parse(segmented(text))
    run_pipeline(module, f"builtin.module({','.join(LOWER)})")
    return emit(module)


def operations(module: ir.Module) -> list[str]:
    """Every operation that is no constant, with its attributes, and the values of the constants that it reads."""
    found = []
    for function in helpers.functions(module):
        for op in helpers.operations(function):
            if op.name in CONSTANTS or op.name == "func.call":
                continue
            constants = [
                str(value.owner.attributes["values"])
                for value in op.operands
                if not isinstance(value.owner, ir.Block) and value.owner.name in CONSTANTS
            ]
            kinds = [str(value.type) for value in (*op.operands, *op.results)]
            attributes = sorted(f"{name} = {op.attributes[name]}" for name in op.attributes)
            found.append(f"{op.name} {attributes} {kinds} {constants}")
    return found


def random_inputs(module: ir.Module) -> list[np.ndarray]:
    generator = np.random.default_rng(7)
    entry = helpers.entry(module)
    assert entry is not None
    found = []
    for kind in entry.type.inputs:
        dtype, shape = np.dtype(helpers.numpy_type(helpers.element_type(kind))), helpers.shape(kind)
        if dtype == np.bool_:
            found.append(generator.random(shape) < 0.5)
        elif np.issubdtype(dtype, np.integer):
            found.append(generator.integers(1, 7, shape).astype(dtype))
        else:
            found.append(generator.uniform(0.1, 2, shape).astype(dtype))
    return found


def same(left: list[np.ndarray], right: list[np.ndarray]) -> None:
    assert len(left) == len(right)
    for one, other in zip(left, right, strict=True):
        assert one.dtype == other.dtype
        wide = np.float32 if one.dtype == ml_dtypes.bfloat16 else one.dtype
        np.testing.assert_array_equal(one.astype(wide), other.astype(wide))


@pytest.mark.parametrize("name", OPERATORS)
def test_vgf(name: str) -> None:
    original = parse(OPERATORS[name])
    content = lowered(OPERATORS[name])
    back = read_vgf(content, make_context())
    assert operations(back) == operations(original)
    inputs = random_inputs(original)
    same(run_reference(back, inputs), run_reference(original, inputs))
    run_pipeline(back, f"builtin.module({','.join(LOWER)})")
    assert emit(back) == content


@pytest.mark.parametrize("name", OPERATORS)
def test_tosa_flatbuffer(name: str) -> None:
    original = parse(OPERATORS[name])
    content = encode(original)
    back = read_tosa(content, make_context())
    assert operations(back) == operations(original)
    inputs = random_inputs(original)
    same(run_reference(back, inputs), run_reference(original, inputs))


def test_the_operators_here_are_all_there_are() -> None:
    tested = {op.split(" ")[0] for text in OPERATORS.values() for op in operations(parse(text))}
    assert tested == {operator.mlir_name for operator in ENCODED}


def test_tosa_opt_reads_what_is_written_and_is_read(tmp_path: Path) -> None:
    """Another implementation agrees: tosa-opt's deserialiser on our files, our reader on its serialiser's."""
    tool = shutil.which("tosa-opt", path=str(Path(sys.executable).parent))
    assert tool is not None
    for name, text in OPERATORS.items():
        original = parse(text)
        (tmp_path / "ours.tosa").write_bytes(encode(original))
        arguments = ["--tosa-deserialize", f"--tosa-deserialize-filename={tmp_path / 'ours.tosa'}", "-"]
        subprocess.run(
            [tool, *arguments, "-o", str(tmp_path / "ours.mlir")], input=b"", capture_output=True, check=True
        )
        # it names tensors with an attribute of its own
        assert operations(parse((tmp_path / "ours.mlir").read_text())) == operations(original), name
        (tmp_path / "in.mlir").write_text(text)
        subprocess.run(
            [tool, str(tmp_path / "in.mlir"), f"--tosa-serialize=tosa-flatbuffer-filename={tmp_path / 'theirs.tosa'}"],
            capture_output=True,
            check=True,
        )
        theirs = read_tosa((tmp_path / "theirs.tosa").read_bytes(), make_context())
        assert operations(theirs) == operations(original), name


CONTROL_FLOW = """
func.func @main(%c: tensor<i1>, %x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = tosa.cond_if %c (%a = %x) : tensor<i1> (tensor<2xi32>) -> tensor<2xi32> {
  ^bb0(%a: tensor<2xi32>):
    %1 = tosa.add %a, %a : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    tosa.yield %1 : tensor<2xi32>
  } else {
  ^bb0(%a: tensor<2xi32>):
    tosa.yield %a : tensor<2xi32>
  }
  %limit = "tosa.const"() {values = dense<50> : tensor<1xi32>} : () -> tensor<1xi32>
  %2 = tosa.while_loop (%a = %0) : (tensor<2xi32>) -> tensor<2xi32> {
    %bound = "tosa.const"() {values = dense<50> : tensor<1xi32>} : () -> tensor<1xi32>
    %zero = tosa.const_shape {values = dense<0> : tensor<1xindex>} : () -> !tosa.shape<1>
    %one = tosa.const_shape {values = dense<1> : tensor<1xindex>} : () -> !tosa.shape<1>
    %first = tosa.slice %a, %zero, %one : (tensor<2xi32>, !tosa.shape<1>, !tosa.shape<1>) -> tensor<1xi32>
    %smaller = tosa.greater %bound, %first : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1>
    %scalar = tosa.const_shape {values = dense<> : tensor<0xindex>} : () -> !tosa.shape<0>
    %go = tosa.reshape %smaller, %scalar : (tensor<1xi1>, !tosa.shape<0>) -> tensor<i1>
    tosa.yield %go : tensor<i1>
  } do {
  ^bb0(%a: tensor<2xi32>):
    %3 = tosa.add %a, %a : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    tosa.yield %3 : tensor<2xi32>
  }
  return %2 : tensor<2xi32>
}
"""


def test_control_flow_goes_through_flatbuffers() -> None:
    original = parse(CONTROL_FLOW)
    back = read_tosa(encode(original), make_context())
    for condition, wanted in ((True, [64, 128]), (False, [64, 128])):
        inputs = [np.array(condition), np.array([1 if condition else 2, 4 if not condition else 2], np.int32)]
        (result,) = run_reference(back, inputs)
        assert result.tolist() == wanted


BRANCH = """
func.func @main(%c: tensor<i1>, %x: tensor<7919xi32>) -> tensor<7919xi32> {
  %0 = tosa.cond_if %c (%a = %x) : tensor<i1> (tensor<7919xi32>) -> tensor<7919xi32> {
  ^bb0(%a: tensor<7919xi32>):
    %1 = tosa.abs %a : (tensor<7919xi32>) -> tensor<7919xi32>
    tosa.yield %1 : tensor<7919xi32>
  } else {
  ^bb0(%a: tensor<7919xi32>):
    tosa.yield %a : tensor<7919xi32>
  }
  return %0 : tensor<7919xi32>
}
"""


def test_regions_declare_the_shapes_that_they_are_given() -> None:
    """Each place where the file writes the extent, changed alone, makes the graph invalid."""
    content = encode(parse(BRANCH))
    extent = (7919).to_bytes(4, "little")
    places = [at for at in range(len(content)) if content.startswith(extent, at)]
    assert len(places) == 5  # x, the result, and in the sides an input each and the result of abs
    refusals = []
    for at in places:
        with pytest.raises(CompileError) as refused:
            read_tosa(content[:at] + (7907).to_bytes(4, "little") + content[at + 4 :], make_context())
        refusals.append(refused.value.message)
    assert (
        sum(bool(re.match(r"region '.*': input '.*' is tensor<7907xi32>, tosa\.cond_if", text)) for text in refusals)
        == 2
    )


INVALID = {
    "rescale of unsigned to unsigned": (
        """
func.func @main(%x: tensor<2xi8>) -> tensor<2xi8> {
  %m = "tosa.const"() <{values = dense<16384> : tensor<1xi16>}> : () -> tensor<1xi16>
  %s = "tosa.const"() <{values = dense<14> : tensor<1xi8>}> : () -> tensor<1xi8>
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.rescale %x, %m, %s, %z, %z {input_unsigned = true, output_unsigned = true, per_channel = false,
    rounding_mode = SINGLE_ROUND, scale32 = false}
    : (tensor<2xi8>, tensor<1xi16>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<2xi8>
  return %0 : tensor<2xi8>
}
""",
        "input and output cannot be both unsigned",
    ),
    "resize with a border beyond the scale": (
        """
func.func @main(%x: tensor<1x4x2x3xf32>) -> tensor<1x7x9x3xf32> {
  %scale = tosa.const_shape {values = dense<[2, 1, 3, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %offset = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
  %border = tosa.const_shape {values = dense<[0, 5]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.resize %x, %scale, %offset, %border {mode = BILINEAR}
    : (tensor<1x4x2x3xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x7x9x3xf32>
  return %0 : tensor<1x7x9x3xf32>
}
""",
        "borderX / scaleXNumerator",
    ),
}


@pytest.mark.parametrize("name", INVALID)
def test_errors_of_the_specification_beyond_the_verifier(name: str) -> None:
    text, complaint = INVALID[name]
    with pytest.raises(CompileError, match=f"^error: the file's graph is invalid: .*{complaint}"):
        read_tosa(encode(parse(text)), make_context())


@pytest.mark.parametrize("name", ["conv2d_i8", "fft2d", "resize_bilinear"])
def test_damaged_files_end_in_a_message(name: str) -> None:
    """Truncated and overwritten files: a CompileError or a module, never another exception."""
    generator = np.random.default_rng(3)
    for content, read in ((lowered(OPERATORS[name]), read_vgf), (encode(parse(OPERATORS[name])), read_tosa)):
        refused = 0
        for round_number in range(60):
            damaged = bytearray(content)
            if round_number % 3 == 0:
                del damaged[int(generator.integers(len(damaged))) :]
            else:
                for _ in range(int(generator.integers(1, 4))):
                    damaged[int(generator.integers(len(damaged)))] = int(generator.integers(256))
            try:
                read(bytes(damaged), make_context())
            except CompileError as error:
                assert str(error)
                refused += 1
        assert refused > 20  # the damage is real


def test_vgf_constants_outlive_the_content() -> None:
    """What a decoded constant shows is the file's, when nothing else holds the file any longer."""
    values = np.arange(4096, dtype=np.float32)
    text = (
        "func.func @main(%x: tensor<4096xf32>) -> (tensor<4096xf32>) {\n"
        f'  %c = "tosa.const"() {{values = dense<"0x{values.tobytes().hex()}"> : tensor<4096xf32>}} : () -> tensor<4096xf32>\n'
        "  %0 = tosa.add %x, %c : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>\n"
        "  return %0 : tensor<4096xf32>\n}\n"
    )
    content = lowered(text)
    (constant,) = decode(content).constants
    assert isinstance(constant.data.obj, bytes)  # the view holds the content itself, not an address in it
    del content
    np.testing.assert_array_equal(np.frombuffer(constant.data, np.float32), values)
