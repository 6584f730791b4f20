"""The clocks that move by themselves: this machine's, and the one that follows a simulator on loopback."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# A simulator can be stepped or change speed at any moment; sleepers look again this often (real seconds).
_LOOK_AGAIN_S = 0.1


class SystemClock:
    """This machine's time."""

    def now(self) -> datetime:
        """The present, aware, in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - the one clock that reads the machine

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()  # noqa: TID251 - the one clock that reads the machine

    async def sleep(self, seconds: float) -> None:
        """Wait real seconds."""
        await asyncio.sleep(max(0.0, seconds))  # noqa: TID251 - the one clock that waits


class LoopbackClock:
    """Follows another clock on this machine, at its speed.

    Between readings it counts on by itself; a reading that fails leaves it counting on from the last one.

    Args:
        read: asks the other clock: its present in epoch seconds, and how many of its seconds pass per real one.
        real: real monotonic seconds.
    """

    def __init__(
        self,
        read: Callable[[], tuple[float, float]],
        real: Callable[[], float] = time.monotonic,  # noqa: TID251 - real time, to count on from
    ) -> None:
        self._read = read
        self._real = real
        self._epoch_s = 0.0
        self._speed = 1.0
        self._read_at: float | None = None
        self._highest = float("-inf")

    def now(self) -> datetime:
        """The other clock's present."""
        return datetime.fromtimestamp(self._present(), UTC)

    def monotonic(self) -> float:
        """The other clock's seconds; they stand still when it is set back."""
        self._highest = max(self._highest, self._present())
        return self._highest

    async def sleep(self, seconds: float) -> None:
        """Wait until that many of the other clock's seconds have passed."""
        until = self.monotonic() + seconds
        await asyncio.sleep(0)  # noqa: TID251 - even no wait lets others run
        while (left := until - self.monotonic()) > 0:
            real_s = left / self._speed if self._speed > 0 else _LOOK_AGAIN_S
            await asyncio.sleep(min(real_s, _LOOK_AGAIN_S))  # noqa: TID251 - real part of the wait

    def _present(self) -> float:
        real = self._real()
        if self._read_at is None or real - self._read_at >= _LOOK_AGAIN_S:
            self._anchor(real)
        passed = real - (self._read_at if self._read_at is not None else real)
        return self._epoch_s + passed * self._speed

    def _anchor(self, real: float) -> None:
        try:
            epoch_s, speed = self._read()
        except (OSError, ValueError):
            if self._read_at is None:
                raise
            self._epoch_s += (real - self._read_at) * self._speed
        else:
            self._epoch_s, self._speed = epoch_s, max(0.0, speed)
        self._read_at = real
