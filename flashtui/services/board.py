"""What the dashboard shows: one frozen snapshot, and the cell in which the newest one lies."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from datetime import datetime

    from flashtui.domain.allocation import AllocationReport
    from flashtui.domain.market import Account, FeedError, PriceSheet, Product
    from flashtui.domain.money import HourlyRate, Usd
    from flashtui.domain.operation import Operation, Target
    from flashtui.domain.run import Goal, RateSource, ResourceState, RunState
    from flashtui.services.plan import PlanJob

HealthState = Literal["ok", "waiting", "stale", "down", "no_key", "off"]
Severity = Literal["critical", "warn", "info"]
RowKind = Literal["run", "orphan", "foreign", "ghost"]


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """How one background source is doing.

    Attributes:
        source: e.g. ``"prices"``, ``"inventory"``, ``"account"``, ``"store"``.
        last_good_at: last success; None: never yet.
        next_at: when it will be tried again; None: not scheduled (waiting for a key or a refresh by hand).
    """

    provider: str
    source: str
    state: HealthState
    last_good_at: datetime | None
    error: FeedError | None
    next_at: datetime | None
    interval_s: float


@dataclass(frozen=True, slots=True)
class RunRow:
    """One line of the runs pane: a run of ours, or something on the account that is not.

    Attributes:
        key: stable identity: ``"run:<run id>"`` or ``"res:<provider>:<id>"``.
        state: ours; resource_state: theirs; raw_status: their own word.
        rate: whole resource per hour; None: unknown.
        settled: cost of everything up to ``accrues_since``; None: unknown.
        accrues_since: from when ``rate`` is added up; None: the clock stands.
        observed_at: last look at the provider's side; None: never.
        cost_is_estimate: not reconciled with the provider's bill.
        target: what cancel and destroy would act on; None: nothing to act on.
        operation: the newest operation on it that is not over, or just over.
        note: one sentence in words, cleaned.
    """

    key: str
    kind: RowKind
    run_id: str | None
    provider: str | None
    resource_id: str | None
    state: RunState
    resource_state: ResourceState
    raw_status: str
    gpu: str | None
    num_gpus: int
    product: Product | None
    rate: HourlyRate | None
    rate_source: RateSource
    started_at: datetime | None
    ended_at: datetime | None
    settled: Usd | None
    accrues_since: datetime | None
    cost_is_estimate: bool
    observed_at: datetime | None
    heartbeat_at: datetime | None
    progress: str | None
    label: str
    note: str
    may_bill: bool
    target: Target | None
    operation: Operation | None
    goal: Goal = "run"
    attempt: int = 0
    last_error: str = ""

    def cost_at(self, now: datetime) -> Usd | None:
        """Cost so far at ``now``; None: unknown."""
        if self.settled is None:
            return None
        if self.accrues_since is None or self.rate is None:
            return self.settled
        return self.settled + self.rate.cost_over((now - self.accrues_since).total_seconds())


@dataclass(frozen=True, slots=True)
class PlanState:
    """The job in focus and what it would get.

    Attributes:
        report: None until prices have arrived once.
        error: why there is no report, in words.
        winner_since: since when the same candidate has been winning.
    """

    job: PlanJob
    report: AllocationReport | None
    error: str
    computed_at: datetime | None
    winner_since: datetime | None


@dataclass(frozen=True, slots=True)
class Alert:
    """A state that wants attention; it stays until it clears or is acknowledged."""

    key: str
    severity: Severity
    text: str
    since: datetime
    acknowledged: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, for the events pane."""

    at: datetime
    level: Literal["info", "warn", "alert", "you"]
    text: str


@dataclass(frozen=True, slots=True)
class Burn:
    """What the whole account costs now.

    Attributes:
        ours: per hour, resources of runs in this store that may bill.
        foreign: per hour, everything else on the accounts.
        unknown: how many billing resources have no known rate.
        today: spent today by runs of this store, in UTC; None: unknown.
    """

    ours: HourlyRate
    foreign: HourlyRate
    unknown: int
    today: Usd | None
    total: Usd | None

    @property
    def now(self) -> HourlyRate:
        """Per hour, all of it."""
        return self.ours + self.foreign


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything a screen needs, frozen.

    Attributes:
        simulated: prices and machines are the simulator's.
        read_only: no operation may be asked for.
        operations: open ones and those that ended a moment ago.
        poll_interval_s: the configured interval, for the freshness rule.
    """

    as_of: datetime
    sheets: tuple[PriceSheet, ...]
    health: tuple[SourceHealth, ...]
    runs: tuple[RunRow, ...]
    accounts: tuple[Account, ...]
    burn: Burn
    plan: PlanState
    alerts: tuple[Alert, ...]
    events: tuple[Event, ...]
    operations: tuple[Operation, ...]
    simulated: bool
    read_only: bool
    poll_interval_s: float
    store_error: str = ""
    revision: int = 0


class Board:
    """A latest-wins cell: writers put snapshots, any number of readers follow; nobody queues up old ones."""

    def __init__(self, first: Snapshot) -> None:
        self._snapshot = first
        self._changed = asyncio.Event()

    @property
    def snapshot(self) -> Snapshot:
        """The newest."""
        return self._snapshot

    def put(self, snapshot: Snapshot) -> None:
        """Replace the newest and wake the readers."""
        self._snapshot = snapshot
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def changes(self) -> AsyncIterator[Snapshot]:
        """The newest snapshot now, then each newer one; a slow reader skips those in between."""
        while True:
            snapshot, changed = self._snapshot, self._changed
            yield snapshot
            if self._snapshot is snapshot:
                await changed.wait()
