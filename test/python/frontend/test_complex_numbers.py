"""Fourier transforms and complex arithmetic against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import vgfc

fft = torch.fft


class Model(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *tensors: torch.Tensor) -> Any:
        return self.function(*tensors)


def filtered(x: torch.Tensor) -> Any:
    spectrum = fft.rfft(x, dim=1) * torch.complex(torch.tensor(0.5), torch.tensor(0.25))
    return fft.irfft(spectrum, n=8, dim=1), spectrum.abs(), torch.angle(spectrum), spectrum.imag


def arithmetic(x: torch.Tensor) -> Any:
    a, b = fft.fft(x, dim=0), fft.fft(x + 1, dim=0)
    return torch.view_as_real((a + b) * 2 - a / (b + 3) + 1j * b), (a.conj() * a).real


def moved(x: torch.Tensor) -> Any:
    a = fft.fft(x)
    joined = torch.cat([a.transpose(0, 1), a.transpose(0, 1).flip(0)], dim=1)
    return torch.view_as_real(joined[1:, 1:].unsqueeze(0).sum(2))


def built(x: torch.Tensor) -> Any:
    a = torch.polar(x.abs(), x) + torch.view_as_complex(torch.stack([x, x * 2], -1))
    return torch.view_as_real(a / 2)


CASES: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "rfft": (lambda x: torch.view_as_real(fft.rfft(x)), (2, 8)),
    "rfft, odd": (lambda x: torch.view_as_real(fft.rfft(x)), (2, 7)),
    "rfft, padded": (lambda x: fft.rfft(x, n=10).abs(), (2, 8)),
    "rfft, cut, ortho": (lambda x: torch.view_as_real(fft.rfft(x, n=5, norm="ortho")), (2, 8)),
    "rfft, forward": (lambda x: torch.view_as_real(fft.rfft(x, norm="forward")), (2, 8)),
    "irfft": (lambda x: fft.irfft(fft.rfft(x)), (2, 8)),
    "irfft, odd, ortho": (lambda x: fft.irfft(fft.rfft(x), n=7, norm="ortho"), (2, 7)),
    "fft2": (lambda x: torch.view_as_real(fft.fft2(x)), (2, 3, 4)),
    "ifft2": (lambda x: fft.ifft2(fft.fft2(x) * 2, norm="forward").real, (2, 3, 4)),
    "rfft2": (lambda x: torch.view_as_real(fft.rfft2(x)), (2, 4, 6)),
    "irfft2": (lambda x: fft.irfft2(fft.rfft2(x)), (2, 4, 6)),
    "rfftn": (lambda x: torch.view_as_real(fft.rfftn(x, dim=(0, 2))), (2, 4, 6)),
    "filtered": (filtered, (2, 8, 3)),
    "arithmetic": (arithmetic, (4, 3)),
    "moved": (moved, (4, 3)),
    "built": (built, (4, 3)),
}


@pytest.mark.parametrize("name", CASES)
def test_gives_what_pytorch_gives(name: str) -> None:
    function, shape = CASES[name]
    x = torch.randn(shape, generator=torch.Generator().manual_seed(3))
    model = Model(function).eval()
    program = vgfc.compile(model, (x,))
    assert program.report().segments == ["graph"]
    found, wanted = program.run(x, device="reference"), model(x)
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


def test_complex_result_is_refused_with_its_line() -> None:
    with pytest.raises(vgfc.CompileError, match=r"error: .*complex64"):
        vgfc.compile(Model(fft.rfft), (torch.randn(2, 8),))


def test_complex_operator_without_a_form_is_refused() -> None:
    with pytest.raises(vgfc.CompileError, match="complex64"):
        vgfc.compile(Model(lambda x: torch.exp(fft.rfft(x)).abs()), (torch.randn(2, 8),))
