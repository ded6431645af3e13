"""The networks of Arm's Neural Graphics Model Gym, loaded past the package's own imports, which want ExecuTorch.

tools/setup.sh installs the package without its dependencies; they are skipped only where that was not possible. ExecuTorch
1.5.1 has 38 and 37 operators in int8, sessions of 1507328 and 2883584 bytes, and 50.5 dB for the second network.
"""

from __future__ import annotations

import importlib
import sys
import types
from importlib.util import find_spec
from typing import Any

import pytest
import torch

import vgfc
from benchmarks.measure import sqnr_db

PACKAGE = "ng_model_gym"
pytestmark = pytest.mark.skipif(find_spec(PACKAGE) is None, reason="needs pip install --no-deps ng-model-gym==0.4.0")
NSS = (f"{PACKAGE}.usecases.nss.model.model_blocks_v1", "AutoEncoderV1", (1, 12, 128, 128))
NFRU = (f"{PACKAGE}.usecases.nfru.model.nfru_v1_nn", "NFRUAutoEncoder", (1, 16, 128, 128))


@pytest.fixture(autouse=True)
def empty_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one package on the way to the networks whose __init__ imports ExecuTorch, without that file."""
    package = types.ModuleType(f"{PACKAGE}.core.model")
    found = find_spec(package.__name__)
    assert found is not None and found.submodule_search_locations is not None
    package.__path__ = list(found.submodule_search_locations)
    monkeypatch.setitem(sys.modules, package.__name__, package)


def network(module: str, name: str, shape: tuple[int, ...]) -> tuple[torch.nn.Module, list[tuple[torch.Tensor]]]:
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    model: torch.nn.Module = getattr(importlib.import_module(module), name)().eval()
    return model, [(torch.rand(shape, generator=generator),) for _ in range(9)]


def listed(values: Any) -> list[torch.Tensor]:
    return list(values) if isinstance(values, tuple) else [values]


def check(
    model: torch.nn.Module,
    program: vgfc.Program,
    inputs: tuple[torch.Tensor],
    operators: int,
    session_bytes: int,
    least_db: float,
) -> None:
    """Not more operators and session bytes than this, and results on Vulkan that are near the model's."""
    report = program.report()
    assert sum(report.operators.values()) <= operators
    assert report.memory.session_bytes <= session_bytes
    with torch.no_grad():
        wanted = listed(model(*inputs))
    for want, have in zip(wanted, listed(program.run(*inputs, device="vulkan")), strict=True):
        assert sqnr_db(want, have) >= least_db


@pytest.mark.parametrize(("where", "operators", "session_bytes"), [(NSS, 36, 4079616), (NFRU, 36, 7340032)])
def test_fp32(where: tuple[str, str, tuple[int, ...]], operators: int, session_bytes: int) -> None:
    model, (inputs, *_) = network(*where)
    check(model, vgfc.compile(model, inputs), inputs, operators, session_bytes, 100)


@pytest.mark.parametrize(
    ("where", "operators", "session_bytes", "least_db"), [(NSS, 38, 1507328, 50.0), (NFRU, 37, 2883584, 50.5)]
)
def test_int8(where: tuple[str, str, tuple[int, ...]], operators: int, session_bytes: int, least_db: float) -> None:
    model, (inputs, *samples) = network(*where)
    program = vgfc.compile(vgfc.quantize(model, samples), inputs, target="TOSA-1.0+INT")
    check(model, program, inputs, operators, session_bytes, least_db)
    assert '"scale"' in program.io_metadata()
