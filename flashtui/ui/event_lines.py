"""Alerts and events as lines, newest first, alerts on top; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.domain.text import clean
from flashtui.ui.cells import Line, Span, duration_text, line
from flashtui.ui.status_lines import open_alerts

if TYPE_CHECKING:
    from datetime import datetime

    from flashtui.services.board import Alert, Event, Snapshot

_ALERT_STYLES = {"critical": "bad", "warn": "warn", "info": ""}
_EVENT_STYLES = {"info": "dim", "warn": "warn", "alert": "bad", "you": "key"}
_LONG = 400


def event_lines(snapshot: Snapshot, now: datetime, query: str = "") -> list[Line]:
    """Alerts, then events; with a query only those that contain all its words."""
    acknowledged = [alert for alert in snapshot.alerts if alert.acknowledged]
    lines = [_alert(alert, now) for alert in (*open_alerts(snapshot), *acknowledged)]
    lines += [_event(event, now) for event in sorted(snapshot.events, key=_at, reverse=True)]
    words = query.lower().split()
    if words:
        lines = [row for row in lines if all(word in _text(row) for word in words)]
    if not lines:
        lines = [line(Span("  quiet so far" if not words else "  nothing with these words", "dim"))]
    return lines


def _alert(alert: Alert, now: datetime) -> Line:
    since = duration_text((now - alert.since).total_seconds())
    style = "dim" if alert.acknowledged else _ALERT_STYLES[alert.severity]
    word = "ack" if alert.acknowledged else "ALERT" if alert.severity == "critical" else "warn"
    return line(
        Span(f"{'since ' + since:>12} ", "dim"),
        Span(f"{word:<5} ", style),
        Span(clean(alert.text, _LONG), style),
    )


def _event(event: Event, now: datetime) -> Line:
    day = "" if event.at.date() == now.date() else f"{event.at:%d %b} "
    style = _EVENT_STYLES[event.level]
    return line(
        Span(f"{day + format(event.at, '%H:%M:%S'):>12} ", "dim"),
        Span(f"{event.level:<5} ", style),
        Span(clean(event.text, _LONG), style if event.level in {"warn", "alert"} else ""),
    )


def _at(event: Event) -> datetime:
    return event.at


def _text(row: Line) -> str:
    return "".join(span.text for span in row).lower()
