"""The PyTorch operator waves::triangle, and the shader that runs it on the device."""

from pathlib import Path

from vgfc import shaders
from vgfc.diagnostics import CompileError

WORKGROUP = 64  # local_size_x of the shader


def triangle(call: shaders.ShaderCall) -> shaders.Shader:
    """The shader for one call; raises CompileError for anything but a vector of 32-bit floats."""
    (phase,) = call.inputs
    if len(phase.shape) != 1 or phase.element != "f32":
        raise CompileError(f"waves::triangle: expected f32 of rank 1, found {phase.element} of rank {len(phase.shape)}")
    code = (Path(__file__).parent / "triangle.comp").read_text(encoding="utf-8")
    return shaders.Shader(code=code, dispatch_shape=(-(-phase.size // WORKGROUP), 1, 1))


def register_shaders() -> None:
    """What the entry point calls."""
    shaders.register("waves::triangle", triangle)


def define_operator() -> None:
    """Make torch.ops.waves.triangle known to PyTorch, for models that use it; called by those models."""
    import torch

    @torch.library.custom_op("waves::triangle", mutates_args=())
    def triangle_wave(phase: torch.Tensor) -> torch.Tensor:
        y = phase - 0.25
        return 1 - 4 * (y - torch.floor(y + 0.5)).abs()

    @triangle_wave.register_fake
    def _(phase: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(phase)
