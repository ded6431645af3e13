"""Choosing between two states per item at least total cost, by a minimum cut. Imports no MLIR."""

from __future__ import annotations

from collections import deque
from itertools import pairwise

NEVER = 1 << 60  # a cost that no choice is worth


class TwoStates:
    """A sum of costs over items that are each in state 0 or 1, minimised exactly.

    Costs are non-negative integers: of one item in one state, or of one item in state 0 while another is in state 1.
    (Boykov, Veksler, Zabih: Fast approximate energy minimization via graph cuts, 2001, gives the construction.)
    """

    SOURCE, SINK = 0, 1

    def __init__(self) -> None:
        self._residual: list[dict[int, int]] = [{}, {}]

    def add_item(self) -> int:
        """A new item."""
        self._residual.append({})
        return len(self._residual) - 1

    def add_cost(self, item: int, state: int, cost: int) -> None:
        """Add `cost` for `item` being in `state`."""
        if state:
            self._add_edge(self.SOURCE, item, cost)
        else:
            self._add_edge(item, self.SINK, cost)

    def add_pair_cost(self, in_zero: int, in_one: int, cost: int) -> None:
        """Add `cost` for `in_zero` being in state 0 while `in_one` is in state 1."""
        self._add_edge(in_zero, in_one, cost)

    def _add_edge(self, tail: int, head: int, capacity: int) -> None:
        if capacity:
            self._residual[tail][head] = min(self._residual[tail].get(head, 0) + capacity, NEVER)
            self._residual[head].setdefault(tail, 0)

    def solve(self) -> list[bool]:
        """For each item in order whether it is in state 1; of several best choices the one with the fewest ones."""
        residual = self._residual
        # State 0 is the source's side, so that an edge to the sink is cut when its item is in state 0.
        while True:
            levels = self._levels(self.SOURCE)
            if self.SINK not in levels:
                break
            while self._augment(levels):
                pass
        reaches_sink = self._reaching_sink()
        return [item in reaches_sink for item in range(2, len(residual))]

    def _levels(self, start: int) -> dict[int, int]:
        levels = {start: 0}
        queue = deque([start])
        while queue:
            node = queue.popleft()
            for following, capacity in self._residual[node].items():
                if capacity and following not in levels:
                    levels[following] = levels[node] + 1
                    queue.append(following)
        return levels

    def _augment(self, levels: dict[int, int]) -> bool:
        """Push flow along one path of increasing levels, found depth first; False when there is none left."""
        path = [self.SOURCE]
        tried: list[list[int]] = [self._next_nodes(self.SOURCE, levels)]
        while path:
            if path[-1] == self.SINK:
                flow = min(self._residual[a][b] for a, b in pairwise(path))
                for a, b in pairwise(path):
                    self._residual[a][b] -= flow
                    self._residual[b][a] += flow
                return True
            if tried[-1]:
                node = tried[-1].pop()
                path.append(node)
                tried.append(self._next_nodes(node, levels))
            else:
                levels[path.pop()] = -1
                tried.pop()
        return False

    def _next_nodes(self, node: int, levels: dict[int, int]) -> list[int]:
        wanted = levels[node] + 1
        return [head for head, capacity in self._residual[node].items() if capacity and levels.get(head) == wanted]

    def _reaching_sink(self) -> set[int]:
        reaching = {self.SINK}
        queue = deque([self.SINK])
        while queue:
            node = queue.popleft()
            for neighbour in self._residual[node]:
                if neighbour not in reaching and self._residual[neighbour][node]:
                    reaching.add(neighbour)
                    queue.append(neighbour)
        return reaching
