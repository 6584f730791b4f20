"""A host for one widget, the screen as text, and a way to wait until everything has been drawn."""

from __future__ import annotations

import asyncio
import unicodedata
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.events import Key
from textual.keys import REPLACED_KEYS, _character_to_key, _get_unicode_name_from_key

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

# Turns of the loop without a message anywhere after which nothing more is to come.
_QUIET_TURNS = 8


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
    """Wait until every message has been handled and everything has been drawn.

    Without a timer: queues are watched, and the screen is told to draw. (``workers.wait_for_complete`` would wait for
    the follower of the board for ever.)
    """
    app = pilot.app
    for _ in range(4):
        await _idle(app)
        if app.is_running and app.screen_stack:
            with app._context():
                app.screen._on_timer_update()
    await _idle(app)


async def _idle(app: App[Any]) -> None:
    quiet = 0
    while quiet < _QUIET_TURNS:
        await asyncio.sleep(0)
        pumps = [app, *app._registry]
        busy = any(pump.message_queue_size or pump._next_callbacks for pump in pumps)
        quiet = 0 if busy and app.is_running else quiet + 1


def key_event(key: str) -> Key:
    """A key as the driver would report it."""
    name = _character_to_key(key) if len(key) == 1 and not key.isalnum() else key
    character: str | None
    try:
        character = unicodedata.lookup(_get_unicode_name_from_key(REPLACED_KEYS.get(name, name)))
    except KeyError:
        character = key if len(key) == 1 else None
    return Key(name, character)


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
            self.app.post_message(key_event(key))
            await _idle(self.app)
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
