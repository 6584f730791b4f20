"""The clock that everything asks; real in the composition root, virtual in tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime


class Clock(Protocol):
    """Time for records, for intervals, and a way to wait."""

    def now(self) -> datetime:
        """The present, aware, in UTC: for records and ages (it moves through a suspend)."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back: for intervals and deadlines."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; a virtual clock advances itself instead."""
        ...


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on the monotonic scale, handed down instead of a duration that restarts at every layer."""

    at_monotonic: float

    @classmethod
    def after(cls, clock: Clock, seconds: float) -> Deadline:
        """The moment ``seconds`` from now."""
        return cls(clock.monotonic() + seconds)

    def remaining_s(self, clock: Clock) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.at_monotonic - clock.monotonic())

    def passed(self, clock: Clock) -> bool:
        """Whether the moment is here."""
        return clock.monotonic() >= self.at_monotonic
