"""Complex tensors as pairs of real ones, and Fourier transforms as products with matrices.

A VGF has no complex numbers. Where a program has some inside (rfft, a product of spectra, abs), each is taken apart into its
real and imaginary part, and each operator on it into the operators on those that it stands for. What has no such form here
keeps its complex result, and the importer says so. Transforms along an axis of n elements are products with the n columns
cos(2 pi j k / n) and sin(2 pi j k / n), computed in double precision.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

aten = torch.ops.aten

# Operators that act on each part alone: those that move elements, and those that add them up.
PARTWISE = {
    aten.view.default,
    aten.reshape.default,
    aten.permute.default,
    aten.transpose.int,
    aten.unsqueeze.default,
    aten.squeeze.dim,
    aten.squeeze.dims,
    aten.select.int,
    aten.slice.Tensor,
    aten.expand.default,
    aten.clone.default,
    aten.detach.default,
    aten.alias.default,
    aten.flip.default,
    aten.roll.default,
    aten.neg.default,
    aten.sum.default,
    aten.sum.dim_IntList,
    aten.mean.default,
    aten.mean.dim,
    aten.constant_pad_nd.default,
}


@dataclass(frozen=True)
class Pair:
    """A complex value by its parts; no imaginary part means that it is real."""

    real: Any
    imaginary: Any


def without_complex(program: ExportedProgram) -> ExportedProgram:
    """The program with its complex values taken apart; the program itself when it has none. The caller's stays as it is."""
    if not any(_is_complex(node) for node in program.graph.nodes):
        return program
    changed = copy.copy(program)
    changed._graph_module = copy.deepcopy(program.graph_module)
    changed._graph_signature = copy.deepcopy(program.graph_signature)
    rewriting = _Rewriting(changed.graph_module)
    rewriting.run()
    for old, new in rewriting.renamed.items():
        changed.graph_signature.replace_all_uses(old, new)
    return changed


def _is_complex(node: Any) -> bool:
    value = node.meta.get("val") if isinstance(node, Node) else None
    return isinstance(value, torch.Tensor) and value.is_complex()


