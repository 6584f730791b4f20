"""When a followed job is over, purely: fed with what was seen and when, it says how the run ended or that it goes on.

Clocks are anchored to the launch, so that a restart of this program does not give a wedged job a new window; a job that sits
in the queue without any worker is starved, which RunPod never reports as an error.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from flashtui.domain.errors import RateLimited
from flashtui.domain.run import PollResult
from flashtui.domain.text import clean
from flashtui.providers.runpod.wire_jobs import TERMINAL

if TYPE_CHECKING:
    from flashtui.domain.errors import ProviderError
    from flashtui.providers.runpod.wire_jobs import Health, JobStatus

POLL_S = 10.0
HEALTH_EVERY_S = 30.0
STARVED_S = 300.0
STARVED_LAST_S = 900.0
SETUP_STALL_S = 3000.0
STALL_S = 1500.0
# The platform's own limit comes first; this one is for when it does not.
DEADLINE_MARGIN_S = 60.0
_UNHEALTHY_S = 240.0
_MOST_CARDS = 4
# Without a readable health route only the job's own status can be timed; that deserves more patience.
_BLIND_FACTOR = 3.0
_MOST_ERRORS = 8
_LONGEST_PAUSE_S = 60.0
_NOT_FOUND_TWICE = 2
_DETAIL_CHARS = 2000
SETUP_STAGES = frozenset(
    {"boot", "sft_start", "rl_start", "sft_model_load", "rl_train_start", "model_prefetched"}
)


@dataclass(frozen=True, slots=True)
class Beat:
    """A worker's sign of progress, with the worker's own time."""

    at: datetime
    stage: str


@dataclass(frozen=True, slots=True)
class Limits:
    """What a job is held to.

    Attributes:
        launched_at: when its endpoint was asked for; None: not known, so the first look counts.
        wall_s: seconds from launch.
        cards: GPUs of its worker; more of them take longer to find.
        is_last_choice: no other class is left to try, so waiting is all there is.
        has_heartbeats: somebody reads the worker's heartbeats; then set-up gets the long window.
    """

    launched_at: datetime | None
    wall_s: float
    cards: int = 1
    is_last_choice: bool = False
    has_heartbeats: bool = False

    @property
    def starved_s(self) -> float:
        """Seconds in the queue without any worker that are enough."""
        base = STARVED_LAST_S if self.is_last_choice else STARVED_S
        return base * min(max(self.cards, 1), _MOST_CARDS)


class JobWatch:
    """Follows one job from look to look."""

    def __init__(self, limits: Limits, now: datetime) -> None:
        self._limits = limits
        launched_at = min(limits.launched_at or now, now)
        self.deadline = launched_at + timedelta(seconds=limits.wall_s + DEADLINE_MARGIN_S)
        # With heartbeats each sign of life brings its own time; without, the time before the first look is unknown.
        self._progress_at = launched_at if limits.has_heartbeats else now
        self._queued_since: datetime | None = None
        self._first_queue_start = launched_at
        self._worker_seen_at: datetime | None = None
        self._unhealthy_since: datetime | None = None
        self._health_at: datetime | None = None
        self._is_training = not limits.has_heartbeats
        self._last: tuple[str | None, str] | None = None
        self._errors = 0
        self._not_found = 0

    def looked(self, status: JobStatus, now: datetime) -> PollResult | None:
        """Take in an answer of the status route; the end of the run, or None: as far as RunPod says, it goes on."""
        self._errors = self._not_found = 0
        if status.state in TERMINAL:
            return _ended(status)
        seen = (status.status, json.dumps(status.output, sort_keys=True, default=str))
        if self._last is not None and seen != self._last:
            self._progress_at = now
        self._last = seen
        if status.state == "IN_QUEUE":
            self._queued_since = self._queued_since or self._first_queue_start
        else:
            self._queued_since, self._unhealthy_since = None, None
            self._first_queue_start = now
            self._worker_seen_at = now
        return None

    def wants_health(self, now: datetime) -> bool:
        """Whether the health route should be read now."""
        if self._queued_since is None:
            return False
        return self._health_at is None or (now - self._health_at).total_seconds() >= HEALTH_EVERY_S

    def health(self, health: Health, now: datetime) -> None:
        """Take in an answer of the health route; a missing section says nothing."""
        if health.workers is None:
            return
        self._health_at = now
        usable = health.workers.granted - (health.workers.unhealthy or 0)
        if health.workers.granted:
            self._worker_seen_at = now
        if health.workers.unhealthy and not usable:
            self._unhealthy_since = self._unhealthy_since or now
        else:
            self._unhealthy_since = None

    def beat(self, beat: Beat, now: datetime) -> None:
        """Take in a heartbeat at its own time, within launch and now; progress never moves back."""
        at = min(beat.at, now)
        self._progress_at = max(self._progress_at, at)
        self._worker_seen_at = max(self._worker_seen_at or at, at)
        self._is_training |= beat.stage not in SETUP_STAGES

    def verdict(self, now: datetime) -> PollResult | None:
        """Whether time alone ends it."""
        if now >= self.deadline:
            return _stalled(
                f"deadline: not finished {self._limits.wall_s:.0f} s after launch, its limit"
            )
        if self._queued_since is not None:
            return self._queue_verdict(self._queued_since, now)
        idle_s = (now - self._progress_at).total_seconds()
        limit_s = STALL_S if self._is_training else SETUP_STALL_S
        if idle_s > limit_s:
            phase = "training" if self._is_training else "setup"
            return _stalled(f"no progress for {idle_s:.0f} s (limit {limit_s:.0f} s, {phase})")
        return None

    def failed(self, error: ProviderError, now: datetime) -> PollResult | float:
        """Take in a look that failed: the end, or seconds to wait before the next."""
        self._errors += 1
        if now >= self.deadline:
            return self.verdict(now) or 0.0
        if self._errors >= _MOST_ERRORS:
            return PollResult(ok=False, failure="poll_error", detail=str(error))
        pause_s = min(POLL_S * self._errors, _LONGEST_PAUSE_S)
        if isinstance(error, RateLimited) and error.retry_after_s:
            pause_s = max(pause_s, error.retry_after_s)
        return self.clipped(pause_s, now)

    def not_found(self) -> PollResult | None:
        """Take in a 404 from the status route before the job was over: lost, once it has been said twice."""
        self._not_found += 1
        if self._not_found < _NOT_FOUND_TWICE:
            return None
        detail = (
            "RunPod no longer knows the job, and its end was not seen: its result expired, its time to live ran out, "
            "or its endpoint was deleted"
        )
        return PollResult(ok=False, failure="lost", detail=detail)

    def clipped(self, seconds: float, now: datetime) -> float:
        """A pause that does not sleep past the deadline."""
        return max(0.0, min(seconds, (self.deadline - now).total_seconds()))

    def _queue_verdict(self, since: datetime, now: datetime) -> PollResult | None:
        if self._unhealthy_since is not None:
            ill_s = (now - self._unhealthy_since).total_seconds()
            if ill_s >= _UNHEALTHY_S:
                return _stalled(f"its only worker has been unhealthy for {ill_s:.0f} s")
        start = max(since, self._worker_seen_at or since)
        waited_s = (now - start).total_seconds()
        limit_s = self._limits.starved_s
        if self._health_at is None or self._health_at < since:
            limit_s *= _BLIND_FACTOR
        if waited_s <= limit_s:
            return None
        detail = f"in the queue for {waited_s:.0f} s without any worker (limit {limit_s:.0f} s)"
        return PollResult(ok=False, failure="no_capacity", detail=detail)


def _ended(status: JobStatus) -> PollResult:
    if status.state != "COMPLETED":
        said = clean(status.error_text, limit=_DETAIL_CHARS)
        retried = (
            f" (RunPod itself had retried it {status.retries} times)" if status.retries else ""
        )
        detail = f"[{status.state}] {said}{retried}".rstrip()
        return PollResult(ok=False, failure="job_failed", detail=detail)
    output = status.output
    said = clean(status.error_text, limit=_DETAIL_CHARS)
    tail = ""
    if isinstance(output, dict) and output.get("error"):
        said = clean(output["error"], limit=_DETAIL_CHARS)
        tail = clean(str(output.get("stdout") or "")[-_DETAIL_CHARS:], limit=_DETAIL_CHARS)
    if said:
        detail = f"[COMPLETED] {said}" + (f"; its last output: {tail}" if tail else "")
        return PollResult(ok=False, failure="job_failed", detail=detail)
    if output is None:
        return PollResult(ok=True)
    return PollResult(ok=True, metrics=output if isinstance(output, dict) else {"output": output})


def _stalled(detail: str) -> PollResult:
    return PollResult(ok=False, failure="stalled", detail=detail)
