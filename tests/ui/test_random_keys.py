"""Random keys, sizes and snapshots, seeded: nothing fails, and nothing is destroyed without its full confirmation."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from flashtui.ui.keys import KEYS
from tests.ui import samples
from tests.ui.host import dashboard
from tests.ui.session import ScriptedSession, walk_prices

LEAVING = {"q", "ctrl+q", "ctrl+c"}
PRESSED = [k for key in KEYS for k in key.keys if k not in LEAVING] + [
    "y",
    "a",
    "backspace",
    "D",
    "x",
    "2",
    "7",
]
SIZES = [(80, 24), (120, 40), (200, 60), (30, 8), (61, 20)]
STATES = [
    samples.snapshot,
    samples.quiet,
    samples.vast_stale,
    samples.vast_unknown,
    samples.nothing_loaded,
]


@pytest.mark.parametrize("seed", [2, 3, 4])
async def test_random_keys_with_a_clock_that_stands_destroy_nothing(seed: int) -> None:
    """A question never wakes while no time passes, so no sequence of keys can get through it."""
    rng = random.Random(seed)
    session = ScriptedSession()
    async with dashboard(session) as board:
        opened = 0
        for turn in range(250):
            if turn % 25 == 0:
                session.put(rng.choice(STATES)())
                await board.pilot.resize_terminal(*rng.choice(SIZES))
            if turn % 5 == 0:
                # Out of whatever swallows keys.
                await board.press("escape", "escape", "2")
            await board.press(rng.choice(PRESSED))
            opened += board.screen.desk.is_open
            if board.screen.desk.is_open and rng.random() < 0.2:
                board.screen.confirm.close()
        assert board.app.is_running
        assert session.control.destroyed == []
        assert session.control.cancelled == []
        assert opened
        board.no_faults()


async def test_random_keys_while_time_passes_fail_nothing() -> None:
    rng = random.Random(4)
    session = ScriptedSession()
    async with dashboard(session) as board:
        for turn in range(200):
            session.later(rng.choice([0.1, 0.5, 2]))
            if turn % 10 == 0:
                first = session.board.snapshot
                sheets = walk_prices(first.sheets, rng, session.clock.now())
                session.put(replace(first, sheets=sheets))
            await board.press(rng.choice(PRESSED))
            board.app.tick()
        assert board.app.is_running
        # Every request has had its own confirmation: none is asked for twice by one.
        asked = len(session.control.destroyed) + len(session.control.cancelled)
        assert asked <= len(session.control.reread_targets)
        board.no_faults()