class _Rewriting:
    """One graph, from its first node to its last."""

    def __init__(self, module: GraphModule) -> None:
        self.module = module
        self.graph = module.graph
        self.pairs: dict[Node, Pair] = {}
        self.renamed: dict[str, str] = {}
        self.current: Node | None = None
        self.constants = 0

    def run(self) -> None:
        """Replace what can be; complex nodes that others still read stay."""
        for node in list(self.graph.nodes):
            reads_complex = any(source in self.pairs for source in node.all_input_nodes)
            if node.op != "call_function" or not (_is_complex(node) or reads_complex):
                continue
            self.current = node
            with self.graph.inserting_before(node):
                made = self.converted(node)
            if isinstance(made, Pair):
                self.pairs[node] = made
            elif made is not None:
                node.replace_all_uses_with(made)
                self.renamed[node.name] = made.name
        for node in reversed(list(self.graph.nodes)):
            if (node in self.pairs or node.name in self.renamed) and not node.users:
                self.graph.erase_node(node)
        self.graph.lint()
        self.module.recompile()

    # Making nodes

    def call(self, target: Any, *arguments: Any, **keywords: Any) -> Node:
        """A new node with the place of the one being replaced, and the value that its operator gives."""
        assert self.current is not None
        node = self.graph.call_function(target, arguments, keywords)
        node.meta = {key: value for key, value in self.current.meta.items() if key not in ("val", "tensor_meta")}
        values = torch.fx.node.map_arg((arguments, keywords), lambda item: item.meta["val"])
        node.meta["val"] = target(*values[0], **values[1])
        return node

    def constant(self, values: np.ndarray[Any, Any], like: Node) -> Node:
        """A constant of the element type of `like`."""
        tensor = torch.from_numpy(np.ascontiguousarray(values)).to(like.meta["val"].dtype)
        name = f"_fourier_{self.constants}"
        self.constants += 1
        setattr(self.module, name, tensor)
        node = self.graph.get_attr(name)
        node.meta["val"] = like.meta["val"].fake_mode.from_tensor(tensor, static_shapes=True)
        return node

    def pair(self, value: Any) -> Pair:
        """The parts of an argument: a complex node, a real one, or a number."""
        if isinstance(value, Node):
            return self.pairs.get(value) or Pair(value, None)
        return Pair(value.real, value.imag) if isinstance(value, complex) else Pair(value, None)

    def times(self, left: Any, right: Any) -> Any:
        """A product of real values, each a node or a number, None for zero."""
        if left is None or right is None:
            return None
        if not isinstance(left, Node) and not isinstance(right, Node):
            return left * right
        tensor, factor = (left, right) if isinstance(left, Node) else (right, left)
        return self.call(aten.mul.Tensor, tensor, factor)

    def plus(self, left: Any, right: Any, sign: int = 1) -> Any:
        """left + sign * right of real values, None for zero."""
        if right is None:
            return left
        if left is None:
            return right if sign > 0 else self.call(aten.neg.default, right) if isinstance(right, Node) else -right
        if not isinstance(left, Node) and not isinstance(right, Node):
            return left + sign * right
        if not isinstance(left, Node):
            turned = right if sign > 0 else self.call(aten.neg.default, right)
            return self.call(aten.add.Tensor, turned, left)
        return self.call(aten.add.Tensor if sign > 0 else aten.sub.Tensor, left, right)

    def filled(self, value: Any, like: Any) -> Any:
        """An imaginary part that is there: zeros where it is None."""
        return self.call(aten.mul.Tensor, like, 0.0) if value is None else value

    # Operators

    def converted(self, node: Node) -> Any:
        """A Pair for an operator with a complex result, a node for one with a real result, None for one without a form."""
        handler = HANDLERS.get(node.target)
        if handler is not None:
            return handler(self, node)
        if node.target in PARTWISE:
            parts = self.pair(node.args[0])
            apply = [
                None if part is None else self.call(node.target, part, *node.args[1:], **node.kwargs)
                for part in (parts.real, parts.imaginary)
            ]
            return Pair(*apply)
        return None

    def product(self, left: Pair, right: Pair) -> Pair:
        """left * right."""
        real = self.plus(self.times(left.real, right.real), self.times(left.imaginary, right.imaginary), -1)
        imaginary = self.plus(self.times(left.real, right.imaginary), self.times(left.imaginary, right.real))
        return Pair(real, imaginary)

    def resized(self, value: Any, axis: int, extent: int) -> Any:
        """A real tensor cut, or filled up with zeros, to an extent along an axis."""
        if value is None:
            return None
        found = value.meta["val"].shape[axis]
        if found > extent:
            return self.call(aten.slice.Tensor, value, axis, 0, extent)
        if found < extent:
            after = value.meta["val"].ndim - 1 - axis
            return self.call(aten.constant_pad_nd.default, value, [0, 0] * after + [0, extent - found], 0.0)
        return value

    def along(self, value: Any, axis: int, matrix: np.ndarray[Any, Any]) -> Any:
        """The product of a real tensor's axis with a matrix (rows: that axis)."""
        if value is None:
            return None
        last = value.meta["val"].ndim - 1
        moved = value if axis == last else self.call(aten.transpose.int, value, axis, last)
        made = self.call(aten.matmul.default, moved, self.constant(matrix, value))
        return made if axis == last else self.call(aten.transpose.int, made, axis, last)

    def transform(self, value: Pair, axis: int, extent: int, columns: int, sign: int, scale: float) -> Pair:
        """sum over j of value[j] exp(sign 2 pi i j k / extent) for k below `columns`, times a factor."""
        angles = 2 * np.pi * (np.outer(np.arange(extent), np.arange(columns)) % extent) / extent
        cosine, sine = scale * np.cos(angles), sign * scale * np.sin(angles)
        real, imaginary = (self.resized(part, axis, extent) for part in (value.real, value.imaginary))
        return Pair(
            self.plus(self.along(real, axis, cosine), self.along(imaginary, axis, sine), -1),
            self.plus(self.along(real, axis, sine), self.along(imaginary, axis, cosine)),
        )

    def to_real(self, value: Pair, axis: int, extent: int, scale: float) -> Node:
        """The real signal of `extent` elements whose first extent // 2 + 1 frequencies are given, times a factor."""
        count = extent // 2 + 1
        angles = 2 * np.pi * (np.outer(np.arange(count), np.arange(extent)) % extent) / extent
        weights = np.full((count, 1), 2.0)
        weights[0] = 1
        if extent % 2 == 0:
            weights[-1] = 1
        real, imaginary = (self.resized(part, axis, count) for part in (value.real, value.imaginary))
        made = self.plus(
            self.along(real, axis, scale * weights * np.cos(angles)),
            self.along(imaginary, axis, scale * weights * np.sin(angles)),
            -1,
        )
        assert isinstance(made, Node)
        return made


