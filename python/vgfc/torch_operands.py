"""Operands of torch's arithmetic: the type that an operator computes in, numbers as tensors, and how integers wrap."""

import math

from torch_mlir import ir

from vgfc import build
from vgfc.ir import element_type, is_float
from vgfc.torch_conversion import Call, is_tensor


def compute_element(call: Call) -> ir.Type:
    """The element type to compute in: the result's, with integers of less than 32 bits widened."""
    element = call.element
    return element if is_float(element) else build.i32()


def operand(call: Call, index: int, element: ir.Type) -> ir.Value:
    """A tensor or number operand as a tensor of an element type."""
    if is_tensor(call.operand(index)):
        return call.tensor_as(index, element)
    number = call.number(index)
    if not is_float(element):
        check_integer(call, number)
        number = math.trunc(number)
    return build.scalar(number, element)


def check_integer(call: Call, number: float) -> None:
    """Raises PassFailure for a number that the 32 bits that carry integers cannot hold."""
    if not -(2**31) <= number < 2**31:
        raise call.error(f"computes with the integer {number}, expected one that 32 bits can carry")


def wrapped(call: Call, value: ir.Value) -> ir.Value:
    """An i32 result as torch's unsigned bytes wrap; other types wrap in the cast back."""
    if call.result_dtype == "ui8":
        return build.binary("tosa.bitwise_and", value, build.scalar_like(255, value))
    return value


def scaled(call: Call, value: ir.Value, index: int) -> ir.Value:
    """`value` times the number operand at `index` (alpha, beta), left out when it is 1."""
    factor = call.number(index) if call.has(index) else 1
    return value if factor == 1 else build.mul(value, operand(call, index, element_type(value)))
