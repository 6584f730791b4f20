"""TOML text with positions: where a syntax error is, and on which line a key was written."""

from __future__ import annotations

import re
import tomllib
from typing import Any

_POSITION = re.compile(
    r"^(?P<reason>.*?) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$",
    re.DOTALL,
)
_HEADER = re.compile(r"^\s*\[\[?\s*(?P<key>[^\]#]+?)\s*\]\]?")
_ASSIGNMENT = re.compile(
    r"""^\s*(?P<key>(?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*="""
)
_PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")


class TomlSyntaxError(ValueError):
    """The text is not TOML; ``str()`` is the reason without the position."""

    def __init__(self, reason: str, line: int, column: int) -> None:
        super().__init__(reason)
        self.line = line
        self.column = column


def parse_toml(text: str) -> dict[str, Any]:
    """The document as plain values; a byte order mark and Windows line ends do no harm.

    Raises:
        TomlSyntaxError: with line and column, both counted from 1.
    """
    text = normal(text)
    try:
        return tomllib.loads(text)
    except ValueError as error:  # TOMLDecodeError, or a number too long to read
        raise _located(str(error), text) from error
    except RecursionError as error:
        msg = "nested too deeply"
        raise TomlSyntaxError(msg, 1, 1) from error


def normal(text: str) -> str:
    """The text without a byte order mark and with plain line ends."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _located(message: str, text: str) -> TomlSyntaxError:
    found = _POSITION.match(message)
    if found is None:
        return TomlSyntaxError(message, 1, 1)
    if found["line"] is None:
        lines = text.split("\n")
        return TomlSyntaxError(found["reason"], len(lines), len(lines[-1]) + 1)
    return TomlSyntaxError(found["reason"], int(found["line"]), int(found["column"]))


def key_lines(text: str) -> dict[str, int]:
    """Line (from 1) of every dotted key and table header that stands at the start of a line.

    Good enough to point a person at a place: a key inside an inline table or a multi-line text may be missing or
    be found by its look alone; the first occurrence wins.
    """
    lines: dict[str, int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(normal(text).split("\n"), start=1):
        header = _HEADER.match(line)
        if header is not None:
            table = _parts(header["key"])
            lines.setdefault(".".join(table), number)
        elif (assignment := _ASSIGNMENT.match(line)) is not None:
            path = (*table, *_parts(assignment["key"]))
            for depth in range(len(table) + 1, len(path) + 1):
                lines.setdefault(".".join(path[:depth]), number)
    return lines


def line_of(lines: dict[str, int], dotted: str) -> int | None:
    """The line of a key, or of the nearest thing that holds it; None: not found."""
    while dotted:
        if dotted in lines:
            return lines[dotted]
        dotted = dotted.rpartition(".")[0]
    return None


def _parts(key: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in _PART.findall(key))
