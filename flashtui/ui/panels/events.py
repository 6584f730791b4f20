"""The events pane: alerts that wait, then what has happened, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.ui.cells import Span, line
from flashtui.ui.event_lines import event_lines
from flashtui.ui.lines import LineView
from flashtui.ui.panels.pane import Pane
from flashtui.ui.parts import Part
from flashtui.ui.status_lines import open_alerts

if TYPE_CHECKING:
    from flashtui.services.board import Snapshot
    from flashtui.ui.columns import Look
    from flashtui.ui.containment import Kit


class EventsPane(Pane):
    """Alerts and events."""

    def __init__(self, kit: Kit) -> None:
        self.view = LineView(kit, id="events-view", focusable=True)
        super().__init__(kit, "events")
        self._shown: Snapshot | None = None

    def make_body(self) -> LineView:
        """The lines."""
        return self.view

    def apply(self, snapshot: Snapshot, look: Look) -> None:
        """New events."""
        self._shown = snapshot
        self.pass_time(look)

    def pass_time(self, look: Look) -> None:
        """How long alerts have been standing."""
        if self._shown is not None:
            self.view.show(event_lines(self._shown, look.now, self.query_text))

    def refilter(self, query: str) -> None:
        """Other words to look for."""
        super().refilter(query)
        if self._shown is not None:
            self.view.show(event_lines(self._shown, self.kit.clock.now(), query))

    def move(self, how: str) -> None:
        """A movement key."""
        self.view.move(how)

    def summary(self) -> list[Part]:
        """How many alerts wait."""
        waiting = 0 if self.newest is None else len(open_alerts(self.newest))
        text = Span(f"{waiting} alerts", "warn") if waiting else Span("no alerts", "dim")
        return [Part(line(text), 8), Part(line(Span("newest first", "dim")), 3)]

    def count(self) -> str:
        """Alerts."""
        waiting = 0 if self.newest is None else len(open_alerts(self.newest))
        return f" {waiting}" if waiting else ""
