"""vgf-convert-torch-attention: scaled_dot_product_attention becomes two matrix products and a softmax.

    %0 = torch.aten.scaled_dot_product_attention %q, %k, %v, %none, ... -> !torch.vtensor<[1,4,64,32],f32>
becomes, between casts from and to the torch type,
    %scores = tosa.matmul (tosa.mul %q, 1 / sqrt(32)), (tosa.transpose %k)
    %1 = tosa.matmul (softmax of %scores), %v

A causal or boolean mask is one tosa.select against -infinity, a floating-point mask one tosa.add. PyTorch gives 0 for a row
whose whole mask is -infinity, where the softmax alone gives NaN: the select that puts this right is only there when the
mask is computed, or is known to have such a row, and asks the mask, not the scores. Scores of 16-bit operands stay in 32
bits until the softmax is done.
"""

import math
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.ir import Array, constant, constant_value, element_type, shape
from vgfc.passmanager import register
from vgfc.torch_conversion import Call, Converter, TorchConversion


def repeated_heads(value: ir.Value, heads: int) -> ir.Value:
    """Key or value heads, each repeated until there are `heads` of them (grouped queries)."""
    dimensions = shape(value)
    own = dimensions[-3]
    if own == heads:
        return value
    apart = build.reshape(value, (math.prod(dimensions[:-3]) * own, 1, dimensions[-2] * dimensions[-1]))
    return build.reshape(build.tile(apart, (1, heads // own, 1)), (*dimensions[:-3], heads, *dimensions[-2:]))


def batched(left: ir.Value, right: ir.Value, element: ir.Type) -> ir.Value:
    """The product over the last two axes, the axes before broadcast."""
    batch = build.broadcast_shape(shape(left)[:-2], shape(right)[:-2])
    count = math.prod(batch)
    rows, inner, columns = *shape(left)[-2:], shape(right)[-1]
    left = build.reshape(build.broadcast_to(left, (*batch, rows, inner)), (count, rows, inner))
    right = build.reshape(build.broadcast_to(right, (*batch, inner, columns)), (count, inner, columns))
    return build.reshape(build.matmul(left, right, element), (*batch, rows, columns))


def transposed(value: ir.Value) -> ir.Value:
    """The value with its last two axes exchanged."""
    rank = len(shape(value))
    return build.transpose(value, [*range(rank - 2), rank - 1, rank - 2])


def masked(call: Call, scores: ir.Value) -> tuple[ir.Value, ir.Value | None]:
    """The scores under the mask, and which rows are masked whole, None where none can be."""
    rank = len(shape(scores))
    rows, columns = shape(scores)[-2:]
    hidden = build.scalar_like(-math.inf, scores)
    if call.flag(5):
        causal = np.tril(np.ones((rows, columns), np.bool_)).reshape((1,) * (rank - 2) + (rows, columns))
        return build.select(constant(causal, build.i1()), scores, hidden), None
    if not call.has(3):
        return scores, None
    mask = call.tensor(3)
    values = constant_value(mask)
    axis = len(shape(mask)) - 1
    if call.dtype(3) == "i1":
        if values is not None and bool(values.all()):
            return scores, None
        empty = None
        if values is None or not bool(values.any(axis=-1).all()):
            empty = build.logical_not(build.reduce("tosa.reduce_any", mask, axis))
        return build.select(mask, scores, hidden), empty
    empty = None
    if values is None or hides_a_row(values):
        hides = build.binary("tosa.equal", mask, build.scalar_like(-math.inf, mask))
        empty = build.reduce("tosa.reduce_all", hides, axis)
    return build.add(scores, build.cast(mask, element_type(scores))), empty


def hides_a_row(mask: Array) -> bool:
    """Whether a floating-point mask is -infinity over a whole row."""
    return bool(np.isneginf(mask.astype(np.float32)).all(axis=-1).any())


def convert_attention(call: Call) -> ir.Value:
    element, wide = call.element, build.f32()
    query, key, value = (call.tensor_as(index, element) for index in range(3))
    if call.real(4, 0.0) != 0:
        raise call.error(f"drops out with probability {call.real(4):g}, expected 0; call model.eval() first")
    if call.flag(7):
        key, value = (repeated_heads(item, shape(query)[-3]) for item in (key, value))
    scale = call.real(6) if call.has(6) else 1 / math.sqrt(shape(query)[-1])
    if scale != 1:
        query = build.mul(query, build.scalar_like(scale, query))
    scores, empty = masked(call, batched(query, transposed(key), wide))
    axis = len(shape(scores)) - 1
    largest = build.reduce("tosa.reduce_max", scores, axis)
    powers = build.unary("tosa.exp", build.sub(scores, largest))
    inverse = build.unary("tosa.reciprocal", build.reduce("tosa.reduce_sum", powers, axis))
    weights = build.mul(powers, inverse)
    if empty is not None:
        weights = build.select(empty, build.scalar_like(0.0, weights), weights)
    return batched(build.cast(weights, element), value, element)


TABLE: dict[str, Converter] = {"torch.aten.scaled_dot_product_attention": convert_attention}


@register
@dataclass(frozen=True)
class ConvertTorchAttention(TorchConversion):
    name = "vgf-convert-torch-attention"
    table = TABLE
