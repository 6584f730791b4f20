"""Waiting on the injected clock for whatever comes first."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashtui.domain.clock import Clock


async def sleep_or_wake(clock: Clock, seconds: float, wake: asyncio.Event) -> bool:
    """Wait so many seconds, or until woken; whether it was woken."""
    if wake.is_set():
        return True
    sleeping = asyncio.ensure_future(clock.sleep(seconds))
    waking = asyncio.ensure_future(wake.wait())
    try:
        await asyncio.wait({sleeping, waking}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (sleeping, waking):
            task.cancel()
        await asyncio.gather(sleeping, waking, return_exceptions=True)
    return wake.is_set()
