"""vgf-convert-torch-joins: concatenation, repetition, reversal and rotation of torch become tosa.concat, tile and reverse.

    %0 = torch.aten.roll %x, %shifts, %axes : !torch.vtensor<[5],f32>, ... -> !torch.vtensor<[5],f32>
becomes, between casts from and to the torch type,
    %1 = tosa.slice %x, ... : (tensor<5xf32>, ...) -> tensor<2xf32>
    %2 = tosa.slice %x, ... : (tensor<5xf32>, ...) -> tensor<3xf32>
    %3 = tosa.concat %1, %2 {axis = 0 : i32} : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>

Parts are brought to the result's type first; the empty vectors that PyTorch skips are left out.

Invalid input: none, shapes have been checked by torch.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from vgfc import build
from vgfc.ir import shape
from vgfc.passmanager import register
from vgfc.torch_conversion import Call, Converter, TorchConversion, carried, torch_shape


def joined(call: Call, values: Sequence[ir.Value]) -> list[ir.Value]:
    """Torch values in the result's element type; PyTorch skips empty vectors."""
    kept = [value for value in values if 0 not in torch_shape(value)]
    return [build.cast(carried(value), call.element) for value in kept]


def convert_cat(call: Call) -> ir.Value:
    rank = max(len(call.result_shape), 1)
    return build.concat(joined(call, call.tensors(0)), call.axis(1, rank))


def convert_stack(call: Call) -> ir.Value:
    rank = len(call.result_shape)
    axis = call.axis(1, rank)
    parts = []
    for value in call.tensors(0):
        dimensions = list(torch_shape(value))
        dimensions.insert(axis, 1)
        parts.append(build.reshape(build.cast(carried(value), call.element), dimensions))
    return build.concat(parts, axis)


def convert_repeat(call: Call) -> ir.Value:
    multiples = call.ints(1)
    value = call.tensor()
    if not multiples:
        return value
    value = build.with_rank(value, len(multiples))
    return build.tile(value, [1] * (len(shape(value)) - len(multiples)) + multiples)


def convert_repeat_interleave(call: Call) -> ir.Value:
    """Each element the same number of times; other counts are not known to TOSA."""
    count = call.integer(1)
    value = call.tensor()
    if not call.has(2):
        value = build.reshape(value, (math.prod(shape(value)),))
        axis = 0
    else:
        axis = call.axis(2, call.rank)
    dimensions = shape(value)
    outer, inner = math.prod(dimensions[: axis + 1]), math.prod(dimensions[axis + 1 :])
    repeated = build.tile(build.reshape(value, (outer, 1, inner)), (1, count, 1))
    return build.reshape(repeated, (*dimensions[:axis], dimensions[axis] * count, *dimensions[axis + 1 :]))


def convert_flip(call: Call) -> ir.Value:
    value = call.tensor()
    for axis in call.ints(1):
        value = build.reverse(value, axis % call.rank)
    return value


def convert_roll(call: Call) -> ir.Value:
    value = call.tensor()
    axes = call.ints(2)
    shifts = call.ints(1)
    if not axes:
        flat = build.reshape(value, (math.prod(shape(value)),))
        return build.reshape(rolled(flat, 0, shifts[0]), shape(value))
    for axis, amount in zip(axes, shifts, strict=True):
        value = rolled(value, axis % call.rank, amount)
    return value


def rolled(value: ir.Value, axis: int, amount: int) -> ir.Value:
    """The value with its last `amount` elements of an axis put first."""
    extent = shape(value)[axis]
    amount %= extent
    if amount == 0:
        return value
    head = build.slice_axis(value, axis, extent - amount, amount)
    return build.concat([head, build.slice_axis(value, axis, 0, extent - amount)], axis)


NAMED: dict[str, Converter] = {
    "cat": convert_cat,
    "concat": convert_cat,
    "stack": convert_stack,
    "repeat": convert_repeat,
    "tile": convert_repeat,
    "repeat_interleave.self_int": convert_repeat_interleave,
    "flip": convert_flip,
    "roll": convert_roll,
}
TABLE = {f"torch.aten.{name}": converter for name, converter in NAMED.items()}


@register
@dataclass(frozen=True)
class ConvertTorchJoins(TorchConversion):
    name = "vgf-convert-torch-joins"
    table = TABLE
