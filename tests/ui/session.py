"""A scripted session: a board, a clock that is moved by hand, and a control that remembers what it was asked."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from flashtui.domain.money import HourlyRate
from flashtui.domain.operation import Operation, Target
from flashtui.services.board import Board, Snapshot
from tests.fakes import T0, FakeClock
from tests.ui import samples

if TYPE_CHECKING:
    from datetime import datetime

    from flashtui.domain.market import PriceSheet
    from flashtui.domain.run import Resource
    from flashtui.services.board import RunRow
    from flashtui.services.plan import PlanJob
    from flashtui.ui.ports import LiveStatus


@dataclass(frozen=True)
class Check:
    status: LiveStatus
    resource: Resource | None
    message: str
    checked_at: datetime


@dataclass
class ScriptedControl:
    """Answers as told.

    Attributes:
        answer: what a re-read says; an exception is raised; None: it never answers.
        refusal: what destroy and cancel raise.
    """

    answer: Check | Exception | None = field(
        default_factory=lambda: Check("found", None, "as shown", T0)
    )
    refusal: Exception | None = None
    reread_targets: list[Target] = field(default_factory=list)
    destroyed: list[tuple[Target, float]] = field(default_factory=list)
    cancelled: list[Target] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)
    hastened: list[str] = field(default_factory=list)
    withdraw_in_time: bool = True

    async def reread(self, target: Target) -> Check:
        self.reread_targets.append(target)
        if self.answer is None:
            await asyncio.Event().wait()
            raise AssertionError
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def destroy(self, target: Target, *, actor: str, grace_s: float = 0.0) -> Operation:
        assert actor == "tui"
        if self.refusal is not None:
            raise self.refusal
        self.destroyed.append((target, grace_s))
        not_before = T0 + timedelta(seconds=grace_s) if grace_s else None
        phase = "pending" if grace_s else "driving"
        return samples.operation(phase, target=target, not_before=not_before)

    async def cancel(self, target: Target, *, actor: str) -> Operation:
        assert actor == "tui"
        if self.refusal is not None:
            raise self.refusal
        self.cancelled.append(target)
        return samples.operation("driving", "cancel", target=target)

    async def hasten(self, op_id: str) -> None:
        self.hastened.append(op_id)

    async def withdraw(self, op_id: str) -> bool:
        self.withdrawn.append(op_id)
        return self.withdraw_in_time


class ScriptedSession:
    """What the dashboard is given in tests."""

    def __init__(self, first: Snapshot | None = None) -> None:
        self.clock = FakeClock(auto=False)
        self.board = Board(first or samples.snapshot())
        self.control = ScriptedControl()
        self.jobs: list[PlanJob] = []
        self.refreshes = 0
        self.acknowledged: list[str] = []

    def set_job(self, job: PlanJob) -> None:
        self.jobs.append(job)

    def refresh(self) -> None:
        self.refreshes += 1

    def acknowledge(self, alert_key: str) -> None:
        self.acknowledged.append(alert_key)

    def later(self, seconds: float) -> None:
        """Let the clock stand later; nobody is woken."""
        self.clock.elapsed_s += seconds

    def put(self, snapshot: Snapshot) -> None:
        self.board.put(snapshot)

    def row(self, key: str) -> RunRow:
        return next(row for row in self.board.snapshot.runs if row.key == key)


def walk_prices(
    sheets: tuple[PriceSheet, ...], rng: random.Random, now: datetime
) -> tuple[PriceSheet, ...]:
    """The same market a little later, some prices moved."""
    moved = []
    for sheet in sheets:
        quotes = tuple(
            replace(
                quote,
                observed_at=now,
                rate=quote.rate
                if quote.rate is None or rng.random() < 0.7
                else HourlyRate(max(1000, int(quote.rate.micros * rng.uniform(0.96, 1.04)))),
            )
            for quote in sheet.quotes
        )
        moved.append(replace(sheet, quotes=quotes, observed_at=now))
    return tuple(moved)
