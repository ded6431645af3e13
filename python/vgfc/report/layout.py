"""Where to draw the nodes of an acyclic graph: layers from top to bottom, few crossings, straight long edges.

The steps are those of Sugiyama, Tagawa and Toda (1981): layers by longest path, a dummy in every layer that an edge only
passes, the order in a layer by the mean place of the neighbours, swept down and up, then places that follow them. Plain
data, no MLIR.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

Place = tuple[float, int]  # column (1 is the width of a node with its gap) and layer

SWEEPS = 8
DUMMY_WIDTH = 0.3  # what a passing edge takes of a node's width


@dataclass(frozen=True)
class Layout:
    """`places` of the nodes, and for each edge the places that it passes from its source to its target, both included.

    Columns begin at 0; `columns` and `layers` are the extent.
    """

    places: tuple[Place, ...]
    routes: tuple[tuple[Place, ...], ...]
    columns: float
    layers: int


def layered(count: int, edges: Sequence[tuple[int, int]]) -> Layout:
    """Place `count` nodes; an edge (a, b) leads from a down to b.

    Raises ValueError where an edge leads back or to no node: every edge has to lead from a smaller number to a larger one.
    """
    for source, target in edges:
        if not 0 <= source < target < count:
            raise ValueError(f"edge from {source} to {target}, expected 0 <= source < target < {count}")
    layer = _layers(count, edges)
    widths = [1.0] * count
    chains: list[list[int]] = []
    for source, target in edges:
        chain = [source]
        for between in range(layer[source] + 1, layer[target]):
            chain.append(len(widths))
            widths.append(DUMMY_WIDTH)
            layer.append(between)
        chains.append([*chain, target])
    neighbours_above: list[list[int]] = [[] for _ in widths]
    neighbours_below: list[list[int]] = [[] for _ in widths]
    for chain in chains:
        for upper, lower in pairwise(chain):
            neighbours_above[lower].append(upper)
            neighbours_below[upper].append(lower)
    rows: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
    for node, number in enumerate(layer):
        rows[number].append(node)
    columns = _columns(rows, widths, neighbours_above, neighbours_below)
    left = min((column - widths[node] / 2 for node, column in enumerate(columns)), default=0.0)
    right = max((column + widths[node] / 2 for node, column in enumerate(columns)), default=0.0)
    places = [(column - left, layer[node]) for node, column in enumerate(columns)]
    routes = tuple(tuple(places[node] for node in chain) for chain in chains)
    return Layout(tuple(places[:count]), routes, right - left, len(rows))


def _layers(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """The longest path to each node; a node that nothing leads to comes just above the first that it leads to."""
    followers: list[list[int]] = [[] for _ in range(count)]
    has_source = [False] * count
    for source, target in edges:
        followers[source].append(target)
        has_source[target] = True
    layer = [0] * count
    for node in range(count):
        for target in followers[node]:
            layer[target] = max(layer[target], layer[node] + 1)
    for node in range(count):
        if not has_source[node] and followers[node]:
            layer[node] = min(layer[target] for target in followers[node]) - 1
    return layer


def _columns(rows: list[list[int]], widths: list[float], above: list[list[int]], below: list[list[int]]) -> list[float]:
    columns = [0.0] * len(widths)
    for row in rows:
        _pack(row, widths, columns, [float(index) for index in range(len(row))])
    for sweep in range(SWEEPS):
        downwards = sweep % 2 == 0
        neighbours = above if downwards else below
        for row in rows if downwards else reversed(rows):
            wanted = [
                sum(columns[other] for other in neighbours[node]) / len(neighbours[node])
                if neighbours[node]
                else columns[node]
                for node in row
            ]
            order = sorted(range(len(row)), key=lambda index: (wanted[index], index))
            row[:] = [row[index] for index in order]
            _pack(row, widths, columns, [wanted[index] for index in order])
    return columns


def _pack(row: list[int], widths: list[float], columns: list[float], wanted: list[float]) -> None:
    """Give the nodes of a row, in order, the columns nearest to `wanted` (in sum of squares) at which none overlap.

    Neighbours that would overlap form a block that moves as one, to the mean of what its members want (pool adjacent
    violators, on the columns less the room that the nodes before take).
    """
    blocks: list[tuple[float, int]] = []  # sum and number of the offsets wanted by a block's nodes
    rooms = []
    room = 0.0
    for index, node in enumerate(row):
        room += (widths[row[index - 1]] + widths[node]) / 2 if index else 0.0
        rooms.append(room)
        total, number = wanted[index] - room, 1
        while blocks and blocks[-1][0] * number > total * blocks[-1][1]:
            previous_total, previous_number = blocks.pop()
            total, number = total + previous_total, number + previous_number
        blocks.append((total, number))
    index = 0
    for total, number in blocks:
        for _ in range(number):
            columns[row[index]] = total / number + rooms[index]
            index += 1
