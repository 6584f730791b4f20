"""Keeps requests apart: per endpoint and identity a minimum interval, a budget per window, and penalties."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashtui.domain.clock import Clock

# A provider that asks for a day's pause is obeyed by its feed, which says so on screen; a refresh by hand is
# held back for this long at most.
MAX_PENALTY_S = 60.0


@dataclass(frozen=True, slots=True)
class Budget:
    """At most ``count`` requests within any ``per_s`` seconds."""

    count: int
    per_s: float


@dataclass(slots=True)
class _Lane:
    free_at: float = float("-inf")
    blocked_until: float = float("-inf")
    starts: deque[float] = field(default_factory=deque)


class Pacer:
    """Hands out the next moment at which a request of a kind may leave."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lanes: dict[str, _Lane] = {}

    async def wait(
        self, key: str, min_interval_s: float = 0.0, *, budget: Budget | None = None
    ) -> None:
        """Wait for one's turn.

        Args:
            key: endpoint and identity, e.g. ``"vast:create:1a2b"``; requests with different keys do not wait
                for each other.
            min_interval_s: seconds between the starts of two requests of this key.
            budget: at most so many starts within a window.
        """
        lane = self._lanes.setdefault(key, _Lane())
        start = self._reserve(lane, min_interval_s, budget)
        while (delay := max(start, lane.blocked_until) - self._clock.monotonic()) > 0:
            await self._clock.sleep(delay)

    def penalise(self, key: str, seconds: float) -> None:
        """Let nothing of this key start for a while (at most a minute), also what is already waiting."""
        lane = self._lanes.setdefault(key, _Lane())
        until = self._clock.monotonic() + min(max(seconds, 0.0), MAX_PENALTY_S)
        lane.blocked_until = max(lane.blocked_until, until)

    def _reserve(self, lane: _Lane, min_interval_s: float, budget: Budget | None) -> float:
        start = max(self._clock.monotonic(), lane.free_at, lane.blocked_until)
        if budget is not None:
            while len(lane.starts) >= budget.count:
                start = max(start, lane.starts.popleft() + budget.per_s)
            lane.starts.append(start)
        lane.free_at = start + min_interval_s
        return start
