"""The plan pane: the job in focus, changed in place, and what it would get right now."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual.message import Message

from flashtui.services.plan import PlanJob
from flashtui.ui.cells import Line, Span, age_text, line, seconds_since
from flashtui.ui.health import providers_of
from flashtui.ui.lines import LineView
from flashtui.ui.panels.pane import Pane
from flashtui.ui.parts import Part
from flashtui.ui.plan_fields import PLAN_FIELDS, FieldError, PlanField, stepped
from flashtui.ui.plan_lines import explain_lines, plan_view

if TYPE_CHECKING:
    from flashtui.services.board import Snapshot
    from flashtui.ui.columns import Look
    from flashtui.ui.containment import Kit

ANSWER_WITHIN_S = 5.0


class PlanPane(Pane):
    """The allocation preview."""

    class JobChanged(Message):
        """The person has changed the job."""

        def __init__(self, job: PlanJob) -> None:
            super().__init__()
            self.job = job

    def __init__(self, kit: Kit) -> None:
        self.view = LineView(kit, id="plan-view", focusable=True)
        super().__init__(kit, "plan")
        self.job = PlanJob()
        self._field = 0
        self._asked_at: float | None = None

    def make_body(self) -> LineView:
        """The lines."""
        return self.view

    @property
    def field(self) -> PlanField:
        """The field the cursor is on."""
        return PLAN_FIELDS[self._field]

    def apply(self, snapshot: Snapshot, look: Look) -> None:
        """A new report; the job as typed stands until the report of it arrives, or it does not for a while."""
        asked_at = self._asked_at
        waited_s = 0.0 if asked_at is None else self.kit.clock.monotonic() - asked_at
        if asked_at is None or snapshot.plan.job == self.job or waited_s > ANSWER_WITHIN_S:
            self._asked_at = None
            self.job = snapshot.plan.job
        self.draw(look)

    def pass_time(self, look: Look) -> None:
        """Ages."""
        self.draw(look)

    def draw(self, look: Look) -> None:
        """The lines for the size there is."""
        if self.newest is None or not self.view.size.width:
            return
        field = self._field if self.view.has_focus else None
        size = self.view.size
        plan = replace(self.newest.plan, job=self.job)
        view = plan_view(plan, look, size.width, field=field, rows=size.height)
        self.view.show(view.lines)

    def move(self, how: str) -> None:
        """Up and down go through the fields; the longer steps scroll."""
        if how in {"up", "down"}:
            self._field = (self._field + (1 if how == "down" else -1)) % len(PLAN_FIELDS)
            self.view.move("top")
        else:
            self.view.move(how)

    def step(self, by: int) -> bool:
        """The next or previous value of a choice; False: this field is typed."""
        if self.newest is None or self.field.kind == "text":
            return False
        self._change(stepped(self.job, self.field, by, providers_of(self.newest)))
        return True

    def put(self, text: str) -> str:
        """What was typed for the field in focus; returns a sentence when it cannot be."""
        try:
            self._change(self.field.put(self.job, text.strip()))
        except FieldError as error:
            return str(error)
        return ""

    def explanation(self, width: int) -> list[Line]:
        """Everything that decided."""
        report = None if self.newest is None else self.newest.plan.report
        if report is None:
            return [line("There is no plan yet: no prices have arrived.")]
        return explain_lines(report, width)

    def summary(self) -> list[Part]:
        """How old the plan is, or that another one is being made."""
        if self._asked_at is not None:
            return [Part(line(Span("computing", "warn")), 8)]
        if self.newest is None or self.newest.plan.computed_at is None:
            return []
        age = seconds_since(self.newest.plan.computed_at, self.kit.clock.now())
        return [Part(line(Span(f"{age_text(age)} old", "dim")), 3)]

    def _change(self, job: PlanJob) -> None:
        if job != self.job:
            self.job = job
            self._asked_at = self.kit.clock.monotonic()
            self.post_message(self.JobChanged(job))
