"""Fifty clients at once: nothing fails that was not ordered, and what the simulator remembers stays bounded.

The long form with its bars on latency and memory is `python -m tests.benchmarks.simulator_load`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from flashtui.sim.server import build_world
from tests.benchmarks.simulator_load import run
from tests.sim.vast_sim import START

if TYPE_CHECKING:
    from tests.sim.vast_sim import Sim


def test_fifty_clients_at_once_get_what_they_ask_for(vast: Sim) -> None:
    vast.start_over("calm")
    tally = run(vast.running.exports(), clients=50, seconds=2.0, interval_s=0.2)
    assert tally.errors == []
    assert len(tally.latencies_ms) >= 150
    assert vast.violations() == []


def test_fifty_clients_want_one_offer_and_one_gets_it(vast: Sim) -> None:
    ask = vast.search({"num_gpus": {"eq": 1}})[0]["id"]
    body = {"image": "a", "disk": 20}

    def want(_number: int) -> int:
        return vast.send("PUT", f"/api/v0/asks/{ask}/", body).status

    with ThreadPoolExecutor(50) as pool:
        statuses = sorted(pool.map(want, range(50)))
    assert statuses == [200] + [404] * 49
    assert len(vast.admin("GET", "/_sim/state")["vast"]) == 1


def test_what_is_remembered_stays_bounded_over_a_day() -> None:
    world = build_world("empty", speed=0.0, start=START)
    market = world.surfaces["vast"].market  # type: ignore[attr-defined]
    sizes = []
    for step in range(24 * 12):
        world.time.step(300)
        market.rows(world.time.now(), kind="on-demand", allocated_gb=float(step % 40))
        sizes.append((len(market._statics), len(market._rows), len(market._kept)))
    assert max(size[0] for size in sizes) < 3000
    assert max(size[1] for size in sizes) <= 6
    for number in range(2000):
        world.strict.record("vast", "unknown_route", str(number))
    assert len(world.strict.rows()) == 1000


def test_a_market_looked_at_every_tick_equals_one_looked_at_once() -> None:
    """Memory of what cannot have changed must never show an old price."""
    watched = build_world("demo", speed=0.0, start=START)
    for _ in range(120):
        watched.time.step(5)
        watched.surfaces["vast"].prices(watched.time.now())
    fresh = build_world("demo", speed=0.0, start=START)
    fresh.time.step(600)
    assert watched.surfaces["vast"].prices(START + 600) == fresh.surfaces["vast"].prices(
        START + 600
    )
