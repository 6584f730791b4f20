"""What a session knows at a moment, and the snapshot it makes of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from flashtui.domain.allocation import book_from_sheet, plan
from flashtui.services.alerts import alerts_of
from flashtui.services.board import Event, PlanState, Snapshot, SourceHealth
from flashtui.services.money import burn_of
from flashtui.services.plan import PlanJob
from flashtui.services.run_rows import RowSources, run_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flashtui.domain.allocation import AllocationReport
    from flashtui.domain.clock import Clock
    from flashtui.domain.market import Account, PriceSheet
    from flashtui.domain.operation import Operation
    from flashtui.domain.run import Inventory, Run
    from flashtui.providers.registry import Registry
    from flashtui.services.board import Alert
    from flashtui.settings import Settings
    from flashtui.store.audit import StoredEvent

# How long an operation that is over is still shown with its row.
_RECENT = timedelta(minutes=10)
# The plan is made again at least so often: offers grow stale by themselves.
_PLAN_AGE = timedelta(seconds=15)


class Known:
    """Mutable knowledge of one session; everything it hands out is frozen."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self.job = PlanJob(disk_gb=settings.rules.disk_gb)
        self.sheets: dict[str, PriceSheet] = {}
        self.inventories: dict[str, Inventory] = {}
        self.accounts: dict[str, Account] = {}
        self.runs: tuple[Run, ...] = ()
        self.operations: tuple[Operation, ...] = ()
        self.stored_events: Sequence[StoredEvent] = ()
        self.since: dict[str, datetime] = {}
        self.acknowledged: frozenset[str] = frozenset()
        self.switched_off: dict[str, str] = {}
        self.no_key: dict[str, str] = {}
        self.store_error = ""
        self.store_token: tuple[int, int, int] | None = None
        self._plan: PlanState | None = None
        self._planned_from: object = None
        self._revision = 0

    def recent(self, now: datetime) -> datetime:
        """Since when operations that are over are still of interest."""
        return now - _RECENT

    def snapshot(
        self, health: Iterable[SourceHealth], registry: Registry | None = None
    ) -> Snapshot:
        """Everything a screen needs, as of now."""
        now = self._clock.now()
        self._revision += 1
        told = (*health, *self._silent_sources())
        sheets = tuple(self._with_error(sheet, told) for sheet in self.sheets.values())
        rows = run_rows(
            RowSources(self.runs, tuple(self.inventories.values()), self.operations), now
        )
        accounts = tuple(self.accounts.values())
        alerts = self._alerts(
            alerts_of(rows, accounts, told, now, since=self.since, acknowledged=self.acknowledged)
        )
        return Snapshot(
            as_of=now,
            sheets=sheets,
            health=told,
            runs=rows,
            accounts=accounts,
            burn=burn_of(rows, self.runs, now),
            plan=self._plan_state(sheets, registry, now),
            alerts=alerts,
            events=tuple(Event(e.at, e.level, e.text) for e in self.stored_events),  # type: ignore[arg-type]
            operations=self.operations,
            simulated=self._settings.simulated,
            read_only=self._settings.read_only,
            poll_interval_s=self._settings.poll_seconds,
            store_error=self.store_error,
            revision=self._revision,
        )

    def _silent_sources(self) -> Iterable[SourceHealth]:
        interval_s = self._settings.poll_seconds
        for name in self.switched_off:
            yield SourceHealth(name, "prices", "off", None, None, None, interval_s)
        for name in self.no_key:
            yield SourceHealth(name, "inventory", "no_key", None, None, None, interval_s)

    def _with_error(self, sheet: PriceSheet, health: Iterable[SourceHealth]) -> PriceSheet:
        error = next(
            (h.error for h in health if h.provider == sheet.provider and h.source == "prices"), None
        )
        return sheet if error is None else replace(sheet, error=error)

    def _alerts(self, alerts: tuple[Alert, ...]) -> tuple[Alert, ...]:
        self.since = {alert.key: alert.since for alert in alerts}
        # An alert that has cleared rings again when it comes back.
        self.acknowledged &= frozenset(self.since)
        return alerts

    def _plan_state(
        self, sheets: Sequence[PriceSheet], registry: Registry | None, now: datetime
    ) -> PlanState:
        if registry is None or not any(sheet.quotes or sheet.offers for sheet in sheets):
            return PlanState(self.job, None, "no prices have arrived yet", None, None)
        inputs = (self.job, tuple((id(s.quotes), id(s.offers), s.error) for s in sheets))
        last = self._plan
        if (
            last is not None
            and inputs == self._planned_from
            and last.computed_at
            and now - last.computed_at < _PLAN_AGE
        ):
            return last
        self._planned_from = inputs
        report = self._report(sheets, registry, now)
        since = (
            last.winner_since
            if last is not None and _winner(last.report) == _winner(report)
            else now
        )
        self._plan = PlanState(self.job, report, "", now, since)
        return self._plan

    def _report(
        self, sheets: Sequence[PriceSheet], registry: Registry, now: datetime
    ) -> AllocationReport:
        by_name = {sheet.provider: sheet for sheet in sheets}
        books = [
            book_from_sheet(
                name,
                by_name.get(name),
                configured=plugin.provider.is_configured() and name not in self.switched_off,
                why_not=self.switched_off.get(name) or self.no_key.get(name) or "",
            )
            for name, plugin in registry.plugins().items()
        ]
        settings = self._settings
        return plan(
            self.job.request(),
            books,
            headroom=settings.vram_headroom,
            now=now,
            interval_s=settings.poll_seconds,
            preference=settings.preference,
            rules=settings.rules,
        )


def _winner(report: AllocationReport | None) -> tuple[str, str, str] | None:
    winner = report.winner if report is not None else None
    return None if winner is None else (winner.provider, winner.gpu, winner.product)
