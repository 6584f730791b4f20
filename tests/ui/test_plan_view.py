"""The plan as words, and what may be typed into a job."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from flashtui.services.board import PlanState
from flashtui.services.plan import PlanJob
from flashtui.ui.columns import Look
from flashtui.ui.parts import line_cells
from flashtui.ui.plan_fields import PLAN_FIELDS, FieldError, stepped
from flashtui.ui.plan_lines import explain_lines, plan_view, why_not
from tests.fakes import T0
from tests.ui import samples
from tests.ui.samples import ago, candidate

LOOK = Look(T0, 45.0)
FIELDS = {field.id: field for field in PLAN_FIELDS}


def plan(job: PlanJob | None = None, **report: Any) -> PlanState:
    return PlanState(job or PlanJob(), samples.report(**report), "", ago(4), ago(260))


def words(state: PlanState, width: int = 120, rows: int = 40) -> list[str]:
    return [
        "".join(s.text for s in row)
        for row in plan_view(state, LOOK, width, field=None, rows=rows).lines
    ]


def line_with(part: str, state: PlanState, width: int = 120) -> str:
    return next(row for row in words(state, width) if part in row)


@pytest.mark.parametrize("width", [36, 58, 78, 120, 196])
@pytest.mark.parametrize("rows", [4, 9, 20])
def test_no_line_is_wider_than_the_pane(width: int, rows: int) -> None:
    view = plan_view(plan(), LOOK, width, field=3, rows=rows)
    assert all(line_cells(row) <= width for row in view.lines)
    assert view.field_line < len(view.lines)


def test_runners_up_give_way_to_the_reasons() -> None:
    shown = words(plan(), rows=7)
    assert any("more: e lists them" in row for row in shown)
    assert any("OUT" in row for row in shown)


def test_a_known_length_makes_totals() -> None:
    assert "$1.54 for 5.4h" in line_with("PICK", plan(PlanJob(hours=5.4)))


def test_a_price_from_a_list_is_an_estimate_and_an_old_one_says_so() -> None:
    static = candidate(source="static", observed_at=None)
    assert "~0.285/h" in line_with("PICK", plan(winner=static, candidates=(static,)))
    old = candidate(observed_at=ago(200))
    assert "STALE" in line_with("PICK", plan(winner=old, candidates=(old,)))
    unproven = candidate(validated=False)
    assert "not validated" in line_with("PICK", plan(winner=unproven, candidates=(unproven,)))


def test_warnings_about_a_winner_are_shown() -> None:
    assert "leaves in 2h" in line_with("NOTE", plan(warnings=("the offer leaves in 2h",)))


def test_why_one_row_is_not_the_pick() -> None:
    report = samples.report()
    assert why_not(report, "vast", "RTX 3090")[0].startswith("The pick.")
    assert why_not(report, "vast", "RTX Pro 4000") == ["It would do, at rank 3 of 5."]
    assert why_not(report, "vast", "A40") == ["A40 is not validated on vast"]
    assert "says nothing" in why_not(report, "vast", "B200")[0]
    assert "no plan yet" in why_not(None, "vast", "A40")[0]


def test_the_explanation_has_parts_ranks_and_sentences() -> None:
    text = "\n".join("".join(s.text for s in row) for row in explain_lines(samples.report(), 80))
    for part in (
        "weights",
        "8.00 GB",
        "  1  RTX 3090",
        "31 offers",
        "16 GB cannot hold 21 GB",
        "rounded up",
    ):
        assert part in text


@pytest.mark.parametrize(
    ("field", "text", "problem"),
    [
        ("model", "", "a model needs a name"),
        ("length", "0", "from 1 to"),
        ("length", "-5", "from 1 to"),
        ("length", "1e9", "from 1 to"),
        ("length", "99999999", "from 1 to"),
        ("disk", "", "the disk in GB"),
        ("disk", "many", "the disk in GB"),
        ("pin", "B9000", "not a managed class"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(field: str, text: str, problem: str) -> None:
    with pytest.raises(FieldError, match=problem):
        FIELDS[field].put(PlanJob(), text)


@pytest.mark.parametrize(
    ("field", "text", "expected"),
    [
        ("model", "a/b", PlanJob(model="a/b")),
        ("length", "8,192", PlanJob(max_length=8192)),
        ("length", "auto", PlanJob()),
        ("length", "", PlanJob()),
        ("disk", "200", PlanJob(disk_gb=200)),
        ("pin", "4090", PlanJob(pin="RTX 4090")),
        ("pin", "any", PlanJob()),
    ],
)
def test_what_is_typed_becomes_the_job(field: str, text: str, expected: PlanJob) -> None:
    assert FIELDS[field].put(PlanJob(), text) == expected


def test_choices_go_round_in_both_directions_and_know_the_providers() -> None:
    job = PlanJob()
    assert stepped(job, FIELDS["provider"], 1, ["runpod", "vast"]).provider == "runpod"
    assert stepped(job, FIELDS["provider"], -1, ["runpod", "vast"]).provider == "vast"
    assert (
        stepped(replace(job, provider="gone"), FIELDS["provider"], 1, ["vast"]).provider == "auto"
    )
    assert stepped(job, FIELDS["model"], 1, []) == job


def test_each_field_shows_what_its_text_editor_begins_with() -> None:
    job = PlanJob(max_length=4096, disk_gb=80)
    for field in PLAN_FIELDS:
        if field.kind == "text":
            assert field.put(PlanJob(), field.edit(job)) is not None
            assert field.show(field.put(PlanJob(), field.edit(job))) == field.show(job)
