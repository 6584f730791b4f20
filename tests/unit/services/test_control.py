"""Cancel and destroy: intent first, proof last, and nothing that a screen, a disk or another process does changes that."""

from __future__ import annotations

import asyncio
import itertools
import json
import platform
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from flashtui.domain.errors import (
    DestroyUnconfirmed,
    NotFound,
    RateLimited,
    Rejected,
    StoreError,
)
from flashtui.domain.run import JobHandle
from flashtui.services.control import Control, ReadOnlyRefused
from tests import build
from tests.fakes_services import FakeInventory, Scripted, World, failure, registry

if TYPE_CHECKING:
    from flashtui.domain.operation import AuditEntry, Operation
    from flashtui.domain.run import RentedResource, Run
    from flashtui.services.session import Session
    from flashtui.store import Tables

TARGET = build.target()


async def run_of(world: World, run_id: str = "flash-1") -> Run:
    run = await world.store().run(lambda tables: tables.runs.get(run_id))
    assert run is not None
    return run


async def rented_of(world: World) -> RentedResource:
    return (await run_of(world)).resources[0]


async def operation_of(world: World, op_id: str) -> Operation:
    stored = await world.store().run(lambda tables: tables.operations.get(op_id))
    assert stored is not None
    return stored.operation


async def trail(world: World) -> tuple[AuditEntry, ...]:
    return await world.store().run(lambda tables: tables.audit.list())


async def test_intent_goal_and_audit_row_are_on_disk_before_anything_is_sent(world: World) -> None:
    await world.record(build.run())
    seen = []

    async def witness() -> None:
        stored = await world.store().run(lambda tables: tables.operations.open())
        actions = [(e.action, e.actor) for e in await trail(world)]
        seen.append((stored[0].operation.phase, (await run_of(world)).goal, actions))

    world.provider.witness = witness
    async with world.running() as session:
        await session.control.destroy(TARGET, actor="tui")
        await world.clock.advance(0)
    assert seen == [("driving", "gone", [("intent", "tui")])]


async def test_proof_closes_operation_resource_ledger_and_run_together(world: World) -> None:
    await world.record(build.run())
    world.provider.takes_s = 5
    async with world.running() as session:
        op = await session.control.destroy(TARGET, actor="tui")
        await world.clock.advance(5)
        done = await operation_of(world, op.op_id)
    rented, run = await rented_of(world), await run_of(world)
    assert done.phase == "confirmed"
    assert rented.confirmed_gone_at == world.clock.start.replace(second=5)
    assert rented.state == "gone"
    assert "absent from complete listings" in rented.evidence
    # One hour before, and the five seconds until the proof.
    assert rented.cost == build.rate(2.0).cost_over(3605)  # type: ignore[union-attr]
    assert (run.state, run.ended_at) == ("cancelled", rented.confirmed_gone_at)
    assert [e.action for e in await trail(world)] == ["intent", "confirmed"]
    assert session.exit_code == 0


async def test_teardown_requested_does_not_stop_the_clock(world: World) -> None:
    await world.record(build.run())
    world.provider.script = [DestroyUnconfirmed("still listed")]
    async with world.running() as session:
        await session.control.destroy(TARGET, actor="tui")
        await world.clock.advance(1)
        rented = await rented_of(world)
        assert rented.teardown_requested_at == world.clock.start
        assert rented.may_bill


async def test_unconfirmed_is_shown_with_the_last_answer_and_retried_until_proven(
    world: World,
) -> None:
    await world.record(build.run())
    world.provider.script = [DestroyUnconfirmed("still listed after 120 s"), None]
    async with world.running() as session:
        op = await session.control.destroy(TARGET, actor="tui")
        await world.clock.advance(0)
        waiting = await operation_of(world, op.op_id)
        assert (waiting.phase, waiting.last_answer) == ("unconfirmed", "still listed after 120 s")
        assert session.exit_code == 3
        await world.clock.advance(60)
        assert (await operation_of(world, op.op_id)).phase == "confirmed"
        assert session.exit_code == 0
    assert [e.action for e in await trail(world)] == ["intent", "unconfirmed", "confirmed"]


