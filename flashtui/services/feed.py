"""One question asked of one source again and again: interval, backoff, and how it is doing. A failure never ends it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from flashtui.domain.errors import AuthRejected, ProviderError, RateLimited, ScopeRejected
from flashtui.domain.market import FeedError, Freshness, freshness
from flashtui.domain.text import clean
from flashtui.services.board import HealthState, SourceHealth
from flashtui.services.supervise import outcome
from flashtui.services.waiting import sleep_or_wake

if TYPE_CHECKING:
    import random  # noqa: TID251 - the type only
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from flashtui.domain.clock import Clock
    from flashtui.domain.errors import ErrorKind

_LONGEST_PAUSE_S = 300.0
_JITTER = 0.2
# A guard over everything the source does in one go, on real time: a source that hangs must not hang for ever.
_GUARD_S = 90.0


class Feed:
    """Asks, waits, asks again.

    Args:
        provider: registry name; empty for our own sources.
        source: what is asked, e.g. ``"prices"``.
        ask: one round; raises when it failed.
        clock: waits and stamps.
        rng: jitter, so that two dashboards do not ask in step.
        interval_s: between two good rounds.
        changed: told after every round.
        guard_s: real seconds after which a round that hangs is given up.
    """

    def __init__(
        self,
        provider: str,
        source: str,
        ask: Callable[[], Awaitable[None]],
        *,
        clock: Clock,
        rng: random.Random,
        interval_s: float,
        changed: Callable[[], None],
        guard_s: float = _GUARD_S,
    ) -> None:
        self.provider = provider
        self.source = source
        self.error: FeedError | None = None
        self._ask = ask
        self._clock = clock
        self._rng = rng
        self._interval_s = interval_s
        self._changed = changed
        self._guard_s = guard_s
        self._wake = asyncio.Event()
        self._failures = 0
        self._last_good_at: datetime | None = None
        self._pause_s: float | None = 0.0
        self._asked_at: datetime | None = None

    @property
    def health(self) -> SourceHealth:
        """How it is doing."""
        next_at = None
        if self._asked_at is not None and self._pause_s is not None:
            next_at = self._asked_at + timedelta(seconds=self._pause_s)
        return SourceHealth(
            self.provider,
            self.source,
            self._state(),
            self._last_good_at,
            self.error,
            next_at,
            self._interval_s,
        )

    def _state(self) -> HealthState:
        if self.error is None:
            return "ok" if self._last_good_at is not None else "waiting"
        if self.error.kind == "no_key":
            return "no_key"
        if self._last_good_at is None:
            return "down"
        age_s = (self._clock.now() - self._last_good_at).total_seconds()
        return "down" if freshness(age_s, self._interval_s) is Freshness.UNKNOWN else "stale"

    def refresh(self) -> None:
        """Ask now, also when a bad key had stopped it."""
        self._wake.set()

    async def run(self) -> None:
        """Ask for ever; ends only by cancellation."""
        while True:
            await self.once()
            await self._wait()

    async def once(self) -> None:
        """One round; a failure is remembered, not raised."""
        self._asked_at = self._clock.now()
        failure = await outcome(
            self._guarded(),
            f"{self.provider} {self.source}",
            expected=(ProviderError, TimeoutError),
        )
        if failure is None:
            self._failures = 0
            self.error = None
            self._last_good_at = self._clock.now()
            self._pause_s = self._interval_s * (1 + self._rng.uniform(0, _JITTER))
        elif isinstance(failure, ProviderError):
            self._failed(failure.kind, str(failure), self._pause_after(failure))
        elif isinstance(failure, TimeoutError):
            self._failed("timeout", f"no answer within {self._guard_s:g} s", self._backoff_s())
        else:
            told = f"internal error ({type(failure).__name__}); see the log"
            self._failed("malformed", told, self._backoff_s())
        self._changed()

    async def _guarded(self) -> None:
        async with asyncio.timeout(self._guard_s):
            await self._ask()

    def _failed(self, kind: ErrorKind, message: str, pause_s: float | None) -> None:
        now = self._clock.now()
        self._failures += 1
        self._pause_s = pause_s
        retry_at = None if pause_s is None else now + timedelta(seconds=pause_s)
        self.error = FeedError(self.provider, kind, clean(message, 300), now, retry_at)

    def _pause_after(self, error: ProviderError) -> float | None:
        if isinstance(error, ScopeRejected | AuthRejected):
            return None
        if isinstance(error, RateLimited) and error.retry_after_s is not None:
            return max(error.retry_after_s, self._backoff_s())
        return self._backoff_s()

    def _backoff_s(self) -> float:
        pause_s = self._interval_s * 2.0 ** min(self._failures, 16)
        return min(_LONGEST_PAUSE_S, pause_s * (1 + self._rng.uniform(0, _JITTER)))

    async def _wait(self) -> None:
        if self._pause_s is None:
            await self._wake.wait()
        else:
            await sleep_or_wake(self._clock, self._pause_s, self._wake)
        self._wake.clear()
