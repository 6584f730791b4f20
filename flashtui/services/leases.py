"""Who holds a lease: a name for this process, and whether a holder has ended."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random  # noqa: TID251 - the type only

_PARTS = 3


def new_owner(rng: random.Random) -> str:
    """A name for one session of this process: process id, host, and a number of its own."""
    return f"{os.getpid()}:{_host()}:{rng.getrandbits(32):08x}"


def is_gone(owner: str) -> bool:
    """Whether the holder cannot be alive any more; of a process on another host (or in another container) nobody knows."""
    parts = owner.split(":")
    if len(parts) != _PARTS or not parts[0].isdigit():
        return True
    if parts[1] != _host():
        return False
    try:
        os.kill(int(parts[0]), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def _host() -> str:
    return platform.node().replace(":", "_")