async def test_retries_never_end_and_are_never_more_than_a_minute_apart(world: World) -> None:
    await world.record(build.run())
    world.provider.script = [failure()]
    async with world.running() as session:
        await session.control.destroy(TARGET, actor="tui")
        await world.clock.advance(3600)
        moments = [at for _, _, at in world.provider.asked]
        gaps = [later - earlier for earlier, later in itertools.pairwise(moments)]
        assert len(moments) > 60
        assert max(gaps) < 60.001
        assert min(gaps[6:]) > 30


async def test_a_provider_that_asks_to_wait_is_not_asked_sooner(world: World) -> None:
    await world.record(build.run())
    world.provider.script = [RateLimited("too often", retry_after_s=50.0), None]
    async with world.running() as session:
        await session.control.destroy(TARGET, actor="tui")
        await world.clock.advance(49)
        assert len(world.provider.asked) == 1
        await world.clock.advance(2)
        assert len(world.provider.asked) == 2


@pytest.mark.parametrize("kind", ["auth", "scope", "no_key"])
async def test_trouble_with_the_key_is_tried_three_times_and_then_waits_for_a_refresh(
    world: World, kind: str
) -> None:
    """Also when it comes out of a destroy that has been asked for, as an unconfirmed one."""
    await world.record(build.run())
    refused = DestroyUnconfirmed("401 for the listing")
    refused.kind = kind  # type: ignore[assignment]
    world.provider.script = [refused, refused, refused, None]
    async with world.running() as session:
        op = await session.control.destroy(TARGET, actor="tui")
        await world.clock.advance(7200)
        assert len(world.provider.asked) == 3
        assert (await operation_of(world, op.op_id)).phase == "unconfirmed"
        session.refresh()
        await world.clock.advance(0)
        assert (await operation_of(world, op.op_id)).phase == "confirmed"


async def test_a_fault_in_a_provider_module_does_not_end_the_pursuit(world: World) -> None:
    await world.record(build.run())
    world.provider.script = [ZeroDivisionError("oops"), None]
    async with world.running() as session:
        op = await session.control.destroy(TARGET, actor="tui")
        await world.clock.advance(0)
        assert "internal error" in (await operation_of(world, op.op_id)).last_answer
        await world.clock.advance(60)
        assert (await operation_of(world, op.op_id)).phase == "confirmed"


async def test_a_provider_that_is_not_installed_is_named_and_tried_again(world: World) -> None:
    await world.record(build.run(resources=(build.rented(provider="gone-cloud"),)))
    async with world.running() as session:
        op = await session.control.destroy(build.target(provider="gone-cloud"), actor="cli")
        await world.clock.advance(0)
        assert "gone-cloud" in (await operation_of(world, op.op_id)).last_answer


async def test_a_run_that_finished_meanwhile_keeps_its_state_and_its_end(world: World) -> None:
    await world.record(build.run())
    world.provider.takes_s = 30
    async with world.running() as session:
        await session.control.destroy(TARGET, actor="tui")
        await world.clock.advance(10)
        now = world.clock.now()
        await world.store().write(lambda t: t.runs.transition("flash-1", "done", now=now))
        await world.clock.advance(20)
    run = await run_of(world)
    assert (run.state, run.ended_at) == ("done", now)
    assert not run.may_bill
    events = await world.store().run(lambda t: t.events.recent(1))
    assert "the run had finished before" in events[0].text


async def test_cancel_stops_the_work_and_leaves_the_clock_running(world: World) -> None:
    await world.record(build.run())
    async with world.running() as session:
        op = await session.control.cancel(TARGET, actor="tui")
        await world.clock.advance(0)
        assert (await operation_of(world, op.op_id)).phase == "confirmed"
    run = await run_of(world)
    assert (run.state, run.goal, run.may_bill) == ("cancelled", "stopped", True)
    assert [what for what, _, _ in world.provider.asked] == ["cancel"]


async def test_cancel_of_a_job_that_is_not_there_is_done(world: World) -> None:
    await world.record(build.run())
    world.provider.script = [NotFound("no such job")]
    async with world.running() as session:
        op = await session.control.cancel(TARGET, actor="tui")
        await world.clock.advance(0)
        assert (await operation_of(world, op.op_id)).phase == "confirmed"


