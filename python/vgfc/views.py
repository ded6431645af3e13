"""What reshapes and transposes do to a tensor, as values that compose, invert and say how many operators they cost.

A view takes the elements of a tensor of shape `source`, cuts the shape into atoms, reorders the atoms and groups them
again as shape `target`. Every chain of `tosa.reshape` and `tosa.transpose` is one, unless two transposes in it cut the
same dimension at incommensurable places. Atoms are kept maximal, so that equal views compare equal. Imports no MLIR.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from math import prod
from typing import Any

from numpy.typing import NDArray

Shape = tuple[int, ...]


def _cuts(sizes: Sequence[int]) -> list[int]:
    """The products of the suffixes of `sizes`, largest first, ending in 1: where a row-major index may be cut."""
    cuts = [1]
    for size in reversed(sizes):
        if size != 1:
            cuts.append(cuts[-1] * size)
    return cuts[::-1]


def _refine(first: Sequence[int], second: Sequence[int]) -> Shape | None:
    """The coarsest sizes that cut wherever either cuts, None when no such sizes exist."""
    cuts = sorted({*_cuts(first), *_cuts(second)}, reverse=True)
    sizes = []
    for larger, smaller in pairwise(cuts):
        if larger % smaller:
            return None
        sizes.append(larger // smaller)
    return tuple(sizes)


def _owners(fine: Sequence[int], coarse: Sequence[int]) -> list[int]:
    """For each of the `fine` sizes the index of the `coarse` one it is a factor of; `fine` refines `coarse`."""
    owners = []
    index, left = 0, 1
    for size in fine:
        while left == 1:
            left = coarse[index]
            index += 1
        owners.append(index - 1)
        left //= size
    return owners


@dataclass(frozen=True)
class View:
    """A rearrangement: `atoms` are factors of `source` in its order, `order` lists them in the order of `target`.

    Made by `reshape`, `transpose` and `make_view`, which keep the form canonical.
    """

    source: Shape
    target: Shape
    atoms: Shape
    order: Shape
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.source, self.target, self.atoms, self.order)))

    def __hash__(self) -> int:
        return self._hash

    @property
    def moves(self) -> bool:
        """Whether the order of the elements in memory changes."""
        return len(self.order) > 1

    @property
    def is_identity(self) -> bool:
        """Whether nothing changes."""
        return not self.moves and self.source == self.target

    @property
    def target_atoms(self) -> Shape:
        """The sizes of the atoms in the order of `target`."""
        return tuple(self.atoms[index] for index in self.order)

    def inverse(self) -> View:
        """The view that undoes this one."""
        order = [0] * len(self.order)
        for position, index in enumerate(self.order):
            order[index] = position
        return View(self.target, self.source, self.target_atoms, tuple(order))

    def then(self, after: View) -> View | None:
        """This view followed by `after`; None when the two cut the shape between them at incommensurable places."""
        assert self.target == after.source
        return _then(self, after)

    def apply(self, values: NDArray[Any]) -> NDArray[Any]:
        """The values of a tensor of shape `source`, rearranged to shape `target`."""
        return values.reshape(self.atoms).transpose(self.order).reshape(self.target)

    def steps(self) -> tuple[tuple[str, Shape], ...]:
        """The shortest chain that does it: ("reshape", new shape) and ("transpose", permutation) in order."""
        return _steps(self)

    @property
    def cost(self) -> int:
        """The operators that it takes: 0 to 3."""
        return len(_steps(self))


def make_view(source: Shape, target: Shape, atoms: Sequence[int], order: Sequence[int]) -> View:
    """The view with any atoms, made canonical: atoms of size 1 dropped, neighbours that stay so joined."""
    kept = [index for index in order if atoms[index] != 1]
    rank = {index: position for position, index in enumerate(sorted(kept))}
    sizes = [atoms[index] for index in sorted(kept)]
    runs: list[list[int]] = []
    for index in kept:
        place = rank[index]
        if runs and runs[-1][-1] + 1 == place:
            runs[-1].append(place)
        else:
            runs.append([place])
    by_source = sorted(runs)
    merged = tuple(prod(sizes[place] for place in run) for run in by_source)
    return View(source, target, merged, tuple(by_source.index(run) for run in runs))


def identity(shape: Shape) -> View:
    """The view that changes nothing."""
    return reshape(shape, shape)


def reshape(source: Shape, target: Shape) -> View:
    """What `tosa.reshape` does; both shapes have the same number of elements."""
    assert prod(source) == prod(target)
    count = prod(source)
    return View(source, target, (count,) if count != 1 else (), (0,) if count != 1 else ())


def transpose(source: Shape, permutation: Sequence[int]) -> View:
    """What `tosa.transpose` does: target axis i is source axis permutation[i]."""
    return make_view(source, tuple(source[axis] for axis in permutation), source, permutation)


@lru_cache(maxsize=4096)
def _then(before: View, after: View) -> View | None:
    middle = before.target_atoms
    fine = _refine(middle, after.atoms)
    if fine is None:
        return None
    in_before = _owners(fine, middle)
    in_after = _owners(fine, after.atoms)
    pieces_of_before: dict[int, list[int]] = {}
    for piece, position in enumerate(in_before):
        pieces_of_before.setdefault(before.order[position], []).append(piece)
    source_order = [piece for atom in range(len(before.atoms)) for piece in pieces_of_before[atom]]
    place_in_source = {piece: place for place, piece in enumerate(source_order)}
    pieces_of_after: dict[int, list[int]] = {}
    for piece, atom in enumerate(in_after):
        pieces_of_after.setdefault(atom, []).append(place_in_source[piece])
    order = [place for atom in after.order for place in pieces_of_after[atom]]
    return make_view(before.source, after.target, [fine[piece] for piece in source_order], order)


def _groups(shape: Shape, atoms: Shape) -> list[list[int]] | None:
    """The axes of `shape` that make up each atom, without those of extent 1; None when an axis spans two atoms."""
    groups: list[list[int]] = []
    axes = iter(axis for axis, extent in enumerate(shape) if extent != 1)
    for atom in atoms:
        group: list[int] = []
        while prod(shape[axis] for axis in group) < atom:
            group.append(next(axes))
        if prod(shape[axis] for axis in group) != atom:
            return None
        groups.append(group)
    return groups


def _permutation(shape: Shape, target: Shape, moved: list[int]) -> Shape | None:
    """The permutation of `shape` that puts its non-unit axes in the order `moved` and gives `target`, if there is one."""
    if len(shape) != len(target):
        return None
    units = iter(axis for axis, extent in enumerate(shape) if extent == 1)
    others = iter(moved)
    permutation = []
    for extent in target:
        axis = next(units if extent == 1 else others, None)
        if axis is None or shape[axis] != extent:
            return None
        permutation.append(axis)
    return tuple(permutation)


@lru_cache(maxsize=4096)
def _steps(view: View) -> tuple[tuple[str, Shape], ...]:
    if not view.moves:
        return () if view.source == view.target else (("reshape", view.target),)
    groups = _groups(view.source, view.atoms)
    if groups is not None:
        moved = [axis for atom in view.order for axis in groups[atom]]
        direct = _permutation(view.source, view.target, moved)
        if direct is not None:
            return (("transpose", direct),)
        units = [axis for axis, extent in enumerate(view.source) if extent == 1]
        return (("transpose", (*units, *moved)), ("reshape", view.target))
    target_groups = _groups(view.target, view.target_atoms)
    if target_groups is not None:
        back = view.inverse()
        moved = [axis for atom in back.order for axis in target_groups[atom]]
        units = [axis for axis, extent in enumerate(view.target) if extent == 1]
        backward = [*units, *moved]
        middle = tuple(view.target[axis] for axis in backward)
        forward = tuple(backward.index(axis) for axis in range(len(backward)))
        return (("reshape", middle), ("transpose", forward))
    return (("reshape", view.atoms), ("transpose", view.order), ("reshape", view.target))


@lru_cache(maxsize=4096)
def _pieces(view: View) -> tuple[Shape, tuple[int, ...], tuple[int, ...]] | None:
    """The atoms cut at the axes of source and target: their sizes, the source axis of each, and the order of the target.

    Where the target's axes lie across the source's at incommensurable places, it does not cut; None where atoms do.
    """
    fine = _refine(view.source, view.atoms)
    if fine is None:
        return None
    pieces: dict[int, list[int]] = {}
    for piece, atom in enumerate(_owners(fine, view.atoms)):
        pieces.setdefault(atom, []).append(piece)
    order = [piece for atom in view.order for piece in pieces[atom]]
    in_target = [fine[piece] for piece in order]
    finer = _refine(in_target, view.target)
    if finer is None or len(finer) == len(fine):
        return fine, tuple(_owners(fine, view.source)), tuple(order)
    parts: dict[int, list[int]] = {}
    for part, place in enumerate(_owners(finer, in_target)):
        parts.setdefault(order[place], []).append(part)
    by_source = [part for piece in range(len(fine)) for part in parts[piece]]
    sizes = tuple(finer[part] for part in by_source)
    final = tuple(by_source.index(part) for part in range(len(finer)))
    return sizes, tuple(_owners(sizes, view.source)), final


def broadcast(view: View, operand: Shape) -> View | None:
    """The view that an operand needs whose shape broadcasts to `view.source`, so that it broadcasts to `view.target`.

    None when a target axis would be made of axes some of which the operand repeats along and some not.
    """
    if operand == view.source:
        return view
    pieces = _pieces(view)
    if pieces is None:
        return make_view(operand, (1,) * len(view.target), (), ()) if prod(operand) == 1 else None
    fine, owners, order = pieces
    target_fine = [fine[piece] for piece in order]
    if _refine(target_fine, view.target) != tuple(target_fine):
        return None
    extents = [1] * len(view.target)
    repeated: dict[int, bool] = {}
    kept = []
    for piece, axis in zip(order, _owners(target_fine, view.target), strict=True):
        is_repeated = operand[owners[piece]] == 1
        if repeated.setdefault(axis, is_repeated) != is_repeated:
            return None
        if not is_repeated:
            kept.append(piece)
            extents[axis] *= fine[piece]
    return make_view(operand, tuple(extents), fine, kept)


def axis_factors(view: View, axis: int) -> Shape | None:
    """The factors into which a view cuts a source axis, outermost first; empty for an axis of extent 1.

    None when the view does not cut at the ends of the source's axes.
    """
    pieces = _pieces(view)
    if pieces is None:
        return None
    fine, owners, _ = pieces
    return tuple(size for size, owner in zip(fine, owners, strict=True) if owner == axis)


def axis_position(view: View, axis: int) -> tuple[int, int] | None:
    """Where a source axis went: (target axis, product of the extents inside it there).

    The product is 1 when the axis is the innermost part of its target axis; it is always the outermost. None when the
    axis was cut, or has others outside it in its target axis, or is of extent 1, so that nothing says where it went.
    """
    pieces = _pieces(view)
    if view.source[axis] == 1 or pieces is None:
        return None
    fine, owners, order = pieces
    mine = [place for place, piece in enumerate(order) if owners[piece] == axis]
    if len(mine) != 1:
        return None
    outside = prod(fine[piece] for piece in order[: mine[0]])
    inside = prod(fine[piece] for piece in order[mine[0] + 1 :])
    before = 1
    for target_axis, extent in enumerate(view.target):
        if extent != 1 and before == outside:
            after = prod(view.target[target_axis + 1 :])
            return (target_axis, inside // after) if inside >= after and inside % after == 0 else None
        before *= extent
    return None


def resize_axis(view: View, axis: int, extent: int) -> View | None:
    """The same rearrangement of a tensor whose `axis` has another extent; None where `axis_position` is."""
    place = axis_position(view, axis)
    pieces = _pieces(view)
    if place is None or pieces is None:
        return None
    fine, owners, order = pieces
    sizes = [extent if owner == axis else size for size, owner in zip(fine, owners, strict=True)]
    source, target = list(view.source), list(view.target)
    source[axis], target[place[0]] = extent, extent * place[1]
    return make_view(tuple(source), tuple(target), sizes, order)


def outermost_in(view: View, axis: int, extent: int, target_axis: int) -> View | None:
    """The same rearrangement of a tensor whose `axis`, of extent 1, grows and becomes the outermost part of a target axis.

    None when that target axis begins inside what a source axis was cut into.
    """
    assert view.source[axis] == 1
    split = (*view.target[:target_axis], 1, *view.target[target_axis:])
    opened = view.then(reshape(view.target, split))
    grown = grow_axis(opened, axis, extent, target_axis) if opened is not None else None
    if grown is None:
        return None
    joined = list(view.target)
    joined[target_axis] *= extent
    return grown.then(reshape(grown.target, tuple(joined)))


def grow_axis(view: View, axis: int, extent: int, position: int) -> View | None:
    """The same rearrangement of a tensor whose `axis`, of extent 1, grows and becomes target axis `position`, also of 1.

    None when that target axis lies inside what a source axis was cut into.
    """
    assert view.source[axis] == 1 and view.target[position] == 1
    pieces = _pieces(view)
    if pieces is None:
        return None
    fine, owners, order = pieces
    source_at = sum(owner < axis for owner in owners)
    outside = prod(view.target[:position])
    target_at, passed = 0, 1
    while passed < outside:
        passed *= fine[order[target_at]]
        target_at += 1
    if passed != outside:
        return None
    sizes = [*fine[:source_at], extent, *fine[source_at:]]
    shifted = [piece + (piece >= source_at) for piece in order]
    shifted.insert(target_at, source_at)
    source, target = list(view.source), list(view.target)
    source[axis], target[position] = extent, extent
    return make_view(tuple(source), tuple(target), sizes, shifted)
