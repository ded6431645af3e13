"""What the PyTorch front end makes of a model's signature, its state, its types, and of what cannot be compiled."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import vgfc
from vgfc import CompileError
from vgfc.frontend.torch import import_program


class Function(nn.Module):
    """A function of tensors as a module."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *tensors: torch.Tensor) -> Any:
        return self.function(*tensors)


def compiled(function: Any, *inputs: Any) -> vgfc.Program:
    return vgfc.compile(function if isinstance(function, nn.Module) else Function(function), inputs)


def agree(function: Any, *inputs: Any) -> vgfc.Program:
    """Compile, run on the reference model and compare bit for bit with PyTorch."""
    program = compiled(function, *inputs)
    expected = function(*inputs)
    found = program.run(*inputs, device="reference")
    pairs = zip(expected, found, strict=True) if isinstance(expected, tuple | list) else [(expected, found)]
    for want, have in pairs:
        assert (want.shape, want.dtype) == (have.shape, have.dtype)
        torch.testing.assert_close(have, want, rtol=0, atol=0, equal_nan=True)
    return program


def refused(function: Any, *inputs: Any) -> str:
    with pytest.raises(CompileError) as caught:
        compiled(function, *inputs)
    return str(caught.value)


X = torch.randn(2, 3)


# Signatures


