"""The shaders that operators have: vgfc's own; before them those of other packages; before these the program's own."""

from __future__ import annotations

import functools

from vgfc.glsl import grid_sample
from vgfc.plugins import plugins
from vgfc.shaders import Factory, registered


def find(operator: str) -> Factory | None:
    """What was registered for an operator (with or without its overload), None for an operator without a shader."""
    _load_plugins()
    return registered.get(operator) or registered.get(operator.partition(".")[0])


@functools.cache
def _load_plugins() -> None:
    by_the_program = dict(registered)
    grid_sample.register_shaders()
    for plugin in plugins("vgfc.shaders").values():
        plugin.load()()
    registered.update(by_the_program)
