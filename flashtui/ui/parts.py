"""Lines made of parts of different weight: what fits stays, the least important goes first; pure."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from flashtui.ui.cells import Line, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Part(NamedTuple):
    """A piece of a line.

    Attributes:
        weight: what is lightest is left out first when the line gets too long.
    """

    spans: Line
    weight: int = 5

    @property
    def cells(self) -> int:
        """Width on the screen."""
        return line_cells(self.spans)


def line_cells(spans: Line) -> int:
    """Width of a line on the screen."""
    return sum(cell_len(span.text) for span in spans)


def fit_parts(parts: Iterable[Part], width: int, *, gap: int = 2) -> Line:
    """The parts that fit, in their order, with blanks between them."""
    kept = [part for part in parts if part.spans]
    while kept and sum(part.cells + gap for part in kept) - gap > width:
        lightest = min(range(len(kept)), key=lambda i: (kept[i].weight, -i))
        if len(kept) == 1:
            break
        kept.pop(lightest)
    line: list[Span] = []
    for part in kept:
        if line:
            line.append(Span(" " * gap))
        line.extend(part.spans)
    return tuple(line)


def spread(left: Line, right: Line, width: int) -> Line:
    """One line with something at both ends; the right end is left out when there is no room for it."""
    room = width - line_cells(left) - line_cells(right)
    return (*left, Span(" " * room), *right) if room >= 1 else left


def wrapped(text: str, width: int, *, style: str = "", indent: int = 0) -> list[Line]:
    """A sentence in lines of at most ``width`` cells; lines after the first are indented."""
    rows = textwrap.wrap(text, max(1, width), subsequent_indent=" " * indent)
    return [(Span(row, style),) for row in rows]


def flowed(parts: Sequence[Part], width: int, *, gap: int = 2) -> list[list[Part]]:
    """Parts in rows, as words in a paragraph."""
    rows: list[list[Part]] = [[]]
    used = 0
    for part in parts:
        needed = part.cells + (gap if rows[-1] else 0)
        if rows[-1] and used + needed > width:
            rows.append([])
            used, needed = 0, part.cells
        rows[-1].append(part)
        used += needed
    return rows
