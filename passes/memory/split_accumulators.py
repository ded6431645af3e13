"""vgf-split-accumulators: compute integer sums in groups of channels where they hold the peak of a graph segment's session.

An integer convolution makes int32 sums that a rescale turns to int8 at once. They are four times as large as what goes in and
comes out, and what the runtime's session is full with:

    %0 = tosa.conv2d %x, %weight, ... : tensor<1x112x112x64xi32>
    %1 = tosa.rescale %0, ... : tensor<1x112x112x64xi8>
becomes
    %0 = tosa.conv2d %x, %weight_0, ... : tensor<1x112x112x32xi32>
    %1 = tosa.rescale %0, ... : tensor<1x112x112x32xi8>
    %2 = tosa.conv2d %x, %weight_1, ... : tensor<1x112x112x32xi32>
    %3 = tosa.rescale %2, ... : tensor<1x112x112x32xi8>
    %4 = tosa.concat %1, %3 {axis = 3 : i32} : tensor<1x112x112x64xi8>

A depthwise convolution that follows goes with its channels. Nothing is computed twice and every sum is of the same numbers, so
results are equal to the bit. Only what is near the peak is cut, into at most `parts`, and only where each operator more saves
`price` percent of the session; sessions below `smallest-bytes` stay as they are, as an operator costs more than they do. For
longer stretches, stripes, and floating point see vgf-stripe.

A module with `vgf.stripe = false` is left alone, and one with `vgf.exact` that says nothing about stripes: a VGF that is
compiled again gets no operator more.

Invalid input: none, what has no such sums or nothing to save is left alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from torch_mlir import ir

from vgfc.ir import element_type, functions, segment_kind, shape
from vgfc.passmanager import EXACT, Pass, register
from vgfc.segments import wants_stripes
from vgfc.stretches import Stretch, stretches
from vgfc.stripe_search import Limits, Segment, cut

SUMS = ("i32", "i48")
LONGEST = 4  # an expansion and its rescale, a depthwise convolution and its


def groups(segment: Segment) -> Iterator[Stretch]:
    """Stretches around the peak that make integer sums and end in a rescale, to be cut along the channels."""
    for stretch in stretches(segment.described, segment.worth_cutting(), LONGEST):
        ops = [segment.described.operations[index] for index in stretch.members]
        if ops[-1].name != "tosa.rescale" or stretch.axis != len(shape(ops[-1].result)) - 1:
            continue
        if any(str(element_type(op.result)) in SUMS for op in ops):
            yield stretch


def is_wanted(module: ir.Module) -> bool:
    """Whether the user wants parts, or says nothing and takes other operators than those that came in."""
    wanted = wants_stripes(module)
    return EXACT not in module.operation.attributes if wanted is None else wanted


@register
@dataclass(frozen=True)
class SplitAccumulators(Pass):
    name = "vgf-split-accumulators"
    parts: int = 4
    price: float = 4.0
    smallest_bytes: int = 262144

    def run(self, module: ir.Module) -> None:
        if not is_wanted(module):
            return
        limits = Limits(self.parts, recompute=0, price=self.price, smallest_bytes=self.smallest_bytes)
        for function in functions(module):
            if segment_kind(function) == "graph":
                cut(function, [groups], limits)
