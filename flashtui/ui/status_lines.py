"""The three lines at the top: money, health, and the alert that matters most; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.domain.text import clean
from flashtui.ui.cells import Line, Span, age_text, line
from flashtui.ui.health import has_been_counted, provider_health, providers_of, store_health
from flashtui.ui.money import burn_line, horizon_line, horizons, today_line
from flashtui.ui.parts import Part, fit_parts, line_cells, spread

if TYPE_CHECKING:
    from datetime import datetime

    from flashtui.services.board import Alert, Snapshot
    from flashtui.ui.containment import Fault

BRIEF_BELOW = 100
_RANK = {"critical": 0, "warn": 1, "info": 2}
_MARKS = {"critical": "ALERT", "warn": "warn", "info": "note"}
_STYLES = {"critical": "alarm", "warn": "warn", "info": ""}


def open_alerts(snapshot: Snapshot) -> list[Alert]:
    """Alerts that nobody has acknowledged, the most severe first, then the oldest."""
    waiting = (alert for alert in snapshot.alerts if not alert.acknowledged)
    return sorted(waiting, key=lambda alert: (_RANK[alert.severity], alert.since))


def money_line(snapshot: Snapshot, now: datetime, width: int) -> Line:
    """Who, which mode, what it costs now and today, and the time."""
    brief = width < BRIEF_BELOW
    clock = line(f"{now:%H:%M:%S}" if brief else f"{now:%H:%M:%S} UTC")
    parts = [
        Part(line(Span("flashtui", "bold")), 1),
        *_tags(snapshot),
        Part(burn_line(snapshot.burn, brief=brief, counted=has_been_counted(snapshot)), 9),
        Part(today_line(snapshot.burn), 4),
    ]
    if brief:
        parts += [
            Part(horizon_line(h, brief=True), 6 + bool(h.urgent)) for h in horizons(snapshot, now)
        ]
    else:
        billing = sum(row.may_bill for row in snapshot.runs)
        parts.append(Part(line(f"{billing} billing" if has_been_counted(snapshot) else ""), 3))
    room = width - line_cells(clock) - 2
    return spread(fit_parts(parts, room), clock, width)


def health_line(snapshot: Snapshot, now: datetime, width: int) -> Line:
    """Balances with their horizon, then every source with its age."""
    money = [Part(horizon_line(h, brief=False), 7) for h in horizons(snapshot, now)]
    parts = [Part(line(Span("balance", "dim")), 2), *money] if money else []
    if money:
        parts.append(Part(line(Span("|", "dim")), 3))
    parts += [
        Part(provider_health(snapshot, provider, now, brief=False), 8)
        for provider in providers_of(snapshot)
    ]
    parts.append(Part(store_health(snapshot, now), 4 + 6 * bool(snapshot.store_error)))
    return fit_parts(parts, width)


def brief_health(snapshot: Snapshot, now: datetime) -> Line:
    """Every provider in two words, for the end of a line."""
    parts = [
        Part(provider_health(snapshot, provider, now, brief=True))
        for provider in providers_of(snapshot)
    ]
    return fit_parts(parts, 1000)


def alert_line(snapshot: Snapshot, width: int) -> Line:
    """The alert that matters most, how many there are, and what can be done; empty when it is quiet."""
    alerts = open_alerts(snapshot)
    if not alerts:
        return ()
    first = alerts[0]
    keys = line(Span("a", "key"), " ack  ", Span("4", "key"), " all")
    mark = Span(f"! {_MARKS[first.severity]} 1/{len(alerts)} ", _STYLES[first.severity] or "bold")
    text = Span(f" {clean(first.text, 400)}", "warn" if first.severity != "info" else "")
    return spread((mark, text), keys, width) if width >= BRIEF_BELOW else (mark, text)


def _tags(snapshot: Snapshot) -> list[Part]:
    parts = []
    if snapshot.simulated:
        parts.append(Part(line(Span(" SIMULATED ", "tag")), 10))
    if snapshot.read_only:
        parts.append(Part(line(Span(" RO ", "tag")), 10))
    return parts


def fault_line(fault: Fault, now: datetime) -> Line:
    """A fault of the screen itself, as health."""
    ago = age_text((now - fault.at).total_seconds())
    text = f"screen: {fault.what} failed {ago} ago ({fault.kind}), the log says more"
    return line(Span(text, "bad"))
