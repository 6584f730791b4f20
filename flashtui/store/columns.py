"""How single values lie in a column, and a reader of rows that goes on past what it cannot read."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar, cast

from flashtui.domain.money import HourlyRate, Usd
from flashtui.domain.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")
Value = str | int | None
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST = datetime(2000, 1, 1, tzinfo=UTC)


def stamp(moment: datetime) -> int:
    """Microseconds since 1970."""
    return (moment - _EPOCH) // _MICROSECOND


def optional_stamp(moment: datetime | None) -> int | None:
    """The same; None stays None."""
    return None if moment is None else stamp(moment)


def moment(micros: int) -> datetime:
    """The reverse of :func:`stamp`.

    Raises:
        OverflowError: no such moment.
    """
    return _EPOCH + micros * _MICROSECOND


def micros(amount: Usd | HourlyRate | None) -> int | None:
    """Micro-dollars, or None."""
    return None if amount is None else amount.micros


def json_text(value: Mapping[str, Any]) -> str:
    """A mapping as JSON; anything that JSON lacks becomes its text."""
    return json.dumps(_finite(value), separators=(",", ":"), default=str)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    return value


class Fields:
    """One row; a value that cannot be read becomes a default, and a line in ``problems``."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self._row = row
        self.problems: list[str] = []

    def text(self, name: str) -> str:
        """A text column; empty where it holds none."""
        value = self._row[name]
        if value is None or isinstance(value, str):
            return value or ""
        self._problem(name)
        return clean(value, 80)

    def optional_text(self, name: str) -> str | None:
        """A text column; None where it is null."""
        return None if self._row[name] is None else self.text(name)

    def choice(self, name: str, allowed: tuple[Any, ...], default: T) -> T:
        """One word of a closed list."""
        value = self._row[name]
        if value in allowed:
            return cast("T", value)
        self._problem(name)
        return default

    def integer(self, name: str, default: int) -> int:
        """A whole number."""
        value = self._row[name]
        if isinstance(value, int):
            return value
        self._problem(name)
        return default

    def usd(self, name: str) -> Usd | None:
        """An amount of money."""
        return self._made(name, Usd)

    def rate(self, name: str) -> HourlyRate | None:
        """A price per hour; never negative."""

        def made(value: int) -> HourlyRate:
            if value < 0:
                raise ValueError(value)
            return HourlyRate(value)

        return self._made(name, made)

    def moment(self, name: str) -> datetime | None:
        """A moment after the year 2000; earlier ones are broken clocks, not facts."""

        def made(value: int) -> datetime:
            found = moment(value)
            if found < _FIRST:
                raise ValueError(value)
            return found

        return self._made(name, made)

    def mapping(self, name: str) -> dict[str, Any]:
        """A JSON object."""
        value = self._row[name]
        try:
            parsed = json.loads(value)
        except (TypeError, ValueError, RecursionError):
            parsed = None
        if isinstance(parsed, dict):
            return parsed
        self._problem(name)
        return {}

    def _made(self, name: str, make: Callable[[int], T]) -> T | None:
        value = self._row[name]
        if value is None:
            return None
        try:
            return make(value)
        except (TypeError, ValueError, OverflowError):
            self._problem(name)
            return None

    def _problem(self, name: str) -> None:
        self.problems.append(f"{name} {clean(repr(self._row[name]), 40)} cannot be read")
