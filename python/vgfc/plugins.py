"""What other packages add through Python entry points: passes, pipelines, targets and shaders.

A package names them in its pyproject.toml and needs no other registration:

    [project.entry-points."vgfc.passes"]        # name of the pass = its class
    [project.entry-points."vgfc.pipelines"]     # name = the pipeline's text, or a function that returns it
    [project.entry-points."vgfc.targets"]       # name = a vgfc.target.Target, or the text of one
    [project.entry-points."vgfc.shaders"]       # any name = a function that calls vgfc.shaders.register

Metadata is read once per process, and only when a name is not one of vgfc's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from vgfc.diagnostics import CompileError


@dataclass(frozen=True)
class Plugin:
    """One thing that a package adds; `origin` is the distribution's name."""

    name: str
    origin: str
    entry_point: EntryPoint

    def load(self) -> Any:
        """The object that the entry point names; raises CompileError where it cannot be imported."""
        try:
            return self.entry_point.load()
        except (ImportError, AttributeError) as error:
            where = f"package '{self.origin}', entry point '{self.name}' of {self.entry_point.group}"
            raise CompileError(f"{where}: cannot load '{self.entry_point.value}': {error}") from None


@cache
def plugins(group: str) -> dict[str, Plugin]:
    """What packages add in a group, by name; raises CompileError when two packages use one name."""
    found: dict[str, Plugin] = {}
    for point in entry_points(group=group):
        origin = point.dist.name if point.dist else point.value
        other = found.get(point.name)
        if other is not None and (other.origin, other.entry_point.value) != (origin, point.value):
            raise CompileError(f"'{point.name}' of {group} is added by two packages, {other.origin} and {origin}")
        found[point.name] = Plugin(point.name, origin, point)
    return found
