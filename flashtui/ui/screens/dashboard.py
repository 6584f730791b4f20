"""The dashboard screen: what every key does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.binding import Binding
from textual.widgets import Input

from flashtui.ui.asking import OperationDesk, pending_operation
from flashtui.ui.help_lines import PANE_TITLES, help_lines
from flashtui.ui.keys import KEYS, PANES, key_of_action
from flashtui.ui.panels.market import MarketPane
from flashtui.ui.panels.plan import PlanPane
from flashtui.ui.parts import wrapped
from flashtui.ui.plan_lines import why_not
from flashtui.ui.screens.view import DashboardView
from flashtui.ui.status_lines import open_alerts

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from textual import events

    from flashtui.domain.operation import OperationKind
    from flashtui.ui.cells import Line
    from flashtui.ui.containment import Kit
    from flashtui.ui.keyed_table import KeyedTable
    from flashtui.ui.keys import PaneName
    from flashtui.ui.ports import SessionPort

_QUIT = "quit"
_IN_PROMPT = frozenset({"back", "leave_now"})
_IN_SHEET = frozenset(
    {"move", "back", "leave", "leave_now", "help", "explain", "redraw", "theme_next"}
)
_FILTER = "filter"
_SHEET_WIDTH = 96


class Dashboard(DashboardView, inherit_bindings=False):
    """The dashboard with its keys.

    Args:
        session: what is shown and asked.
        kit: paint, clock and faults.
        resize_settle_s: how long the size has to hold still before the layout follows; 0: at once.
    """

    BINDINGS: ClassVar = [
        Binding(
            ",".join(key.keys), key.action, key.label, id=key.id, tooltip=key.help, show=False,
            priority=key.id == _QUIT,
        )
        for key in KEYS
    ]  # fmt: skip

    def __init__(self, session: SessionPort, kit: Kit, *, resize_settle_s: float = 0.15) -> None:
        super().__init__(kit, session.board.snapshot, resize_settle_s=resize_settle_s)
        self.session = session
        self.desk = OperationDesk(
            session, kit.faults, self.confirm, lambda: self.size, self.say, self._start
        )

    def tick(self) -> None:
        """A second has passed."""
        super().tick()
        self.desk.time_passed()

    def relayout(self) -> None:
        """Another size: what lies over the panes moves with it."""
        super().relayout()
        with self.kit.faults.contained("the overlay"):
            self.desk.time_passed()
            if self.sheet.is_open:
                self.sheet.place(self.size)

    # -- which keys are live -----------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """False: not here; None: here, but not now."""
        if action == "leave_now":
            return True
        if self.desk.is_open:
            return False
        if self.prompt.is_open:
            return action in _IN_PROMPT
        if self.sheet.is_open:
            return action in _IN_SHEET
        key = key_of_action(action)
        if key is None:
            return super().check_action(action, parameters)
        if self.active not in key.where or (key.acts and self.snapshot.read_only):
            return False
        return self._possible(action)

    def _possible(self, action: str) -> bool | None:
        possible = True
        if action in {"cancel", "destroy"}:
            row = self.runs.actionable
            busy = (
                row is not None
                and action == "cancel"
                and row.operation is not None
                and row.operation.is_open
            )
            possible = row is not None and not busy and self.runs.display
        elif action == "undo":
            possible = pending_operation(self.snapshot, self.runs.chosen) is not None
        elif action == "acknowledge":
            possible = self.has_alerts()
        return True if possible else None

    def on_key(self, event: events.Key) -> None:
        """While a question is open every key is the question's, wherever it was typed."""
        if self.desk.is_open:
            event.stop()
            event.prevent_default()
            with self.kit.faults.contained("a key of the question"):
                self.desk.press(event.key, event.character)
        elif event.key in {"x", "D"} and self.active == "runs" and not self._covered:
            self._say_why_not()

    @property
    def _covered(self) -> bool:
        return self.prompt.is_open or self.sheet.is_open

    # -- moving ------------------------------------------------------------------------------------------------------

    def action_move(self, how: str) -> None:
        """Movement keys."""
        if self.sheet.is_open:
            self.sheet.move(how)
        elif self.sliver.display:
            self.sliver.move(how)
        else:
            self.active_pane.move(how)
            self.redraw_around()

    def action_sideways(self, how: str) -> None:
        """Columns; in the plan, values."""
        if self.active == "plan":
            self._step_field(1 if how == "right" else -1)
        elif self.active in {"market", "runs"}:
            self.active_pane.move(how)

    def action_pane_next(self, step: int) -> None:
        """The next pane."""
        self.activate(PANES[(PANES.index(self.active) + step) % len(PANES)])

    def action_pane(self, pane: PaneName) -> None:
        """A pane by number; where there is room for none, on the whole screen."""
        if self.sliver.display:
            self.zoomed = self.opened_in_sliver = True
        self.activate(pane)

    def action_zoom(self) -> None:
        """One pane on the whole screen, and back."""
        self.zoomed = not self.zoomed
        self.relayout()

    def action_redraw(self) -> None:
        """Everything anew."""
        self.refresh(layout=True)
        self.redraw_all()

    # -- lists -------------------------------------------------------------------------------------------------------

    def action_order(self, step: int) -> None:
        """Another column."""
        self._table().sort_step(step)
        self.redraw_around()

    def action_order_reverse(self) -> None:
        """The other direction."""
        self._table().sort_reverse()
        self.redraw_around()

    def action_mark(self) -> None:
        """Mark a row."""
        self._table().toggle_mark()

    def action_whole_market(self) -> None:
        """Boards that are not managed, too, and back."""
        self.market.toggle_whole(self.look)
        self.redraw_around()

    def action_freeze(self) -> None:
        """Hold still, or catch up."""
        self.active_pane.toggle_freeze(self.look)

    def action_open(self) -> None:
        """Offers behind a row; a field of the plan."""
        if self.active == "plan":
            if not self.plan.step(1):
                self._ask(
                    self.plan.field.id,
                    f"{self.plan.field.label}:",
                    self.plan.field.edit(self.plan.job),
                )
            return
        nothing = self.market.toggle_open(self.look)
        self.redraw_around()
        if nothing:
            self.say(nothing, "dim")

    def action_filter(self) -> None:
        """Type a filter."""
        self._ask(_FILTER, "/", self.active_pane.query_text)

    def _table(self) -> KeyedTable[Any]:
        pane = self.active_pane
        return self.market.table if isinstance(pane, MarketPane) else self.runs.table

    # -- typing ------------------------------------------------------------------------------------------------------

    def _ask(self, topic: str, label: str, value: str) -> None:
        self.prompt.ask(topic, label, value)
        self.footer.display = False
        self.set_focus(self.prompt.input)

    def _close_prompt(self) -> None:
        self.prompt.close()
        self.footer.display = True
        self._focus_active()

    @on(Input.Changed, "#prompt-input")
    def _typed(self, event: Input.Changed) -> None:
        """A filter acts while it is typed."""
        if self.prompt.topic == _FILTER:
            with self.kit.faults.contained("the filter"):
                self.active_pane.refilter(event.value)
                self.redraw_around()

    @on(Input.Submitted, "#prompt-input")
    def _entered(self, event: Input.Submitted) -> None:
        """Keep what was typed."""
        with self.kit.faults.contained("what was typed"):
            problem = "" if self.prompt.topic == _FILTER else self.plan.put(event.value)
            if problem:
                self.prompt.say(problem)
                return
        self._close_prompt()
        self.redraw_around()

    # -- the plan ----------------------------------------------------------------------------------------------------

    def _step_field(self, by: int) -> None:
        if not self.plan.step(by):
            self.say("this field is typed: Enter opens it", "dim")
        self.plan.draw(self.look)

    @on(PlanPane.JobChanged)
    def _job_changed(self, event: PlanPane.JobChanged) -> None:
        """Let the preview follow."""
        with self.kit.faults.contained("the change of the job"):
            self.session.set_job(event.job)
        self.redraw_around()

    def action_explain(self) -> None:
        """Why; the same key closes it."""
        if self.sheet.is_open:
            self.sheet.close()
            return
        width = min(_SHEET_WIDTH, self.size.width) - 5
        if self.active == "plan":
            self._read("explain", "Why this plan", self.plan.explanation(width))
            return
        row = self.market.table.cursor_record
        if row is not None:
            quote = row.quote
            sentences = why_not(self.snapshot.plan.report, quote.provider, quote.gpu)
            lines = [part for sentence in sentences for part in wrapped(sentence, width)]
            self._read("explain", f"{quote.gpu} with {quote.provider}", lines)

    # -- operations --------------------------------------------------------------------------------------------------

    def action_cancel(self) -> None:
        """Ask before a cancel."""
        self._question("cancel")

    def action_destroy(self) -> None:
        """Ask before a destroy."""
        self._question("destroy")

    def action_undo(self) -> None:
        """Take back what is still counting down."""
        op = pending_operation(self.snapshot, self.runs.chosen)
        if op is not None:
            self.desk.undo(op)

    def _question(self, kind: OperationKind) -> None:
        row = self.runs.actionable
        if row is not None:
            self.runs.table.touch()
            self.desk.ask(kind, row, unsaved=bool(self.snapshot.store_error))

    def _say_why_not(self) -> None:
        """A key that does nothing now says why."""
        if self.snapshot.read_only:
            self.say("read-only: cancel and destroy are off", "warn")
        elif not self.snapshot.runs:
            self.say("nothing is rented", "dim")
        elif self.runs.table.selection is None:
            self.say(
                "nothing is chosen: the row under the cursor has gone, move to choose another",
                "warn",
            )
        elif self.runs.chosen is not None and self.runs.chosen.target is None:
            self.say("there is nothing rented behind this row", "dim")
        elif self.runs.actionable is None:
            self.say("already asked; it is tried again until the provider proves it gone", "dim")

    def _start(self, coroutine: Coroutine[Any, Any, None]) -> None:
        self.run_worker(coroutine, exit_on_error=False, group="operations")

    # -- the rest ----------------------------------------------------------------------------------------------------

    def action_acknowledge(self) -> None:
        """Take the alert off line 3."""
        alerts = open_alerts(self.snapshot)
        if alerts:
            self.session.acknowledge(alerts[0].key)

    def action_refresh_now(self) -> None:
        """Ask everybody now."""
        self.session.refresh()
        self.say("asking all providers now", "dim")

    def action_theme_next(self) -> None:
        """Another theme."""
        self.say(f"theme {self.app.next_theme()}", "dim")  # type: ignore[attr-defined]

    def action_help(self) -> None:
        """The keys; the same key closes it."""
        if self.sheet.is_open:
            self.sheet.close()
            return
        title = f"Keys in {PANE_TITLES[self.active]}"
        self._read("help", title, help_lines(self.active, read_only=self.snapshot.read_only))

    def _read(self, topic: str, title: str, lines: list[Line]) -> None:
        self.sheet.open_sheet(topic, title, lines, self.size)

    def action_back(self) -> None:
        """Close what is open, one thing at a time."""
        if self.prompt.is_open:
            if self.prompt.topic == _FILTER:
                self.active_pane.refilter("")
            self._close_prompt()
        elif self.sheet.is_open:
            self.sheet.close()
        elif self.active_pane.query_text:
            self.active_pane.refilter("")
        elif self.zoomed:
            self.action_zoom()
        self.redraw_around()

    def action_leave(self) -> None:
        """Back; at the top, quit."""
        if self.sheet.is_open or self.active_pane.query_text or self.zoomed:
            self.action_back()
        else:
            self.app.exit(return_code=0)

    def action_leave_now(self) -> None:
        """Quit."""
        self.app.exit(return_code=0)
