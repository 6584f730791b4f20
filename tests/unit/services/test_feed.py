"""A feed: how often it asks, how it backs off, what stops it, and that nothing ends it."""

from __future__ import annotations

import asyncio
import itertools
import random
from typing import TYPE_CHECKING

import pytest

from flashtui.domain.errors import AuthRejected, RateLimited, ScopeRejected
from flashtui.services.feed import Feed
from flashtui.services.supervise import kept_alive
from tests.fakes import FakeClock
from tests.fakes_services import Scripted, failure

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Rig:
    def __init__(self, *answers: object, guard_s: float = 90.0) -> None:
        self.clock = FakeClock(auto=False)
        self.source = Scripted(*answers)
        self.source.clock = self.clock
        self.changes = 0
        self.told = asyncio.Event()
        self.feed = Feed(
            "vast",
            "prices",
            self.ask,
            clock=self.clock,
            rng=random.Random(1),
            interval_s=45.0,
            changed=self.changed,
            guard_s=guard_s,
        )
        self.task = asyncio.ensure_future(self.feed.run())

    async def ask(self) -> None:
        if self.source.next() == "hang":
            await asyncio.Event().wait()

    def changed(self) -> None:
        self.changes += 1
        self.told.set()

    @property
    def gaps(self) -> list[float]:
        return [b - a for a, b in itertools.pairwise(self.source.asked_at)]


@pytest.fixture
async def made() -> AsyncIterator[list[Rig]]:
    rigs: list[Rig] = []
    yield rigs
    for rig in rigs:
        rig.task.cancel()
        await asyncio.gather(rig.task, return_exceptions=True)


async def rig(made: list[Rig], *answers: object, guard_s: float = 90.0) -> Rig:
    made.append(Rig(*answers, guard_s=guard_s))
    await made[-1].clock.advance(0)
    return made[-1]


async def test_asks_at_once_and_then_each_interval_with_jitter(made: list[Rig]) -> None:
    one = await rig(made, None)
    await one.clock.advance(600)
    assert one.source.asked_at[0] == 0.0
    assert all(45 <= gap <= 54 for gap in one.gaps)
    assert len(set(one.gaps)) > 1
    assert one.feed.health.state == "ok"
    assert one.changes == len(one.source.asked_at)


async def test_before_the_first_answer_it_is_waiting(made: list[Rig]) -> None:
    assert (await rig(made, "hang")).feed.health.state == "waiting"


async def test_failures_back_off_exponentially_to_five_minutes(made: list[Rig]) -> None:
    one = await rig(made, failure())
    await one.clock.advance(4000)
    assert one.gaps[0] < one.gaps[1] < one.gaps[2]
    assert max(one.gaps) <= 300.001
    assert all(gap > 299 for gap in one.gaps[4:])


async def test_one_good_answer_ends_the_backoff(made: list[Rig]) -> None:
    one = await rig(made, failure(), failure(), None)
    await one.clock.advance(400)
    assert one.gaps[-1] <= 54
    assert one.feed.health.error is None


async def test_a_provider_that_asks_to_wait_is_not_asked_sooner(made: list[Rig]) -> None:
    one = await rig(made, RateLimited("429", retry_after_s=200.0), None)
    await one.clock.advance(250)
    assert one.gaps[0] >= 200


@pytest.mark.parametrize("refusal", [AuthRejected("401"), ScopeRejected("403")])
async def test_a_refused_key_stops_it_until_a_refresh_by_hand(
    made: list[Rig], refusal: Exception
) -> None:
    one = await rig(made, refusal, None)
    await one.clock.advance(10_000)
    assert one.source.asked_at == [0.0]
    assert one.feed.health.next_at is None
    one.feed.refresh()
    await one.clock.advance(1)
    assert len(one.source.asked_at) == 2
    assert one.feed.health.state == "ok"


async def test_health_says_how_old_the_last_good_answer_is(made: list[Rig]) -> None:
    one = await rig(made, None, failure("vast: 503"))
    await one.clock.advance(60)
    health = one.feed.health
    assert (health.state, health.last_good_at) == ("stale", one.clock.start)
    assert health.error is not None
    assert health.error.message == "vast: 503"
    await one.clock.advance(600)
    assert one.feed.health.state == "down"


async def test_never_answered_is_down_and_without_a_key_is_no_key(made: list[Rig]) -> None:
    down = await rig(made, failure())
    unset = AuthRejected("no key")
    unset.kind = "no_key"
    keyless = await rig(made, unset)
    await down.clock.advance(1)
    await keyless.clock.advance(1)
    assert down.feed.health.state == "down"
    assert keyless.feed.health.state == "no_key"


async def test_a_fault_of_ours_is_shown_and_the_loop_goes_on(made: list[Rig]) -> None:
    one = await rig(made, ZeroDivisionError("x"), None)
    await one.clock.advance(1)
    error = one.feed.health.error
    assert error is not None
    assert "ZeroDivisionError" in error.message
    await one.clock.advance(60)
    assert one.feed.health.state == "ok"


async def test_a_source_that_hangs_is_given_up(made: list[Rig]) -> None:
    one = await rig(made, "hang", None, guard_s=0.01)
    async with asyncio.timeout(5):
        await one.told.wait()
    error = one.feed.health.error
    assert error is not None
    assert error.kind == "timeout"


async def test_what_ends_or_crashes_begins_again_and_is_told() -> None:
    clock = FakeClock(auto=False)
    told: list[str] = []
    begun = 0

    async def work() -> None:
        nonlocal begun
        begun += 1
        if begun == 1:
            msg = "x"
            raise ZeroDivisionError(msg)

    task = asyncio.ensure_future(kept_alive("prices", work, clock, told.append))
    await clock.advance(0)
    await clock.advance(6)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert begun == 2
    assert "prices failed (ZeroDivisionError)" in told[0]
    assert "it ended" in told[1]
