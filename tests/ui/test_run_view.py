"""What a run is called on the screen: every state has words of its own."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from flashtui.ui.columns import Look
from flashtui.ui.run_columns import RUN_COLUMNS
from flashtui.ui.run_state import run_flag, run_state
from tests.fakes import T0
from tests.ui import samples
from tests.ui.samples import ago, operation, rate, run, usd

LOOK = Look(T0, 45.0)
COLUMNS = {column.id: column for column in RUN_COLUMNS}


def shown(column: str, **more: Any) -> str:
    return COLUMNS[column].cell(run(**more), LOOK).text


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "running"),
        ({"state": "queued", "heartbeat_at": None}, "queued"),
        ({"state": "unknown"}, "unknown"),
        ({"heartbeat_at": ago(301)}, "STALLED 5m"),
        ({"heartbeat_at": None}, "running"),
        ({"state": "done"}, "done, BILLS"),
        ({"state": "failed", "may_bill": False}, "failed, gone"),
        ({"resource_state": "unconfirmed"}, "MAY STILL BILL"),
        ({"kind": "orphan"}, "ORPHAN"),
        ({"kind": "foreign"}, "NOT OURS"),
        ({"kind": "ghost"}, "GHOST"),
        ({"goal": "stopped"}, "stopping"),
        ({"goal": "gone"}, "destroying"),
        (
            {"operation": operation("pending", not_before=T0 + timedelta(seconds=8))},
            "destroy in 8s",
        ),
        ({"operation": operation("driving")}, "destroying 41s"),
        ({"operation": operation("verifying")}, "destroying 41s"),
        ({"operation": operation("unconfirmed")}, "MAY STILL BILL"),
        ({"operation": operation("confirmed"), "may_bill": False}, "gone, proven"),
        ({"operation": operation("refused")}, "destroy refused"),
        ({"operation": operation("withdrawn")}, "running"),
        ({"operation": operation("driving", "cancel")}, "cancelling 41s"),
        ({"operation": operation("confirmed", "cancel"), "state": "cancelled"}, "cancelled, BILLS"),
        ({"operation": operation("unconfirmed", "cancel")}, "cancel unproven"),
    ],
)
def test_states(fields: dict[str, Any], words: str) -> None:
    assert run_state(run(**fields), T0).text == words
    assert len(words) <= COLUMNS["state"].width


@pytest.mark.parametrize(
    ("fields", "flag"),
    [
        ({}, " "), ({"kind": "foreign"}, "?"), ({"kind": "orphan"}, "?"), ({"kind": "ghost"}, "!"),
        ({"state": "done"}, "!"), ({"state": "done", "may_bill": False}, " "),
        ({"heartbeat_at": ago(400)}, "!"), ({"operation": operation("unconfirmed")}, "!"),
    ],
)  # fmt: skip
def test_flags(fields: dict[str, Any], flag: str) -> None:
    assert run_flag(run(**fields), T0).text == flag


def test_cost_runs_with_the_clock_and_an_estimate_says_so() -> None:
    hour_ago = {"accrues_since": ago(3600), "settled": usd(1), "rate": rate(2)}
    assert shown("spent", **hour_ago) == "$3.00"
    assert shown("spent", **hour_ago, cost_is_estimate=True) == "~$3.00"
    assert shown("spent", settled=None) == "?"


def test_an_unknown_rate_of_something_that_bills_is_a_question_mark() -> None:
    assert shown("rate", rate=None) == "?"
    assert shown("rate", rate=None, may_bill=False) == "-"


def test_both_sides_are_shown_and_theirs_is_withheld_when_too_old() -> None:
    assert shown("theirs", raw_status="EXITED") == "exited"
    assert shown("theirs", observed_at=ago(1000)) == "?"
    assert shown("theirs", resource_id=None) == "-"
    assert shown("note", observed_at=ago(200), note="hello") == "STALE hello"


def test_a_machine_without_a_run_is_called_by_its_label_then_its_id() -> None:
    assert shown("run", run_id=None, label="jupyter") == "jupyter"
    assert shown("run", run_id=None, label="") == "21377744"


def test_of_a_long_run_id_the_part_that_differs_is_shown() -> None:
    assert shown("run", run_id="flash-1796087180-9c0d1e2f") == "9c0d1e2f"
    assert shown("run", run_id="run-17") == "run-17"
    assert shown("run", run_id=None, label="a-label-that-is-long") == "a-label-that-is-long"


def test_the_note_prefers_what_an_operation_waits_for() -> None:
    assert (
        shown("note", operation=operation("verifying"), note="old") == "asked 3x, waiting for proof"
    )
    assert shown("note", last_error="CUDA out of memory") == "CUDA out of memory"


def test_every_sample_has_a_different_word() -> None:
    words = [run_state(row, T0).text for row in samples.runs()]
    assert len(set(words)) == len(words)