async def test_not_found_proves_nothing_for_a_destroy(world: World) -> None:
    await world.record(build.run())
    world.provider.script = [NotFound("no such instance")]
    async with world.running() as session:
        op = await session.control.destroy(TARGET, actor="tui")
        await world.clock.advance(0)
        assert (await operation_of(world, op.op_id)).phase == "unconfirmed"
        assert (await rented_of(world)).may_bill


async def test_a_cancel_that_is_refused_ends_and_the_goal_is_as_before(world: World) -> None:
    await world.record(build.run())
    world.provider.script = [Rejected("there is no job to stop")]
    async with world.running() as session:
        op = await session.control.cancel(TARGET, actor="tui")
        await world.clock.advance(600)
        refused = await operation_of(world, op.op_id)
        assert (refused.phase, refused.last_answer) == ("refused", "there is no job to stop")
        assert len(world.provider.asked) == 1
    assert (await run_of(world)).goal == "run"


async def test_destroy_ends_what_else_was_asked_of_the_resource(world: World) -> None:
    await world.record(build.run())
    world.provider.script = [failure(), None]
    async with world.running() as session:
        cancel = await session.control.cancel(TARGET, actor="tui")
        await world.clock.advance(0)
        await session.control.destroy(TARGET, actor="tui")
        await world.clock.advance(300)
        over = await operation_of(world, cancel.op_id)
        assert (over.phase, over.last_answer) == ("confirmed", "the resource is gone")
        # Nothing is asked of it any more.
        assert [what for what, _, _ in world.provider.asked] == ["cancel", "destroy"]


async def test_a_duplicate_can_go_without_its_run(world: World) -> None:
    """An orphan carries the name of a run that has a machine of its own: that run goes on."""
    await world.record(build.run())
    duplicate = build.resource("990342")
    world.inventory = FakeInventory((build.resource(), duplicate))
    async with world.running() as session:
        await session.control.reread(build.target("990342"))
        await session.control.destroy(build.target("990342"), actor="tui")
        await world.clock.advance(0)
    run = await run_of(world)
    assert (run.state, run.goal, run.may_bill) == ("running", "run", True)
    assert [h.data["instance_id"] for _, h, _ in world.provider.asked] == ["990342"]


async def test_what_an_earlier_attempt_left_can_go_without_the_run(world: World) -> None:
    left = build.rented("111", attempt=0)
    await world.record(build.run("flash-1", left, build.rented("222", attempt=1)))
    async with world.running() as session:
        await session.control.destroy(build.target("111"), actor="tui")
        await world.clock.advance(0)
        assert (await run_of(world)).state == "running"
        await session.control.destroy(build.target("222"), actor="tui")
        await world.clock.advance(0)
    run = await run_of(world)
    assert (run.state, run.may_bill) == ("cancelled", False)


async def test_a_foreign_machine_is_destroyed_by_its_listed_handle(world: World) -> None:
    """Its kind and its key are only in the listing; an id alone might prove the wrong thing gone."""
    listed = build.resource(
        "pod1", "anna", handle=JobHandle("vast", {"pod_id": "pod1", "key": "b"})
    )
    world.inventory = FakeInventory((listed,))
    async with world.running() as session:
        op = await session.control.destroy(build.target("pod1", None, label="anna"), actor="cli")
        await world.clock.advance(0)
        assert (await operation_of(world, op.op_id)).phase == "confirmed"
    assert [h for _, h, _ in world.provider.asked] == [listed.handle]


async def test_the_recorded_handle_is_used_before_the_listed_one(world: World) -> None:
    """Only the recorded one knows the job."""
    handle = JobHandle("vast", {"instance_id": "21377744", "job_id": "j-1"})
    await world.record(build.run(resources=(build.rented(handle=handle),)))
    async with world.running() as session:
        await session.control.reread(TARGET)
        await session.control.cancel(TARGET, actor="cli")
        await world.clock.advance(0)
    assert [h for _, h, _ in world.provider.asked] == [handle]


