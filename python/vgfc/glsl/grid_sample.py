"""torch.nn.functional.grid_sample on images: bilinear and nearest, with zeros, border and reflection padding."""

from __future__ import annotations

from pathlib import Path

from vgfc.diagnostics import CompileError
from vgfc.shaders import MAX_WORKGROUPS, Shader, ShaderCall, register

WORKGROUP = 8  # local_size_x and local_size_y of the shader
SCALARS = {"f32": "float", "f16": "float16_t"}
INTERPOLATIONS = {0: "bilinear", 1: "nearest", 2: "bicubic"}
PADDINGS = {0: "zeros", 1: "border", 2: "reflection"}


def grid_sample(call: ShaderCall) -> Shader:
    """The shader for aten::grid_sampler(input NxCxHxW, grid NxHOxWOx2); raises CompileError for what it does not cover."""
    image, grid = call.inputs
    if len(image.shape) != 4:
        raise CompileError(f"grid_sample: expected an image of rank 4, found rank {len(image.shape)}")
    if image.element not in SCALARS or grid.element != image.element:
        found = f"{image.element} and {grid.element}"
        raise CompileError(f"grid_sample: expected image and grid of f32 or f16, found {found}")
    interpolation = INTERPOLATIONS[call.arguments["interpolation_mode"]]
    if interpolation == "bicubic":
        raise CompileError("grid_sample: expected bilinear or nearest interpolation, found bicubic")
    batch, _, height, width = call.outputs[0].shape
    dispatch = (-(-width // WORKGROUP), -(-height // WORKGROUP), batch)
    if max(dispatch) > MAX_WORKGROUPS:
        raise CompileError(f"grid_sample: {batch}x{height}x{width} samples are more than one dispatch can make")
    return Shader(
        code=(Path(__file__).parent / "grid_sample.comp").read_text(encoding="utf-8"),
        dispatch_shape=dispatch,
        defines={
            "SCALAR": SCALARS[image.element],
            "NEAREST": int(interpolation == "nearest"),
            "PADDING": call.arguments["padding_mode"],
            "ALIGN_CORNERS": int(call.arguments["align_corners"]),
        },
    )


def register_shaders() -> None:
    """Make grid_sample's calls compute segments."""
    register("aten::grid_sampler", grid_sample)
    register("aten::grid_sampler_2d", grid_sample)
