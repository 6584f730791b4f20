"""Times as the simulated RunPod prints them; every surface has its own spelling."""

from __future__ import annotations

from datetime import UTC, datetime


def rfc3339(moment: float) -> str:
    """REST v2's spelling, e.g. `2026-06-01T12:00:00Z`."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def millis(moment: float) -> str:
    """GraphQL's spelling of a creation time, e.g. `2026-06-01T12:00:00.000Z`."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S.") + (
        f"{int(moment * 1000) % 1000:03d}Z"
    )


def browser_date(moment: float) -> str:
    """The prose of `lastStatusChange`, as a browser in UTC prints a date."""
    text = datetime.fromtimestamp(moment, UTC).strftime("%a %b %d %Y %H:%M:%S GMT+0000")
    return f"{text} (Coordinated Universal Time)"
