"""What a session knows at a moment, and the snapshot it makes of it."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal, TypeVar, cast

from flashtui.services.alerts import Concerns, alerts_of
from flashtui.services.board import Event, Snapshot, SourceHealth
from flashtui.services.money import burn_of
from flashtui.services.preview import Preview
from flashtui.services.run_rows import RowSources, run_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flashtui.domain.clock import Clock
    from flashtui.domain.market import Account, PriceSheet
    from flashtui.domain.operation import Operation, Target
    from flashtui.domain.run import Inventory, JobHandle, Run
    from flashtui.providers.base import Plugin
    from flashtui.services.board import Alert
    from flashtui.settings import Settings
    from flashtui.store.audit import StoredEvent

T = TypeVar("T")
# How long an operation that is over is still shown with its row.
RECENT = timedelta(minutes=10)
# Alerts of an earlier session are kept so long: not everything that can raise them has been heard of yet.
_SETTLING = timedelta(minutes=3)
MOST_EVENTS = 200


class Known:
    """Mutable knowledge of one session; everything it hands out is frozen."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self.preview = Preview(settings)
        self.sheets: dict[str, PriceSheet] = {}
        self.inventories: dict[str, Inventory] = {}
        self.accounts: dict[str, Account] = {}
        self.runs: tuple[Run, ...] = ()
        self.operations: tuple[Operation, ...] = ()
        self.own_operations: tuple[Operation, ...] = ()
        self.stored_events: tuple[StoredEvent, ...] = ()
        self.since: dict[str, datetime] = {}
        self.acknowledged: frozenset[str] = frozenset()
        self.switched_off: dict[str, str] = {}
        self.no_key: dict[str, str] = {}
        self.read_error = ""
        self.write_error = ""
        self._events: deque[Event] = deque(maxlen=MOST_EVENTS)
        self._began_at = clock.now()
        self._revision = 0

    @property
    def store_error(self) -> str:
        """What is wrong with our own file, in a sentence; empty: nothing."""
        return self.write_error or self.read_error

    def note(self, level: Literal["info", "warn", "alert"], text: str) -> None:
        """Something that happened in this session."""
        self._events.append(Event(self._clock.now(), level, text))

    def handle(self, target: Target) -> JobHandle | None:
        """What is known of how to act on a target: as recorded, else as listed."""
        key = (target.provider, target.resource_id)
        for run in self.runs:
            for rented in run.resources:
                if (rented.provider, rented.resource_id) == key and rented.handle.data:
                    return rented.handle
        inventory = self.inventories.get(target.provider)
        listed = inventory.resources if inventory is not None else ()
        return next((r.handle for r in listed if r.resource_id == target.resource_id), None)

    def snapshot(self, health: Iterable[SourceHealth], plugins: Mapping[str, Plugin]) -> Snapshot:
        """Everything a screen needs, as of now."""
        now = self._clock.now()
        self._revision += 1
        told = (*health, *self._silent_sources())
        sheets = tuple(_with_error(sheet, told) for sheet in self._in_order(self.sheets))
        operations = self._all_operations()
        rows = run_rows(RowSources(self.runs, self._in_order(self.inventories), operations), now)
        accounts = self._in_order(self.accounts)
        concerns = Concerns(rows, accounts, told, self.store_error)
        alerts = self._alerts(
            alerts_of(concerns, now, since=self.since, acknowledged=self.acknowledged), now
        )
        reasons = {**self.no_key, **self.switched_off}
        return Snapshot(
            as_of=now,
            sheets=sheets,
            health=told,
            runs=rows,
            accounts=accounts,
            burn=burn_of(rows, self.runs, now),
            plan=self.preview.state(sheets, plugins, reasons, now),
            alerts=alerts,
            events=self._all_events(),
            operations=operations,
            simulated=self._settings.simulated,
            read_only=self._settings.read_only,
            poll_interval_s=self._settings.poll_seconds,
            store_error=self.store_error,
            revision=self._revision,
        )

    def _all_operations(self) -> tuple[Operation, ...]:
        """The store's; of those that this process drives its own newer state, saved or not."""
        merged = {operation.op_id: operation for operation in self.operations}
        for own in self.own_operations:
            stored = merged.get(own.op_id)
            if stored is None or own.updated_at >= stored.updated_at:
                merged[own.op_id] = own
        return tuple(sorted(merged.values(), key=lambda o: (o.requested_at, o.op_id)))

    def _all_events(self) -> tuple[Event, ...]:
        stored = [Event(e.at, _level(e.level), e.text) for e in self.stored_events]
        both = sorted([*stored, *self._events], key=lambda event: event.at)
        return tuple(both[-MOST_EVENTS:])

    def _in_order(self, by_provider: Mapping[str, T]) -> tuple[T, ...]:
        """Always the same order, whoever answered first: things on screen do not change places."""
        rank = {name: place for place, name in enumerate(self._settings.preference)}
        names = sorted(by_provider, key=lambda name: (rank.get(name, len(rank)), name))
        return tuple(by_provider[name] for name in names)

    def _silent_sources(self) -> Iterable[SourceHealth]:
        interval_s = self._settings.poll_seconds
        for name in self.switched_off:
            yield SourceHealth(name, "prices", "off", None, None, None, interval_s)
        for name in self.no_key:
            yield SourceHealth(name, "inventory", "no_key", None, None, None, interval_s)

    def _alerts(self, alerts: tuple[Alert, ...], now: datetime) -> tuple[Alert, ...]:
        present = {alert.key: alert.since for alert in alerts}
        for alert in alerts:
            if alert.key not in self.since and alert.severity != "info":
                self.note("alert", alert.text)
        if now - self._began_at < _SETTLING:
            self.since = {**self.since, **present}
        else:
            self.since = present
            # An alert that has cleared rings again when it comes back.
            self.acknowledged &= frozenset(present)
        return alerts


def _with_error(sheet: PriceSheet, health: Iterable[SourceHealth]) -> PriceSheet:
    error = next(
        (h.error for h in health if h.provider == sheet.provider and h.source == "prices"), None
    )
    return sheet if error is None else replace(sheet, error=error)


def _level(word: str) -> Literal["info", "warn", "alert", "you"]:
    known = word if word in {"info", "warn", "alert", "you"} else "info"
    return cast("Literal['info', 'warn', 'alert', 'you']", known)
