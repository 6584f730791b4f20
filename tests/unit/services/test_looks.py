"""One-shot looks: prices, everything that is rented, and the store alone."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from flashtui.domain.errors import StoreError
from flashtui.domain.market import PriceSheet
from flashtui.providers.base import Plugin
from flashtui.services.look import look
from flashtui.services.lookup import refresh_sheet
from flashtui.services.summary import summarise
from flashtui.store.operations import StoredOperation
from tests import build
from tests.fakes import T0
from tests.fakes_services import FakeAccount, FakeInventory, FakePrices, World, failure

if TYPE_CHECKING:
    from flashtui.services.look import Look


class Hanging:
    async def sheet(self) -> PriceSheet:
        await asyncio.Event().wait()
        raise AssertionError

    def static_sheet(self) -> PriceSheet:
        return PriceSheet("vast", (build.quote(source="static"),), None)

    async def inventory(self) -> Any:
        await asyncio.Event().wait()


class TestRefreshSheet:
    async def test_a_good_answer_is_it(self, world: World) -> None:
        plugin = Plugin(world.provider, prices=FakePrices(build.sheet()))
        assert await refresh_sheet("vast", plugin, world.clock) == build.sheet()

    async def test_a_failure_stands_beside_the_last_rows(self, world: World) -> None:
        plugin = Plugin(world.provider, prices=FakePrices(failure("vast: 503")))
        found = await refresh_sheet("vast", plugin, world.clock, last=build.sheet())
        assert found.quotes == build.sheet().quotes
        assert found.error is not None
        assert found.error.message == "vast: 503"

    async def test_without_last_rows_beside_the_built_in_list(self, world: World) -> None:
        plugin = Plugin(world.provider, prices=Hanging())
        found = await refresh_sheet("vast", plugin, world.clock, deadline_s=0.01)
        assert [q.source for q in found.quotes] == ["static"]
        assert found.error is not None
        assert found.error.kind == "timeout"

    async def test_with_only_the_eleven_methods_beside_nothing(self, world: World) -> None:
        world.provider.rates = {"H100": failure()}
        found = await refresh_sheet("vast", Plugin(world.provider), world.clock)
        assert found.quotes == ()
        assert found.error is not None


class TestLook:
    async def seen(self, world: World, *, record: bool = True) -> Look:
        plugins = world.registry().plugins()
        return await look(world.store(), plugins, world.clock, record=record)

    async def test_store_and_listing_beside_each_other(self, world: World) -> None:
        await world.record(build.run())
        world.inventory = FakeInventory((build.resource(), build.resource("9", "anna")))
        world.account = FakeAccount(build.account())
        found = await self.seen(world)
        assert [row.kind for row in found.rows] == ["run", "foreign"]
        assert [a.balance for a in found.accounts] == [build.usd(48.2)]
        assert found.burn.now == build.rate(4.0)
        assert found.errors == ()
        kept = await world.store().run(lambda t: t.runs.resource("vast", "21377744"))
        assert kept is not None
        assert kept.last_seen_at == T0

    async def test_nothing_is_recorded_when_that_is_not_wanted(self, world: World) -> None:
        await world.record(build.run())
        await self.seen(world, record=False)
        assert await world.store().run(lambda t: t.runs.get("flash-1")) == build.run()

    async def test_a_provider_that_fails_is_an_error_and_the_store_still_shows(
        self, world: World
    ) -> None:
        await world.record(build.run())
        await world.store().write(lambda t: t.prices.save_account(build.account(dollars=7)))
        world.inventory = FakeInventory(failure("vast: 503"))
        world.account = FakeAccount(failure("vast: 503"))
        found = await self.seen(world)
        assert [row.run_id for row in found.rows] == ["flash-1"]
        assert [e.message for e in found.errors] == ["vast: 503", "vast: 503"]
        assert [a.balance for a in found.accounts] == [build.usd(7)]

    async def test_one_that_hangs_is_given_up(self, world: World) -> None:
        plugin = Plugin(world.provider, inventory=Hanging())
        found = await look(
            world.store(), {"vast": plugin}, world.clock, record=True, deadline_s=0.01
        )
        assert [e.kind for e in found.errors] == ["timeout"]

    async def test_a_store_that_cannot_be_written_costs_the_memory_only(self, world: World) -> None:
        await world.record(build.run())
        with contextlib.closing(sqlite3.connect(world.db_file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            found = await self.seen(world)
        assert [row.run_id for row in found.rows] == ["flash-1"]

    async def test_a_store_that_cannot_be_read_is_told(self, world: World) -> None:
        world.owner.broken = "damaged"
        with pytest.raises(StoreError):
            await self.seen(world)


class TestSummary:
    def test_without_a_store_there_is_nothing(self, world: World) -> None:
        found = summarise(world.db_file, T0)
        assert (found.billing, found.unseen, found.warnings) == (0, (), ())

    async def test_burn_and_horizon(self, world: World) -> None:
        rented = build.rented(last_seen_at=build.ago(60))
        await world.record(build.run("flash-1", rented))
        await world.store().write(lambda t: t.prices.save_account(build.account(dollars=39.74)))
        found = summarise(world.db_file, T0)
        assert (found.burn, found.billing, found.unknown) == (build.rate(2.0), 1, 0)
        assert found.horizons == (("vast", "19h52m"),)
        assert (found.unseen, found.warnings) == ((), ())

    async def test_what_may_bill_unseen(self, world: World) -> None:
        await world.record(build.run(state="done", ended_at=build.ago(60)))
        unproven = StoredOperation(build.operation(phase="unconfirmed"), build.handle())
        await world.store().write(lambda t: t.operations.add(unproven))
        unseen = summarise(world.db_file, T0).unseen
        assert "21377744 on vast may still bill" in unseen
        assert "flash-1 is done but may still bill" in unseen

    async def test_what_wants_attention(self, world: World) -> None:
        old = build.rented("1", "flash-1", last_seen_at=build.ago(3600))
        new = build.rented("2", "flash-2", last_seen_at=None)
        await world.record(build.run("flash-1", old), build.run("flash-2", new))
        await world.store().write(lambda t: t.prices.save_account(build.account(dollars=4)))

        def spoil(tables: Any) -> None:
            tables.runs._connection.execute("UPDATE runs SET state = 'x' WHERE run_id = 'flash-1'")

        await world.store().write(spoil)
        warnings = " | ".join(summarise(world.db_file, T0).warnings)
        assert "flash-1 not looked at since 2026-08-07 11:00 UTC" in warnings
        assert "flash-2 not looked at since it was recorded" in warnings
        assert "vast money ends in 1.0 h" in warnings
        assert "state 'x' cannot be read" in warnings
