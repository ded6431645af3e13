"""Random models, quantised and compiled: as near to the model as PyTorch's quantised graph is.

Codes that round to the other side of a half change what follows them, so that two right programs differ; how far they are
from the model in floating point tells a fault from that.
"""

from __future__ import annotations

import warnings

import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from random_models import Model, Plan, plans

import vgfc

CHECKS = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
INT, INT16 = "TOSA-1.0+INT", "TOSA-1.0+INT+int16"
KINDS = [("int8", INT), ("int8", INT16), ("int16x8", INT16), ("int8", None), ("int16x8", None)]
SAMPLES = 4
WORSE = 3.0  # times the error of PyTorch's quantised graph, and as many codes of the result


def check(plan: Plan, config: str, target: str | None) -> None:
    """Quantise, compile and compare over the calibration inputs; what has no integer form may be refused by name."""
    torch.manual_seed(3)
    model = Model(plan).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
        parameter.requires_grad_(False)
    samples = [tuple(torch.randn(shape) for shape in plan.inputs) for _ in range(SAMPLES)]
    exact = [model(*sample) for sample in samples]
    assume(all(bool(value.isfinite().all()) and float(value.abs().max()) < 1e6 for values in exact for value in values))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quantised = vgfc.quantize(model, samples, config)
        try:
            program = vgfc.compile(quantised, samples[0], target=target)
        except vgfc.CompileError as refusal:
            assert target is not None, refusal
            assert "has no floating point" in refusal.message or "which target" in refusal.message
            return
    errors: dict[int, list[torch.Tensor]] = {}
    for sample, true in zip(samples, exact, strict=True):
        wanted = quantised(*sample)
        found = program.run(*sample, device="reference")
        found = found if isinstance(found, tuple) else (found,)
        for index, (real, want, have) in enumerate(zip(true, wanted, found, strict=True)):
            assert want.shape == have.shape
            errors.setdefault(index, []).append(torch.stack([(want - real).flatten(), (have - real).flatten()]))
    for index, parts in errors.items():
        theirs, ours = torch.cat(parts, 1).double().pow(2).mean(1).sqrt().tolist()
        real = torch.cat([values[index].flatten() for values in exact])
        code = float(real.abs().max()) / (2**15 if config == "int16x8" else 2**7)
        assert ours <= WORSE * (theirs + code), (
            f"result {index}: error {ours:g}, PyTorch's {theirs:g}, a code is {code:g}"
        )


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=CHECKS, database=None)
@given(plans(), st.sampled_from(KINDS))
def test_random_quantized_models(plan: Plan, kind: tuple[str, str | None]) -> None:
    check(plan, *kind)


@pytest.mark.long
@settings(max_examples=2000, deadline=None, suppress_health_check=CHECKS, database=None)
@given(plans(), st.sampled_from(KINDS))
def test_many_random_quantized_models(plan: Plan, kind: tuple[str, str | None]) -> None:
    check(plan, *kind)
