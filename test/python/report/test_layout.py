"""The drawing of graphs: nothing overlaps, edges lead down one layer at a time."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vgfc.report.layout import layered


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    count = draw(st.integers(0, 14))
    pairs = [(source, target) for target in range(count) for source in range(target)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return count, edges


@given(graphs())
def test_nodes_do_not_overlap_and_edges_lead_down(graph: tuple[int, list[tuple[int, int]]]) -> None:
    count, edges = graph
    layout = layered(count, edges)
    assert len(layout.places) == count
    for (column, layer), (other_column, other_layer) in (
        (layout.places[first], layout.places[second]) for first in range(count) for second in range(first)
    ):
        assert layer != other_layer or abs(column - other_column) > 1 - 1e-9
    for (source, target), route in zip(edges, layout.routes, strict=True):
        assert route[0] == layout.places[source] and route[-1] == layout.places[target]
        assert all(lower[1] == upper[1] + 1 for upper, lower in pairwise(route))
    for column, layer in layout.places:
        assert 0.5 - 1e-9 <= column <= layout.columns - 0.5 + 1e-9
        assert 0 <= layer < layout.layers


def test_a_chain_is_straight() -> None:
    layout = layered(4, [(0, 1), (1, 2), (2, 3)])
    assert layout.places == ((0.5, 0), (0.5, 1), (0.5, 2), (0.5, 3))


def test_a_diamond_does_not_cross() -> None:
    # 0 leads to 1 and 2, which lead to 3 and 4: without crossing, 3 is on the side of 1
    layout = layered(5, [(0, 1), (0, 2), (1, 3), (2, 4)])
    places = layout.places
    assert (places[1][0] < places[2][0]) == (places[3][0] < places[4][0])


def test_an_edge_over_layers_passes_beside_the_nodes_between() -> None:
    layout = layered(3, [(0, 1), (1, 2), (0, 2)])
    (_, _, route) = layout.routes
    assert len(route) == 3
    assert abs(route[1][0] - layout.places[1][0]) > 0.5


@pytest.mark.parametrize("edge", [(1, 0), (0, 0), (0, 2), (-1, 1)])
def test_edges_that_lead_back_or_nowhere_are_refused(edge: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="expected 0 <= source < target < 2"):
        layered(2, [edge])
