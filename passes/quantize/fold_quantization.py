"""vgf-fold-quantization: floating-point arithmetic between vgf.dequantize and vgf.quantize becomes integer TOSA.

    %0 = "vgf.dequantize"(%x) ... ; %1 = tosa.conv2d %0, %weight, %bias ... f32 ; %2 = "vgf.quantize"(%1) ...
becomes
    %1 = tosa.conv2d %x, %codes, %bias_codes, %zero_point ... i32 ; %2 = tosa.rescale %1 ... i8

What happens to each operator is in `vgfc.integer.fold`; what decides is only what the IR says, never who quantised the
model. Arithmetic that has no integer form stays, with its quantize and dequantize, when the target has floating point, and
is refused by name when it has not.
"""

from dataclasses import dataclass

from torch_mlir import ir

from vgfc.build import COMPARISONS
from vgfc.diagnostics import fail
from vgfc.integer.comparisons import is_float_tensor
from vgfc.integer.fold import QuantizeFolder
from vgfc.integer.forms import NotInteger
from vgfc.ir import element_type, erase_unused, functions, operations
from vgfc.passmanager import Pass, register
from vgfc.target import Target, target_of


@register
@dataclass(frozen=True)
class FoldQuantization(Pass):
    name = "vgf-fold-quantization"

    def run(self, module: ir.Module) -> None:
        target = target_of(module)
        if "INT" not in target.profiles:
            return
        for function in functions(module):
            quantizes = [op for op in operations(function) if op.name == "vgf.quantize"]
            is_fine = any(str(element_type(op.result)) == "i16" for op in quantizes)
            # A chain that ends in a quantize or a cast takes the comparisons inside it along; what is left of them comes after.
            for names in (("vgf.quantize",), ("tosa.cast",), ("tosa.argmax", *COMPARISONS)):
                fold_roots(function, names, target, is_fine)


def move_dequantize_to_the_end(function: ir.OpView, folder: QuantizeFolder) -> None:
    """Let what only moves data before a return move codes, with the dequantize after it."""
    leave = list(function.entry_block.operations)[-1].operation
    for index, value in enumerate(leave.operands):
        try:
            real = folder.dequantized(value, leave)
        except NotInteger:
            continue
        if real is not None:
            leave.operands[index] = real


def fold_roots(function: ir.OpView, names: tuple[str, ...], target: Target, is_fine: bool) -> None:
    """Fold what ends in operators of these names, and drop what nothing reads any more; see `Folder` for `is_fine`."""
    folder = QuantizeFolder("int16" in target.extensions, "int4" in target.extensions, is_fine)
    for op in operations(function):
        if op.name not in names or not is_float_tensor(op.operands[0]):
            continue
        if op.name == "vgf.quantize" and reads_argument(op):
            continue
        if op.name == "tosa.cast" and is_float_tensor(op.result):
            continue
        try:
            codes = folder.fold(op)
        except NotInteger as refusal:
            if "FP" in target.profiles:
                continue
            raise fail(refusal.op, f"{refusal.reason}, and target {target} has no floating point") from None
        op.result.replace_all_uses_with(codes)
    if "vgf.quantize" in names:
        move_dequantize_to_the_end(function, folder)
    del folder
    erase_unused(function)


def reads_argument(op: ir.Operation) -> bool:
    """Whether this is the model's own first quantize."""
    return isinstance(op.operands[0].owner, ir.Block)
