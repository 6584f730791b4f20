"""A host for one widget, the screen as text, and a way to wait until everything has been drawn."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from textual.app import App

from flashtui.ui.app import FlashApp
from flashtui.ui.containment import Faults, Kit
from flashtui.ui.paint import Paint
from flashtui.ui.screens.dashboard import Dashboard
from tests.fakes import FakeClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from textual.app import ComposeResult
    from textual.pilot import Pilot
    from textual.widget import Widget

    from flashtui.services.board import Snapshot
    from tests.ui.session import ScriptedSession


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


@asynccontextmanager
async def dashboard(
    session: ScriptedSession, size: tuple[int, int] = (120, 40), **options: Any
) -> AsyncIterator[Board]:
    """A running dashboard on a scripted session."""
    app = FlashApp(session, tick_s=None, resize_settle_s=0, **options)
    async with app.run_test(size=size) as pilot:
        board = Board(session, app, pilot)
        await board.press()
        yield board


class Board:
    """A dashboard under test: press keys, let time pass, read the screen."""

    def __init__(self, session: ScriptedSession, app: FlashApp, pilot: Pilot[None]) -> None:
        self.session = session
        self.app = app
        self.pilot = pilot

    @property
    def screen(self) -> Dashboard:
        screen = self.app.screen
        assert isinstance(screen, Dashboard)
        return screen

    @property
    def text(self) -> str:
        return screen_text(self.app)

    def line(self, part: str) -> str:
        """The first line of the screen that contains a text."""
        found = [row for row in self.text.splitlines() if part in row]
        assert found, f"{part!r} is not on the screen:\n{self.text}"
        return found[0]

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.pilot.press(key)
        await settle(self.pilot)

    async def wait(self, seconds: float) -> None:
        """Let the clock go on and draw the ages."""
        self.session.later(seconds)
        self.app.tick()
        await settle(self.pilot)

    async def put(self, snapshot: Snapshot) -> None:
        self.session.put(snapshot)
        await settle(self.pilot)

    def no_faults(self) -> None:
        assert self.app.kit.faults.newest is None, self.app.kit.faults.newest
