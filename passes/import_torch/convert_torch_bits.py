"""vgf-convert-torch-bits: bit operations and shifts of torch become those of TOSA.

    %0 = torch.aten.__lshift__.Scalar %x, %int2 : !torch.vtensor<[3],si32>, !torch.int -> !torch.vtensor<[3],si32>
becomes, between casts from and to the torch type,
    %1 = tosa.logical_left_shift %x, %two : (tensor<3xi32>, tensor<1xi32>) -> tensor<3xi32>

On booleans they are logical operators. A shift by the width or more, which TOSA leaves undefined, gives what PyTorch gives:
0, or the sign for a shift to the right.
"""

from dataclasses import dataclass

from torch_mlir import ir

from vgfc import build
from vgfc.passmanager import register
from vgfc.torch_conversion import Call, Converter, Table, TorchConversion, aten, is_tensor
from vgfc.torch_operands import compute_element, operand, wrapped


def bitwise(name: str) -> Converter:
    """A converter to a bitwise operator, or to the logical one for booleans."""

    def converter(call: Call) -> ir.Value:
        if call.result_dtype == "i1":
            return build.binary(f"tosa.logical_{name}", operand(call, 0, build.i1()), operand(call, 1, build.i1()))
        element = compute_element(call)
        return build.binary(f"tosa.bitwise_{name}", operand(call, 0, element), operand(call, 1, element))

    return converter


def convert_bitwise_not(call: Call) -> ir.Value:
    if call.result_dtype == "i1":
        return build.logical_not(call.tensor(0))
    return wrapped(call, build.unary("tosa.bitwise_not", call.tensor_as(0, build.i32())))


def shift(to_left: bool) -> Converter:
    """A converter for shifts; PyTorch gives 0 (or the sign) for amounts of at least the width, TOSA gives nothing certain."""

    def converter(call: Call) -> ir.Value:
        value, amount = operand(call, 0, build.i32()), operand(call, 1, build.i32())
        bits = {"si8": 8, "ui8": 8, "si16": 16, "si32": 32, "si64": 64}[call.result_dtype]
        if not is_tensor(call.operand(1)):
            number = int(call.number(1))
            if not 0 <= number < min(bits, 32):
                raise call.error(f"by {number} bits, expected 0 to {min(bits, 32) - 1}")
        else:
            # an amount that no shift can have is limited for TOSA, and its result put right below
            fits = build.binary("tosa.greater", build.scalar_like(min(bits, 32), amount), amount)
            amount = build.clamp(amount, 0, 31)
            if to_left:
                shifted = build.binary("tosa.logical_left_shift", value, amount)
                return wrapped(call, build.select(fits, shifted, build.scalar_like(0, shifted)))
        name = "tosa.logical_left_shift" if to_left else "tosa.arithmetic_right_shift"
        return wrapped(call, build.binary(name, value, amount))

    return converter


TABLE: Table = {
    **aten("bitwise_and.Tensor bitwise_and.Scalar __and__.Tensor __and__.Scalar", bitwise("and")),
    **aten("bitwise_or.Tensor bitwise_or.Scalar __or__.Tensor __or__.Scalar", bitwise("or")),
    **aten("bitwise_xor.Tensor bitwise_xor.Scalar __xor__.Tensor __xor__.Scalar", bitwise("xor")),
    **aten("bitwise_not", convert_bitwise_not),
    **aten(
        "bitwise_left_shift.Tensor bitwise_left_shift.Tensor_Scalar __lshift__.Tensor __lshift__.Scalar",
        shift(to_left=True),
    ),
    **aten(
        "bitwise_right_shift.Tensor bitwise_right_shift.Tensor_Scalar __rshift__.Tensor __rshift__.Scalar",
        shift(to_left=False),
    ),
}


@register
@dataclass(frozen=True)
class ConvertTorchBits(TorchConversion):
    name = "vgf-convert-torch-bits"
    table = TABLE
