"""A host for one widget, the screen as text, and a way to wait until everything has been drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.app import App

from flashtui.ui.containment import Faults, Kit
from flashtui.ui.paint import Paint
from tests.fakes import FakeClock

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.pilot import Pilot
    from textual.widget import Widget


def kit(*, ascii_only: bool = False) -> Kit:
    clock = FakeClock(auto=False)
    return Kit(Paint("flash-dark", ascii_only=ascii_only), clock, Faults(clock))


class Host(App[None]):
    """Shows one widget on the whole screen."""

    CSS = "Host > Screen > * { height: 1fr; width: 1fr; }"

    def __init__(self, widget: Widget) -> None:
        super().__init__()
        self.widget = widget

    def compose(self) -> ComposeResult:
        yield self.widget


async def settle(pilot: Pilot[Any]) -> None:
    """Wait until messages and drawing are done (``wait_for_complete`` would wait for the board's follower for ever)."""
    for _ in range(3):
        await pilot.pause()


def screen_text(app: App[Any]) -> str:
    """The screen as lines of text."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)
