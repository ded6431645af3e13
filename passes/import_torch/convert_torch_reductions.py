"""vgf-convert-torch-reductions: sums, means, extremes, norms, variances and running sums of torch become TOSA.

    %0 = torch.aten.mean.dim %x, %axes, %false, %none : !torch.vtensor<[2,8],f32>, ... -> !torch.vtensor<[2],f32>
becomes, between casts from and to the torch type,
    %1 = tosa.reduce_sum %0 {axis = 1 : i32} : (tensor<2x8xf32>) -> tensor<2x1xf32>
    %2 = tosa.mul %1, %eighth
    %3 = tosa.reshape %2, %shape : (tensor<2x1xf32>, !tosa.shape<1>) -> tensor<2xf32>

16-bit operands are summed in 32 bits, as PyTorch does. A running sum is made of log2(n) shifted sums: a product with a
triangle of ones would be one operator, but would turn one infinity into NaN everywhere.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from vgfc import build
from vgfc.ir import element_type, is_float, shape
from vgfc.passmanager import register
from vgfc.torch_conversion import Call, Converter, Table, TorchConversion, aten, carried_type, float_compute


def compute_element(call: Call) -> ir.Type:
    """The element type to sum in."""
    element = call.element
    return float_compute(element) if is_float(element) else build.i32()


def finished(call: Call, value: ir.Value, index: int = 0) -> ir.Value:
    """A result with its reduced axes dropped where the operator drops them."""
    return build.reshape(value, shape(carried_type(call.op.results[index])))


def axes_of(call: Call, index: int | None) -> list[int]:
    """The axes that an operand names, all of them when it names none or is not there."""
    if index is None or not call.has(index):
        return list(range(call.rank))
    owner = call.operand(index).owner
    if not isinstance(owner, ir.Block) and owner.operation.name == "torch.prim.ListConstruct":
        return call.axes(index, call.rank)
    return [call.axis(index, call.rank)]


def count_of(value: ir.Value, axes: Sequence[int]) -> int:
    """The number of elements that a reduction over these axes takes together."""
    return math.prod(shape(value)[axis] for axis in axes)


def times(value: ir.Value, factor: float) -> ir.Value:
    """value * factor."""
    return value if factor == 1 else build.mul(value, build.scalar_like(factor, value))


def total(value: ir.Value, axes: Sequence[int]) -> ir.Value:
    """The sum over axes, which stay."""
    return build.reduce_axes("tosa.reduce_sum", value, axes)


def mean(value: ir.Value, axes: Sequence[int]) -> ir.Value:
    """The mean over axes, which stay."""
    return times(total(value, axes), 1 / count_of(value, axes))


def sum_over(axes: int | None) -> Converter:
    """A converter for a sum over the axes that an operand names."""
    return lambda call: finished(call, total(call.tensor_as(0, compute_element(call)), axes_of(call, axes)))


def mean_over(axes: int | None) -> Converter:
    """A converter for a mean over the axes that an operand names."""
    return lambda call: finished(call, mean(call.tensor_as(0, compute_element(call)), axes_of(call, axes)))


def extreme_over(name: str, axes: int | None) -> Converter:
    """A converter for a maximum or minimum."""

    def converter(call: Call) -> ir.Value:
        if call.dtype() == "i1":
            logical = "tosa.reduce_any" if name == "tosa.reduce_max" else "tosa.reduce_all"
            return finished(call, build.reduce_axes(logical, call.tensor(), axes_of(call, axes)))
        return finished(call, build.reduce_axes(name, call.tensor(), axes_of(call, axes)))

    return converter


def comparable(call: Call) -> ir.Value:
    """The first operand in a type that has an argmax: narrow integers and booleans widened."""
    value = call.tensor()
    return value if is_float(element_type(value)) else build.cast(value, build.i32())


def place(value: ir.Value, axis: int, largest: bool) -> ir.Value:
    """The place of the first largest or smallest element along an axis, which goes away."""
    if largest:
        return build.argmax(value, axis)
    flipped = build.negate(value) if is_float(element_type(value)) else build.unary("tosa.bitwise_not", value)
    return build.argmax(flipped, axis)


def extreme_with_place(largest: bool) -> Converter:
    """A converter for max.dim and min.dim, which give value and place."""

    def converter(call: Call) -> list[ir.Value]:
        axis = call.axis(1, len(call.shape()))
        value = call.tensor()
        if call.dtype() == "i1":
            raise call.error("of booleans along an axis is not supported, use any or all")
        best = build.reduce("tosa.reduce_max" if largest else "tosa.reduce_min", value, axis)
        found = place(comparable(call), axis, largest)
        return [finished(call, best), finished(call, found, 1)]

    return converter


def place_over(largest: bool) -> Converter:
    """A converter for argmax and argmin."""

    def converter(call: Call) -> ir.Value:
        value = comparable(call)
        if not call.has(1):
            value = build.reshape(value, (math.prod(shape(value)),))
            return finished(call, build.reshape(place(value, 0, largest), (1,)))
        return finished(call, place(value, call.axis(1, len(shape(value))), largest))

    return converter


def truth_over(name: str, axes: int | None) -> Converter:
    """A converter for any and all."""
    return lambda call: finished(call, build.reduce_axes(name, call.tensor_as(0, build.i1()), axes_of(call, axes)))


def product_over(axes: int | None) -> Converter:
    """A converter for a product; TOSA has none of integers."""

    def converter(call: Call) -> ir.Value:
        element = compute_element(call)
        if not is_float(element):
            raise call.error("of integers has no form in TOSA 1.0, expected floating point")
        return finished(call, build.reduce_axes("tosa.reduce_product", call.tensor_as(0, element), axes_of(call, axes)))

    return converter


# Variance


def variance(value: ir.Value, axes: Sequence[int], correction: float) -> tuple[ir.Value, ir.Value]:
    """Variance and mean over axes, which stay; correction is 1 for the unbiased one."""
    middle = mean(value, axes)
    apart = build.sub(value, middle)
    freedom = max(count_of(value, axes) - correction, 0)
    factor = 1 / freedom if freedom else math.inf
    return build.mul(total(build.mul(apart, apart), axes), build.scalar_like(factor, middle)), middle


def spread(root: bool, with_mean: bool, form: str) -> Converter:
    """A converter for var, std, var_mean and std_mean in their overloads."""

    def converter(call: Call) -> list[ir.Value]:
        value = call.tensor_as(0, float_compute(call.element))
        if form == "correction":
            correction = float(call.number(2)) if call.has(2) else 1.0
            axes = axes_of(call, 1)
        elif form == "dim":
            correction, axes = float(call.flag(2, True)), axes_of(call, 1)
        else:
            correction, axes = float(call.flag(1, True)), axes_of(call, None)
        result, middle = variance(value, axes, correction)
        result = build.square_root(result) if root else result
        found = [finished(call, result)]
        return [*found, finished(call, middle, 1)] if with_mean else found

    return converter


# Norms


def norm(value: ir.Value, order: float, axes: Sequence[int]) -> ir.Value:
    """The vector norm of this order over axes, which stay."""
    size = build.unary("tosa.abs", value)
    if order == math.inf:
        return build.reduce_axes("tosa.reduce_max", size, axes)
    if order == -math.inf:
        return build.reduce_axes("tosa.reduce_min", size, axes)
    if order == 0:
        nonzero = build.cast(build.binary("tosa.greater", size, build.scalar_like(0.0, size)), element_type(size))
        return total(nonzero, axes)
    if order == 1:
        return total(size, axes)
    if order == 2:
        return build.square_root(total(build.mul(value, value), axes))
    powered = build.binary("tosa.pow", size, build.scalar_like(order, size))
    summed = total(powered, axes)
    return build.binary("tosa.pow", summed, build.scalar_like(1 / order, summed))


def norm_over(order: int | None, axes: int | None) -> Converter:
    """A converter for norms whose order and axes are these operands."""

    def converter(call: Call) -> ir.Value:
        value = call.tensor_as(0, float_compute(call.element))
        power = float(call.number(order)) if order is not None and call.has(order) else 2.0
        return finished(call, norm(value, power, axes_of(call, axes)))

    return converter


def convert_cdist(call: Call) -> ir.Value:
    """The distance of every row of one operand from every row of the other."""
    left, right = (call.tensor_as(index, float_compute(call.element)) for index in (0, 1))
    *batch, rows, width = shape(left)
    columns = shape(right)[-2]
    left = build.reshape(left, (*batch, rows, 1, width))
    right = build.reshape(right, (*shape(right)[:-2], 1, columns, width))
    apart = build.sub(left, right)
    return finished(call, norm(apart, float(call.number(2)), [len(shape(apart)) - 1]))


def convert_logsumexp(call: Call) -> ir.Value:
    value, axes = call.tensor_as(0, float_compute(call.element)), axes_of(call, 1)
    largest = build.reduce_axes("tosa.reduce_max", value, axes)
    # an infinite maximum is not subtracted, since infinity minus itself is NaN
    bounded = build.binary("tosa.greater", build.scalar_like(math.inf, largest), build.unary("tosa.abs", largest))
    offset = build.select(bounded, largest, build.scalar_like(0.0, largest))
    summed = total(build.unary("tosa.exp", build.sub(value, offset)), axes)
    return finished(call, build.add(build.unary("tosa.log", summed), offset))


def running(name: str, start: float) -> Converter:
    """A converter for a running sum or product along an axis (Hillis and Steele, 1986)."""

    def converter(call: Call) -> ir.Value:
        value = call.tensor_as(0, compute_element(call))
        axis = call.axis(1, len(shape(value)))
        count, step = shape(value)[axis], 1
        while step < count:
            earlier = build.slice_axis(value, axis, 0, count - step)
            padding = [(step if other == axis else 0, 0) for other in range(len(shape(value)))]
            value = build.binary(name, value, build.pad(earlier, padding, start))
            step *= 2
        return value

    return converter


def spreads(stem: str, root: bool, with_mean: bool) -> dict[str, Converter]:
    """The three overloads of var and its kin."""
    return {
        f"torch.aten.{stem}{'.' + form if form else ''}": spread(root, with_mean, form)
        for form in ("", "dim", "correction")
    }


TABLE: Table = {
    **aten("sum", sum_over(None)),
    **aten("sum.dim_IntList", sum_over(1)),
    **aten("mean", mean_over(None)),
    **aten("mean.dim", mean_over(1)),
    **aten("amax", extreme_over("tosa.reduce_max", 1)),
    **aten("amin", extreme_over("tosa.reduce_min", 1)),
    **aten("max", extreme_over("tosa.reduce_max", None)),
    **aten("min", extreme_over("tosa.reduce_min", None)),
    **aten("max.dim", extreme_with_place(largest=True)),
    **aten("min.dim", extreme_with_place(largest=False)),
    **aten("argmax", place_over(largest=True)),
    **aten("argmin", place_over(largest=False)),
    **aten("any", truth_over("tosa.reduce_any", None)),
    **aten("any.dim any.dims", truth_over("tosa.reduce_any", 1)),
    **aten("all", truth_over("tosa.reduce_all", None)),
    **aten("all.dim all.dims", truth_over("tosa.reduce_all", 1)),
    **aten("prod", product_over(None)),
    **aten("prod.dim_int", product_over(1)),
    **spreads("var", root=False, with_mean=False),
    **spreads("std", root=True, with_mean=False),
    **spreads("var_mean", root=False, with_mean=True),
    **spreads("std_mean", root=True, with_mean=True),
    **aten("linalg_vector_norm", norm_over(1, 2)),
    **aten("norm.Scalar", norm_over(1, None)),
    **aten("norm.ScalarOpt_dim norm.ScalarOpt_dim_dtype", norm_over(1, 2)),
    **aten("frobenius_norm.dim", norm_over(None, 1)),
    **aten("_cdist_forward", convert_cdist),
    **aten("logsumexp", convert_logsumexp),
    **aten("cumsum", running("tosa.add", 0.0)),
    **aten("cumprod", running("tosa.mul", 1.0)),
}


@register
@dataclass(frozen=True)
class ConvertTorchReductions(TorchConversion):
    name = "vgf-convert-torch-reductions"
    table = TABLE
