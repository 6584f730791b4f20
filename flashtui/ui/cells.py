"""What a line on the screen is made of: spans and cells with style names, and numbers in words.

Pure: nothing here knows a terminal. Style names are looked up in :mod:`flashtui.ui.paint`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from flashtui.domain.money import format_rate, format_usd

if TYPE_CHECKING:
    from datetime import datetime

    from flashtui.domain.money import HourlyRate, Usd

_MINUTE_S = 60
_HOUR_S = 3600
_DAY_S = 86_400
_LONG_S = 10 * _HOUR_S
UNKNOWN = "?"
NOTHING = "-"


class Cell(NamedTuple):
    """One field of a table row: its text and the name of its style."""

    text: str
    style: str = ""


class Span(NamedTuple):
    """A piece of a line in one style."""

    text: str
    style: str = ""


Line: TypeAlias = tuple[Span, ...]
EMPTY_LINE: Line = ()


def line(*parts: str | Span) -> Line:
    """A line from plain strings and spans; empty parts are left out."""
    spans = (part if isinstance(part, Span) else Span(part) for part in parts)
    return tuple(span for span in spans if span.text)


def duration_text(seconds: float) -> str:
    """``41s``, ``19m``, ``3h02m``, ``12h``, ``9d04h``: at most six characters up to a year."""
    whole = max(0, int(seconds))
    if whole < _MINUTE_S:
        return f"{whole}s"
    if whole < _HOUR_S:
        return f"{whole // _MINUTE_S}m"
    if whole < _DAY_S:
        return f"{whole // _HOUR_S}h{whole % _HOUR_S // _MINUTE_S:02d}m"
    days = whole // _DAY_S
    return f"{days}d{whole % _DAY_S // _HOUR_S:02d}h" if days < 100 else f"{days}d"


def age_text(seconds: float | None) -> str:
    """An age in at most four characters where it can be: ``4s``, ``31s``, ``9m``, ``3h``, ``2d``; ``?`` never seen."""
    if seconds is None:
        return UNKNOWN
    whole = max(0, int(seconds))
    if whole < _MINUTE_S:
        return f"{whole}s"
    if whole < _HOUR_S:
        return f"{whole // _MINUTE_S}m"
    if whole < 2 * _DAY_S:
        return f"{whole // _HOUR_S}h"
    return f"{whole // _DAY_S}d"


def seconds_since(moment: datetime | None, now: datetime) -> float | None:
    """Age of a moment; None: never."""
    return None if moment is None else (now - moment).total_seconds()


def rate_text(rate: HourlyRate | None) -> str:
    """A price per hour with three decimals, ``?`` when unknown."""
    return format_rate(rate, decimals=3)


def usd_text(amount: Usd | None, *, estimate: bool = False) -> str:
    """An amount with two decimals, ``~`` before an estimate, ``?`` when unknown."""
    text = format_usd(amount)
    return f"~{text}" if estimate and amount is not None else text
