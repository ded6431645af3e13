"""vgf-convert-torch-creation: tensors that depend on no input become constants, and conversions of type become casts.

    %0 = torch.aten.arange.start_step %int0, %int6, %int2, ... -> !torch.vtensor<[3],si64>
becomes, between casts from and to the torch type,
    %1 = "tosa.const"() <{values = dense<[0, 2, 4]> : tensor<3xi32>}>

Values are computed as PyTorch computes them: arange in 64-bit floating point, linspace from both ends towards the middle.
A conversion of floating point to integers rounds towards zero, one to booleans asks whether a value is not 0. Assertions
of exported programs, which have no results, go away.
"""

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from vgfc import build
from vgfc.ir import Array, constant, is_float, numpy_type
from vgfc.passmanager import register
from vgfc.torch_conversion import Call, Converter, TorchConversion, check_range, is_tensor


def made(call: Call, values: Array) -> ir.Value:
    """A constant of the result's type."""
    if not is_float(call.element):
        check_range(call.op, values)
    return constant(values.astype(numpy_type(call.element)).reshape(call.result_shape or (1,)), call.element)


def filled(index: int | None, number: float | int | None = None) -> Converter:
    """A converter for a tensor of one number: the operand at `index`, or `number`."""

    def converter(call: Call) -> ir.Value:
        if index is not None and is_tensor(call.operand(index)):
            return build.broadcast_to(call.tensor_as(index, call.element), call.result_shape or (1,))
        value = call.number(index) if index is not None else number
        assert value is not None, "one of the two is given"
        dtype = np.float64 if is_float(call.element) else np.bool_ if call.result_dtype == "i1" else np.int64
        return made(call, np.full(call.result_shape, value, dtype))

    return converter


def arange(start: int | None, step: int | None) -> Converter:
    """A converter for arange; start and step are these operands, or 0 and 1. The result's shape tells where it ends."""

    def converter(call: Call) -> ir.Value:
        first = call.number(start) if start is not None else 0
        distance = call.number(step) if step is not None else 1
        count = call.result_shape[0]
        if is_float(call.element):
            return made(call, float(first) + np.arange(count, dtype=np.float64) * float(distance))
        return made(call, int(first) + np.arange(count, dtype=np.int64) * int(distance))

    return converter


def convert_linspace(call: Call) -> ir.Value:
    count = call.result_shape[0]
    compute = np.float32 if is_float(call.element) else np.float64
    start: Array = np.full(count, call.number(0), compute)
    end: Array = np.full(count, call.number(1), compute)
    step: Array = (end - start) / np.full(count, max(count - 1, 1), compute)
    index: Array = np.arange(count).astype(compute)
    up, down = start + step * index, end - step * (np.full(count, count - 1, compute) - index)
    return made(call, np.where(np.arange(count) < max(count // 2, 1), up, down))


def convert_eye(call: Call) -> ir.Value:
    return made(call, np.eye(call.result_shape[0], call.result_shape[1], dtype=np.int64))


def convert_cast(call: Call) -> ir.Value:
    value = call.tensor_as(0, call.element)
    if call.result_dtype == "ui8" and call.dtype(0) != "ui8":
        return build.binary("tosa.bitwise_and", value, build.scalar_like(255, value))
    return value


def convert_random(call: Call) -> ir.Value:
    raise call.error("is random, which a VGF cannot be; make the numbers outside and pass them in as an input")


def convert_nothing(call: Call) -> list[ir.Value]:
    return []


CASTS = (
    "to.dtype", "to.dtype_layout", "to.device", "to.other", "to.prim_Device", "_to_copy", "type_as", "_cast_Float",
    "_cast_Long",
)  # fmt: skip
CHECKS = (
    "_assert_tensor_metadata", "_assert_tensor_metadata.default", "_assert_scalar", "_assert_async.msg", "_assert_async",
    "sym_constrain_range", "sym_constrain_range_for_size",
)  # fmt: skip
RANDOM = (
    "rand", "randn", "randint", "rand_like", "randn_like", "randint_like", "bernoulli", "bernoulli.p", "uniform", "randint.low",
    "normal_functional", "multinomial", "randperm",
)  # fmt: skip
NAMED: dict[str, Converter] = {
    "full": filled(1),
    "full_like": filled(1),
    "new_full": filled(2),
    "scalar_tensor": filled(0),
    "tensor.int": filled(0),
    "tensor.float": filled(0),
    "tensor.bool": filled(0),
    **dict.fromkeys(("zeros", "zeros_like", "new_zeros", "empty.memory_format", "empty_like"), filled(None, 0)),
    **dict.fromkeys(("new_empty", "empty_strided", "new_empty_strided", "empty_permuted"), filled(None, 0)),
    **dict.fromkeys(("ones", "ones_like", "new_ones"), filled(None, 1)),
    "arange": arange(None, None),
    "arange.start": arange(0, None),
    "arange.start_step": arange(0, 2),
    "linspace": convert_linspace,
    "eye": convert_eye,
    "eye.m": convert_eye,
    **dict.fromkeys(CASTS, convert_cast),
    **dict.fromkeys(CHECKS, convert_nothing),
    **dict.fromkeys(RANDOM, convert_random),
}
TABLE: dict[str, Converter] = {
    **{f"torch.aten.{name}": converter for name, converter in NAMED.items()},
    "torch.prims.convert_element_type": convert_cast,
    "torch.prim.NumToTensor.Scalar": filled(0),
}


@register
@dataclass(frozen=True)
class ConvertTorchCreation(TorchConversion):
    name = "vgf-convert-torch-creation"
    table = TABLE
