"""One picture for every state of a pane and every size; each was looked at once before it was kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from flashtui.domain.operation import Target
from flashtui.ui.app import FlashApp
from tests.fakes import T0
from tests.ui import samples
from tests.ui.host import Board
from tests.ui.session import Check, ScriptedSession

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from flashtui.services.board import Snapshot

SnapCompare: TypeAlias = Callable[..., bool]
Picture: TypeAlias = Callable[..., bool]


@pytest.fixture
def picture(snap_compare: SnapCompare) -> Picture:
    """Compare a dashboard with its picture, after some keys; ``+5`` lets five seconds pass."""

    def compare(
        snapshot: Snapshot | None = None,
        *keys: str,
        size: tuple[int, int] = (120, 40),
        answer: Check | None = None,
        then: Snapshot | None = None,
        **options: Any,
    ) -> bool:
        session = ScriptedSession(snapshot)
        session.control.answer = answer or session.control.answer
        app = FlashApp(session, tick_s=None, resize_settle_s=0, **options)

        async def prepare(pilot: Pilot[None]) -> None:
            board = Board(session, app, pilot)
            await board.press()
            for key in keys:
                if key.startswith("+"):
                    await board.wait(float(key[1:]))
                else:
                    await board.press(key)
            if then is not None:
                await board.put(then)

        return snap_compare(app, terminal_size=size, run_before=prepare)

    return compare


SIZES = pytest.mark.parametrize(
    "size", [(80, 24), (120, 40), (200, 60)], ids=lambda s: f"{s[0]}x{s[1]}"
)
SNAPSHOTS = {
    "live": samples.snapshot,
    "quiet": samples.quiet,
    "stale": samples.vast_stale,
    "unknown": samples.vast_unknown,
    "nothing": samples.nothing_loaded,
}


@SIZES
@pytest.mark.parametrize("state", SNAPSHOTS)
def test_dashboard(picture: Picture, state: str, size: tuple[int, int]) -> None:
    assert picture(SNAPSHOTS[state](), size=size)


@pytest.mark.parametrize("pane", ["2", "3", "4"])
def test_one_pane_at_eighty_columns(picture: Picture, pane: str) -> None:
    assert picture(None, pane, size=(80, 24))


@pytest.mark.parametrize(
    "size", [(30, 8), (40, 12), (60, 20), (100, 30)], ids=lambda s: f"{s[0]}x{s[1]}"
)
def test_small(picture: Picture, size: tuple[int, int]) -> None:
    assert picture(None, size=size)


def test_a_pane_in_a_sliver(picture: Picture) -> None:
    assert picture(None, "2", size=(40, 12))


@pytest.mark.parametrize("theme", ["flash-light", "contrast", "deuter", "ansi-dark", "ansi-light"])
def test_theme(picture: Picture, theme: str) -> None:
    assert picture(None, "2", "j", theme=theme)


@SIZES
def test_ascii(picture: Picture, size: tuple[int, int]) -> None:
    assert picture(None, size=size, ascii_only=True)


def test_no_colour(picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert picture(None, "2", no_color=True, ascii_only=True)


def test_offers_behind_a_row(picture: Picture) -> None:
    keys = ("slash", *"prov=vast", "space", *"h100", "space", *"!nvl", "enter", "enter", "j", "j")
    assert picture(None, *keys, size=(200, 60))


def test_filter_being_typed(picture: Picture) -> None:
    assert picture(None, "slash", *"vram>=80", size=(80, 24))


def test_nothing_passes_the_filter(picture: Picture) -> None:
    assert picture(None, "slash", *"zzz", "enter")


def test_scrolled_sideways(picture: Picture) -> None:
    assert picture(None, "2", "right", "right", size=(60, 20))


def test_frozen(picture: Picture) -> None:
    assert picture(None, "p", "+12")


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=lambda s: f"{s[0]}x{s[1]}")
def test_help(picture: Picture, size: tuple[int, int]) -> None:
    assert picture(None, "2", "question_mark", size=size)


def test_explain_the_plan(picture: Picture) -> None:
    assert picture(None, "3", "e")


def test_a_field_of_the_plan_being_typed(picture: Picture) -> None:
    assert picture(None, "3", "j", "j", "enter", *"many", "enter", size=(80, 24))


def test_nothing_fits(picture: Picture) -> None:
    report = samples.report(
        winner=None, candidates=(), summary="no class holds 200 GB with both providers asked",
        remedies=("allow classes that are not validated", "shorten the sequence to 8192"),
        could_not_ask=("runpod",),
    )  # fmt: skip
    assert picture(
        samples.snapshot(plan=replace(samples.snapshot().plan, report=report)), "3", size=(80, 24)
    )


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=lambda s: f"{s[0]}x{s[1]}")
def test_destroy(picture: Picture, size: tuple[int, int]) -> None:
    assert picture(None, "2", "D", "+1", "tab", size=size)


def test_destroy_of_somebody_elses_machine(picture: Picture) -> None:
    assert picture(None, "2", *"jjjjjjj", "D", "+1", "shift+tab", "shift+tab", *"x9", size=(80, 24))


def test_destroy_not_verified(picture: Picture) -> None:
    answer = Check("unverified", None, "vast did not answer within 3 s", T0)
    assert picture(None, "2", "D", "+1", "tab", answer=answer)


def test_cancel(picture: Picture) -> None:
    assert picture(None, "2", "x", "+1", size=(80, 24))


def test_counting_down(picture: Picture) -> None:
    target = Target("vast", "21377744", "run-17", "run-17")
    pending = samples.operation("pending", target=target, not_before=T0 + timedelta(seconds=8))
    snapshot = samples.snapshot(runs=(samples.run(operation=pending), *samples.runs()[1:]))
    assert picture(snapshot, "2", size=(200, 60))


def test_read_only(picture: Picture) -> None:
    assert picture(samples.snapshot(read_only=True), "2", size=(80, 24))


def test_the_chosen_row_has_gone(picture: Picture) -> None:
    rest = tuple(row for row in samples.runs() if row.run_id != "run-15")
    assert picture(None, "2", "j", "j", then=samples.snapshot(runs=rest))