async def test_a_handle_recorded_a_moment_ago_by_another_process_is_used(world: World) -> None:
    world.inventory = FakeInventory(failure())
    async with world.running() as session:
        await world.record(build.run())
        await session.control.destroy(TARGET, actor="cli")
        await world.clock.advance(0)
    assert [h for _, h, _ in world.provider.asked] == [build.handle()]


async def test_what_is_not_in_the_store_is_not_driven(world: World) -> None:
    """The file was replaced while an operation waited: nobody knows any more that it was wanted."""
    async with world.running() as session:
        await session.control.driver.drive(build.operation(), build.handle())
        assert world.provider.asked == []


async def test_a_refused_cancel_of_a_foreign_machine_ends_too(world: World) -> None:
    world.provider.script = [Rejected("there is no job to stop")]
    async with world.running() as session:
        op = await session.control.cancel(build.target(run_id=None), actor="tui")
        await world.clock.advance(0)
        assert (await operation_of(world, op.op_id)).phase == "refused"


async def test_an_id_that_nobody_lists_is_looked_for_again_before_each_try(world: World) -> None:
    listed = build.resource("late")
    world.inventory = FakeInventory(failure(), failure(), (listed,))
    world.provider.script = [failure(), None]
    async with world.running() as session:
        await session.control.destroy(build.target("late", None), actor="cli")
        await world.clock.advance(60)
    assert world.provider.asked[0][1].data["unlisted"] is True
    assert world.provider.asked[1][1] == listed.handle


class TestGrace:
    async def test_nothing_is_sent_before_the_grace_is_over(self, world: World) -> None:
        await world.record(build.run())
        async with world.running() as session:
            op = await session.control.destroy(TARGET, actor="tui", grace_s=10)
            assert op.phase == "pending"
            await world.clock.advance(9)
            assert world.provider.asked == []
            await world.clock.advance(1)
            assert len(world.provider.asked) == 1

    async def test_withdrawn_within_it_nothing_is_sent_and_the_goal_is_as_before(
        self, world: World
    ) -> None:
        await world.record(build.run())
        async with world.running() as session:
            op = await session.control.destroy(TARGET, actor="tui", grace_s=10)
            await world.clock.advance(5)
            assert await session.control.withdraw(op.op_id)
            await world.clock.advance(600)
            assert world.provider.asked == []
            assert (await run_of(world)).goal == "run"
            assert (await operation_of(world, op.op_id)).phase == "withdrawn"
            assert session.exit_code == 0
        assert [e.action for e in await trail(world)] == ["intent", "withdrawn"]

    async def test_of_a_foreign_machine_it_can_be_taken_back_too(self, world: World) -> None:
        async with world.running() as session:
            foreign = build.target(run_id=None)
            op = await session.control.destroy(foreign, actor="tui", grace_s=10)
            assert await session.control.withdraw(op.op_id)
            await world.clock.advance(60)
            assert world.provider.asked == []

    async def test_after_it_nothing_can_be_taken_back(self, world: World) -> None:
        await world.record(build.run())
        world.provider.takes_s = 60
        async with world.running() as session:
            op = await session.control.destroy(TARGET, actor="tui", grace_s=10)
            await world.clock.advance(11)
            assert not await session.control.withdraw(op.op_id)
            assert not await session.control.withdraw("op-of-nobody")

    async def test_another_process_can_take_it_back(self, world: World) -> None:
        await world.record(build.run())
        async with world.running() as session, world.running(seed=2) as other:
            op = await session.control.destroy(TARGET, actor="tui", grace_s=10)
            assert await other.control.withdraw(op.op_id)
            await world.clock.advance(60)
            assert world.provider.asked == []

    async def test_confirming_again_skips_the_rest(self, world: World) -> None:
        await world.record(build.run())
        async with world.running() as session:
            first = await session.control.destroy(TARGET, actor="tui", grace_s=10)
            again = await session.control.destroy(TARGET, actor="cli")
            assert again.op_id == first.op_id
            await world.clock.advance(0)
            assert len(world.provider.asked) == 1

    async def test_hastening_skips_the_rest(self, world: World) -> None:
        await world.record(build.run())
        async with world.running() as session:
            op = await session.control.destroy(TARGET, actor="tui", grace_s=10)
            await session.control.hasten(op.op_id)
            await session.control.hasten("op-of-nobody")
            await world.clock.advance(0)
            assert len(world.provider.asked) == 1

    async def test_leaving_skips_the_rest_because_a_confirmed_destroy_is_committed(
        self, world: World
    ) -> None:
        await world.record(build.run())
        async with world.running() as session:
            await session.control.destroy(TARGET, actor="tui", grace_s=10)
        assert [(what, at) for what, _, at in world.provider.asked] == [("destroy", 0.0)]
        assert not (await run_of(world)).may_bill


