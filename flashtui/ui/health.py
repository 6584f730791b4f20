"""How the sources of numbers are doing, in words: per provider, the worst of its sources; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.domain.text import clean
from flashtui.ui.cells import Line, Span, age_text, duration_text, line, seconds_since

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from flashtui.services.board import HealthState, Snapshot, SourceHealth

STORE = "store"
INVENTORY = "inventory"
_BADNESS: dict[HealthState, int] = {
    "ok": 0,
    "off": 1,
    "waiting": 2,
    "no_key": 3,
    "stale": 4,
    "down": 5,
}
_WORDS: dict[HealthState, str] = {
    "ok": "ok",
    "off": "off",
    "waiting": "waiting",
    "no_key": "no key",
    "stale": "STALE",
    "down": "DOWN",
}
_STYLES: dict[HealthState, str] = {"stale": "warn", "down": "bad", "no_key": "dim", "off": "dim"}
_KINDS = {"rate_limited": "rate limited", "api_gone": "API gone", "no_key": "no key"}


def providers_of(snapshot: Snapshot) -> list[str]:
    """Names of the providers, in the order of the session."""
    return list(dict.fromkeys(h.provider for h in snapshot.health if h.source != STORE))


def provider_health(snapshot: Snapshot, provider: str, now: datetime, *, brief: bool) -> Line:
    """``vast STALE 31s (rate limited, retry 24s)``; brief: without what is in brackets."""
    sources = [h for h in snapshot.health if h.provider == provider and h.source != STORE]
    if not sources:
        return ()
    worst = max(sources, key=lambda h: _BADNESS[h.state])
    shown = sources[0] if _BADNESS[worst.state] == 0 else worst
    age = seconds_since(shown.last_good_at, now)
    text = _WORDS[shown.state]
    if shown.state in {"ok", "stale", "down"}:
        text += f" {age_text(age)}" if age is not None else " never"
    elif shown.state == "waiting" and shown.next_at is not None and shown.next_at < now:
        # Asked then, and not answered since.
        text += f" {age_text(seconds_since(shown.next_at, now))}"
    which = "" if shown.source == "prices" else f" {shown.source}"
    why = "" if brief else _why(shown, now)
    return line(f"{provider}{which} ", Span(text, _STYLES.get(shown.state, "")), Span(why, "dim"))


def _why(health: SourceHealth, now: datetime) -> str:
    if health.state not in {"stale", "down"}:
        return ""
    error, words = health.error, []
    if error is not None:
        words.append(_KINDS.get(error.kind, error.kind))
    if health.next_at is not None:
        words.append(f"retry {duration_text((health.next_at - now).total_seconds())}")
    elif error is not None:
        words.append("R tries again")
    return f" ({', '.join(words)})" if words else ""


def store_health(snapshot: Snapshot, now: datetime) -> Line:
    """The state of our own disk."""
    if snapshot.store_error:
        return line("store ", Span(f"FAILED: {clean(snapshot.store_error, 60)}", "bad"))
    found = next((h for h in snapshot.health if h.source == STORE), None)
    if found is None:
        return ()
    age = age_text(seconds_since(found.last_good_at, now))
    state = Span(f"{_WORDS[found.state]} {age}", _STYLES.get(found.state, ""))
    return line("store ", state)


def has_been_counted(snapshot: Snapshot) -> bool:
    """Whether anybody has said what is rented; before that, nothing rented means nothing known."""
    listings = [h for h in snapshot.health if h.source == INVENTORY]
    return bool(snapshot.runs) or not listings or any(h.last_good_at is not None for h in listings)


def problems(health: Sequence[SourceHealth], *, source: str) -> list[Line]:
    """One sentence for every provider whose source of this kind has not answered well."""
    return [
        line(
            Span(f"{h.provider}: ", "bold"),
            Span(clean(h.error.message), "dim" if h.state == "no_key" else "warn"),
        )
        for h in health
        if h.source == source and h.error is not None
    ]
