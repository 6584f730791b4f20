"""Field types that read whatever JSON a server sends: a value of the wrong kind is None, never an exception.

Only identifiers are strict, because they go into addresses and decide what is destroyed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints, ValidationError

from flashtui.domain.money import MAX_USD_PER_HOUR
from flashtui.domain.text import clean

_MAX_COUNT = 10_000_000_000
# REST v1 printed Go's layout: "2026-08-20 06:16:19.436 +0000 UTC".
_GO_LAYOUT = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d+)? ([+-]\d{4})(?: \S+)?")
_FRACTION = re.compile(r"(\.\d{6})\d+")
# What was rented before this product existed cannot be on an account; an earlier moment is a default, not a fact.
_EARLIEST = datetime(2015, 1, 1, tzinfo=UTC)


class Wire(BaseModel):
    """Base of everything received: frozen, unknown fields ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


_Model = TypeVar("_Model", bound=Wire)


def rows(model: type[_Model], value: object) -> tuple[tuple[_Model, ...], int]:
    """The readable items of a list, and how many could not be read.

    Args:
        model: what an item is.
        value: a list; anything else counts as one unreadable item.
    """
    if not isinstance(value, list):
        return (), 1
    good: list[_Model] = []
    for item in value:
        try:
            good.append(model.model_validate(item))
        except (ValidationError, RecursionError):
            continue
    return tuple(good), len(value) - len(good)


def _number(value: object) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    try:
        number = Decimal(str(value).strip())
    except (InvalidOperation, ValueError):
        return None
    return number if number.is_finite() else None


def _price(value: object) -> Decimal | None:
    number = _number(value)
    return number if number is not None and 0 <= number <= MAX_USD_PER_HOUR else None


def _amount(value: object) -> Decimal | None:
    number = _number(value)
    return number if number is not None and abs(number) < _MAX_COUNT else None


def _count(value: object) -> int | None:
    number = _number(value)
    return int(number) if number is not None and 0 <= number <= _MAX_COUNT else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _line(value: object) -> str | None:
    return (clean(value, limit=300) or None) if isinstance(value, str) else None


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, Iterable) or isinstance(value, str | bytes):
        return ()
    return tuple(item for item in value if isinstance(item, str))


def _section(value: object) -> object:
    return value if isinstance(value, dict | BaseModel) else None


def moment(value: object) -> datetime | None:
    """An aware UTC moment from RFC 3339 or Go's layout; None for anything else, or before the product existed."""
    if not isinstance(value, str):
        return None
    text = value.strip()
    go = _GO_LAYOUT.fullmatch(text)
    if go:
        text = f"{go[1]}T{go[2]}{go[3] or ''}{go[4]}"
    try:
        parsed = datetime.fromisoformat(_FRACTION.sub(r"\1", text))
        utc = parsed.astimezone(UTC) if parsed.tzinfo else None
    except (ValueError, OverflowError):
        return None
    return utc if utc is not None and utc >= _EARLIEST else None


Price = Annotated[Decimal | None, BeforeValidator(_price)]
"""US dollars per hour, at least 0; None where it is missing or no price."""

Amount = Annotated[Decimal | None, BeforeValidator(_amount)]
"""US dollars; may be negative."""

Count = Annotated[int | None, BeforeValidator(_count)]
Flag = Annotated[bool | None, BeforeValidator(_flag)]
Line = Annotated[str | None, BeforeValidator(_line)]
"""One cleaned line; None where empty."""

Section = BeforeValidator(_section)
"""Marks a nested object: anything else there reads as if it were missing."""

Texts = Annotated[tuple[str, ...], BeforeValidator(_texts)]
Moment = Annotated[datetime | None, BeforeValidator(moment)]

ResourceId = Annotated[
    str, StringConstraints(strict=True, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$")
]
"""Goes into addresses, so nothing but these characters."""

GpuId = Annotated[
    str, StringConstraints(strict=True, min_length=1, max_length=120, strip_whitespace=True)
]
"""RunPod's name of a GPU type, e.g. ``NVIDIA GeForce RTX 4090``; the key everywhere."""


def is_resource_id(text: object) -> bool:
    """Whether a text can be the id of an endpoint, pod, worker or job."""
    return (
        isinstance(text, str)
        and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}", text) is not None
    )
