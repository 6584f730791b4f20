"""Alerts: states that want attention, computed from what is known now. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from flashtui.domain.cost import burn, hours_left
from flashtui.domain.market import UNKNOWN_AFTER_INTERVALS
from flashtui.domain.money import format_rate
from flashtui.domain.run import TERMINAL_STATES
from flashtui.domain.text import clean
from flashtui.services.board import Alert

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from flashtui.domain.market import Account
    from flashtui.services.board import RunRow, Severity, SourceHealth

_WARN_HOURS = 6.0
_CRITICAL_HOURS = 1.0
# An alert about money clears only when the horizon is this much further away than where it began.
_CLEARS_AT = 1.1
_STILL_BILLING_AFTER = timedelta(seconds=120)
_ORPHAN_AFTER = timedelta(minutes=5)
_SILENT_AFTER = timedelta(minutes=5)
_SILENT_TOO_LONG = timedelta(minutes=20)
_FAILED_FOR = timedelta(days=1)
_ORDER: Mapping[Severity, int] = {"critical": 0, "warn": 1, "info": 2}
_Found = tuple[str, "Severity", str]


@dataclass(frozen=True, slots=True)
class Concerns:
    """What alerts are made of."""

    rows: Sequence[RunRow] = ()
    accounts: Sequence[Account] = ()
    health: Sequence[SourceHealth] = ()
    store_error: str = ""


def alerts_of(
    concerns: Concerns,
    now: datetime,
    *,
    since: Mapping[str, datetime],
    acknowledged: frozenset[str],
) -> tuple[Alert, ...]:
    """All alerts: those nobody has seen first, then the most severe, then the oldest.

    Args:
        concerns: the present state of everything.
        now: the present.
        since: when alerts that were there before began.
        acknowledged: keys that a person has seen.
    """
    found = [
        *_of_store(concerns.store_error),
        *(alert for row in concerns.rows for alert in _of_row(row, now)),
        *_of_money(concerns, since),
        *(alert for source in concerns.health for alert in _of_source(source, now)),
    ]
    alerts = [
        Alert(key, severity, text, since.get(key, now), acknowledged=key in acknowledged)
        for key, severity, text in found
    ]
    return tuple(sorted(alerts, key=lambda a: (a.acknowledged, _ORDER[a.severity], a.since, a.key)))


def _of_store(error: str) -> Iterator[_Found]:
    if error:
        yield "store", "critical", error


def _of_row(row: RunRow, now: datetime) -> Iterator[_Found]:
    name = clean(row.run_id or row.label or row.resource_id or "?", 60)
    bills = "bills at an unknown rate" if row.rate is None else f"bills ${format_rate(row.rate)}/h"
    operation = row.operation
    if operation is not None and operation.kind == "destroy" and _is_late(row, now):
        said = operation.last_answer or "no proof yet"
        yield f"billing:{row.key}", "critical", f"{name} MAY STILL BILL ({bills}): {said}"
    elif row.kind == "run":
        yield from _of_run(row, name, bills, now)
    elif row.kind == "ghost":
        text = f"{name} is not in {row.provider}'s listing, but not proven gone; D asks for proof"
        yield f"ghost:{row.key}", "warn", text
    elif row.kind == "orphan" and _is_old(row, now):
        text = f"orphan on {row.provider}: {row.resource_id} of {name} {bills}; D destroys it"
        yield f"orphan:{row.key}", "critical", text
    elif row.kind == "foreign" and row.may_bill:
        text = f"not of this store, on {row.provider}: {row.resource_id} {name} {bills}"
        yield f"foreign:{row.key}", "info", text


def _of_run(row: RunRow, name: str, bills: str, now: datetime) -> Iterator[_Found]:
    over_s = timedelta(0) if row.ended_at is None else now - row.ended_at
    if row.state in TERMINAL_STATES and row.may_bill:
        if row.ended_at is None or over_s > _STILL_BILLING_AFTER:
            text = f"{name} is {row.state}, but its machine still {bills}; D destroys it"
            yield f"ended:{row.key}", "critical", text
    elif row.state == "failed" and row.ended_at is not None and over_s < _FAILED_FOR:
        why = clean(row.last_error, 120) or "no reason recorded"
        yield f"failed:{row.key}", "info", f"{name} failed: {why}"
    silent = timedelta(0) if row.heartbeat_at is None else now - row.heartbeat_at
    if row.state == "running" and silent > _SILENT_AFTER:
        severity: Severity = "critical" if silent > _SILENT_TOO_LONG else "warn"
        minutes = int(silent.total_seconds() // 60)
        text = f"{name} has given no sign of life for {minutes} min and {bills}"
        yield f"silent:{row.key}", severity, text


def _is_late(row: RunRow, now: datetime) -> bool:
    operation = row.operation
    if operation is None or not operation.is_open:
        return False
    begun = operation.not_before or operation.requested_at
    return operation.phase == "unconfirmed" or now - begun > _STILL_BILLING_AFTER


def _is_old(row: RunRow, now: datetime) -> bool:
    return row.may_bill and (row.started_at is None or now - row.started_at > _ORPHAN_AFTER)


def _of_money(concerns: Concerns, since: Mapping[str, datetime]) -> Iterator[_Found]:
    for account in concerns.accounts:
        mine = [r for r in concerns.rows if r.provider == account.provider and r.may_bill]
        hours = hours_left(account, burn(row.rate for row in mine).rate)
        key = f"balance:{account.provider}"
        limit = _WARN_HOURS * (_CLEARS_AT if key in since else 1.0)
        if hours is None or hours >= limit:
            continue
        severity: Severity = "critical" if hours < _CRITICAL_HOURS else "warn"
        ends = f"{int(hours)}h{int(hours * 60) % 60:02d}m"
        yield key, severity, f"{account.provider} money ends in {ends} at this rate"


def _of_source(source: SourceHealth, now: datetime) -> Iterator[_Found]:
    error = source.error
    if error is None or source.state == "no_key":
        return
    key, name = f"stale:{source.provider}:{source.source}", f"{source.provider} {source.source}"
    if source.next_at is None:
        yield key, "warn", f"{name}: {error.message}; R tries again"
        return
    age_s = None if source.last_good_at is None else (now - source.last_good_at).total_seconds()
    if age_s is not None and age_s > UNKNOWN_AFTER_INTERVALS * source.interval_s:
        text = f"{name}: no answer since {source.last_good_at:%H:%M:%S} UTC ({error.message})"
        yield key, "warn", text
