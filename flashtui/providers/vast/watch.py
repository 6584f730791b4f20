"""When a followed instance is over, purely: fed with what was seen and when, it says how the attempt ended or that it goes on.

Every clock begins at the launch, so that a restart of this program does not give a wedged machine a new window.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from flashtui.domain.run import PollResult
from flashtui.providers.vast.states import is_stopped_by_vast, raw_status, start_failure

if TYPE_CHECKING:
    from flashtui.domain.errors import ProviderError
    from flashtui.providers.vast.signals import Beat
    from flashtui.providers.vast.wire import InstanceRow

POLL_S = 15.0
# The work's own limit is kept on the machine; this one is for when that fails.
DEADLINE_MARGIN_S = 1800.0
NEVER_RAN_S = 900.0
SETUP_STALL_S = 3000.0
STALL_S = 1500.0
# The null answer also comes for healthy instances, and a host can drop out for a moment.
MISSES = 4
MOST_ERRORS = 8
_LONGEST_PAUSE_S = 60.0
_DEAD = frozenset({"exited", "stopped", "deleted", "destroyed", "frozen"})
_SILENT = frozenset({"offline", "unknown"})
SETUP_STAGES = frozenset(
    {"boot", "sft_start", "rl_start", "sft_model_load", "rl_train_start", "sft_train_start", "model_prefetched"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Limits:
    """What an attempt is held to.

    Attributes:
        launched_at: when it was rented.
        deadline_s: seconds from launch.
        has_heartbeats: somebody reads the worker's heartbeats; without, nothing but the deadline ends a running one.
    """

    launched_at: datetime
    deadline_s: float
    has_heartbeats: bool = True


class InstanceWatch:
    """Follows one instance from look to look."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._progress_at = limits.launched_at
        self._is_training = False
        self._has_run = False
        self._status: str | None = None
        self._beat: Beat | None = None
        self._misses = 0
        self._errors = 0

    @property
    def has_beaten(self) -> bool:
        """Whether the worker has ever given a sign of life."""
        return self._beat is not None

    def missing(self) -> PollResult | None:
        """Take in that the instance was not there; the end after four times in a row."""
        self._errors = 0
        return self._miss("it is not there any more")

    def looked(self, row: InstanceRow, now: datetime) -> PollResult | None:
        """Take in the instance's own fields; the end as far as they say so."""
        self._errors = 0
        status = raw_status(row)
        if status != self._status:
            # The first look tells no change: since when it is so is not known.
            if self._status is not None:
                self._progress_at = max(self._progress_at, now)
            self._status = status
        self._has_run |= status == "running"
        if status in _SILENT and self._has_run:
            return self._miss(f"its host is {status}")
        self._misses = 0
        failure = start_failure(row)
        if failure is not None:
            return _stalled(f"its container cannot start: {failure}")
        if is_stopped_by_vast(row):
            return _failed("Vast stopped it: outbid, out of credit, or its listing has ended")
        if status in _DEAD:
            return _failed(f"the instance is {status}")
        return None

    def beat(self, beat: Beat, now: datetime) -> None:
        """Take in a heartbeat at its own time, within launch and now; progress never moves back."""
        if beat == self._beat:
            return
        at = min(max(beat.at or now, self._limits.launched_at), now)
        self._progress_at = max(self._progress_at, at)
        self._has_run = True
        is_step = beat.step is not None and beat.step >= 1
        self._is_training |= is_step or beat.stage not in SETUP_STAGES
        self._beat = beat

    def failed(self, error: ProviderError, now: datetime) -> PollResult | float:
        """Take in a look that failed: the end at the eighth in a row, else seconds until the next."""
        self._errors += 1
        if self._errors >= MOST_ERRORS:
            return PollResult(ok=False, failure="poll_error", detail=str(error))
        return self.clipped(min(_LONGEST_PAUSE_S, POLL_S * self._errors), now)

    def verdict(self, now: datetime, *, heard: bool) -> PollResult | None:
        """Whether time alone ends it, the deadline left aside.

        Args:
            now: the present.
            heard: heartbeats could be read just now; a hub that is out of reach says nothing about the work.
        """
        age_s = self._age_s(now)
        if not self._has_run and age_s > NEVER_RAN_S:
            return _stalled(
                f"never started: {self._status or 'not there'} for {age_s:.0f} s after launch"
            )
        idle_s = (now - self._progress_at).total_seconds()
        window_s = STALL_S if self._is_training else SETUP_STALL_S
        if self._has_run and self._limits.has_heartbeats and heard and idle_s > window_s:
            phase = "training" if self._is_training else "set-up"
            return _stalled(f"no progress in {phase} for {idle_s:.0f} s (limit {window_s:.0f} s)")
        return None

    def deadline_verdict(self, now: datetime) -> PollResult | None:
        """Whether the deadline is over."""
        if self._age_s(now) > self._limits.deadline_s:
            return _stalled(
                f"deadline: not finished {self._limits.deadline_s:.0f} s after launch, its limit"
            )
        return None

    def clipped(self, pause_s: float, now: datetime) -> float:
        """A pause that does not reach beyond the deadline."""
        left_s = self._limits.deadline_s - self._age_s(now)
        return min(pause_s, left_s) if left_s > 0 else pause_s

    def _miss(self, what: str) -> PollResult | None:
        self._misses += 1
        if self._misses < MISSES:
            return None
        return _failed(f"{what}, {self._misses} looks in a row")

    def _age_s(self, now: datetime) -> float:
        return (now - self._limits.launched_at) / timedelta(seconds=1)


def _stalled(detail: str) -> PollResult:
    return PollResult(ok=False, failure="stalled", detail=detail)


def _failed(detail: str) -> PollResult:
    return PollResult(ok=False, failure="job_failed", detail=detail)
