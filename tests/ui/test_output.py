"""Cropped updates: fewer bytes, the same screen."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyte
import textual
from textual._compositor import ChopsUpdate, CompositorUpdate

from flashtui.ui.output import TESTED_WITH, CroppedUpdate, cropped
from tests.ui import samples
from tests.ui.host import dashboard, settle
from tests.ui.session import ScriptedSession, walk_prices

if TYPE_CHECKING:
    import pytest

    from tests.ui.host import Board


def test_this_version_of_textual_is_the_one_that_was_tested() -> None:
    """A loud reminder at every upgrade; until then the wrapper steps aside by itself."""
    assert textual.__version__ == TESTED_WITH


def test_another_version_gets_its_own_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    update = ChopsUpdate([], [], [])
    assert isinstance(cropped(update), CroppedUpdate)
    monkeypatch.setattr(textual, "__version__", "9.9.9")
    assert cropped(update) is update


class Tap:
    """Feeds everything that is displayed to two emulators: as Textual would send it, and as we do."""

    def __init__(self, board: Board) -> None:
        self.app = board.app
        width, height = board.app.size
        self.plain = pyte.Screen(width, height)
        self.ours = pyte.Screen(width, height)
        self.bytes = [0, 0]
        real = board.app._display

        def display(screen: Any, renderable: Any) -> None:
            if isinstance(renderable, CompositorUpdate):
                self._feed(0, self.plain, renderable)
                self._feed(1, self.ours, cropped(renderable))
            real(screen, renderable)

        board.app._display = display  # type: ignore[method-assign]

    def _feed(self, index: int, screen: pyte.Screen, update: CompositorUpdate) -> None:
        data = update.render_segments(self.app.console)
        self.bytes[index] += len(data)
        # A bare line feed in raw mode only moves down; every line starts with a movement of its own.
        pyte.Stream(screen).feed(data)


async def test_random_scenes_look_the_same_and_cost_less() -> None:
    rng = random.Random(11)
    session = ScriptedSession()
    async with dashboard(session) as board:
        tap = Tap(board)
        await board.press("ctrl+l")
        keys = [
            "j",
            "k",
            "G",
            "g",
            "o",
            "O",
            "tab",
            "2",
            "3",
            "1",
            "question_mark",
            "question_mark",
            "enter",
            "p",
            "p",
        ]
        for _ in range(40):
            session.later(rng.choice([1, 1, 1, 30]))
            sheets: Any = walk_prices(session.board.snapshot.sheets, rng, session.clock.now())
            session.put(replace(samples.snapshot(), sheets=sheets, as_of=session.clock.now()))
            board.app.tick()
            await board.press(rng.choice(keys))
            await settle(board.pilot)
        assert tap.ours.display == tap.plain.display
        styles = [
            [(c.fg, c.bg, c.bold, c.reverse) for x, c in sorted(row.items())]
            for screen in (tap.ours, tap.plain)
            for _, row in sorted(screen.buffer.items())
        ]
        half = len(styles) // 2
        assert styles[:half] == styles[half:]
        board.no_faults()


async def test_a_tick_of_all_ages_costs_little() -> None:
    session = ScriptedSession()
    async with dashboard(session) as board:
        await board.wait(1)
        tap = Tap(board)
        await board.wait(1)
        assert 0 < tap.bytes[1] < 2_000
        assert tap.bytes[1] < tap.bytes[0] / 3


async def test_nothing_is_sent_when_nothing_changes() -> None:
    session = ScriptedSession(samples.quiet())
    async with dashboard(session) as board:
        await board.wait(1)
        tap = Tap(board)
        board.app.tick()
        await settle(board.pilot)
        assert tap.bytes[1] == 0