class TestLeaving:
    async def test_an_operation_under_way_is_proven_before_the_session_ends(
        self, world: World
    ) -> None:
        await world.record(build.run())
        world.provider.takes_s = 20
        async with world.running() as session:
            await session.control.destroy(TARGET, actor="tui")
            await world.clock.advance(1)
        assert not (await run_of(world)).may_bill
        assert session.exit_code == 0

    async def test_the_drain_is_bounded_and_the_next_session_goes_on_at_once(
        self, world: World
    ) -> None:
        await world.record(build.run())
        world.provider.takes_s = 300
        async with world.running() as session:
            op = await session.control.destroy(TARGET, actor="tui")
            await world.clock.advance(1)
        assert world.clock.elapsed_s < 40
        assert session.exit_code == 3
        world.provider.takes_s = 0
        async with world.running(seed=2) as following:
            await world.clock.advance(0)
            assert (await operation_of(world, op.op_id)).phase == "confirmed"
            assert following.exit_code == 0

    async def test_what_waits_for_a_key_does_not_hold_up_the_end(self, world: World) -> None:
        await world.record(build.run())
        world.provider.script = [failure("401", "auth")]
        async with world.running() as session:
            await session.control.destroy(TARGET, actor="tui")
            await world.clock.advance(300)
            before = world.clock.elapsed_s
        assert world.clock.elapsed_s - before < 10
        assert session.exit_code == 3

    async def test_an_intent_begun_by_a_caller_that_is_cancelled_is_still_acted_on(
        self, world: World
    ) -> None:
        await world.record(build.run())
        async with world.running() as session:
            asking = asyncio.ensure_future(session.control.destroy(TARGET, actor="tui"))
            for _ in range(2):
                await asyncio.sleep(0)
            asking.cancel()
            await world.clock.advance(0)
            intents = [e for e in await trail(world) if e.action == "intent"]
            assert len(intents) == len(world.provider.asked)


class TestTwoProcesses:
    async def test_an_operation_is_driven_by_one_only(self, world: World) -> None:
        await world.record(build.run())
        world.provider.takes_s = 200
        async with world.running() as session, world.running(seed=2) as other:
            op = await session.control.destroy(TARGET, actor="tui")
            await world.clock.advance(1)
            for _ in range(6):
                assert await other.control.recover() == 0
                await world.clock.advance(30)
            same = await other.control.destroy(TARGET, actor="cli")
            assert same.op_id == op.op_id
            await world.clock.advance(30)
            assert len(world.provider.asked) == 1

    async def test_a_lease_that_ran_out_is_taken_over_and_the_old_holder_stops(
        self, world: World
    ) -> None:
        """A process that was suspended finds its operation in other hands when it wakes."""
        await world.record(build.run())
        world.provider.takes_s = 10
        world.provider.script = [failure("slow"), None]
        async with world.running() as session:
            op = await session.control.destroy(TARGET, actor="tui")
            await world.clock.advance(1)
            await take_over(world, session, op.op_id)
            await world.clock.advance(15)
            assert (await operation_of(world, op.op_id)).phase == "driving"
            await world.clock.advance(15)
            assert len(world.provider.asked) == 1
            assert not session.control.driver.is_driving(op.op_id)

    async def test_a_refusal_that_comes_too_late_changes_nothing(self, world: World) -> None:
        await world.record(build.run())
        world.provider.takes_s = 10
        world.provider.script = [Rejected("no")]
        async with world.running() as session:
            op = await session.control.cancel(TARGET, actor="tui")
            await world.clock.advance(1)
            await take_over(world, session, op.op_id)
            await world.clock.advance(10)
            assert (await operation_of(world, op.op_id)).phase == "driving"
            assert (await run_of(world)).goal == "stopped"

    async def test_a_session_does_not_take_up_its_own(self, world: World) -> None:
        await world.record(build.run())
        world.provider.takes_s = 30
        async with world.running() as session:
            await session.control.destroy(TARGET, actor="tui")
            await world.clock.advance(1)
            assert await session.control.recover() == 0

    async def test_the_lease_of_a_process_that_has_died_need_not_run_out(
        self, world: World
    ) -> None:
        await world.record(build.run())
        await open_operation(world, owner="not-a-process")
        async with world.running():
            await world.clock.advance(0)
            assert len(world.provider.asked) == 1

    async def test_the_lease_of_a_living_process_is_respected(self, world: World) -> None:
        await world.record(build.run())
        await open_operation(world, owner=f"1:{platform.node()}:aaaa")
        async with world.running(feeds=True):
            await world.clock.advance(50)
            assert world.provider.asked == []
            await world.clock.advance(30)
            assert len(world.provider.asked) == 1

    async def test_waiting_follows_an_operation_of_another_process(self, world: World) -> None:
        await world.record(build.run())
        world.provider.takes_s = 20
        async with world.running() as session, world.running(seed=2) as other:
            op = await session.control.destroy(TARGET, actor="tui")
            waiting = asyncio.ensure_future(other.control.wait(op.op_id, 60))
            await world.clock.advance(19)
            assert not waiting.done()
            await world.clock.advance(3)
            over = waiting.result()
            assert over is not None
            assert over.phase == "confirmed"


