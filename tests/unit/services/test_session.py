"""A session: what its board shows as sources answer, fail and recover, and as other processes write."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from flashtui.domain.errors import AuthRejected
from flashtui.domain.market import PriceSheet
from flashtui.services.plan import PlanJob
from tests import build
from tests.fakes_services import FakeAccount, FakeInventory, FakePrices, World, failure

if TYPE_CHECKING:
    from flashtui.services.board import Snapshot
    from flashtui.services.session import Session


def fresh(world: World, **more: Any) -> PriceSheet:
    now = world.clock.now()
    quote = build.quote(observed_at=now, **more)
    return build.sheet(quote, offers=(build.offer(observed_at=now),))


def health(snapshot: Snapshot, source: str) -> Any:
    return next(h for h in snapshot.health if h.source == source)


async def test_prices_arrive_with_a_plan(world: World) -> None:
    world.prices = FakePrices(fresh(world))
    async with world.running() as session:
        assert session.board.snapshot.plan.report is None
        session.start_feeds()
        await world.clock.advance(1)
        snapshot = session.board.snapshot
        assert [s.provider for s in snapshot.sheets] == ["vast"]
        assert snapshot.plan.report is not None
        assert snapshot.plan.winner_since is not None


async def test_the_winner_keeps_its_date_while_it_wins(world: World) -> None:
    world.prices = FakePrices(fresh(world), fresh(world, dollars=1.5))
    async with world.running(feeds=True) as session:
        await world.clock.advance(1)
        first = session.board.snapshot.plan
        await world.clock.advance(60)
        later = session.board.snapshot.plan
        assert later.computed_at != first.computed_at
        assert later.winner_since == first.winner_since


async def test_another_job_is_planned_at_once(world: World) -> None:
    world.prices = FakePrices(fresh(world))
    async with world.running(feeds=True) as session:
        await world.clock.advance(1)
        session.set_job(PlanJob(min_vram_gb=200))
        await world.clock.advance(0)
        plan = session.board.snapshot.plan
        assert plan.job.min_vram_gb == 200
        assert plan.report is not None
        assert plan.report.winner is None


async def test_a_failure_leaves_the_last_good_rows_with_their_age_and_the_reason(
    world: World,
) -> None:
    good = fresh(world)
    world.prices = FakePrices(good, failure("vast: 503"))
    async with world.running(feeds=True) as session:
        await world.clock.advance(60)
        (sheet,) = session.board.snapshot.sheets
        assert sheet.quotes == good.quotes
        assert sheet.observed_at == good.observed_at
        assert sheet.error is not None
        assert sheet.error.message == "vast: 503"


async def test_the_next_session_begins_with_the_last_prices_marked_cached(world: World) -> None:
    world.prices = FakePrices(fresh(world))
    async with world.running(feeds=True):
        await world.clock.advance(1)
    async with world.running(seed=2) as following:
        (sheet,) = following.board.snapshot.sheets
        assert {q.source for q in sheet.quotes} == {"cached"}
        assert sheet.observed_at == world.clock.start


async def test_samples_are_kept_for_the_history(world: World) -> None:
    world.prices = FakePrices(fresh(world), fresh(world, dollars=2.5))
    async with world.running(feeds=True):
        await world.clock.advance(60)
    ranges = await world.store().run(lambda t: t.prices.ranges(world.clock.start))
    assert ranges["vast", "H100", "instance"] == (build.rate(1.89), build.rate(1.89))


async def test_old_samples_are_dropped_now_and_then(world: World) -> None:
    old = build.sheet(build.quote(observed_at=build.ago(31 * 86_400)))
    await world.store().write(lambda t: t.prices.sample(old))
    world.prices = FakePrices(fresh(world))
    async with world.running(feeds=True):
        await world.clock.advance(3700)
    kept = await world.store().run(
        lambda t: t.prices.samples("vast", "H100", "instance", build.ago(40 * 86_400))
    )
    assert all(at == world.clock.start for at, _ in kept)


async def test_a_provider_with_only_the_eleven_methods_has_rows(world: World) -> None:
    world.provider.rates = {"H100": 1.89, "A40": 0.44, "L4": failure(), "RTX 4090": float("nan")}
    async with world.running(feeds=True) as session:
        await world.clock.advance(1)
        quotes = {q.gpu: q for q in session.board.snapshot.sheets[0].quotes}
        assert quotes["H100"].rate == build.rate(1.89)
        assert (quotes["H100"].available, quotes["H100"].stock) == (None, "unknown")
        assert quotes["A40"].source == "static"
        assert quotes["L4"].rate is None
        assert quotes["RTX 4090"].rate is None


async def test_one_that_answers_for_no_class_has_failed(world: World) -> None:
    world.provider.rates = {"H100": failure("vast: down")}
    async with world.running(feeds=True) as session:
        await world.clock.advance(1)
        assert health(session.board.snapshot, "prices").error.message == "vast: down"


async def test_a_refused_key_stops_that_source_and_leaves_the_others(world: World) -> None:
    world.prices = FakePrices(fresh(world))
    world.account = FakeAccount(AuthRejected("401"), build.account())
    async with world.running(feeds=True) as session:
        await world.clock.advance(600)
        assert health(session.board.snapshot, "account").state == "down"
        assert health(session.board.snapshot, "account").next_at is None
        assert len(world.prices.asked_at) > 5
        session.refresh()
        await world.clock.advance(1)
        assert [a.balance for a in session.board.snapshot.accounts] == [build.usd(48.2)]


async def test_a_listing_that_fails_makes_no_rows_vanish(world: World) -> None:
    world.inventory = FakeInventory((build.resource("9", "anna"),), failure())
    async with world.running(feeds=True) as session:
        await world.clock.advance(60)
        assert [row.resource_id for row in session.board.snapshot.runs] == ["9"]
        assert health(session.board.snapshot, "inventory").state in {"stale", "down"}


async def test_what_a_listing_says_of_ours_is_recorded(world: World) -> None:
    await world.record(build.run())
    world.inventory = FakeInventory((build.resource(raw_status="loading", dollars=2.5),))
    async with world.running(feeds=True):
        await world.clock.advance(1)
        run = await world.store().run(lambda t: t.runs.get("flash-1"))
        assert run is not None
        (rented,) = run.resources
        assert (rented.raw_status, rented.billing_rate) == ("loading", build.rate(2.5))
        assert rented.last_seen_at == world.clock.start
        assert rented.rate == build.rate(2.0)


async def test_a_change_by_another_process_appears_within_two_seconds(world: World) -> None:
    async with world.running(feeds=True) as session:
        await world.clock.advance(3)
        assert [r.kind for r in session.board.snapshot.runs] == ["foreign"]
        await world.record(build.run())
        await world.clock.advance(2)
        assert [r.key for r in session.board.snapshot.runs] == ["run:flash-1"]


async def test_an_idle_second_puts_no_new_picture_up(world: World) -> None:
    async with world.running(feeds=True) as session:
        await world.clock.advance(2)
        before = session.board.snapshot.revision
        await world.clock.advance(2)
        assert session.board.snapshot.revision == before


async def test_a_store_that_cannot_be_read_is_shown_and_heals(world: World) -> None:
    await world.record(build.run())
    world.prices = FakePrices(fresh(world))
    async with world.running(feeds=True) as session:
        await world.clock.advance(2)
        world.owner.broken = "database or disk is full"
        await world.clock.advance(60)
        shown = session.board.snapshot
        assert "disk is full" in shown.store_error
        assert next(a.key for a in shown.alerts) == "store"
        assert [r.run_id for r in shown.runs] == ["flash-1"]
        assert shown.sheets[0].quotes
        world.owner.broken = ""
        await world.clock.advance(60)
        assert session.board.snapshot.store_error == ""


async def test_a_failure_to_write_stays_on_screen_while_reading_works(world: World) -> None:
    await world.record(build.run())
    world.prices = FakePrices(fresh(world))
    async with world.running(feeds=True) as session:
        with contextlib.closing(sqlite3.connect(world.db_file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            await world.clock.advance(60)
            assert "locked by another program" in session.board.snapshot.store_error
            assert [r.run_id for r in session.board.snapshot.runs] == ["flash-1"]
            await world.clock.advance(10)
            assert session.board.snapshot.store_error
        await world.clock.advance(60)
        assert session.board.snapshot.store_error == ""


async def test_a_read_only_session_records_nothing(world: World) -> None:
    world.env = {"FLASHTUI_READ_ONLY": "1"}
    world.prices = FakePrices(fresh(world))
    async with world.running(feeds=True) as session:
        await world.clock.advance(60)
        assert session.board.snapshot.read_only
    assert await world.store().run(lambda t: t.prices.load_sheets()) == {}


async def test_without_a_key_only_prices_are_asked_for(world: World) -> None:
    world.provider.configured = False
    world.prices = FakePrices(fresh(world))
    world.account = FakeAccount(build.account())
    async with world.running(feeds=True) as session:
        await world.clock.advance(60)
        assert health(session.board.snapshot, "inventory").state == "no_key"
        assert world.inventory is not None
        assert world.inventory.asked_at == []
        assert world.account.asked_at == []


@pytest.mark.parametrize("has_list", [True, False])
async def test_offline_only_a_built_in_list_is_shown(world: World, has_list: bool) -> None:
    world.env = {"FLASH_SKIP_NET": "1"}
    static = build.sheet(build.quote(source="static"), observed_at=None)
    world.prices = FakePrices(static, static=static if has_list else None)
    async with world.running(feeds=True) as session:
        await world.clock.advance(1)
        snapshot = session.board.snapshot
        assert bool(snapshot.sheets) == has_list
        assert health(snapshot, "prices").state == ("ok" if has_list else "off")
        assert world.inventory is not None
        assert world.inventory.asked_at == []


async def test_a_plugin_that_does_not_load_is_told_and_the_others_work(world: World) -> None:
    world.broken_plugin = ZeroDivisionError("bad plugin")
    async with world.running(feeds=True) as session:
        await world.clock.advance(1)
        texts = [event.text for event in session.board.snapshot.events]
        assert any("bad plugin" in text for text in texts)
        assert health(session.board.snapshot, "inventory").state == "ok"


class TestAlertsOfASession:
    @pytest.fixture
    def world(self, world: World) -> World:
        world.inventory = FakeInventory((build.resource("9", "flash-1-s0-a1"),))
        return world

    def up(self, session: Session) -> list[bool]:
        return [alert.acknowledged for alert in session.board.snapshot.alerts]

    async def ring(self, world: World, session: Session) -> Any:
        await world.clock.advance(2)
        return {a.key: a for a in session.board.snapshot.alerts}

    async def test_an_acknowledged_alert_is_not_rung_again_by_a_restart(self, world: World) -> None:
        await world.record(build.run(state="failed", resources=(), ended_at=build.ago(90_000)))
        async with world.running(feeds=True) as session:
            (alert,) = (await self.ring(world, session)).values()
            assert alert.key == "orphan:res:vast:9"
            session.acknowledge(alert.key)
            await world.clock.advance(1)
            assert session.board.snapshot.alerts[0].acknowledged
        async with world.running(seed=2, feeds=True) as following:
            again = (await self.ring(world, following))[alert.key]
            assert (again.acknowledged, again.since) == (True, alert.since)

    async def test_a_session_that_ends_before_the_listing_came_keeps_what_was_acknowledged(
        self, world: World
    ) -> None:
        await world.record(build.run(state="failed", resources=(), ended_at=build.ago(90_000)))
        async with world.running(feeds=True) as session:
            await self.ring(world, session)
            session.acknowledge("orphan:res:vast:9")
            await world.clock.advance(1)
        world.inventory = FakeInventory(failure())
        async with world.running(seed=2, feeds=True):
            await world.clock.advance(10)
        world.inventory = FakeInventory((build.resource("9", "flash-1-s0-a1"),))
        async with world.running(seed=3, feeds=True) as third:
            assert (await self.ring(world, third))["orphan:res:vast:9"].acknowledged

    async def test_what_has_cleared_rings_again_when_it_comes_back(self, world: World) -> None:
        await world.record(build.run(state="failed", resources=(), ended_at=build.ago(90_000)))
        assert world.inventory is not None
        async with world.running(feeds=True) as session:
            await self.ring(world, session)
            session.acknowledge("orphan:res:vast:9")
            await world.clock.advance(300)
            world.inventory.answers = [()]
            await world.clock.advance(60)
            assert self.up(session) == []
            world.inventory.answers = [(build.resource("9", "flash-1-s0-a1"),)]
            await world.clock.advance(60)
            assert self.up(session) == [False]

    async def test_an_alert_that_begins_is_an_event(self, world: World) -> None:
        await world.record(build.run(state="failed", resources=(), ended_at=build.ago(90_000)))
        async with world.running(feeds=True) as session:
            await self.ring(world, session)
            await world.clock.advance(30)
            rung = [e for e in session.board.snapshot.events if e.level == "alert"]
            assert len([e for e in rung if "orphan" in e.text]) == 1


async def test_events_are_bounded(world: World) -> None:
    async with world.running() as session:
        for number in range(500):
            session.known.note("info", f"event {number}")
        session._publish()
        events = session.board.snapshot.events
        assert len(events) == 200
        assert events[-1].text == "event 499"


async def test_a_fault_in_the_picture_leaves_the_last_one_and_the_next_change_tries_again(
    world: World,
) -> None:
    world.prices = FakePrices(fresh(world))
    async with world.running(feeds=True) as session:
        await world.clock.advance(1)
        session.known.accounts = {"vast": None}  # type: ignore[dict-item]
        session.set_job(PlanJob(min_vram_gb=10))
        await world.clock.advance(0)
        assert session.board.snapshot.plan.job.min_vram_gb is None
        session.known.accounts = {}
        session.set_job(PlanJob(min_vram_gb=20))
        await world.clock.advance(0)
        assert session.board.snapshot.plan.job.min_vram_gb == 20


async def test_a_crash_of_a_loop_is_told(world: World) -> None:
    async with world.running() as session:

        async def work() -> None:
            msg = "x"
            raise ZeroDivisionError(msg)

        session._start(work, "prices")
        await world.clock.advance(0)
        session._publish()
        assert "prices failed" in session.board.snapshot.events[-1].text