def _axis(node: Any, axis: int) -> int:
    return int(axis % node.meta["val"].ndim)


def _scale(norm: str | None, extent: int, forward: bool) -> float:
    """The factor of a transform: 1/n is the inverse one's by default, or shared ("ortho"), or the forward one's."""
    norm = norm or "backward"
    if norm == "ortho":
        return float(extent**-0.5)
    return 1.0 / extent if (norm == "forward") == forward else 1.0


def _argument(node: Node, index: int, name: str, default: Any = None) -> Any:
    return node.args[index] if len(node.args) > index else node.kwargs.get(name, default)


def _real_to_complex(rewriting: _Rewriting, node: Node) -> Pair:
    value = rewriting.pair(node.args[0])
    axis = _axis(node.args[0], _argument(node, 2, "dim", -1))
    extent = _argument(node, 1, "n") or value.real.meta["val"].shape[axis]
    scale = _scale(_argument(node, 3, "norm"), extent, forward=True)
    return rewriting.transform(value, axis, extent, extent // 2 + 1, -1, scale)


def _complex_to_complex(forward: bool) -> Callable[[_Rewriting, Node], Pair]:
    def convert(rewriting: _Rewriting, node: Node) -> Pair:
        value = rewriting.pair(node.args[0])
        axis = _axis(node.args[0], _argument(node, 2, "dim", -1))
        extent = _argument(node, 1, "n") or value.real.meta["val"].shape[axis]
        scale = _scale(_argument(node, 3, "norm"), extent, forward)
        return rewriting.transform(value, axis, extent, extent, -1 if forward else 1, scale)

    return convert


def _complex_to_real(rewriting: _Rewriting, node: Node) -> Node:
    value = rewriting.pair(node.args[0])
    axis = _axis(node.args[0], _argument(node, 2, "dim", -1))
    extent = _argument(node, 1, "n") or 2 * (value.real.meta["val"].shape[axis] - 1)
    return rewriting.to_real(value, axis, extent, _scale(_argument(node, 3, "norm"), extent, forward=False))


def _axes(node: Node, dims: Sequence[int] | None) -> list[int]:
    first = node.args[0]
    assert isinstance(first, Node)
    rank = first.meta["val"].ndim
    return list(range(rank)) if dims is None else [dim % rank for dim in dims]


def _several_axes(kind: str, default_dims: Sequence[int] | None) -> Callable[[_Rewriting, Node], Any]:
    """fft2, rfft2, their inverses and forms of more dimensions: one axis after the other, the real one on the last."""

    def convert(rewriting: _Rewriting, node: Node) -> Any:
        sizes = _argument(node, 1, "s")
        dims = _argument(node, 2, "dim", default_dims)
        if dims is None and sizes is not None:
            dims = range(-len(sizes), 0)
        axes, norm = _axes(node, dims), _argument(node, 3, "norm")
        value = rewriting.pair(node.args[0])
        inverse, is_real = kind.startswith("i"), "r" in kind
        extents = [
            sizes[index] if sizes is not None and sizes[index] != -1 else value.real.meta["val"].shape[axis]
            for index, axis in enumerate(axes)
        ]
        if inverse and is_real and (sizes is None or sizes[-1] == -1):
            extents[-1] = 2 * (extents[-1] - 1)
        steps = list(zip(axes, extents, strict=True))
        if is_real and not inverse:
            axis, extent = steps.pop()
            value = rewriting.transform(value, axis, extent, extent // 2 + 1, -1, _scale(norm, extent, True))
        last = steps.pop() if is_real and inverse else None
        for axis, extent in steps:
            scale = _scale(norm, extent, not inverse)
            value = rewriting.transform(value, axis, extent, extent, 1 if inverse else -1, scale)
        if last is not None:
            return rewriting.to_real(value, last[0], last[1], _scale(norm, last[1], False))
        return value

    return convert


def _internal(rewriting: _Rewriting, node: Node) -> Any:
    """_fft_r2c, _fft_c2c and _fft_c2r, which PyTorch's decompositions leave."""
    value = rewriting.pair(node.args[0])
    axes = _axes(node, node.args[1])  # type: ignore[arg-type]
    normalization = node.args[2]
    extents = [value.real.meta["val"].shape[axis] for axis in axes]
    if node.target is aten._fft_c2r.default:
        extents[-1] = node.args[3]
    total = int(np.prod(extents))
    scale = {0: 1.0, 1: total**-0.5, 2: 1.0 / total}[normalization]  # type: ignore[index]
    forward = node.target is aten._fft_r2c.default or (node.target is aten._fft_c2c.default and bool(node.args[3]))
    sign = -1 if forward else 1
    for position, (axis, extent) in enumerate(zip(axes[:-1], extents[:-1], strict=True)):
        if node.target is aten._fft_r2c.default:
            continue
        value = rewriting.transform(value, axis, extent, extent, sign, scale if position == 0 else 1.0)
    remaining = scale if len(axes) == 1 or node.target is aten._fft_r2c.default else 1.0
    axis, extent = axes[-1], extents[-1]
    if node.target is aten._fft_c2r.default:
        return rewriting.to_real(value, axis, extent, remaining)
    columns = extent // 2 + 1 if node.target is aten._fft_r2c.default and node.args[3] else extent
    value = rewriting.transform(value, axis, extent, columns, sign, remaining)
    if node.target is aten._fft_r2c.default:
        for axis, extent in zip(axes[:-1], extents[:-1], strict=True):
            value = rewriting.transform(value, axis, extent, extent, sign, 1.0)
    return value


def _multiply(rewriting: _Rewriting, node: Node) -> Pair:
    return rewriting.product(rewriting.pair(node.args[0]), rewriting.pair(node.args[1]))


def _add(sign: int) -> Callable[[_Rewriting, Node], Pair | None]:
    def convert(rewriting: _Rewriting, node: Node) -> Pair | None:
        if node.kwargs.get("alpha", 1) != 1 or len(node.args) > 2:
            return None
        left, right = rewriting.pair(node.args[0]), rewriting.pair(node.args[1])
        return Pair(rewriting.plus(left.real, right.real, sign), rewriting.plus(left.imaginary, right.imaginary, sign))

    return convert


def _divide(rewriting: _Rewriting, node: Node) -> Pair:
    left, right = rewriting.pair(node.args[0]), rewriting.pair(node.args[1])
    if right.imaginary is None:
        parts = (left.real, left.imaginary)
        return Pair(*(None if part is None else rewriting.call(aten.div.Tensor, part, right.real) for part in parts))
    above = rewriting.product(left, Pair(right.real, rewriting.plus(None, right.imaginary, -1)))
    below = rewriting.plus(rewriting.times(right.real, right.real), rewriting.times(right.imaginary, right.imaginary))
    real, imaginary = above.real, rewriting.filled(above.imaginary, above.real)
    return Pair(rewriting.call(aten.div.Tensor, real, below), rewriting.call(aten.div.Tensor, imaginary, below))


def _copied(rewriting: _Rewriting, node: Node) -> Pair | None:
    value = rewriting.pair(node.args[0])
    wanted, part = node.kwargs.get("dtype"), value.real.meta["val"]
    return value if wanted == torch.complex64 and part.dtype == torch.float32 else None


def _conjugate(rewriting: _Rewriting, node: Node) -> Pair:
    value = rewriting.pair(node.args[0])
    return Pair(value.real, rewriting.plus(None, value.imaginary, -1))


def _absolute(rewriting: _Rewriting, node: Node) -> Node | None:
    value = rewriting.pair(node.args[0])
    if value.imaginary is None:
        return rewriting.call(aten.abs.default, value.real)
    squares = rewriting.plus(rewriting.times(value.real, value.real), rewriting.times(value.imaginary, value.imaginary))
    return rewriting.call(aten.sqrt.default, squares)


def _angle(rewriting: _Rewriting, node: Node) -> Node | None:
    value = rewriting.pair(node.args[0])
    if value.imaginary is None:
        return None
    return rewriting.call(aten.atan2.default, value.imaginary, value.real)


def _part(is_real: bool) -> Callable[[_Rewriting, Node], Node]:
    def convert(rewriting: _Rewriting, node: Node) -> Node:
        value = rewriting.pair(node.args[0])
        made = value.real if is_real else rewriting.filled(value.imaginary, value.real)
        assert isinstance(made, Node)
        return made

    return convert


def _as_real(rewriting: _Rewriting, node: Node) -> Node:
    value = rewriting.pair(node.args[0])
    return rewriting.call(aten.stack.default, [value.real, rewriting.filled(value.imaginary, value.real)], -1)


def _as_complex(rewriting: _Rewriting, node: Node) -> Pair:
    return Pair(*(rewriting.call(aten.select.int, node.args[0], -1, index) for index in (0, 1)))


def _from_parts(rewriting: _Rewriting, node: Node) -> Pair:
    return Pair(node.args[0], node.args[1])


def _polar(rewriting: _Rewriting, node: Node) -> Pair:
    length, angle = node.args[0], node.args[1]
    return Pair(
        rewriting.times(length, rewriting.call(aten.cos.default, angle)),
        rewriting.times(length, rewriting.call(aten.sin.default, angle)),
    )


def _join(rewriting: _Rewriting, node: Node) -> Pair:
    pairs = [rewriting.pair(item) for item in node.args[0]]  # type: ignore[union-attr]
    real = [pair.real for pair in pairs]
    imaginary = [rewriting.filled(pair.imaginary, pair.real) for pair in pairs]
    return Pair(*(rewriting.call(node.target, part, *node.args[1:], **node.kwargs) for part in (real, imaginary)))


HANDLERS: dict[Any, Callable[[_Rewriting, Node], Any]] = {
    aten.fft_rfft.default: _real_to_complex,
    aten.fft_irfft.default: _complex_to_real,
    aten.fft_fft.default: _complex_to_complex(True),
    aten.fft_ifft.default: _complex_to_complex(False),
    aten.fft_fft2.default: _several_axes("fft", (-2, -1)),
    aten.fft_ifft2.default: _several_axes("ifft", (-2, -1)),
    aten.fft_rfft2.default: _several_axes("rfft", (-2, -1)),
    aten.fft_irfft2.default: _several_axes("irfft", (-2, -1)),
    aten.fft_fftn.default: _several_axes("fft", None),
    aten.fft_ifftn.default: _several_axes("ifft", None),
    aten.fft_rfftn.default: _several_axes("rfft", None),
    aten.fft_irfftn.default: _several_axes("irfft", None),
    aten._fft_r2c.default: _internal,
    aten._fft_c2c.default: _internal,
    aten._fft_c2r.default: _internal,
    aten.mul.Tensor: _multiply,
    aten.mul.Scalar: _multiply,
    aten.add.Tensor: _add(1),
    aten.sub.Tensor: _add(-1),
    aten.div.Tensor: _divide,
    aten.div.Scalar: _divide,
    aten._conj.default: _conjugate,
    aten._conj_physical.default: _conjugate,
    aten.conj_physical.default: _conjugate,
    aten.resolve_conj.default: lambda rewriting, node: rewriting.pair(node.args[0]),
    aten._to_copy.default: _copied,
    aten.abs.default: _absolute,
    aten.angle.default: _angle,
    aten.real.default: _part(True),
    aten.imag.default: _part(False),
    aten.view_as_real.default: _as_real,
    aten.view_as_real_copy.default: _as_real,
    aten.view_as_complex.default: _as_complex,
    aten.view_as_complex_copy.default: _as_complex,
    aten.complex.default: _from_parts,
    aten.polar.default: _polar,
    aten.cat.default: _join,
    aten.stack.default: _join,
}
