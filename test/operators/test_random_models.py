"""Random models, compiled and run on the TOSA reference model, against PyTorch eager."""

from __future__ import annotations

import copy

import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from random_models import Model, Plan, plans

import vgfc

CHECKS = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


def check(plan: Plan) -> None:
    """Compile a plan and compare; ill-conditioned models, told by float64, are not judged."""
    torch.manual_seed(3)
    model = Model(plan).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
        parameter.requires_grad_(False)
    inputs = tuple(torch.randn(shape) for shape in plan.inputs)
    expected = model(*inputs)
    exact = copy.deepcopy(model).double()(*(tensor.double() for tensor in inputs))
    tolerances = []
    for want, true in zip(expected, exact, strict=True):
        scale = max(1.0, float(true.abs().max()))
        noise = float((want.double() - true).abs().max())
        assume(scale < 1e6 and noise < 1e-4 * scale)
        tolerances.append(2e-5 * scale + 30 * noise)
    found = vgfc.compile(model, inputs).run(*inputs, device="reference")
    found = found if isinstance(found, tuple) else (found,)
    for want, have, tolerance in zip(expected, found, tolerances, strict=True):
        assert want.shape == have.shape
        assert float((want - have).abs().max()) <= tolerance


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=CHECKS, database=None)
@given(plans())
def test_random_models(plan: Plan) -> None:
    check(plan)


@pytest.mark.long
@settings(max_examples=2000, deadline=None, suppress_health_check=CHECKS, database=None)
@given(plans())
def test_many_random_models(plan: Plan) -> None:
    check(plan)
