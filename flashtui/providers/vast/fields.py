"""Reads single values of Vast's answers totally: whatever stands there becomes a value or None, never an exception.

Real answers hold nulls, missing keys, numbers as text, NaN, booleans as 0 and 1, trailing blanks and raw control
characters.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Annotated

from pydantic import BeforeValidator

from flashtui.domain.money import MAX_USD_PER_HOUR
from flashtui.domain.text import clean

_TEXT_LIMIT = 200
_NUMERIC_CHARS = 40
_DIGITS = re.compile(r"\d{1,18}", re.ASCII)
# Quantities beyond this are accidents of parsing, whatever their unit.
_LARGEST = Decimal(10) ** 15
# 2001 to 2286: what an epoch in seconds can mean here; milliseconds fall outside and stay unknown.
_EPOCHS = (Decimal(10) ** 9, Decimal(10) ** 10)


def number(value: object) -> Decimal | None:
    """A finite number of a sane size; text that spells one counts, a boolean does not."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    try:
        amount = Decimal(value.strip()[:_NUMERIC_CHARS] if isinstance(value, str) else str(value))
    except (InvalidOperation, ValueError):
        return None
    return amount if amount.is_finite() and -_LARGEST <= amount <= _LARGEST else None


def quantity(value: object) -> float | None:
    """A number that cannot be negative."""
    amount = number(value)
    return float(amount) if amount is not None and amount >= 0 else None


def signed(value: object) -> Decimal | None:
    """An amount of money that may be negative, such as a balance."""
    return number(value)


def price(value: object) -> Decimal | None:
    """Dollars per some unit: zero or more, and no more than any machine can cost."""
    amount = number(value)
    return amount if amount is not None and 0 <= amount <= MAX_USD_PER_HOUR else None


def whole(value: object) -> int | None:
    """A whole number, zero or more; ``1.0`` counts, ``1.5`` does not."""
    amount = number(value)
    if amount is None or amount < 0 or amount != amount.to_integral_value():
        return None
    return int(amount)


def flag(value: object) -> bool | None:
    """True or false, also as 0 and 1 or in words."""
    if isinstance(value, bool):
        return value
    words = {"true": True, "1": True, "false": False, "0": False}
    return words.get(str(value).strip().lower()) if isinstance(value, int | str) else None


def text(value: object) -> str | None:
    """One clean line; None for anything that is not text or has nothing to show."""
    return (clean(value, limit=_TEXT_LIMIT) or None) if isinstance(value, str) else None


def moment(value: object) -> datetime | None:
    """Epoch seconds as an aware moment in UTC."""
    seconds = number(value)
    if seconds is None or not _EPOCHS[0] <= seconds < _EPOCHS[1]:
        return None
    return datetime.fromtimestamp(float(seconds), UTC)


def identity(value: object) -> int:
    """An id: a positive whole number, or its digits as text.

    Raises:
        ValueError: anything else, a boolean included.
    """
    found: int | None = None
    if isinstance(value, int) and not isinstance(value, bool):
        found = value
    elif isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
        found = int(value.strip())
    if found is None or not 0 < found < 10**18:
        msg = "not an id"
        raise ValueError(msg)
    return found


def optional_identity(value: object) -> int | None:
    """An id, or None where there is none that can be used."""
    try:
        return identity(value)
    except ValueError:
        return None


def token(value: object) -> str | None:
    """An opaque paging token: non-empty text as it stands."""
    return value if isinstance(value, str) and value else None


Id = Annotated[int, BeforeValidator(identity)]
OptionalId = Annotated[int | None, BeforeValidator(optional_identity)]
Quantity = Annotated[float | None, BeforeValidator(quantity)]
Price = Annotated[Decimal | None, BeforeValidator(price)]
Amount = Annotated[Decimal | None, BeforeValidator(signed)]
Whole = Annotated[int | None, BeforeValidator(whole)]
Flag = Annotated[bool | None, BeforeValidator(flag)]
Text = Annotated[str | None, BeforeValidator(text)]
Moment = Annotated[datetime | None, BeforeValidator(moment)]
