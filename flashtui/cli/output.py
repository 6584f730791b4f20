"""Writers: one JSON document, or plain aligned text, on stdout; everything else on stderr."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from flashtui.domain.text import clean

if TYPE_CHECKING:
    from collections.abc import Sequence


def print_json(document: dict[str, Any]) -> None:
    """Write the one document of this command."""
    sys.stdout.write(json.dumps(document, indent=2, allow_nan=False, ensure_ascii=True) + "\n")


def print_table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()
) -> None:
    """Write an aligned table; columns in ``right`` are right-aligned. Cells are cleaned of control characters."""
    sys.stdout.writelines(f"{line}\n" for line in table_lines(heads, rows, right=right))


def table_lines(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()
) -> list[str]:
    """The lines of an aligned table."""
    cells = [[clean(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [list(heads), *cells]) for i in range(len(heads))]
    return [_line(row, widths, right) for row in [list(heads), *cells]]


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> str:
    parts = (
        cell.rjust(width) if i in right else cell.ljust(width)
        for i, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join(parts).rstrip()


def say(text: str) -> None:
    """A line of text for a person, on stdout."""
    print(clean(text, limit=2000))


def warn(text: str) -> None:
    """A line of text for a person, on stderr."""
    print(clean(text, limit=2000), file=sys.stderr)
