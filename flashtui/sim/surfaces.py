"""Which surfaces a world has."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashtui.sim.world import Surface, World

_PARTS = (
    ("vast", "flashtui.sim.vast.surface", "VastSurface"),
    ("runpod", "flashtui.sim.runpod.surface", "RunpodSurface"),
    ("jobs", "flashtui.sim.runpod.surface", "JobsSurface"),
    ("hub", "flashtui.sim.hub.surface", "HubSurface"),
)


def build(world: World) -> dict[str, Surface]:
    """One surface of each kind, in the order in which they are advanced."""
    found: dict[str, Surface] = {}
    for name, module, kind in _PARTS:
        try:
            part = importlib.import_module(module)
        except ModuleNotFoundError:
            continue
        found[name] = getattr(part, kind)(world)
    return found
