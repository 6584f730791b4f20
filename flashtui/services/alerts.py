"""Alerts: states that want attention, computed from what is known now. Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from flashtui.domain.cost import hours_left
from flashtui.domain.market import UNKNOWN_AFTER_INTERVALS
from flashtui.domain.money import HourlyRate, format_rate
from flashtui.services.board import Alert

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from flashtui.domain.market import Account
    from flashtui.services.board import RunRow, Severity, SourceHealth

_WARN_HOURS = 6.0
_CRITICAL_HOURS = 1.0
_STILL_BILLING_AFTER = timedelta(seconds=120)
_ORPHAN_AFTER = timedelta(minutes=5)
_ORDER: Mapping[Severity, int] = {"critical": 0, "warn": 1, "info": 2}


def alerts_of(
    rows: Iterable[RunRow],
    accounts: Iterable[Account],
    health: Iterable[SourceHealth],
    now: datetime,
    *,
    since: Mapping[str, datetime],
    acknowledged: frozenset[str],
) -> tuple[Alert, ...]:
    """All alerts, the most severe first.

    Args:
        rows: of the runs pane.
        accounts: newest balances.
        health: of every source.
        now: the present.
        since: when alerts that were there before began.
        acknowledged: keys that a person has seen.
    """
    rows = tuple(rows)
    found = [*_of_rows(rows, now), *_of_money(rows, accounts), *_of_sources(health, now)]
    alerts = [
        Alert(key, severity, text, since.get(key, now), acknowledged=key in acknowledged)
        for key, severity, text in found
    ]
    return tuple(sorted(alerts, key=lambda a: (a.acknowledged, _ORDER[a.severity], a.since, a.key)))


_Found = tuple[str, "Severity", str]


def _of_rows(rows: Iterable[RunRow], now: datetime) -> Iterator[_Found]:
    for row in rows:
        yield from _of_row(row, now)


def _of_row(row: RunRow, now: datetime) -> Iterator[_Found]:
    name = row.run_id or row.label or row.resource_id or "?"
    rate = "rate unknown" if row.rate is None else f"${format_rate(row.rate)}/h"
    operation = row.operation
    if operation is not None and operation.kind == "destroy" and _is_late(row, now):
        yield (
            f"billing:{row.key}",
            "critical",
            f"{name} MAY STILL BILL ({rate}): {operation.last_answer or 'no proof yet'}",
        )
    elif row.kind == "run" and row.may_bill and row.state in {"done", "failed", "cancelled"}:
        yield (
            f"ended:{row.key}",
            "critical",
            f"{name} is {row.state} but its machine still bills ({rate}); D destroys it",
        )
    elif row.kind == "ghost":
        yield (
            f"ghost:{row.key}",
            "warn",
            f"{name} is not in {row.provider}'s listing, but not proven gone",
        )
    elif row.kind == "orphan" and _is_old(row, now):
        yield (
            f"orphan:{row.key}",
            "critical",
            f"orphan on {row.provider}: {row.resource_id} belongs to {name} and bills {rate}; D destroys it",
        )
    elif row.kind == "foreign" and row.may_bill:
        yield (
            f"foreign:{row.key}",
            "warn",
            f"foreign on {row.provider}: {name} bills {rate} and is not in this store",
        )
    if (
        row.kind == "run"
        and row.state == "failed"
        and not row.may_bill
        and row.ended_at
        and now - row.ended_at < timedelta(days=1)
    ):
        yield (
            f"failed:{row.key}",
            "info",
            f"{name} failed: {row.last_error or 'no reason recorded'}",
        )


def _is_late(row: RunRow, now: datetime) -> bool:
    operation = row.operation
    if operation is None or not operation.is_open:
        return False
    begun = operation.not_before or operation.requested_at
    return operation.phase == "unconfirmed" or now - begun > _STILL_BILLING_AFTER


def _is_old(row: RunRow, now: datetime) -> bool:
    return row.may_bill and (row.started_at is None or now - row.started_at > _ORPHAN_AFTER)


def _of_money(rows: Iterable[RunRow], accounts: Iterable[Account]) -> Iterator[_Found]:
    rows = tuple(rows)
    for account in accounts:
        rates = [
            r.rate
            for r in rows
            if r.provider == account.provider and r.may_bill and r.rate is not None
        ]
        hours = hours_left(account, HourlyRate(sum(rate.micros for rate in rates)))
        if hours is not None and hours < _WARN_HOURS:
            severity: Severity = "critical" if hours < _CRITICAL_HOURS else "warn"
            words = f"{int(hours)}h{int(hours * 60) % 60:02d}m"
            yield (
                f"balance:{account.provider}",
                severity,
                f"{account.provider} money ends in {words} at this rate",
            )


def _of_sources(health: Iterable[SourceHealth], now: datetime) -> Iterator[_Found]:
    for source in health:
        if source.error is None or source.last_good_at is None:
            continue
        age_s = (now - source.last_good_at).total_seconds()
        if age_s > UNKNOWN_AFTER_INTERVALS * source.interval_s:
            text = f"{source.provider} {source.source}: no answer since {source.last_good_at:%H:%M:%S} ({source.error.message})"
            yield f"stale:{source.provider}:{source.source}", "warn", text
