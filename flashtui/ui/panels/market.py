"""The market pane: a row for every price that somebody asks, and the offers behind it when it is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.domain.text import clean
from flashtui.ui.cells import Cell, Line, Span, line
from flashtui.ui.detail_lines import market_detail
from flashtui.ui.filtering import compile_filter
from flashtui.ui.health import problems
from flashtui.ui.keyed_table import KeyedTable
from flashtui.ui.market_columns import MARKET_COLUMNS, MARKET_FIELDS
from flashtui.ui.market_rows import MarketRow, market_rows, price_moves, quote_key
from flashtui.ui.panels.pane import Pane
from flashtui.ui.parts import Part
from flashtui.ui.status_lines import brief_health

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from flashtui.domain.money import HourlyRate
    from flashtui.services.board import Snapshot
    from flashtui.ui.columns import Look
    from flashtui.ui.containment import Kit

_MOVE_SHOWN_INTERVALS = 2


def _flag(row: MarketRow, _look: Look) -> Cell:
    return Cell("*", "mark") if row.picked else Cell(" ")


class MarketPane(Pane):
    """Prices."""

    def __init__(self, kit: Kit) -> None:
        self.table: KeyedTable[MarketRow] = KeyedTable(
            kit, MARKET_COLUMNS, flag=_flag, sort="rate", follow_top=True, id="market-table"
        )
        super().__init__(kit, "market")
        self._opened: set[str] = set()
        self._rates: dict[str, HourlyRate] = {}
        self._moves: dict[str, tuple[int, datetime]] = {}
        self._class_rows = 0
        self._whole = False

    def make_body(self) -> KeyedTable[MarketRow]:
        """The table."""
        return self.table

    def apply(self, snapshot: Snapshot, look: Look) -> None:
        """New prices: remember which way they went, then show them."""
        self._rates, moved = price_moves(self._rates, snapshot.sheets)
        self._moves |= {key: (way, look.now) for key, way in moved.items()}
        self._forget_old_moves(look)
        self._show_rows(snapshot, look)

    def pass_time(self, look: Look) -> None:
        """Ages."""
        self.table.tick(look)

    def move(self, how: str) -> None:
        """A movement key."""
        self.table.move(how)

    def refilter(self, query: str) -> None:
        """Another filter, possibly half typed."""
        super().refilter(query)
        if self.newest is not None:
            self.table.show_empty(self._empty_lines(self.newest))
        self.table.filter(compile_filter(query, MARKET_FIELDS))

    def toggle_open(self, look: Look) -> str:
        """Open or close the class row under the cursor; on an offer, close its class.

        Returns:
            A sentence when there is nothing behind the row; else empty.
        """
        row = self.table.cursor_record
        if row is None or self.newest is None:
            return ""
        self.table.touch()
        key = quote_key(row.quote)
        if row.offer is not None:
            self.table.put_cursor(key)
        self._opened ^= {key}
        children = self._show_rows(self.newest, look)
        if key in self._opened and not children.get(key):
            self._opened.discard(key)
            return f"{row.quote.provider} names no single offers behind this price"
        return ""

    def toggle_whole(self, look: Look) -> None:
        """Show boards that are not managed classes, or leave them out."""
        self._whole = not self._whole
        if self.newest is not None:
            self.table.touch()
            self._show_rows(self.newest, look)

    def _left_out(self) -> int:
        """How many rows of boards that are not managed are not shown."""
        if self._whole or self.newest is None:
            return 0
        return sum(not quote.managed for sheet in self.newest.sheets for quote in sheet.quotes)

    def summary(self) -> list[Part]:
        """How many rows there are, how many of them are hidden, and the order."""
        model = self.table.model
        total, shown = len(model.records), len(model)
        if not total:
            return [Part(line(Span("not loaded yet", "warn")), 8)]
        count = f"{shown:,} of {total:,}" if shown != total else f"{total:,} rows"
        column = next(c for c in self.table.columns if c.id == self.table.sort_column)
        way = "high first" if self.table.sort_falling else "low first"
        parts = [Part(line(count), 8)]
        if shown != total:
            parts.append(Part(line(Span(f"{total - shown:,} hidden", "warn")), 6))
        left_out = self._left_out()
        if left_out:
            parts.append(Part(line(Span(f"{left_out} not managed (u)", "dim")), 3))
        parts.append(Part(line(Span("order ", "dim"), f"{column.title} {way}"), 4))
        return parts

    def detail(self, look: Look, width: int) -> list[Line]:
        """The row under the cursor."""
        return market_detail(self.table.cursor_record, look, width)

    def subject(self) -> str:
        """The class and where it is offered."""
        row = self.table.cursor_record
        return "" if row is None else f"{clean(row.quote.gpu)} {row.quote.provider}"

    def aside(self, look: Look) -> Line:
        """How old the prices of each provider are."""
        return () if self.newest is None else brief_health(self.newest, look.now)

    def count(self) -> str:
        """Class rows; unknown is not none."""
        return f" {self._class_rows}" if self._class_rows else " ?"

    def _show_rows(self, snapshot: Snapshot, look: Look) -> Mapping[str, Sequence[str]]:
        report = snapshot.plan.report
        rows, children = market_rows(
            snapshot.sheets,
            opened=self._opened,
            pick=None if report is None else report.winner,
            moves={key: way for key, (way, _) in self._moves.items()},
            look=look,
            whole=self._whole,
        )
        self._class_rows = sum(row.offer is None for row in rows.values())
        self.table.show_empty(self._empty_lines(snapshot))
        self.table.show(rows, look, children=children)
        return children

    def _forget_old_moves(self, look: Look) -> None:
        limit_s = _MOVE_SHOWN_INTERVALS * look.interval_s
        self._moves = {
            key: (way, at)
            for key, (way, at) in self._moves.items()
            if (look.now - at).total_seconds() <= limit_s
        }

    def _empty_lines(self, snapshot: Snapshot) -> list[Line]:
        """Why there is nothing, and what to do about it; never "no offers" when nobody has answered."""
        if self.query_text and any(sheet.quotes for sheet in snapshot.sheets):
            return [(), line("   nothing passes the filter; Esc clears it")]
        causes = problems(snapshot.health, source="prices")
        lines: list[Line] = [(), line(Span("   not loaded yet", "bold"))]
        lines += [(Span("   "), *cause) for cause in causes]
        if causes:
            lines.append(line(Span("   R asks again; flashtui doctor says more", "dim")))
        return lines