async def take_over(world: World, session: Session, op_id: str) -> None:
    """Another process drives an operation now."""
    now = world.clock.now()
    lease = replace(session.control.driver.lease(), owner=f"1:{platform.node()}:other")

    def take(tables: Tables) -> None:
        tables.operations.release_all(session.control.driver.owner)
        assert tables.operations.claim(op_id, lease, now)

    await world.store().write(take)


async def open_operation(world: World, owner: str) -> None:
    from flashtui.store.operations import Lease, StoredOperation

    until = world.clock.now().replace(minute=1)
    stored = StoredOperation(
        build.operation(), build.handle(), goal_before="run", lease=Lease(owner, until)
    )
    await world.store().write(lambda tables: tables.operations.add(stored))


class TestRecovery:
    async def test_a_session_drives_on_what_was_left_open_at_its_start(self, world: World) -> None:
        from flashtui.store.operations import StoredOperation

        await world.record(build.run())
        left = StoredOperation(build.operation(phase="unconfirmed"), build.handle())
        await world.store().write(lambda tables: tables.operations.add(left))
        async with world.running():
            await world.clock.advance(0)
        assert (await operation_of(world, "op-1")).phase == "confirmed"
        assert not (await run_of(world)).may_bill

    async def test_a_grace_that_was_running_runs_on(self, world: World) -> None:
        from flashtui.store.operations import StoredOperation

        await world.record(build.run())
        pending = build.operation(phase="pending", not_before=build.ago(-7), attempts=0)
        await world.store().write(
            lambda tables: tables.operations.add(StoredOperation(pending, build.handle()))
        )
        async with world.running():
            await world.clock.advance(6)
            assert world.provider.asked == []
            await world.clock.advance(1)
            assert len(world.provider.asked) == 1

    async def test_a_store_that_cannot_be_read_does_not_keep_a_session_from_starting(
        self, world: World
    ) -> None:
        world.owner.broken = "the disk is gone"
        async with world.running() as session:
            assert "the disk is gone" in session.board.snapshot.store_error


