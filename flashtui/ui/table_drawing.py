"""How one line of a table looks: pure, from what it shows to segments of exactly its width."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from flashtui.ui.cells import EMPTY_LINE, Cell, Span
from flashtui.ui.columns import GUTTER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.segment import Segment

    from flashtui.ui.columns import Column, Layout, Placed
    from flashtui.ui.paint import Paint

# lost: the row that was chosen has gone, the cursor stands in for it and nothing is chosen.
RowState: TypeAlias = Literal["plain", "cursor", "idle", "lost"]
NO_FLAG = Cell(" ")
_OVER = MappingProxyType({"plain": "", "cursor": "cursor", "idle": "cursor.idle", "lost": ""})
_CURSOR_MARKS = MappingProxyType({"plain": " ", "cursor": ">", "idle": ">", "lost": "~"})


class Painted(NamedTuple):
    """What one line of the window shows; two equal ones look the same."""

    key: str
    cells: tuple[Cell, ...]
    gutter: tuple[Span, ...]
    state: RowState


def gutter(state: RowState, flag: Cell, *, marked: bool) -> tuple[Span, ...]:
    """The three cells before the first column: cursor, flag, mark."""
    return (
        Span(_CURSOR_MARKS[state], "mark"),
        Span(flag.text[:1] or " ", flag.style),
        Span("+" if marked else " ", "mark"),
    )


def draw_row(
    paint: Paint, placed: Sequence[Placed[Any]], painted: Painted | None, width: int
) -> list[Segment]:
    """A row, or a blank line where there is none."""
    if painted is None:
        return paint.segments(EMPTY_LINE, width)
    pieces = [(span.text, span.style) for span in painted.gutter]
    x = GUTTER
    for p, cell in zip(placed, painted.cells, strict=True):
        pieces.append((" " * (p.x - x), ""))
        pieces.append((paint.fit(cell.text, p.width, right=p.column.align == "right"), cell.style))
        x = p.x + p.width
    return _joined(paint, pieces, width, _OVER[painted.state])


def draw_header(
    paint: Paint, layout: Layout[Any], width: int, sort_column: str | None, *, falling: bool
) -> list[Segment]:
    """The headings, with the direction beside the one that orders, and marks for columns out of view."""
    glyphs = paint.glyphs
    arrow = glyphs.descending if falling else glyphs.ascending
    pieces = [(f"  {glyphs.more_left if layout.hidden_left else ' '}", "key")]
    x = GUTTER
    for p in layout.shown:
        pieces.append((" " * (p.x - x), "head"))
        text, style = _heading(p.column, arrow if p.column.id == sort_column else "")
        pieces.append((paint.fit(text, p.width, right=p.column.align == "right"), style))
        x = p.x + p.width
    if layout.hidden_right and width > x:
        pieces.append((" " * (width - x - 1) + glyphs.more_right, "key"))
    return _joined(paint, pieces, width, "")


def _heading(column: Column[Any], arrow: str) -> tuple[str, str]:
    return f"{column.title}{arrow}", "head.sort" if arrow else "head"


def _joined(paint: Paint, pieces: list[tuple[str, str]], width: int, over: str) -> list[Segment]:
    """Pieces as segments of exactly ``width`` cells in all; one style all over when the line has one."""
    joined: list[Span] = []
    for text, role in pieces:
        style = f"{role} {over}" if over and role in _KEPT else over or role
        if not text:
            continue
        if joined and joined[-1].style == style:
            joined[-1] = Span(joined[-1].text + text, style)
        else:
            joined.append(Span(text, style))
    return paint.segments(joined, width, rest=over)


# Roles that stay visible through the cursor bar, because attributes alone carry them.
_KEPT = frozenset({"estimate"})