def test_names_and_order_come_from_the_export_signature() -> None:
    class Model(nn.Module):
        def forward(self, image: torch.Tensor, extra: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
            return torch.abs(image), extra["b"] + extra["a"]

    program = vgfc.compile(Model(), (X, {"a": X, "b": X}))
    assert [port.name for port in program.inputs] == ["image", "extra_a", "extra_b"]
    assert [port.name for port in program.outputs] == ["abs_1", "add"]


def test_one_result_twice() -> None:
    program = agree(lambda x: (y := torch.abs(x), y), X)
    assert len({port.name for port in program.outputs}) == 2


def test_an_input_returned_and_a_view_of_it() -> None:
    program = agree(lambda x: (x, x.view(3, 2), x.t()), X)
    assert len({port.name for port in [*program.inputs, *program.outputs]}) == 4


def test_a_result_that_depends_on_no_input() -> None:
    agree(lambda x: (torch.arange(6.0), torch.zeros(4), torch.ones(2, dtype=torch.int64), x + 1), X)


def test_unused_inputs_stay() -> None:
    program = agree(lambda x, y, z: y * 2, X, X + 1, torch.arange(4))
    assert [port.shape for port in program.inputs] == [(2, 3), (2, 3), (4,)]


def test_tensors_updated_in_place_inside() -> None:
    def forward(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        y[0] = 5.0
        y[:, 1:].add_(1)
        y.relu_()
        return y

    agree(forward, X)


def test_an_input_updated_in_place_is_refused() -> None:
    message = refused(lambda x: x.add_(1), X.clone())
    assert "input 'tensors_0' is updated in place" in message
    assert message.startswith(f"{__file__}:")


def test_numbers_and_flags_among_the_inputs_are_built_in() -> None:
    class Model(nn.Module):
        def forward(self, x: torch.Tensor, factor: int, flag: bool, nothing: None) -> torch.Tensor:
            return x * factor if flag else x

    program = vgfc.compile(Model(), (X, 3, True, None))
    assert len(program.inputs) == 1
    torch.testing.assert_close(program.run(X, device="reference"), X * 3)


def test_a_result_that_is_no_tensor_is_refused() -> None:
    assert "result 1 is 3, expected a tensor" in refused(lambda x: (x, 3), X)


# State


class Counter(nn.Module):
    """A running sum and a count."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(3))
        self.register_buffer("count", torch.tensor(0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total += x.sum(0)
        self.count += 1
        return self.total / self.count


def test_changed_buffers_are_carried_over() -> None:
    program = vgfc.compile(Counter(), (X,))
    assert [port.state for port in program.all_inputs] == [None, "total", "count"]
    model = Counter()
    for step in range(3):
        torch.testing.assert_close(program.run(X + step, device="reference"), model(X + step))
    program.reset()
    torch.testing.assert_close(program.run(X, device="reference"), Counter()(X))


def test_batch_norm_in_training_mode_moves_its_statistics() -> None:
    torch.manual_seed(0)
    batch = torch.randn(4, 3, 5)
    model = nn.BatchNorm1d(3)
    program = vgfc.compile(model, (batch,))
    reference = nn.BatchNorm1d(3)
    for step in range(3):
        torch.testing.assert_close(
            program.run(batch * step, device="reference"), reference(batch * step), rtol=1e-4, atol=1e-5
        )


def test_buffers_of_all_kinds_are_constants() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("table", torch.arange(6).reshape(2, 3), persistent=False)
            self.register_buffer("mask", torch.tensor([True, False, True]))
            self.register_buffer("ones", torch.ones(3, dtype=torch.bfloat16))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.where(self.mask, x + self.table, self.ones.float())

    agree(Model(), X)


# Layouts


def test_strides_of_example_inputs_change_nothing() -> None:
    model = nn.Conv2d(3, 4, 3).eval()
    image = torch.randn(1, 3, 8, 6)
    plain = vgfc.compile(model, (image,))
    for other in (image.to(memory_format=torch.channels_last), torch.randn(1, 3, 6, 8).transpose(2, 3)):
        program = vgfc.compile(model, (other,))
        assert program.vgf == plain.vgf
        torch.testing.assert_close(program.run(other, device="reference"), model(other), rtol=1e-5, atol=1e-6)


def test_weights_that_are_views_and_shared() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.randn(3, 5).t())
            self.same = self.weight

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x @ self.weight.t()) @ self.same

    model = Model()
    text = str(import_program(model, (X,)))
    assert text.count("torch.vtensor.literal") == 1
    torch.testing.assert_close(compiled(model, X).run(X, device="reference"), model(X), rtol=1e-5, atol=1e-6)


# Types


def test_scalars_in_and_out() -> None:
    agree(lambda x, y: (x * y, x.abs(), torch.tensor(2.5)), torch.tensor(-3.0), torch.tensor(0.5))


def test_64_bit_integers_in_and_out() -> None:
    program = agree(lambda i, x: (i * 2, i.sum(), x.argmax(1), i == 3), torch.tensor([1, 3, -7]), X)
    assert [(port.dtype, port.file_dtype) for port in program.inputs] == [("int64", "int32"), ("float32", "float32")]
    assert [port.dtype for port in program.outputs] == ["int64", "int64", "int64", "bool"]


def test_64_bit_inputs_out_of_range_are_refused() -> None:
    program = compiled(lambda i: i + 1, torch.tensor([1]))
    with pytest.raises(CompileError, match="expected values of int32"):
        program.run(torch.tensor([2**40]), device="reference")


def test_64_bit_constants_out_of_range_are_refused() -> None:
    assert "1099511627776" in refused(lambda i: i + torch.tensor([2**40]), torch.tensor([1]))
    assert "1099511627776" in refused(lambda i: i + 2**40, torch.tensor([1]))
    assert "1099511627776" in refused(lambda i: i < 2**40, torch.tensor([1]))


def test_64_bit_results_that_may_not_fit_are_told() -> None:
    with pytest.warns(UserWarning, match=r"test_torch.py:\d+: aten.mul.Tensor computes 64-bit integers in 32 bits"):
        compiled(lambda i, j: i * j, torch.tensor([1]), torch.tensor([2]))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        compiled(lambda x, i: (x.argmax(1) * 3 + 1, i.clamp(0, 9) * i.clamp(0, 9)), X, torch.tensor([1]))


def test_bytes_and_booleans() -> None:
    pixels = torch.tensor([[0, 1, 200], [255, 128, 7]], dtype=torch.uint8)
    agree(lambda p: (p.float() * 0.5, p + 100, p > 128), pixels)
    agree(lambda b: (~b, b.float(), b.int()), torch.tensor([True, False]))
    small = torch.tensor([[-128, 1, 100], [127, -5, 7]], dtype=torch.int8)
    agree(lambda s: (s + s, s.float(), s.abs(), s.max(1)[0]), small)


def test_special_values_survive() -> None:
    values = torch.tensor([0.0, -0.0, math.inf, -math.inf, math.nan, 1e-40, 3.4e38])
    program = compiled(lambda x: (x, values, torch.cat([values, x])), values)
    for found, want in zip(
        program.run(values, device="reference"), (values, values, torch.cat([values, values])), strict=True
    ):
        assert np.array_equal(found.numpy().view(np.uint32), want.numpy().view(np.uint32))


def test_64_bit_floating_point_is_refused() -> None:
    message = refused(nn.Linear(3, 2).double(), X.double())
    assert "parameter 'weight' is float64" in message and "model.float()" in message
    assert "input 'tensors_0' is float64" in refused(torch.abs, X.double())
    message = refused(lambda x: (x.double() + 1).float(), X)
    assert "gives float64" in message and message.startswith(f"{__file__}:")


# What cannot be compiled


def test_an_unsupported_operator_is_named_with_the_users_line() -> None:
    def forward(x: torch.Tensor) -> torch.Tensor:
        return torch.linalg.pinv(x)

    message = refused(forward, X)
    line = forward.__code__.co_firstlineno + 1
    assert message.startswith(f"{__file__}:{line}: error: ")
    assert "aten." in message


def test_random_numbers_are_refused() -> None:
    assert "is random" in refused(lambda x: x + torch.rand(3), X)
    assert "call model.eval() first" in refused(nn.Dropout(0.5), X)


def test_a_dynamic_dimension_is_named() -> None:
    program = torch.export.export(
        nn.Linear(3, 2), (torch.randn(4, 3),), dynamic_shapes=({0: torch.export.Dim("batch")},)
    )
    with pytest.raises(CompileError, match=r"input 'input' has a dynamic dimension: axis 0 .* --input-shape input="):
        vgfc.compile(program)
    fixed = vgfc.compile(program, input_shapes={"input": (7, 3)})
    assert fixed.inputs[0].shape == (7, 3)
    with pytest.raises(CompileError, match="no input is named 'image'; the inputs are: input"):
        vgfc.compile(program, input_shapes={"image": (7, 3)})
    with pytest.raises(CompileError, match=r"input 'input' has shape .* found \(7, 4\)"):
        vgfc.compile(program, input_shapes={"input": (7, 4)})


def test_missing_and_malformed_files(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="no such file"):
        import_program(tmp_path / "absent.pt2")
    (tmp_path / "text.pt2").write_text("not a program")
    with pytest.raises(CompileError, match=r"expected a \.pt2 file"):
        import_program(tmp_path / "text.pt2")
    with pytest.raises(CompileError, match="needs example inputs"):
        import_program(nn.Linear(2, 2))


def test_a_saved_program_is_the_program(tmp_path: Path) -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(3, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            with torch.no_grad():
                first, second = self.linear(x).chunk(2, 1)
            return first * second

    exported = torch.export.export(Model(), (X,))
    torch.export.save(exported, tmp_path / "model.pt2")
    assert str(import_program(tmp_path / "model.pt2")) == str(import_program(exported)) == str(import_program(exported))


def test_operations_are_located_at_the_users_line() -> None:
    def forward(x: torch.Tensor) -> torch.Tensor:
        return torch.abs(x)

    text = import_program(Function(forward), (X,)).operation.get_asm(enable_debug_info=True)
    assert f'{__file__}":{forward.__code__.co_firstlineno + 1}:0' in text


def test_parts_without_gradients_keep_their_lines() -> None:
    def forward(x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            y = torch.abs(x)
        return y + 1

    text = import_program(Function(forward), (X,)).operation.get_asm(enable_debug_info=True)
    assert f'{__file__}":{forward.__code__.co_firstlineno + 2}:0' in text


def test_autocast_computes_as_it_says() -> None:
    def forward(x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return x @ x.t()

    program = compiled(forward, X)
    assert program.outputs[0].dtype == "bfloat16"
    torch.testing.assert_close(program.run(X, device="reference"), forward(X))
