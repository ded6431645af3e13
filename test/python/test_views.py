"""Views against numpy: what they say they do, and that their steps do it."""

from __future__ import annotations

from itertools import permutations
from math import prod

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from random_graphs import factors

from vgfc.views import (
    View,
    axis_factors,
    axis_position,
    broadcast,
    grow_axis,
    identity,
    outermost_in,
    reshape,
    resize_axis,
    transpose,
)

Shape = tuple[int, ...]


def factorizations(primes: list[int]) -> st.SearchStrategy[Shape]:
    """Shapes that group these numbers in their order, with axes of extent 1 in between."""

    def build(cuts: list[bool], units: list[bool]) -> Shape:
        extents = [1]
        for factor, cut in zip(primes, cuts, strict=True):
            if cut:
                extents.append(factor)
            else:
                extents[-1] *= factor
        for place, unit in enumerate(units[: 6 - len(extents)]):
            if unit:
                extents.insert(min(place * 2, len(extents)), 1)
        return tuple(extents)

    count = len(primes)
    return st.builds(
        build, st.lists(st.booleans(), min_size=count, max_size=count), st.lists(st.booleans(), max_size=3)
    )


@st.composite
def chains(draw: st.DrawFn) -> tuple[Shape, list[tuple[str, Shape]]]:
    """A shape and a few reshapes and transposes after it."""
    primes = draw(st.lists(st.sampled_from([2, 3, 4, 5]), min_size=1, max_size=4))
    start = draw(factorizations(primes))
    current, chain = start, []
    for _ in range(draw(st.integers(0, 4))):
        if draw(st.booleans()):
            order = draw(st.permutations(range(len(current))))
            chain.append(("transpose", tuple(order)))
            current = tuple(current[axis] for axis in order)
        else:
            pieces = [prime for extent in current for prime in factors(extent)]
            current = draw(factorizations(pieces))
            chain.append(("reshape", current))
    return start, chain


def step(shape: Shape, kind: str, numbers: Shape) -> View:
    return transpose(shape, numbers) if kind == "transpose" else reshape(shape, numbers)


def applied(values: np.ndarray, steps: list[tuple[str, Shape]]) -> np.ndarray:
    for kind, numbers in steps:
        values = values.transpose(numbers) if kind == "transpose" else values.reshape(numbers)
    return values


def composed(start: Shape, chain: list[tuple[str, Shape]]) -> View | None:
    view: View | None = identity(start)
    for kind, numbers in chain:
        assert view is not None
        view = view.then(step(view.target, kind, numbers))
        if view is None:
            return None
    return view


@settings(max_examples=400, deadline=None)
@given(chains())
def test_chain_is_one_view(case: tuple[Shape, list[tuple[str, Shape]]]) -> None:
    start, chain = case
    view = composed(start, chain)
    if view is None:
        return
    values = np.arange(prod(start)).reshape(start)
    expected = applied(values, chain)
    np.testing.assert_array_equal(view.apply(values), expected)
    np.testing.assert_array_equal(applied(values, list(view.steps())), expected)
    assert view.cost <= len(chain)
    assert view.cost <= 3
    np.testing.assert_array_equal(view.inverse().apply(expected), values)
    back = view.then(view.inverse())
    assert back is not None
    assert back.is_identity
    assert back == identity(start)


@settings(max_examples=300, deadline=None)
@given(chains(), st.data())
def test_broadcast(case: tuple[Shape, list[tuple[str, Shape]]], data: st.DataObject) -> None:
    """A repeated operand, rearranged small, repeats to what rearranging the repeated one gives."""
    start, chain = case
    view = composed(start, chain)
    if view is None:
        return
    small = tuple(extent if data.draw(st.booleans()) else 1 for extent in start)
    found = broadcast(view, small)
    values = np.arange(prod(small)).reshape(small)
    expected = view.apply(np.broadcast_to(values, start))
    if found is not None:
        np.testing.assert_array_equal(np.broadcast_to(found.apply(values), view.target), expected)


@settings(max_examples=300, deadline=None)
@given(chains(), st.data())
def test_axes(case: tuple[Shape, list[tuple[str, Shape]]], data: st.DataObject) -> None:
    """Cutting an axis before is cutting its place after, and resizing it keeps the rest of the view."""
    start, chain = case
    view = composed(start, chain)
    if view is None or not start:
        return
    axis = data.draw(st.integers(0, len(start) - 1))
    factors = axis_factors(view, axis)
    assert factors is None or prod(factors) == start[axis]
    place = axis_position(view, axis)
    if place is None:
        return
    assert factors is not None
    target, inside = place
    values = np.arange(prod(start)).reshape(start)
    extent = data.draw(st.integers(1, start[axis]))
    resized = resize_axis(view, axis, extent)
    assert resized is not None
    expected = view.apply(values).take(range(extent * inside), target)
    np.testing.assert_array_equal(resized.apply(values.take(range(extent), axis)), expected)
    if extent == 1 and inside == 1:
        grown = grow_axis(resized, axis, start[axis], target)
        assert grown == view


@settings(max_examples=200, deadline=None)
@given(chains(), st.data())
def test_outermost_part(case: tuple[Shape, list[tuple[str, Shape]]], data: st.DataObject) -> None:
    """Growing an axis as the outermost part of a target axis: each index of it is a block of that target axis."""
    start, chain = case
    start = (1, *start) if len(start) < 6 else start
    view = composed(start, [("reshape", case[0]), *chain]) if start != case[0] else composed(start, chain)
    if view is None or start[0] != 1:
        return
    target_axis = data.draw(st.integers(0, len(view.target) - 1))
    grown = outermost_in(view, 0, 3, target_axis)
    if grown is None:
        return
    values = np.arange(3 * prod(start)).reshape(3, *start[1:])
    blocks = [view.apply(values[index : index + 1]) for index in range(3)]
    np.testing.assert_array_equal(grown.apply(values), np.concatenate(blocks, target_axis))


def test_one_transpose_suffices_where_it_can() -> None:
    for order in permutations(range(3)):
        view = transpose((2, 3, 4), order)
        assert view.cost == (0 if order == (0, 1, 2) else 1)


def test_unit_axes_move_for_free_with_a_reshape() -> None:
    assert transpose((1, 5, 1, 7), (2, 1, 0, 3)).steps() == ()
    assert transpose((1, 5, 1, 7), (1, 0, 2, 3)).steps() == (("reshape", (5, 1, 1, 7)),)


def test_incommensurable_cuts() -> None:
    first = transpose((4, 6), (1, 0))
    assert first.then(reshape((6, 4), (4, 6))) is not None
    assert first.then(reshape((6, 4), (3, 8))) is not None
    middle = first.then(reshape((6, 4), (4, 6)))
    assert middle is not None
    assert middle.then(transpose((4, 6), (1, 0))) is None
