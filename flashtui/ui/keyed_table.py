"""KeyedTable: the one table of the dashboard, drawn line by line from plain records that are known by key.

The cost of an update is that of the cells that changed and are in view; the cost of a key is that of the window; neither
depends on the number of rows. Records become cells only when their line is drawn.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from textual.message import Message

from flashtui.ui.cells import EMPTY_LINE, Cell, Line
from flashtui.ui.columns import Column, Layout, Look, eligible, place
from flashtui.ui.lines import QuietWidget
from flashtui.ui.table_drawing import NO_FLAG, Painted, RowState, draw_header, draw_row, gutter
from flashtui.ui.table_model import SortBy, TableModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rich.segment import Segment
    from textual import events

    from flashtui.ui.columns import Placed
    from flashtui.ui.containment import Kit

R = TypeVar("R")
SETTLE_S = 3.0
_HEADER_LINES = 1
_WHEEL_LINES = 3


class KeyedTable(QuietWidget, Generic[R], can_focus=True):
    """A table of records by key.

    Args:
        kit: paint, clock and faults of the dashboard.
        columns: what is shown of a record; the first column stays when the others scroll sideways.
        flag: one character beside the cursor mark, e.g. an alarm.
        sort: id of the column to order by at first; None: as the records come.
        follow_top: until the first key the cursor stays on the first row, whichever that is.
    """

    DEFAULT_CSS = "KeyedTable { height: 1fr; }"

    class CursorMoved(Message):
        """The cursor is on another row, or what it was on has gone (then ``selection`` is None)."""

        def __init__(self, table: KeyedTable[Any], selection: str | None) -> None:
            super().__init__()
            self.table = table
            self.selection = selection

        @property
        def control(self) -> KeyedTable[Any]:
            """The table."""
            return self.table

    def __init__(
        self,
        kit: Kit,
        columns: Sequence[Column[R]],
        *,
        flag: Callable[[R, Look], Cell] | None = None,
        sort: str | None = None,
        follow_top: bool = False,
        id: str | None = None,  # noqa: A002 - Textual's name
    ) -> None:
        super().__init__(kit, id=id)
        self.columns = tuple(columns)
        self.model: TableModel[R] = TableModel()
        self.sort_column = sort
        self.sort_falling = False
        if sort is not None:
            self.sort_falling = self._column(sort).falling
            self.model.sort = self._sort_by()
        self.empty: Sequence[Line] = ()
        self.look = Look(kit.clock.now(), 1.0)
        self._flag = flag
        self._top = 0
        self._column_offset = 0
        self._window: dict[int, Painted | None] = {}
        self._layout_of: tuple[int, int] | None = None
        self._layout: Layout[R] = Layout((), 0, 0)
        self.held = False
        self._touched_at: float | None = None
        self._follow_top = follow_top
        self._unsettled = False

    # -- what is shown -----------------------------------------------------------------------------------------------

    @property
    def selection(self) -> str | None:
        """The key that an action would act on; None: nothing."""
        return self.model.selection

    @property
    def selected_record(self) -> R | None:
        """The record that an action would act on."""
        key = self.model.selection
        return None if key is None else self.model.records.get(key)

    @property
    def cursor_record(self) -> R | None:
        """The record under the cursor, chosen or not."""
        key = self.model.cursor
        return None if key is None else self.model.records.get(key)

    def show(
        self,
        records: Mapping[str, R],
        look: Look,
        *,
        children: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Take new records; rows hold their place for a while after a key."""
        with self._keeping_cursor():
            hold = self._acting()
            self.look = look
            self.model.replace(records, children, hold_order=hold)
            self._unsettled = hold
            if self._follow_top and self._touched_at is None:
                self.model.move_to(0)

    def tick(self, look: Look) -> None:
        """Let time pass: ages change, and held rows fall into place once the person has stopped."""
        self.look = look
        if self._unsettled and not self._acting():
            self._unsettled = False
            with self._keeping_cursor():
                self.model.resort()
        else:
            self.repaint()

    def show_empty(self, lines: Sequence[Line]) -> None:
        """What to say while there are no rows."""
        if lines != self.empty:
            self.empty = lines
            if not len(self.model):
                self.refresh()

    def filter(self, accept: Callable[[R], bool] | None) -> None:
        """Show only accepted records."""
        with self._keeping_cursor():
            self.model.filter(accept)

    # -- order -------------------------------------------------------------------------------------------------------

    def sort_by(self, column_id: str, *, falling: bool | None = None) -> None:
        """Order by a column; in its own first direction unless said otherwise."""
        column = self._column(column_id)
        if column.sort is None:
            return
        self.sort_column = column_id
        self.sort_falling = column.falling if falling is None else falling
        with self._keeping_cursor():
            self.model.reorder(self._sort_by())
        self.refresh()

    def sort_step(self, step: int) -> None:
        """Order by the next or previous column that is shown and can be sorted by."""
        ids = [c.id for c in eligible(self.columns, self.size.width) if c.sort is not None]
        if not ids:
            return
        at = ids.index(self.sort_column) + step if self.sort_column in ids else 0
        self.sort_by(ids[at % len(ids)])

    def sort_reverse(self) -> None:
        """Turn the order round."""
        if self.sort_column is not None:
            self.sort_by(self.sort_column, falling=not self.sort_falling)

    # -- keys --------------------------------------------------------------------------------------------------------

    def move(self, how: str) -> None:
        """Move as a movement key says: ``up down page_up page_down half_up half_down top bottom left right``."""
        self.touch()
        if how in {"left", "right"}:
            self._scroll_columns(1 if how == "right" else -1)
            return
        at, page, last = self.model.cursor_index, max(1, self._rows_in_view() - 1), len(self.model)
        goals = {
            "up": at - 1,
            "down": at + 1,
            "page_up": at - page,
            "page_down": at + page,
            "half_up": at - max(1, page // 2),
            "half_down": at + max(1, page // 2),
            "top": 0,
            "bottom": last - 1,
        }
        self._go_to(goals.get(how, at))

    def touch(self) -> None:
        """The person is acting here: rows hold their place for some seconds."""
        self._touched_at = self.kit.clock.monotonic()

    def put_cursor(self, key: str) -> None:
        """Put the cursor on a row by key, as the person's own choice."""
        if key in self.model.records:
            self._go_to(self.model.index_of(key))

    def toggle_mark(self) -> None:
        """Mark or unmark the row under the cursor."""
        if self.model.cursor is not None:
            self.touch()
            self.model.toggle_mark(self.model.cursor)
            self.repaint()

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the row that was clicked."""
        self.touch()
        row = self._top + event.y - _HEADER_LINES
        if event.y >= _HEADER_LINES and row < len(self.model):
            self._go_to(row)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Wheel."""
        event.stop()
        self._show_from(self._top + _WHEEL_LINES)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Wheel."""
        event.stop()
        self._show_from(self._top - _WHEEL_LINES)

    def focus_changed(self) -> None:
        """The cursor looks different in the table that has the keys."""
        self.repaint()

    def on_resize(self) -> None:
        """Other size, other columns; the cursor stays in view."""
        self._window.clear()
        self._top = self._with_cursor_in_view(self._top)
        # Lines of the new size may have been drawn before this came.
        self.refresh()

    # -- drawing -----------------------------------------------------------------------------------------------------

    def draw_line(self, y: int, width: int) -> list[Segment]:
        """The heading, a row, or what stands in place of rows."""
        if y < _HEADER_LINES:
            return draw_header(
                self.paint, self._place(), width, self.sort_column, falling=self.sort_falling
            )
        if not len(self.model):
            self._window[y] = None
            index = y - _HEADER_LINES
            return self.paint.segments(
                self.empty[index] if index < len(self.empty) else EMPTY_LINE, width
            )
        painted = self._window[y] = self._row_at(y)
        return draw_row(self.paint, self._placed(), painted, width)

    def repaint(self) -> None:
        """Compare the window with what was painted and ask for the parts that differ."""
        if not self.is_mounted or not self.size.width:
            return
        for y in range(_HEADER_LINES, self.size.height):
            before = self._window.get(y)
            after = self._row_at(y)
            if after != before:
                self._repaint_row(y, before, after)

    def _repaint_row(self, y: int, before: Painted | None, after: Painted | None) -> None:
        width = self.size.width
        if before is None or after is None or before[2:] != after[2:] or before.key != after.key:
            self.repaint_span(y, 0, width)
            return
        changed = [
            p
            for p, old, new in zip(self._placed(), before.cells, after.cells, strict=False)
            if old != new
        ]
        for p in changed:
            self.repaint_span(y, p.x, min(width, p.x + p.width))

    def _row_at(self, y: int) -> Painted | None:
        index = self._top + y - _HEADER_LINES
        if not 0 <= index < len(self.model):
            return None
        key = self.model.order[index]
        record = self.model.records[key]
        cells: tuple[Cell, ...] = ()
        flag = NO_FLAG
        with self.kit.faults.contained(f"a row of {self.id or 'a table'}"):
            cells = tuple(p.column.cell(record, self.look) for p in self._placed())
            flag = NO_FLAG if self._flag is None else self._flag(record, self.look)
        cells = cells or self._cells_one_by_one(record)
        state = self._row_state(key)
        return Painted(key, cells, gutter(state, flag, marked=key in self.model.marks), state)

    def _cells_one_by_one(self, record: R) -> tuple[Cell, ...]:
        """After a fault in a row: everything of it that can still be shown."""
        cells = []
        for p in self._placed():
            cell = Cell("fault", "bad")
            with self.kit.faults.contained(f"column {p.column.id}"):
                cell = p.column.cell(record, self.look)
            cells.append(cell)
        return tuple(cells)

    def _row_state(self, key: str) -> RowState:
        if key != self.model.cursor:
            return "plain"
        if not self.model.selected:
            return "lost"
        return "cursor" if self.has_focus else "idle"

    # -- geometry ----------------------------------------------------------------------------------------------------

    def _placed(self) -> Sequence[Placed[R]]:
        return self._place().shown

    def _place(self) -> Layout[R]:
        wanted = (self.size.width, self._column_offset)
        if wanted != self._layout_of:
            self._layout = place(self.columns, *wanted)
            self._column_offset = self._layout.hidden_left
            self._layout_of = (self.size.width, self._column_offset)
        return self._layout

    def _rows_in_view(self) -> int:
        return max(1, self.size.height - _HEADER_LINES)

    def _go_to(self, index: int) -> None:
        if self.model.move_to(index):
            self._show_from(self._with_cursor_in_view(self._top))
            self.repaint()
            self._announce()

    def _show_from(self, top: int) -> None:
        top = max(0, min(top, len(self.model) - self._rows_in_view()))
        if top != self._top:
            self._top = top
            self.repaint()

    def _scroll_columns(self, step: int) -> None:
        layout = self._place()
        if step > 0 and not layout.hidden_right:
            return
        self._column_offset = max(0, self._column_offset + step)
        self._window.clear()
        self.refresh()

    def _with_cursor_in_view(self, top: int) -> int:
        rows, at = self._rows_in_view(), self.model.cursor_index
        top = max(at - rows + 1, min(top, at))
        return max(0, min(top, len(self.model) - rows))

    @contextmanager
    def _keeping_cursor(self) -> Iterator[None]:
        """Around a change of rows: the row under the cursor keeps its line on the screen, as far as it can."""
        model = self.model
        was, line = model.selection, model.cursor_index - self._top
        in_view = self._touched_at is not None and 0 <= line < self._rows_in_view()
        yield
        top = model.cursor_index - line if in_view else self._top
        self._top = max(0, min(top, len(model) - self._rows_in_view()))
        self.repaint()
        if model.selection != was:
            self._announce()

    def _announce(self) -> None:
        self.post_message(self.CursorMoved(self, self.model.selection))

    def _acting(self) -> bool:
        at = self._touched_at
        return self.held or (at is not None and self.kit.clock.monotonic() - at < SETTLE_S)

    def _column(self, column_id: str) -> Column[R]:
        return next(c for c in self.columns if c.id == column_id)

    def _sort_by(self) -> SortBy[R] | None:
        value = self._column(self.sort_column).sort if self.sort_column is not None else None
        return None if value is None else SortBy(value, self.sort_falling)
