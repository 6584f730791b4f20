"""The present, for commands that need nothing else of the world."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashtui.settings import Settings


def present(settings: Settings) -> datetime:
    """Now, by this machine's clock or, in a simulated session, by the simulator's where it still answers."""
    if settings.clock_url is not None:
        from flashtui.bootstrap.simclock import read_once

        try:
            return datetime.fromtimestamp(read_once(settings.clock_url), UTC)
        except (OSError, ValueError, KeyError):
            pass
    return datetime.now(UTC)
