"""From the key to the request, on the screen: what opens, what confirms, what reaches the service."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from textual.events import Key

from flashtui.domain.errors import StoreError
from flashtui.domain.operation import Target
from tests.fakes import T0
from tests.ui import samples
from tests.ui.host import dashboard, settle
from tests.ui.session import Check, ScriptedSession

if TYPE_CHECKING:
    from tests.ui.host import Board

RUN_17 = Target("vast", "21377744", "run-17", "run-17")


async def opened(board: Board, key: str = "D", *, down: int = 0) -> None:
    await board.press("2", *["j"] * down, key)
    assert board.screen.desk.is_open
    await board.wait(1.2)


async def test_destroy_with_tab_and_enter_reaches_the_service_with_the_undo() -> None:
    session = ScriptedSession()
    async with dashboard(session) as board:
        await opened(board)
        assert session.control.reread_targets == [RUN_17]
        assert "DESTROY run-17" in board.text
        await board.press("tab", "enter")
        assert session.control.destroyed == [(RUN_17, 10.0)]
        assert "destroy accepted; z takes it back for 10 s" in board.text
        assert not board.screen.desk.is_open


async def test_cancel_with_tab_and_enter_reaches_the_service() -> None:
    session = ScriptedSession()
    async with dashboard(session) as board:
        await opened(board, "x")
        await board.press("tab", "enter")
        assert session.control.cancelled == [RUN_17]
        assert session.control.destroyed == []


@pytest.mark.parametrize(
    "keys", [["enter"], ["escape"], ["q"], ["y", "enter"], ["D", "D", "enter"]]
)
async def test_the_keys_of_habit_do_not_confirm(keys: list[str]) -> None:
    session = ScriptedSession()
    async with dashboard(session) as board:
        await opened(board)
        await board.press(*keys)
        assert session.control.destroyed == []
        assert "nothing was done" in board.text
        assert board.app.is_running


async def test_keys_typed_ahead_of_the_box_confirm_nothing() -> None:
    """The whole sequence arrives in one burst, as on a lagging link, before anything has been drawn."""
    session = ScriptedSession()
    async with dashboard(session) as board:
        await board.press("2")
        for key in ("D", "tab", "enter", "tab", "enter", "right", "enter"):
            board.app.post_message(Key(key, key if len(key) == 1 else None))
        await settle(board.pilot)
        assert board.screen.desk.is_open
        assert session.control.destroyed == []
        assert board.screen.active == "runs"
        assert board.screen.confirm.question is not None
        assert board.screen.confirm.question.focus == "cancel"


async def test_the_box_is_about_the_row_of_the_keypress_whatever_the_list_does() -> None:
    session = ScriptedSession()
    async with dashboard(session) as board:
        await opened(board)
        others = tuple(row for row in session.board.snapshot.runs if row.run_id != "run-17")
        await board.put(replace(session.board.snapshot, runs=others))
        assert "DESTROY run-17" in board.text
        await board.press("tab", "enter")
        assert session.control.destroyed == [(RUN_17, 10.0)]


async def test_after_the_chosen_row_has_gone_nothing_can_be_destroyed_until_a_key_chooses() -> None:
    session = ScriptedSession()
    async with dashboard(session) as board:
        await board.press("2", "j", "j")
        rows = tuple(row for row in session.board.snapshot.runs if row.run_id != "run-15")
        await board.put(replace(session.board.snapshot, runs=rows))
        await board.press("D", "x")
        assert not board.screen.desk.is_open
        assert "move to choose another" in board.text
        await board.press("k", "j", "j", "D")
        assert board.screen.desk.is_open


async def test_a_row_without_anything_rented_cannot_be_destroyed() -> None:
    session = ScriptedSession(samples.snapshot(runs=(samples.run(target=None, may_bill=False),)))
    async with dashboard(session) as board:
        await board.press("2", "D")
        assert not board.screen.desk.is_open
        assert "nothing rented behind this row" in board.text


@pytest.mark.parametrize("phase", ["driving", "verifying", "unconfirmed", "confirmed"])
async def test_what_is_being_destroyed_is_not_asked_for_again(phase: str) -> None:
    row = samples.run(operation=samples.operation(phase, target=RUN_17))
    session = ScriptedSession(samples.snapshot(runs=(row,)))
    async with dashboard(session) as board:
        await board.press("2", "D")
        assert not board.screen.desk.is_open


@pytest.mark.parametrize("phase", ["withdrawn", "refused"])
async def test_what_was_taken_back_or_refused_can_be_asked_for_again(phase: str) -> None:
    row = samples.run(operation=samples.operation(phase, target=RUN_17))
    session = ScriptedSession(samples.snapshot(runs=(row,)))
    async with dashboard(session) as board:
        await board.press("2", "D")
        assert board.screen.desk.is_open


async def test_somebody_elses_machine_needs_the_end_of_its_id() -> None:
    session = ScriptedSession()
    async with dashboard(session) as board:
        await opened(board, down=7)
        assert "DESTROY jupyter [/x]" in board.text
        await board.press("shift+tab", "enter")
        assert session.control.destroyed == []
        await board.press("shift+tab", *"x9d1", "tab", "enter")
        assert session.control.destroyed == [
            (Target("runpod", "k3x9d1", None, "jupyter [/x]"), 0.0)
        ]


async def test_an_orphan_of_this_store_needs_tab_and_enter_and_gets_the_undo() -> None:
    session = ScriptedSession()
    async with dashboard(session) as board:
        await opened(board, down=6)
        await board.press("tab", "enter")
        assert session.control.destroyed[0][1] == 10.0


async def test_a_provider_that_does_not_answer_is_said_and_needs_the_id() -> None:
    session = ScriptedSession()
    session.control.answer = None
    async with dashboard(session) as board:
        await opened(board)
        assert "asking vast for its present state" in board.text
        await board.press("tab", "enter")
        assert session.control.destroyed == []
        await board.wait(4)
        assert "COULD NOT VERIFY with vast" in board.text
        await board.press("shift+tab", *"7744", "tab", "enter")
        assert session.control.destroyed == [(RUN_17, 0.0)]


@pytest.mark.parametrize(
    "error", [StoreError("database is locked"), RuntimeError("a fault of ours")]
)
async def test_a_check_that_fails_is_not_verified(error: Exception) -> None:
    session = ScriptedSession()
    session.control.answer = error
    async with dashboard(session) as board:
        await opened(board)
        assert "COULD NOT VERIFY" in board.text
        assert board.app.is_running


async def test_an_id_that_means_something_else_now_is_refused() -> None:
    session = ScriptedSession()
    session.control.answer = Check("changed", None, "the label is now somebody-else", T0)
    async with dashboard(session) as board:
        await opened(board)
        assert "REFUSED: the label is now somebody-else" in board.text
        await board.press("tab", "enter")
        assert session.control.destroyed == []


async def test_a_request_that_is_not_accepted_is_said_in_words() -> None:
    session = ScriptedSession()
    session.control.refusal = StoreError("database is locked")
    async with dashboard(session) as board:
        await opened(board)
        await board.press("tab", "enter")
        assert "destroy was NOT accepted: database is locked" in board.text
        assert board.app.is_running


async def test_a_fault_while_asking_never_looks_like_success() -> None:
    session = ScriptedSession()
    session.control.refusal = RuntimeError("a fault of ours")
    async with dashboard(session) as board:
        await opened(board)
        await board.press("tab", "enter")
        assert "may not have been accepted" in board.text
        assert board.app.is_running


async def test_an_unwritable_store_needs_the_id() -> None:
    session = ScriptedSession(samples.snapshot(store_error="disk full"))
    async with dashboard(session) as board:
        await opened(board)
        assert "sent, but not recorded" in board.text
        await board.press("tab", "tab", "enter")
        assert session.control.destroyed == []


async def test_the_countdown_is_in_the_row_and_z_takes_it_back() -> None:
    pending = samples.operation("pending", target=RUN_17, not_before=T0 + timedelta(seconds=8))
    session = ScriptedSession(samples.snapshot(runs=(samples.run(operation=pending),)))
    async with dashboard(session, (200, 60)) as board:
        assert "destroy in 8s" in board.line("run-17")
        assert "z takes it back" in board.line("run-17")
        await board.wait(3)
        assert "destroy in 5s" in board.line("run-17")
        await board.press("2", "z")
        assert session.control.withdrawn == ["op-pending"]
        assert "destroy taken back" in board.text


async def test_confirming_again_skips_the_wait() -> None:
    pending = samples.operation("pending", target=RUN_17, not_before=T0 + timedelta(seconds=8))
    session = ScriptedSession(samples.snapshot(runs=(samples.run(operation=pending),)))
    async with dashboard(session) as board:
        await opened(board)
        assert "skips the rest of the wait" in board.text
        await board.press("enter")
        assert session.control.hastened == []
        await opened(board)
        await board.press("tab", "enter")
        assert session.control.hastened == ["op-pending"]
        assert session.control.destroyed == []


async def test_too_late_to_take_back_is_said() -> None:
    pending = samples.operation("pending", target=RUN_17)
    session = ScriptedSession(samples.snapshot(runs=(samples.run(operation=pending),)))
    session.control.withdraw_in_time = False
    async with dashboard(session) as board:
        await board.press("2", "z")
        assert "too late" in board.text


async def test_undo_does_nothing_when_nothing_counts_down() -> None:
    session = ScriptedSession()
    async with dashboard(session) as board:
        await board.press("2", "z")
        assert session.control.withdrawn == []


async def test_proof_is_shown_as_it_comes() -> None:
    session = ScriptedSession()
    async with dashboard(session, (200, 60)) as board:
        assert "asked 3x, waiting for proof" in board.line("run-16")
        assert "MAY STILL BILL" in board.line(" ! run-12  ")
        assert "HTTP 200, still listed" in board.line(" ! run-12  ")
        done = samples.run(operation=samples.operation("confirmed", target=RUN_17), may_bill=False)
        await board.put(samples.snapshot(runs=(done,)))
        assert "gone, proven" in board.line("run-17")


async def test_other_keys_are_dead_while_the_box_is_open() -> None:
    session = ScriptedSession()
    async with dashboard(session) as board:
        await opened(board)
        await board.press("R", "t", "1", "slash", "p", "question_mark", "a")
        assert board.screen.desk.is_open
        assert (session.refreshes, session.acknowledged) == (0, [])
        assert board.screen.active == "runs"


async def test_quit_works_with_the_box_open_and_asks_for_nothing() -> None:
    session = ScriptedSession()
    async with dashboard(session) as board:
        await opened(board)
        await board.press("ctrl+q")
        assert not board.app.is_running
    assert session.control.destroyed == []


async def test_quitting_while_the_intent_is_written_does_not_stop_it() -> None:
    """The request outlives the screen: it was confirmed."""
    session = ScriptedSession()
    written = asyncio.Event()
    release = asyncio.Event()
    plain = session.control.destroy

    async def slow(target: Target, *, actor: str, grace_s: float = 0.0):  # type: ignore[no-untyped-def]
        await release.wait()
        operation = await plain(target, actor=actor, grace_s=grace_s)
        written.set()
        return operation

    session.control.destroy = slow  # type: ignore[method-assign]
    async with dashboard(session) as board:
        await opened(board)
        await board.press("tab", "enter")
        await board.press("ctrl+q")
        assert not board.app.is_running
    release.set()
    await asyncio.wait_for(written.wait(), 5)
    assert session.control.destroyed == [(RUN_17, 10.0)]


async def test_a_screen_too_small_to_show_it_does_not_ask() -> None:
    session = ScriptedSession()
    async with dashboard(session, (60, 16)) as board:
        await board.press("2", "D")
        assert not board.screen.desk.is_open
        assert "destroy needs 60x20" in board.text


async def test_a_screen_that_shrinks_under_the_box_closes_it() -> None:
    session = ScriptedSession()
    async with dashboard(session) as board:
        await opened(board)
        await board.pilot.resize_terminal(40, 10)
        await board.press()
        assert not board.screen.desk.is_open
        assert session.control.destroyed == []


@pytest.mark.parametrize("size", [(60, 20), (80, 24)])
async def test_the_longest_question_shows_who_and_the_buttons_on_the_smallest_screen(
    size: tuple[int, int],
) -> None:
    """Somebody else's machine, a long label, no answer from the provider, an unwritable store."""
    row = samples.run(
        "r" * 60, kind="foreign", label="l" * 90, target=Target("vast", "2" * 20, None), resource_id="2" * 20,
    )  # fmt: skip
    session = ScriptedSession(samples.snapshot(runs=(row,), store_error="disk full"))
    session.control.answer = Check("unverified", None, "no answer " * 12, T0)
    async with dashboard(session, size) as board:
        await opened(board)
        assert "DESTROY rrr" in board.text
        assert "2222" in board.text
        assert "[ Cancel ]" in board.text
        assert "not recorded" in board.text
        assert "COULD NOT VERIFY" in board.text
