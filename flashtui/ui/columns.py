"""Columns as data, and which of them fit where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from flashtui.ui.cells import Cell

R = TypeVar("R")
_NO_LIMIT = 100_000
# The cursor mark, the flag, and a blank.
GUTTER = 3


@dataclass(frozen=True, slots=True)
class Look:
    """What a cell needs to know beside its record: the moment, and the interval of the freshness rule."""

    now: datetime
    interval_s: float


@dataclass(frozen=True, slots=True)
class Column(Generic[R]):
    """One column of a table of records.

    Attributes:
        cell: what a record shows here; pure.
        sort: the value to order by, never the text; None for a record means unknown and comes last either way.
            A column without it cannot be sorted by.
        min_width: shown in tables at least this wide.
        max_width: shown in tables at most this wide.
        flex: takes what the others leave, at least ``width``.
        falling: sorts from high to low first.
    """

    id: str
    title: str
    width: int
    cell: Callable[[R, Look], Cell]
    sort: Callable[[R], Any] | None = None
    align: Literal["left", "right"] = "left"
    min_width: int = 0
    max_width: int = _NO_LIMIT
    flex: bool = False
    falling: bool = False


@dataclass(frozen=True, slots=True)
class Placed(Generic[R]):
    """A column with its place in a line: cells ``x`` to ``x + width``."""

    column: Column[R]
    x: int
    width: int


@dataclass(frozen=True, slots=True)
class Layout(Generic[R]):
    """The columns of a table of one width.

    Attributes:
        shown: in order; the first one is sticky.
        hidden_left: how many are scrolled out at the left.
        hidden_right: how many did not fit.
    """

    shown: tuple[Placed[R], ...]
    hidden_left: int
    hidden_right: int


def gap_for(width: int) -> int:
    """Blanks between columns: more room makes a calmer table."""
    return 1 if width < 110 else 2


def eligible(columns: Sequence[Column[R]], width: int) -> list[Column[R]]:
    """The columns that a table of this width has, scrolled or not."""
    return [c for c in columns if c.min_width <= width <= c.max_width]


def place(columns: Sequence[Column[R]], width: int, offset: int) -> Layout[R]:
    """Lay out columns in ``width`` cells.

    Args:
        columns: all of them, in order.
        width: cells of the table.
        offset: how many columns after the sticky first one are scrolled out.
    """
    wanted = eligible(columns, width)
    gap = gap_for(width)
    offset = max(0, min(offset, len(wanted) - 2))
    candidates = wanted[:1] + wanted[1 + offset :]
    shown: list[Placed[R]] = []
    x = GUTTER
    for column in candidates:
        room = width - x
        if shown and room < column.width:
            break
        shown.append(Placed(column, x, min(column.width, max(0, room))))
        x += column.width + gap
    spare = width - (x - gap)
    if spare > 0:
        shown = _stretch(shown, spare)
    return Layout(tuple(shown), offset, len(candidates) - len(shown))


def _stretch(shown: list[Placed[R]], spare: int) -> list[Placed[R]]:
    """Give what is left to the flexible column, and move those after it."""
    flexible = next((i for i, p in enumerate(shown) if p.column.flex), None)
    if flexible is None:
        return shown
    return [
        Placed(p.column, p.x if i <= flexible else p.x + spare, p.width + spare * (i == flexible))
        for i, p in enumerate(shown)
    ]
