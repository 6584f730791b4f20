"""Text from outside made safe for one line of a terminal, a log or a JSON document."""

from __future__ import annotations

import re
import unicodedata

ELLIPSIS = "…"
# Terminal sequences go as a whole, so that their parameters do not stay behind as text:
# OSC, DCS, SOS, PM and APC with their strings, CSI (also in its one-byte form), and the short escapes.
_SEQUENCES = re.compile(
    r"(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\r\n]*(?:\x07|\x1b\\|\x9c|(?=[\x1b\r\n])|\Z)"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)
# Cc control, Cf bidi and zero-width and tags, Cs lone surrogates (no encoder takes them), Co private use.
_DROPPED = frozenset({"Cc", "Cf", "Cs", "Co"})


def clean(text: object, limit: int = 200) -> str:
    """One printable line.

    Terminal sequences, control, bidi and zero-width characters are dropped, every run of white space
    becomes one blank, and what is too long ends in ``…``.

    Args:
        text: usually a string; bytes are read as UTF-8, None is empty, anything else goes through ``str``.
        limit: most characters of the result, the ``…`` included.
    """
    line = _as_text(text)
    if not (line.isascii() and line.isprintable()):
        line = _SEQUENCES.sub("", line)
        line = "".join(
            char for char in line if char.isspace() or unicodedata.category(char) not in _DROPPED
        )
    line = " ".join(line.split())
    return line if len(line) <= limit else line[: max(0, limit - 1)].rstrip() + ELLIPSIS[:limit]


def _as_text(text: object) -> str:
    if text is None:
        return ""
    if isinstance(text, bytes | bytearray):
        return text.decode("utf-8", "replace")
    return text if isinstance(text, str) else str(text)
