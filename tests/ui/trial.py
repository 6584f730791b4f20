"""A dashboard to try by hand: a small market whose prices walk, on a real clock. ``python -m tests.ui.trial``."""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from flashtui.services.board import Board, PlanState
from flashtui.settings import Settings
from flashtui.ui.run import run_dashboard
from tests.fakes import T0
from tests.ui import samples
from tests.ui.session import ScriptedControl, ScriptedSession, walk_prices

if TYPE_CHECKING:
    from flashtui.services.board import Snapshot
    from flashtui.services.plan import PlanJob


class WallClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class WalkingSession(ScriptedSession):
    """The samples, moved to the present, with a feed."""

    def __init__(self) -> None:
        self.clock = WallClock()  # type: ignore[assignment]
        self.rng = random.Random(7)
        self.shift = self.clock.now() - T0
        self.board = Board(self.moved())
        self.control = ScriptedControl()

    def moved(self) -> Snapshot:
        now = self.clock.now()
        first = samples.snapshot()
        rows = tuple(
            replace(
                row,
                observed_at=row.observed_at and now - timedelta(seconds=8),
                started_at=row.started_at and row.started_at + self.shift,
                accrues_since=row.accrues_since and row.accrues_since + self.shift,
                operation=None,
                heartbeat_at=row.heartbeat_at and row.heartbeat_at + self.shift,
            )
            for row in first.runs
        )
        return replace(
            first,
            as_of=now,
            runs=rows,
            sheets=walk_prices(first.sheets, self.rng, now),
            health=tuple(replace(h, last_good_at=now) for h in first.health),
            accounts=tuple(replace(a, observed_at=now) for a in first.accounts),
            plan=replace(first.plan, computed_at=now, winner_since=now),
            events=tuple(replace(e, at=e.at + self.shift) for e in first.events),
            operations=(),
            alerts=tuple(replace(a, since=a.since + self.shift) for a in first.alerts),
        )

    def set_job(self, job: PlanJob) -> None:
        plan = PlanState(job, samples.report(), "", self.clock.now(), self.clock.now())
        self.board.put(replace(self.board.snapshot, plan=plan))

    def refresh(self) -> None:
        now = self.clock.now()
        old = self.board.snapshot
        self.board.put(replace(old, sheets=walk_prices(old.sheets, self.rng, now)))

    def acknowledge(self, alert_key: str) -> None:
        old = self.board.snapshot
        alerts = tuple(
            replace(a, acknowledged=a.acknowledged or a.key == alert_key) for a in old.alerts
        )
        self.board.put(replace(old, alerts=alerts))

    async def feed(self) -> None:
        while True:
            await asyncio.sleep(5)
            self.refresh()


async def main() -> int:
    session = WalkingSession()
    settings = Settings.load(os.environ, home=Path(tempfile.mkdtemp(prefix="flashtui-trial")))
    feed = asyncio.ensure_future(session.feed())
    try:
        return await run_dashboard(session, settings)
    finally:
        feed.cancel()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
