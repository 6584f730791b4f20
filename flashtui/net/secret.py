"""Keeps keys out of everything that is written or shown: the secret type, and the redactor for text."""

from __future__ import annotations

import logging
import re
from urllib.parse import quote

from flashtui.domain.secret import Secret

__all__ = ["RedactingFilter", "Redactor", "Secret"]

_MASK = "[redacted]"
# A registered value this short would black out ordinary words.
_SHORTEST = 4
_KNOWN_SHAPES = re.compile(
    r"\b(?:rpa_|rps_|hf_|wb_|sk-)[A-Za-z0-9_-]{4,}"
    r"|(?<=Bearer )[^\s\"',}]+"
    r"|(?<=bearer )[^\s\"',}]+"
)
_NAMED_VALUES = re.compile(
    r"""(?ix)
    (["']?[\w-]*(?:api[_-]?key|token|secret|password|passwd|authorization|image_login)["']?\s*[:=]\s*)
    (?!\[redacted\])(?: "[^"]*"? | '[^']*'? | (?!bearer\b)[^\s"',&}\]]+ )
    """
)
_USERINFO = re.compile(r"(?<=://)[^/\s@]+(?=@)")


class Redactor:
    """Replaces registered secrets, and what looks like one, in any text."""

    def __init__(self) -> None:
        self._values: set[str] = set()
        self._pattern: re.Pattern[str] | None = None

    def register(self, secret: Secret | str) -> None:
        """Remember a value that must never be seen; its forms in a URL are covered too."""
        value = secret if isinstance(secret, str) else secret.reveal()
        if len(value) < _SHORTEST or value in self._values:
            return
        self._values.update({value, quote(value), quote(value, safe="")})
        longest_first = sorted(self._values, key=len, reverse=True)
        self._pattern = re.compile("|".join(re.escape(v) for v in longest_first))

    def clean(self, text: str) -> str:
        """The text without secrets."""
        if self._pattern is not None:
            text = self._pattern.sub(_MASK, text)
        text = _KNOWN_SHAPES.sub(_MASK, text)
        text = _USERINFO.sub(_MASK, text)
        return _NAMED_VALUES.sub(rf"\g<1>{_MASK}", text)


class RedactingFilter(logging.Filter):
    """Lets every log record through, redacted: message, arguments and traceback."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor
        self._formatter = logging.Formatter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Redact in place; never drops a record."""
        record.msg = self._redactor.clean(record.getMessage())
        record.args = ()
        if record.exc_info and not record.exc_text:
            record.exc_text = self._formatter.formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = self._redactor.clean(record.exc_text)
        if record.stack_info:
            record.stack_info = self._redactor.clean(record.stack_info)
        return True