class TestBrokenStore:
    async def test_a_destroy_is_sent_and_its_record_goes_elsewhere_until_it_can_be_saved(
        self, world: World
    ) -> None:
        await world.record(build.run())
        async with world.running(feeds=True) as session:
            await world.clock.advance(2)
            world.owner.broken = "the disk is full"
            op = await session.control.destroy(TARGET, actor="tui")
            await world.clock.advance(2)
            assert [what for what, _, _ in world.provider.asked] == ["destroy"]
            assert any("the disk is full" in line for line in world.emergencies)
            assert "not saved" in session.board.snapshot.store_error
            shown = {o.op_id: o.phase for o in session.board.snapshot.operations}
            assert shown[op.op_id] == "confirmed"
            lines = (world.path / "audit-fallback.jsonl").read_text().splitlines()
            assert [json.loads(line)["op_id"] for line in lines] == [op.op_id] * len(lines)
            world.owner.broken = ""
            await world.clock.advance(2)
            assert session.board.snapshot.store_error == ""
        assert (await operation_of(world, op.op_id)).phase == "confirmed"
        assert not (await run_of(world)).may_bill
        assert [e.action for e in await trail(world)] == ["intent", "confirmed"]

    async def test_the_fallback_file_is_private(self, world: World) -> None:
        world.owner.broken = "the disk is full"
        async with world.running() as session:
            await session.control.destroy(TARGET, actor="tui")
            await world.clock.advance(1)
        mode = (world.path / "audit-fallback.jsonl").stat().st_mode
        assert mode & 0o777 == 0o600

    async def test_a_cancel_of_a_known_handle_is_sent_too(self, world: World) -> None:
        await world.record(build.run())
        async with world.running() as session:
            world.owner.broken = "the disk is full"
            await session.control.cancel(TARGET, actor="tui")
            await world.clock.advance(0)
            assert [h for _, h, _ in world.provider.asked] == [build.handle()]
            world.owner.broken = ""

    async def test_the_outcome_of_a_destroy_is_saved_when_the_disk_heals(
        self, world: World
    ) -> None:
        """The answer came, the write failed: nothing is lost, nothing is asked twice."""
        await world.record(build.run())
        world.provider.takes_s = 5
        async with world.running() as session:
            op = await session.control.destroy(TARGET, actor="tui")
            await world.clock.advance(1)
            world.owner.broken = "the disk is full"
            await world.clock.advance(5)
            world.owner.broken = ""
        assert (await operation_of(world, op.op_id)).phase == "confirmed"
        assert len(world.provider.asked) == 1

    async def test_a_withdrawal_that_cannot_be_recorded_is_not_one(self, world: World) -> None:
        await world.record(build.run())
        async with world.running() as session:
            op = await session.control.destroy(TARGET, actor="tui", grace_s=10)
            world.owner.broken = "the disk is full"
            with pytest.raises(StoreError):
                await session.control.withdraw(op.op_id)
            world.owner.broken = ""

    async def test_without_a_place_for_the_fallback_file_the_emergency_line_is_left(
        self, world: World
    ) -> None:
        world.owner.broken = "the disk is full"
        (world.path / "audit-fallback.jsonl").mkdir()
        async with world.running() as session:
            await session.control.destroy(TARGET, actor="tui")
            await world.clock.advance(1)
        assert world.emergencies

    async def test_an_unsaved_intent_joins_what_another_process_began_meanwhile(
        self, world: World
    ) -> None:
        await world.record(build.run())
        world.provider.script = [failure()]
        async with world.running(feeds=True) as session:
            await world.clock.advance(2)
            world.owner.broken = "locked"
            await session.control.destroy(TARGET, actor="tui")
            await world.clock.advance(0)
            world.owner.broken = ""
            await open_operation(world, owner=f"1:{platform.node()}:aaaa")
            await world.clock.advance(2)
            assert session.control.ledger.unsaved == 0
            found = await world.store().run(lambda tables: tables.operations.open())
            assert [stored.operation.op_id for stored in found] == ["op-1"]


