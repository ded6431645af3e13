"""A model with more weights than a FlatBuffer can hold: VGF keeps its constants beside its tables."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from vgfc.vgf_file import decode

ROOT = Path(__file__).parent.parent.parent
WIDTH = 12_544
LAYERS = 4

# The weights are cheap to make and tell their place: each row of a layer has its own number.
COMPILE = """
import json, sys, torch, vgfc
from benchmarks import models
from benchmarks.footprint import measured

class Wide(torch.nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(width, width, bias=False) for _ in range(layers))
        for number, layer in enumerate(self.layers):
            rows = torch.arange(width, dtype=torch.float32) + number * width
            layer.weight.data = rows[:, None].expand(width, width).contiguous()
            layer.weight.data[:, 1] += 0.5

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return x

small, small_inputs, _ = models.get("cnn")
vgfc.compile(small, small_inputs)
width, layers = int(sys.argv[2]), int(sys.argv[3])
program = torch.export.export(Wide(width, layers).eval(), (torch.zeros(1, width),))
weights = sum(tensor.numel() * tensor.element_size() for tensor in program.state_dict.values())
with measured() as footprint:
    vgfc.compile(program).save(sys.argv[1])
print(json.dumps([weights, footprint.peak_bytes - footprint.baseline_bytes, footprint.seconds]))
"""


@pytest.mark.long
def test_weights_of_two_and_a_half_gigabytes(tmp_path: Path) -> None:
    file = tmp_path / "wide.vgf"
    done = subprocess.run(
        [sys.executable, "-c", COMPILE, str(file), str(WIDTH), str(LAYERS)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    weights_bytes, peak_bytes, seconds = json.loads(done.stdout.splitlines()[-1])
    print(f"{weights_bytes / 1e9:.2f} GB of weights, peak {peak_bytes / weights_bytes:.2f} times that, {seconds:.0f} s")
    assert weights_bytes > 2.5e9
    assert peak_bytes < 3 * weights_bytes
    constants = decode(file.read_bytes()).constants
    assert len(constants) == LAYERS
    for number, constant in enumerate(constants):
        weight = np.frombuffer(constant.data, np.float32).reshape(WIDTH, WIDTH)
        rows = np.arange(WIDTH, dtype=np.float32) + number * WIDTH
        np.testing.assert_array_equal(weight[:, 0], rows)
        np.testing.assert_array_equal(weight[:, 1], rows + np.float32(0.5))
        np.testing.assert_array_equal(weight[:, -1], rows)
