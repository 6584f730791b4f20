"""What the dashboard screen is made of and how a snapshot is spread over it; keys are in :mod:`.dashboard`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Container
from textual.reactive import Reactive
from textual.screen import Screen

from flashtui.ui.arrangement import SLIVER_BELOW, Arrangement, arrange
from flashtui.ui.cells import Line, Span, line
from flashtui.ui.columns import Look
from flashtui.ui.help_lines import footer_line, tab_line
from flashtui.ui.keys import PANES
from flashtui.ui.lines import LineView
from flashtui.ui.panels.detail import DetailBox
from flashtui.ui.panels.events import EventsPane
from flashtui.ui.panels.market import MarketPane
from flashtui.ui.panels.overlays import ConfirmBox, Sheet
from flashtui.ui.panels.plan import PlanPane
from flashtui.ui.panels.prompt import Prompt
from flashtui.ui.panels.runs import RunsPane
from flashtui.ui.sliver_lines import sliver_lines
from flashtui.ui.status_lines import (
    alert_line,
    brief_health,
    fault_line,
    health_line,
    money_line,
    open_alerts,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from textual import events
    from textual.app import ComposeResult
    from textual.timer import Timer
    from textual.widget import Widget

    from flashtui.services.board import Snapshot
    from flashtui.ui.containment import Kit
    from flashtui.ui.keys import PaneName
    from flashtui.ui.panels.pane import Pane

NOTICE_S = 6.0
SLIVER_KEYS = line(
    Span("1-4", "key"), " pane  ", Span("?", "key"), " help  ", Span("q", "key"), " quit"
)
_CLASSES = ("sliver", "single", "multi", "wide", "short", "brief", "ascii")


class DashboardView(Screen[None], inherit_bindings=False):
    """The panes, the status lines above them and the footer below.

    Args:
        kit: paint, clock and faults.
        snapshot: what to show first.
        resize_settle_s: how long the size has to hold still before the layout follows; 0: at once.
    """

    AUTO_FOCUS: ClassVar = None
    # Textual would repaint the whole screen when the focus moves.
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)

    def __init__(self, kit: Kit, snapshot: Snapshot, *, resize_settle_s: float = 0.15) -> None:
        super().__init__(id="dashboard")
        self.kit = kit
        self.snapshot = snapshot
        self.active: PaneName = "market"
        self.zoomed = False
        self.opened_in_sliver = False
        self.arrangement: Arrangement | None = None
        self.status = LineView(kit, id="status")
        self.tabs = LineView(kit, id="tabs")
        self.sliver = LineView(kit, id="sliver", focusable=True)
        self.footer = LineView(kit, id="footer")
        self.market = MarketPane(kit)
        self.runs = RunsPane(kit)
        self.plan = PlanPane(kit)
        self.events = EventsPane(kit)
        self.detail_box = DetailBox(kit)
        self.prompt = Prompt(kit)
        self.sheet = Sheet(kit)
        self.confirm = ConfirmBox(kit)
        self._settle_s = resize_settle_s
        self._settling: Timer | None = None
        self._notice: tuple[str, str, float] | None = None

    def compose(self) -> ComposeResult:
        """From top to bottom, then what lies above."""
        yield self.status
        yield self.tabs
        with Container(id="panes"):
            yield self.market
            yield self.runs
            yield self.detail_box
            yield self.plan
            yield self.events
        yield self.sliver
        yield self.prompt
        yield self.footer
        yield self.sheet
        yield self.confirm

    def on_mount(self) -> None:
        """First picture."""
        self.relayout()

    # -- layout ------------------------------------------------------------------------------------------------------

    @property
    def panes(self) -> tuple[Pane, ...]:
        """In the order of their numbers."""
        return (self.market, self.runs, self.plan, self.events)

    @property
    def active_pane(self) -> Pane:
        """The pane that has the keys."""
        return self.panes[PANES.index(self.active)]

    def on_resize(self, _event: events.Resize) -> None:
        """Follow the size, once it holds still."""
        if self._settling is not None:
            self._settling.stop()
            self._settling = None
        if self._settle_s <= 0 or self.arrangement is None:
            self.relayout()
        else:
            self._settling = self.set_timer(self._settle_s, self.relayout)

    def relayout(self) -> None:
        """Show the panes that belong on a screen of this size; tables are neither rebuilt nor emptied."""
        with self.kit.faults.contained("the layout"):
            if self.size.width >= SLIVER_BELOW and self.opened_in_sliver:
                self.zoomed = self.opened_in_sliver = False
            wanted = arrange(*self.size, self.active, zoomed=self.zoomed)
            if wanted != self.arrangement:
                self.arrangement = wanted
                self._apply(wanted)
            self._focus_active()
        # Sizes of the widgets are known only after the layout has been done.
        self.call_after_refresh(self.redraw_all)

    def _apply(self, wanted: Arrangement) -> None:
        on = {
            wanted.kind: True,
            "short": wanted.short,
            "brief": wanted.status_lines < 3,
            "ascii": self.kit.paint.glyphs.ascii_only,
        }
        for name in _CLASSES:
            # Textual has classes of its own for widths; the prefix keeps them apart.
            self.set_class(on.get(name, False), f"-flash-{name}")
        for pane in self.panes:
            pane.framed = wanted.framed
            pane.display = pane.pane in wanted.panes

    def _focus_active(self) -> None:
        if self.prompt.is_open:
            return
        sliver = self.arrangement is not None and self.arrangement.kind == "sliver"
        self.set_focus(self.sliver if sliver else self.active_pane.body, scroll_visible=False)

    def activate(self, pane: PaneName) -> None:
        """Give the keys to a pane, and show it where only one is shown."""
        self.active = pane
        if self.arrangement == arrange(*self.size, pane, zoomed=self.zoomed):
            self._focus_active()
        else:
            self.relayout()

    def on_descendant_focus(self) -> None:
        """Whatever has got the keys, headings and footer say so."""
        for pane in self.panes:
            if pane.body.has_focus:
                self.active = pane.pane
        self.redraw_around()

    def on_descendant_blur(self) -> None:
        """The same for what has lost them."""
        self.redraw_around()

    # -- what is shown -----------------------------------------------------------------------------------------------

    @property
    def look(self) -> Look:
        """The moment, for cells."""
        return Look(self.kit.clock.now(), self.snapshot.poll_interval_s)

    def show(self, snapshot: Snapshot) -> None:
        """Spread a new snapshot."""
        self.snapshot = snapshot
        look = self.look
        for pane in self.panes:
            pane.show(snapshot, look)
        self.redraw_around()

    def tick(self) -> None:
        """A second has passed: ages, costs and countdowns."""
        look = self.look
        for pane in self.panes:
            pane.tick(look)
        self.redraw_around()

    def redraw_all(self) -> None:
        """Show everything for the sizes there are now."""
        self.show(self.snapshot)

    def redraw_around(self) -> None:
        """Everything but the bodies of the panes."""
        with self.kit.faults.contained("the status"):
            look = self.look
            for pane in self.panes:
                pane.draw_around(look)
            if self.active == "plan":
                self.plan.draw(look)
            if self.detail_box.display:
                self.detail_box.show(self.detailed.subject(), self._detail_lines(look))
            self._draw_footer()
        self._draw_status(self.look)

    def say(self, text: str, style: str = "") -> None:
        """One sentence for the person, in place of the footer for a while."""
        self._notice = (text, style, self.kit.clock.monotonic() + NOTICE_S)
        self._draw_footer()

    @property
    def detailed(self) -> Pane:
        """The pane whose row the detail pane shows."""
        return self.market if self.active == "market" else self.runs

    def _detail_lines(self, look: Look) -> list[Line]:
        return self.detailed.detail(look, max(1, self.detail_box.view.size.width))

    def _draw_status(self, look: Look) -> None:
        snapshot, now, width = self.snapshot, look.now, self.size.width
        if self.arrangement is not None and self.arrangement.kind == "sliver":
            with self.kit.faults.contained("the sliver"):
                self.sliver.show(sliver_lines(snapshot, look, width))
            return
        lines = [
            self._status_line("money", lambda: money_line(snapshot, now, width)),
            self._status_line("health", lambda: health_line(snapshot, now, width)),
            self._status_line("alert", lambda: alert_line(snapshot, width)),
        ]
        fault = self.kit.faults.newest
        if fault is not None:
            lines[1] = (*fault_line(fault, now), Span("  "), *lines[1])
        if self.arrangement is None or self.arrangement.status_lines == 2:
            lines = [lines[0], lines[1] if fault is not None else lines[2] or lines[1]]
        self.status.show(lines)
        if self.tabs.display:
            self.tabs.show([self._status_line("tab", lambda: self._tab_line(now, width))])

    def _tab_line(self, now: datetime, width: int) -> Line:
        counts = {pane.pane: pane.count() for pane in self.panes}
        return tab_line(self.active, counts, brief_health(self.snapshot, now), width)

    def _status_line(self, what: str, made: Callable[[], Line]) -> Line:
        """One line at the top; a fault in it leaves the others."""
        with self.kit.faults.contained(f"{what} line"):
            return made()
        return (Span(f"the {what} line could not be drawn", "bad"),)

    def _draw_footer(self) -> None:
        width = self.size.width
        notice = self._notice
        if notice is not None and self.kit.clock.monotonic() >= notice[2]:
            self._notice = notice = None
        if notice is not None:
            self.footer.show([(Span(notice[0], notice[1]),)])
        elif self.sliver.display:
            self.footer.show([SLIVER_KEYS])
        else:
            read_only = self.snapshot.read_only
            self.footer.show([footer_line(self.active, width, read_only=read_only)])

    def has_alerts(self) -> bool:
        """Whether an alert waits to be acknowledged."""
        return bool(open_alerts(self.snapshot))