async def test_by_default_what_cannot_be_saved_is_said_on_standard_error(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.owner.broken = "the disk is full"
    tasks = []
    control = Control(
        world.store(),
        world.registry(),
        world.clock,
        random.Random(1),
        spawn=lambda work: tasks.append(asyncio.ensure_future(work)),
        changed=lambda: None,
        fallback=world.path / "fallback.jsonl",
    )
    await control.destroy(TARGET, actor="cli")
    assert "not saved" in capsys.readouterr().err
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class TestReadOnly:
    @pytest.fixture
    def world(self, world: World) -> World:
        world.env = {"FLASHTUI_READ_ONLY": "1"}
        return world

    async def test_new_operations_are_refused_in_words(self, world: World) -> None:
        async with world.running() as session:
            for ask in (session.control.destroy, session.control.cancel):
                with pytest.raises(ReadOnlyRefused, match="read-only"):
                    await ask(TARGET, actor="tui")
        assert world.provider.asked == []

    async def test_the_proof_of_one_under_way_goes_on(self, world: World) -> None:
        await world.record(build.run())
        await open_operation(world, owner="not-a-process")
        async with world.running():
            await world.clock.advance(0)
        assert not (await run_of(world)).may_bill


class TestReread:
    async def look(self, session: Session, **more: object) -> tuple[str, str]:
        check = await session.control.reread(replace(TARGET, **more))  # type: ignore[arg-type]
        return check.status, check.message

    async def test_found_as_shown(self, world: World) -> None:
        async with world.running() as session:
            check = await session.control.reread(TARGET)
            assert check.status == "found"
            assert check.resource is not None
            assert check.checked_at == world.clock.now()

    async def test_another_label_is_another_thing(self, world: World) -> None:
        async with world.running() as session:
            status, message = await self.look(session, label="somebody-else")
            assert status == "changed"
            assert "'flash-1-s0-a0', not 'somebody-else'" in message

    async def test_no_label_to_compare_with_is_no_difference(self, world: World) -> None:
        async with world.running() as session:
            assert (await self.look(session, label=""))[0] == "found"

    async def test_absent_from_a_complete_listing(self, world: World) -> None:
        async with world.running() as session:
            assert (await self.look(session, resource_id="404"))[0] == "absent"

    async def test_absent_from_half_a_listing_is_not_absent(self, world: World) -> None:
        half = build.inventory(complete=False, problem="key ...1234: 500")
        world.inventory = FakeInventory(half)
        async with world.running() as session:
            status, message = await self.look(session)
            assert status == "unverified"
            assert "500" in message

    async def test_a_failure_to_ask_is_told_and_not_raised(self, world: World) -> None:
        world.inventory = FakeInventory(failure("vast: 503"))
        async with world.running() as session:
            assert await self.look(session) == ("unverified", "vast: 503")

    async def test_a_provider_that_is_not_installed_cannot_be_asked(self, world: World) -> None:
        async with world.running() as session:
            status, message = await self.look(session, provider="nowhere")
            assert status == "unverified"
            assert "nowhere" in message

    async def test_a_provider_without_a_listing_cannot_be_asked(self, world: World) -> None:
        from flashtui.providers.base import Plugin

        bare = registry(Plugin(world.provider))
        control = Control(
            world.store(),
            bare,
            world.clock,
            random.Random(1),
            spawn=lambda work: work.close(),
            changed=lambda: None,
            fallback=world.path / "f",
        )
        check = await control.reread(TARGET)
        assert (check.status, check.message) == ("unverified", "vast has no listing to look into")

    async def test_a_provider_that_hangs_is_given_up_after_three_seconds(
        self, world: World
    ) -> None:
        class Hanging(Scripted):
            async def inventory(self) -> None:
                await asyncio.Event().wait()

        world.inventory = Hanging(None)  # type: ignore[assignment]
        async with world.running() as session:
            session.control.reread_s = 0.01
            status, message = await self.look(session)
            assert status == "unverified"
            assert "did not answer" in message


async def test_waiting_returns_at_the_first_sign_of_trouble_or_when_time_is_up(
    world: World,
) -> None:
    await world.record(build.run())
    world.provider.takes_s = 100
    world.provider.script = [failure()]
    async with world.running() as session:
        op = await session.control.destroy(TARGET, actor="cli")
        waiting = asyncio.ensure_future(session.control.wait(op.op_id, 30))
        await world.clock.advance(0)
        await world.clock.advance(31)
        early = waiting.result()
        assert early is not None
        assert early.phase == "driving"
        waiting = asyncio.ensure_future(session.control.wait(op.op_id))
        await world.clock.advance(80)
        later = waiting.result()
        assert later is not None
        assert later.phase == "unconfirmed"
        assert await session.control.wait("op-of-nobody", 1) is None
