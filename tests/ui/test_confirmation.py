"""The question before something irreversible, key by key; no app."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashtui.domain.operation import Target
from flashtui.ui.confirm_lines import confirm_lines
from flashtui.ui.confirmation import CHECK_WITHIN_S, DEAD_S, GRACE_S, QUIET_S, Confirmation
from tests.fakes import T0
from tests.ui import samples
from tests.ui.session import Check

FOUND = Check("found", None, "as shown", T0)
AWAKE = DEAD_S + 0.01


def question(check: Check | None = FOUND, *, kind: Any = "destroy", **row: Any) -> Confirmation:
    shown = samples.run(**row)
    target = shown.target or Target("vast", "21377744", None)
    asked = Confirmation(kind, shown, target, opened_at=0.0)
    if check is not None:
        asked.answered(check)
    return asked


def foreign(check: Check | None = FOUND) -> Confirmation:
    asked = question(check)
    asked.row = replace(asked.row, kind="foreign", run_id=None)
    return asked


def press(asked: Confirmation, *keys: str, at: float = AWAKE) -> str:
    outcome = "open"
    for key in keys:
        outcome = asked.press(key, key if len(key) == 1 else None, at)
    return outcome


@pytest.mark.parametrize("key", ["enter", "escape", "q"])
def test_the_keys_of_habit_cancel(key: str) -> None:
    assert press(question(), key) == "cancelled"


@pytest.mark.parametrize("key", ["y", "Y", "D", "d", "x", "space", "1"])
def test_other_keys_do_nothing(key: str) -> None:
    assert press(question(), key) == "open"


@pytest.mark.parametrize("step", ["tab", "right", "down", "left", "up", "shift+tab"])
def test_it_takes_a_step_to_the_button_and_enter(step: str) -> None:
    assert press(question(), step, "enter") == "confirmed"


def test_keys_sleep_at_first() -> None:
    asked = question()
    assert press(asked, "tab", "enter", at=0.1) == "open"
    assert asked.focus == "cancel"
    assert press(asked, "escape", at=DEAD_S - 0.01) == "open"


def test_keys_sleep_until_there_has_been_quiet() -> None:
    asked = question()
    press(asked, "tab", at=DEAD_S - 0.01)
    assert press(asked, "tab", "enter", at=DEAD_S + QUIET_S - 0.05) == "open"
    assert press(asked, "tab", "enter", at=DEAD_S + 2 * QUIET_S) == "confirmed"


@given(
    st.lists(
        st.tuples(st.sampled_from(["tab", "enter", "y", "D", "left"]), st.floats(0, 0.25)),
        max_size=60,
    )
)
def test_type_ahead_without_a_pause_never_confirms(keys: list[tuple[str, float]]) -> None:
    """Keys that follow each other faster than the quiet time, from the moment of opening."""
    asked = question()
    at = 0.0
    for key, pause in keys:
        at += pause
        assert asked.press(key, None, at) != "confirmed"


def test_nothing_can_be_confirmed_before_the_provider_has_answered() -> None:
    asked = question(None)
    assert not asked.can_confirm
    assert press(asked, "tab", "enter") == "open"


def test_without_an_answer_in_time_the_id_has_to_be_typed() -> None:
    asked = question(None)
    assert not asked.time_passed(CHECK_WITHIN_S - 0.1)
    assert asked.time_passed(CHECK_WITHIN_S)
    assert press(asked, "tab", *"7744", "tab", "enter", at=9) == "confirmed"
    assert asked.grace_s == 0


UNVERIFIED = Check("unverified", None, "timeout", T0)


@pytest.mark.parametrize("asked", [question(UNVERIFIED), foreign(), foreign(UNVERIFIED)])
def test_what_is_not_ours_or_not_verified_needs_the_end_of_its_id(asked: Confirmation) -> None:
    assert asked.challenge
    assert press(asked, "tab", "tab", "enter") == "open"
    assert press(asked, "shift+tab", *"774x", "backspace", "4", "tab", "enter") == "confirmed"
    assert asked.grace_s == 0


def test_the_wrong_id_does_not_open_the_button() -> None:
    asked = foreign()
    assert press(asked, "tab", *"1234", "tab", "enter") == "open"


def test_enter_and_q_in_the_field_are_no_answers() -> None:
    asked = foreign()
    assert press(asked, "tab", "q", "enter") == "open"
    assert asked.typed == "q"
    assert press(asked, "escape") == "cancelled"


def test_the_request_that_cannot_be_recorded_needs_the_id() -> None:
    asked = question()
    asked.unsaved = True
    assert not asked.can_confirm
    assert press(asked, "tab", *"7744", "tab", "enter") == "confirmed"


def test_orphans_of_this_store_need_no_id_and_get_the_undo() -> None:
    asked = question()
    asked.row = replace(asked.row, kind="orphan")
    assert not asked.challenge
    assert asked.grace_s == GRACE_S


def test_an_id_that_now_means_something_else_is_refused() -> None:
    asked = question(Check("changed", None, "label is now somebody-else", T0))
    assert press(asked, "tab", "enter") == "cancelled"
    assert (
        press(question(Check("changed", None, "", T0)), "tab", "tab", "tab", "enter") != "confirmed"
    )


def test_a_short_id_is_typed_whole() -> None:
    asked = foreign()
    asked.target = Target("x", "ab", None)
    assert press(asked, "tab", "a", "b", "c", "tab", "enter") == "confirmed"


def test_a_target_without_an_id_cannot_be_confirmed_where_one_has_to_be_typed() -> None:
    asked = foreign()
    asked.target = Target("x", "", None)
    assert not asked.can_confirm


def test_a_cancel_has_no_grace() -> None:
    assert question(kind="cancel").grace_s == 0


def words(asked: Confirmation) -> str:
    return " ".join("".join(s.text for s in row) for row in confirm_lines(asked, T0, 70))


def test_the_box_says_who_how_much_and_what_is_lost() -> None:
    text = words(question())
    for part in (
        "vast instance 21377744",
        "2.020/h",
        "$9.74",
        "LOST",
        "stops all billing",
        "10 s to undo",
    ):
        assert part in text
    assert "checked with vast 0s ago" in text


def test_the_box_of_a_cancel_says_what_bills_on() -> None:
    assert "bills on until it is destroyed" in words(question(kind="cancel"))


@pytest.mark.parametrize(
    ("check", "part"),
    [
        (None, "asking vast for its present state"),
        (UNVERIFIED, "COULD NOT VERIFY with vast: timeout"),
        (Check("absent", None, "", T0), "does not list it any more"),
        (Check("changed", None, "another label", T0), "REFUSED: another label"),
        (Check("found", samples.found(samples.run()), "", T0), "running, 2.020/h"),
    ],
)
def test_the_box_says_what_the_provider_has_just_said(check: Check | None, part: str) -> None:
    assert part in words(question(check))


def test_the_box_warns_of_somebody_elses_machine() -> None:
    assert "somebody else may need it" in words(foreign())
