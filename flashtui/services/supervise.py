"""Keeps background work alive: a crash is logged and shown, the work begins again, and nothing ends in silence."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from flashtui.domain.clock import Clock

_LOG = logging.getLogger(__name__)
_PAUSE_S = 5.0


async def kept_alive(
    name: str, work: Callable[[], Awaitable[None]], clock: Clock, crashed: Callable[[str], None]
) -> None:
    """Run work that never ends, and begin it again when it does; ends only by cancellation.

    Args:
        name: for the log and for the screen.
        work: an endless loop.
        clock: waits before the next beginning.
        crashed: told in a sentence.
    """
    while True:
        failure = await outcome(work(), name)
        told = "it ended" if failure is None else type(failure).__name__
        crashed(f"{name} failed ({told}) and begins again; see the log")
        await clock.sleep(_PAUSE_S)


async def outcome(
    work: Awaitable[None], name: str, *, expected: tuple[type[Exception], ...] = ()
) -> Exception | None:
    """What a piece of work raised; None: nothing. What was not expected is logged with its traceback."""
    try:
        await work
    except Exception as error:  # noqa: BLE001 - the one place where a fault of any kind is turned into a report
        if not isinstance(error, expected):
            _LOG.error("%s failed", name, exc_info=error)
        return error
    return None
