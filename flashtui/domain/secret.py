"""A value that must not be seen: an API key or a token.

It goes from where it was found to the one header that carries it, and shows itself nowhere on the way.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import NoReturn

_SHOWN = "[secret]"
_TAIL_LENGTH = 4
# A tail of a short value gives away too much of it.
_LEAST_LENGTH_FOR_TAIL = 12


class Secret:
    """Wraps a secret text; ``repr``, ``str`` and formatting never show it, and it cannot be pickled."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value itself, for the request that needs it."""
        return self._value

    def tail(self) -> str:
        """The last four characters, to tell two keys apart; empty when the value is too short for that."""
        return self._value[-_TAIL_LENGTH:] if len(self._value) >= _LEAST_LENGTH_FOR_TAIL else ""

    def fingerprint(self) -> str:
        """Twelve hex digits that stay the same for the same value and cannot be turned back into it."""
        return hashlib.sha256(self._value.encode("utf-8", "surrogatepass")).hexdigest()[:12]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        mine = self._value.encode("utf-8", "surrogatepass")
        return hmac.compare_digest(mine, other._value.encode("utf-8", "surrogatepass"))

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __bool__(self) -> bool:
        return bool(self._value)

    def __repr__(self) -> str:
        return f"Secret({_SHOWN})"

    def __str__(self) -> str:
        return _SHOWN

    def __format__(self, format_spec: str) -> str:
        return format(_SHOWN, format_spec)

    def __reduce__(self) -> NoReturn:
        msg = "a secret is not written anywhere"
        raise TypeError(msg)
