"""Looks at an instance and its worker's files every fifteen seconds until the attempt is over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtui.domain.errors import ProviderError
from flashtui.domain.run import Observation, PollResult
from flashtui.net.hub import HubFiles
from flashtui.providers.vast.auth import NAME
from flashtui.providers.vast.handles import target_of
from flashtui.providers.vast.signals import Place, Signals
from flashtui.providers.vast.states import current_rate, note_of, raw_status, state_of
from flashtui.providers.vast.train import wall_s
from flashtui.providers.vast.watch import DEADLINE_MARGIN_S, POLL_S, InstanceWatch, Limits

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from flashtui.domain.clock import Clock
    from flashtui.domain.job import JobSpec
    from flashtui.domain.run import JobHandle
    from flashtui.providers.base import Context
    from flashtui.providers.vast.api import VastApi
    from flashtui.providers.vast.handles import Target
    from flashtui.providers.vast.wire import InstanceRow

# The hub is asked for the last word this often; heartbeats at every look.
_LAST_WORD_EVERY_S = 30.0
# What a worker wrote just before its machine went can take this long to show.
_RE_READS = 6
_RE_READ_PAUSE_S = 5.0


class Follower:
    """Follows instances by their handles."""

    def __init__(self, context: Context, api: VastApi) -> None:
        self._context = context
        self._api = api

    async def follow(
        self,
        handle: JobHandle,
        spec: JobSpec,
        seed: int,
        *,
        log: Callable[[Observation], None] | None,
    ) -> PollResult:
        """Look until the attempt is over, or can be said to be. Nothing is destroyed here.

        Raises:
            Rejected: the handle names no instance.
        """
        target = target_of(handle)
        launched_at = target.launched_at or self._context.clock.now()
        limits = Limits(
            launched_at,
            wall_s(spec) + DEADLINE_MARGIN_S,
            has_heartbeats=bool(spec.train.hf_repo),
        )
        signals = self._signals(target, spec, seed, launched_at)
        return await Walk(self._api, self._context.clock, target, limits, signals, log).to_end()

    def _signals(
        self, target: Target, spec: JobSpec, seed: int, launched_at: datetime
    ) -> Signals | None:
        if not spec.train.hf_repo:
            return None
        folder = f"{spec.phase}/{spec.run_id}/seed{seed}"
        place = Place(spec.train.hf_repo, folder, target.attempt, launched_at)
        endpoint = self._context.settings.hf_endpoint
        return Signals(HubFiles(self._context.http, endpoint, self._context.hf_token, NAME), place)


class Walk:
    """One attempt being followed.

    Args:
        api: the account's routes.
        clock: paces the looks.
        target: what the handle names.
        limits: deadlines, anchored to the launch.
        signals: the worker's files; None: the job has no repository.
        log: gets every look.
    """

    def __init__(
        self,
        api: VastApi,
        clock: Clock,
        target: Target,
        limits: Limits,
        signals: Signals | None,
        log: Callable[[Observation], None] | None,
    ) -> None:
        self._api = api
        self._clock = clock
        self._target = target
        self._launched_at = limits.launched_at
        self._signals = signals
        self._log = log
        self._watch = InstanceWatch(limits)
        self._asked_last_word_at = float("-inf")
        self._progress: str | None = None
        self._trouble = ""

    async def to_end(self) -> PollResult:
        """Look, wait, look again."""
        while True:
            outcome = await self._look()
            if isinstance(outcome, PollResult):
                return outcome
            await self._clock.sleep(outcome)

    async def _look(self) -> PollResult | float:
        """One look: the end, or seconds until the next."""
        over = self._watch.deadline_verdict(self._clock.now())
        if over is not None:
            return await self._last_word() or over
        try:
            row = await self._api.instance(self._target.instance_id)
        except ProviderError as error:
            return await self._failed(error)
        now = self._clock.now()
        ended = self._watch.missing() if row is None else self._watch.looked(row, now)
        if ended is not None:
            self._report(row)
            return await self._last_word_of_the_gone() or ended
        result = await self._last_word_when_due()
        if result is None:
            await self._listen()
        self._report(row)
        if result is not None:
            return result
        stalled = self._watch.verdict(self._clock.now(), heard=not self._trouble)
        if stalled is not None:
            return await self._last_word() or stalled
        return self._watch.clipped(POLL_S, self._clock.now())

    async def _failed(self, error: ProviderError) -> PollResult | float:
        outcome = self._watch.failed(error, self._clock.now())
        if isinstance(outcome, float):
            return outcome
        return await self._last_word_of_the_gone() or outcome

    async def _listen(self) -> None:
        if self._signals is None:
            return
        try:
            beat = await self._signals.heartbeat()
        except ProviderError as error:
            self._trouble = f"heartbeats could not be read: {error}"
            return
        self._trouble = ""
        if beat is not None:
            self._progress = beat.progress
            self._watch.beat(beat, self._clock.now())

    async def _last_word_when_due(self) -> PollResult | None:
        if self._clock.monotonic() - self._asked_last_word_at < _LAST_WORD_EVERY_S:
            return None
        return await self._last_word()

    async def _last_word_of_the_gone(self) -> PollResult | None:
        """The last word of a machine that cannot speak any more, with patience if it ever spoke."""
        await self._listen()
        for again in range(_RE_READS):
            result = await self._last_word()
            if result is not None or not self._watch.has_beaten or again == _RE_READS - 1:
                return result
            await self._clock.sleep(_RE_READ_PAUSE_S)
        return None

    async def _last_word(self) -> PollResult | None:
        """How the attempt ended by its own account; None: it has not said."""
        if self._signals is None:
            return None
        self._asked_last_word_at = self._clock.monotonic()
        try:
            done_at = await self._signals.done_at()
            marker = await self._signals.marker() if done_at is None else None
            if done_at is None and marker is None:
                return None
            if marker is not None and not marker.ok:
                return PollResult(ok=False, failure="job_failed", detail=marker.error or "failed")
            return await self._success(self._signals, done_at)
        except ProviderError as error:
            self._trouble = f"the run's files could not be read: {error}"
            return None

    async def _success(self, signals: Signals, done_at: datetime | None) -> PollResult:
        for again in range(_RE_READS):
            metrics = await signals.metrics()
            if metrics is not None:
                return PollResult(ok=True, metrics=self._with_cost(metrics, done_at))
            if again < _RE_READS - 1:
                await self._clock.sleep(_RE_READ_PAUSE_S)
        detail = "it says that it is done, but its metrics.json cannot be read"
        return PollResult(ok=False, failure="poll_error", detail=detail)

    def _with_cost(self, metrics: dict[str, Any], done_at: datetime | None) -> dict[str, Any]:
        """The metrics with what the attempt cost up to its end; an end outside its life counts as now."""
        if self._target.rate is None:
            return metrics
        now = self._clock.now()
        is_inside = done_at is not None and self._launched_at <= done_at <= now
        end = done_at if done_at is not None and is_inside else now
        cost = self._target.rate.cost_over((end - self._launched_at).total_seconds())
        notes = metrics.get("notes")
        return {
            **metrics,
            "cost_usd": float(cost),
            "notes": {
                **(notes if isinstance(notes, dict) else {}),
                "provider": NAME,
                "vast_rate_usd_hr": float(self._target.rate),
                "vast_gpu": self._target.gpu,
                "vast_offer_id": self._target.offer_id,
            },
        }

    def _report(self, row: InstanceRow | None) -> None:
        if self._log is None:
            return
        self._log(
            Observation(
                provider=NAME,
                resource_id=str(self._target.instance_id),
                state="unknown" if row is None else state_of(row),
                raw_status="not there" if row is None else raw_status(row),
                observed_at=self._clock.now(),
                rate=None if row is None else current_rate(row),
                started_at=None if row is None else row.start_date,
                note=(note_of(row) if row is not None else "") or self._trouble,
                progress=self._progress,
            )
        )
