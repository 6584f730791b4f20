"""The runs pane: what is rented, by whom, what it costs, and what is being done about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from flashtui.domain.money import ZERO_RATE, format_rate
from flashtui.ui.cells import Line, Span, line
from flashtui.ui.detail_lines import run_detail
from flashtui.ui.filtering import compile_filter
from flashtui.ui.health import has_been_counted, problems
from flashtui.ui.keyed_table import KeyedTable
from flashtui.ui.panels.pane import Pane
from flashtui.ui.parts import Part
from flashtui.ui.run_columns import RUN_COLUMNS, RUN_FIELDS, flag, name
from flashtui.ui.run_state import being_destroyed, run_flag

if TYPE_CHECKING:
    from flashtui.services.board import RunRow, Snapshot
    from flashtui.ui.columns import Look
    from flashtui.ui.containment import Kit


class RunsPane(Pane):
    """Runs and machines."""

    FREEZES_CONTENT: ClassVar = False

    def __init__(self, kit: Kit) -> None:
        self.table: KeyedTable[RunRow] = KeyedTable(kit, RUN_COLUMNS, flag=flag, id="runs-table")
        super().__init__(kit, "runs")

    def make_body(self) -> KeyedTable[RunRow]:
        """The table."""
        return self.table

    def apply(self, snapshot: Snapshot, look: Look) -> None:
        """New states."""
        self.table.show_empty(self._empty_lines(snapshot))
        self.table.held = self.frozen_at is not None
        self.table.show({row.key: row for row in snapshot.runs}, look)

    def pass_time(self, look: Look) -> None:
        """Costs, ages and countdowns."""
        self.table.tick(look)

    def move(self, how: str) -> None:
        """A movement key."""
        self.table.move(how)

    def refilter(self, query: str) -> None:
        """Another filter, possibly half typed."""
        super().refilter(query)
        if self.newest is not None:
            self.table.show_empty(self._empty_lines(self.newest))
        self.table.filter(compile_filter(query, RUN_FIELDS))

    @property
    def chosen(self) -> RunRow | None:
        """The chosen row as the newest snapshot has it; None: nothing is chosen, or it is no longer there."""
        key, newest = self.table.selection, self.newest
        if key is None or newest is None:
            return None
        return next((row for row in newest.runs if row.key == key), None)

    @property
    def actionable(self) -> RunRow | None:
        """The chosen row, if anything can be asked for it."""
        row = self.chosen
        return (
            row if row is not None and row.target is not None and not being_destroyed(row) else None
        )

    def summary(self) -> list[Part]:
        """How many bill, how many are nobody's, and the rate of all of them."""
        newest = self.newest
        if newest is None:
            return []
        if not has_been_counted(newest):
            return [Part(line(Span("not counted yet", "warn")), 8)]
        billing = [row for row in newest.runs if row.may_bill]
        rate = ZERO_RATE
        for row in billing:
            rate += row.rate or ZERO_RATE
        unknown = sum(row.rate is None for row in billing)
        parts = [Part(line(f"{len(billing)} billing"), 8)]
        for kind, words in (("orphan", "orphan"), ("foreign", "not ours"), ("ghost", "ghost")):
            count = sum(row.kind == kind for row in newest.runs)
            if count:
                parts.append(Part(line(Span(f"{count} {words}", "warn")), 6))
        more = f" + {unknown} unknown" if unknown else ""
        parts.append(Part(line(Span(f"${format_rate(rate)}/h{more}", "price")), 7))
        hidden = len(self.table.model.records) - len(self.table.model)
        if hidden:
            parts.append(Part(line(Span(f"{hidden} hidden", "warn")), 6))
        return parts

    def detail(self, look: Look, width: int) -> list[Line]:
        """The row under the cursor."""
        return run_detail(
            self.table.cursor_record, look, width, selected=self.table.selection is not None
        )

    def subject(self) -> str:
        """The run, or the machine."""
        row = self.table.cursor_record
        return "" if row is None else name(row)

    def count(self) -> str:
        """Billing rows, and how many want attention."""
        newest = self.newest
        if newest is None or not has_been_counted(newest):
            return " ?"
        now = self.table.look.now
        alarms = sum(run_flag(row, now).text == "!" for row in newest.runs)
        billing = sum(row.may_bill for row in newest.runs)
        return f" {billing}" + (f" ({alarms}!)" if alarms else "")

    def _empty_lines(self, snapshot: Snapshot) -> list[Line]:
        if self.query_text and snapshot.runs:
            return [(), line("   nothing passes the filter; Esc clears it")]
        if snapshot.store_error:
            return [(), line(Span("   the store could not be read: what runs is not known", "bad"))]
        causes = problems(snapshot.health, source="inventory")
        lines: list[Line] = [(), line("   nothing is rented by this store")]
        if causes:
            lines[-1] = line(
                Span("   nothing is known to be rented, but not everybody answered:", "warn")
            )
        return lines + [(Span("   "), *cause) for cause in causes]
