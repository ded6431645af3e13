"""vgf-stripe: compute the operators around a graph segment's peak part by part, so that its large tensors never live whole.

Between two small tensors there is often a large one: an expansion before a depthwise convolution, a convolution before a pool,
int32 accumulators before they are rescaled. Such a stretch of operators is computed in parts of its result, one after the
other, and the parts are put together:

    %0 = tosa.conv2d %x, %weight, ... : tensor<1x56x56x96xi32>
    %1 = tosa.rescale %0, ... : tensor<1x56x56x96xi8>
becomes
    %0 = tosa.conv2d %x, %weight_0, ... : tensor<1x56x56x48xi32>
    %1 = tosa.rescale %0, ... : tensor<1x56x56x48xi8>
    %2 = tosa.conv2d %x, %weight_1, ... : tensor<1x56x56x48xi32>
    %3 = tosa.rescale %2, ... : tensor<1x56x56x48xi8>
    %4 = tosa.concat %1, %3 {axis = 3 : i32} : tensor<1x56x56x96xi8>

Parts may be stripes along the height, whose convolutions overlap, or groups of output channels, which compute nothing twice;
`vgfc.striping` has the rules and `vgfc.stripe_search` the search. Every element is computed from the same numbers as before.
The stretch, the axis and the number of parts are those that save most of the runtime's session
(`vgfc.planning.runtime_model`), where every operator more has to save `price` percent; this is repeated until nothing does.
What is computed twice may be `recompute` percent of the segment's multiplications in all, and no stretch is cut into more than
`parts`.

With `on-request` only modules with the attribute `vgf.stripe = true` are changed: more operators and copies are the price.

Invalid input: none, an operator without a rule is computed whole.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from torch_mlir import ir

from vgfc.ir import functions, segment_kind
from vgfc.passmanager import Pass, register
from vgfc.segments import wants_stripes
from vgfc.stretches import Stretch, stretches
from vgfc.stripe_search import Limits, Segment, cut

# Operators of the longest stretch; the search is made with each: long ones save more at once, and leave more behind that no
# later cut can save.
LONGEST_STRETCHES = (6, 24)


def candidates(segment: Segment, longest: int) -> Iterable[Stretch]:
    """All stretches around the peak."""
    return stretches(segment.described, segment.worth_cutting(), longest)


@register
@dataclass(frozen=True)
class Stripe(Pass):
    name = "vgf-stripe"
    on_request: bool = False
    parts: int = 16
    recompute: int = 10
    price: float = 0.3

    def run(self, module: ir.Module) -> None:
        if self.on_request and not wants_stripes(module):
            return
        finders = [partial(candidates, longest=longest) for longest in LONGEST_STRETCHES]
        for function in functions(module):
            if segment_kind(function) == "graph":
                cut(function, finders, Limits(self.parts, self.recompute, self.price))
