"""Requests keep their distance."""

from __future__ import annotations

import asyncio

from flashtui.net.pace import MAX_PENALTY_S, Budget, Pacer
from tests.fakes import FakeClock


async def starts(pacer: Pacer, clock: FakeClock, count: int, **how: object) -> list[float]:
    first = clock.monotonic()
    seen = []
    for _ in range(count):
        await pacer.wait("search", **how)  # type: ignore[arg-type]
        seen.append(clock.monotonic() - first)
    return seen


async def test_an_interval_is_kept_also_by_callers_at_once() -> None:
    clock = FakeClock()
    pacer = Pacer(clock)
    seen: list[float] = []

    async def one() -> None:
        await pacer.wait("create", 4.5)
        seen.append(clock.elapsed_s)

    await asyncio.gather(one(), one(), one())
    assert seen == [0.0, 4.5, 9.0]


async def test_a_budget_holds_in_every_window() -> None:
    clock = FakeClock()
    seen = await starts(Pacer(clock), clock, 25, budget=Budget(10, 60.0))
    for i in range(len(seen) - 10):
        assert seen[i + 10] - seen[i] >= 60.0


async def test_kinds_of_request_do_not_wait_for_each_other() -> None:
    clock = FakeClock()
    pacer = Pacer(clock)
    await pacer.wait("create", 100.0)
    await pacer.wait("list", 100.0)
    assert clock.elapsed_s == 0


async def test_a_penalty_holds_back_what_is_already_waiting() -> None:
    clock = FakeClock()
    pacer = Pacer(clock)
    await pacer.wait("search", 5.0)

    async def penalise() -> None:
        await clock.sleep(1.0)
        pacer.penalise("search", 30.0)

    await asyncio.gather(pacer.wait("search", 5.0), penalise())
    assert clock.elapsed_s == 31.0


async def test_a_penalty_is_at_most_a_minute() -> None:
    clock = FakeClock()
    pacer = Pacer(clock)
    pacer.penalise("search", 86_400.0)
    await pacer.wait("search")
    assert clock.elapsed_s == MAX_PENALTY_S
