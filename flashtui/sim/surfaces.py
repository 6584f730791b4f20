"""Which surfaces a world has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.sim.hub.surface import HubSurface
from flashtui.sim.runpod.surface import JobsSurface, RunpodSurface
from flashtui.sim.vast.surface import VastSurface

if TYPE_CHECKING:
    from flashtui.sim.world import Surface, World


def build(world: World) -> dict[str, Surface]:
    """One surface of each kind, in the order in which they are advanced."""
    return {
        "vast": VastSurface(world),
        "runpod": RunpodSurface(world),
        "jobs": JobsSurface(world),
        "hub": HubSurface(world),
    }
