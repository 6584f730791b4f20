"""What the conformance suite knows of each provider: how to rent something behind its back, and its routes."""

from __future__ import annotations

import asyncio
import random
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from flashtui.domain.secret import Secret
from flashtui.net.exchange import Http
from flashtui.net.pace import Pacer
from flashtui.net.secret import Redactor
from flashtui.net.transport import build_client
from flashtui.providers.base import Context
from flashtui.providers.registry import Registry
from flashtui.settings import Settings
from tests.fakes import FakeClock, ScriptedHttp
from tests.sim.vast_sim import Sim

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from flashtui.domain.clock import Clock
    from flashtui.providers.base import Plugin

RUN = "flash-100"
OTHER_RUN = "flash-1000"
CANARY = "rpa_CANARYKEY00000000"
OFFLINE = {
    "FLASHTUI_VAST_URL": "http://127.0.0.1:9",
    "FLASHTUI_RUNPOD_GRAPHQL_URL": "http://127.0.0.1:9/graphql",
    "FLASHTUI_RUNPOD_REST_URL": "http://127.0.0.1:9/v2",
    "FLASHTUI_RUNPOD_JOBS_URL": "http://127.0.0.1:9/jobs",
}


@dataclass(frozen=True)
class House:
    """One provider as the simulator plays it.

    Attributes:
        key: the simulator's good key.
        variable: the environment variable that holds a key.
        rent: rents under a label and returns the resource's id.
        label: of a run's first attempt, as this provider's resources carry it.
        destroys: pattern of the route that destroys.
        reads: pattern of the routes that list.
    """

    key: str
    variable: str
    rent: Callable[[Sim, str], str]
    label: Callable[[str], str]
    destroys: str
    reads: str


def _rent_vast(sim: Sim, label: str) -> str:
    instance_id = str(sim.rent(label=label))
    sim.step(2.0)  # the listing lags behind
    return instance_id


def _rent_runpod(sim: Sim, label: str) -> str:
    body = {
        "name": label,
        "type": "QUEUE",
        "scaling": {"type": "QUEUE_DELAY", "queueDelay": 4},
        "gpu": {"pools": ["ADA_24"]},
        "image": "acme/worker:1",
        "timeout": 86_400_000,
        "disk": 20,
        "workers": {"min": 0, "max": 1, "idleTimeout": 60},
    }
    reply = sim.send("POST", "/v2/serverless", body, key="rpa_DEMOKEY", surface="runpod")
    assert reply.status == 201, reply.body
    return str(reply.json["id"])


# The first is a row of "runpod_endpoint_names" in tests/data/reference_alloc.json; the second ends in the first eight
# digits of the SHA-1 of its run id.
_ENDPOINT_NAMES = {RUN: "flash-4090-flash10004234fdd", OTHER_RUN: "flash-4090-flash1000f18a501a"}

HOUSES: dict[str, House] = {
    "runpod": House(
        key="rpa_DEMOKEY",
        variable="RUNPOD_API_KEY",
        rent=_rent_runpod,
        label=lambda run_id: _ENDPOINT_NAMES[run_id],
        destroys="DELETE /v2/serverless/*",
        reads="GET /v2/*",
    ),
    "vast": House(
        key="vast-demo-key",
        variable="VAST_API_KEY",
        rent=_rent_vast,
        label=lambda run_id: f"{run_id}-s0-a0",
        destroys="DELETE /api/v0/instances/*",
        reads="GET /api/v*",
    ),
}


def names() -> tuple[str, ...]:
    """Every installed provider."""
    return Registry(lambda _name: _never()).names


def _never() -> Context:
    raise AssertionError


@dataclass(frozen=True)
class Built:
    """A plugin and everything it was handed."""

    plugin: Plugin
    context: Context
    script: ScriptedHttp


def built(
    name: str, home: Path, *, keys: tuple[str, ...] = (), hf: bool = False, **env: str
) -> Built:
    """The plugin over a script without a single answer: any request fails the test."""
    script = ScriptedHttp(FakeClock())
    redactor = Redactor()
    context = _context(
        {**OFFLINE, **env}, script.http(redactor=redactor), script.clock, home, keys, hf=hf
    )
    return Built(Registry(lambda _: context).plugin(name), context, script)


class SimClock:
    """The simulator's own time: sleeping moves it."""

    def __init__(self, sim: Sim) -> None:
        self._time = sim.world.time

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._time.now(), UTC)

    def monotonic(self) -> float:
        return self._time.now()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)
        self._time.step(max(0.0, seconds))


@asynccontextmanager
async def simulated(
    name: str, home: Path, *, key: str | None = None
) -> AsyncIterator[tuple[Plugin, Sim]]:
    """The plugin over real sockets, in an account that rents nothing."""
    sim = Sim("empty")
    clock = SimClock(sim)
    client = build_client(loopback=True)
    http = Http(client, clock, random.Random(1), Pacer(clock), Redactor())
    keys = (HOUSES[name].key if key is None else key,)
    context = _context(sim.running.exports(), http, clock, home, keys)
    try:
        yield Registry(lambda _: context).plugin(name), sim
    finally:
        await client.aclose()
        sim.close()


def _context(
    env: dict[str, str],
    http: Http,
    clock: Clock,
    home: Path,
    keys: tuple[str, ...],
    *,
    hf: bool = False,
) -> Context:
    settings = Settings.load({"FLASHTUI_HOME": str(home), **env})
    secrets = tuple(Secret(key) for key in keys)
    token = Secret("hf_FAKETOKEN00000000") if hf else None
    return Context(settings, secrets, token, http, clock, random.Random(5))


def everything_shown(*things: Any) -> str:
    """All texts a careless log line or crash report would make of some objects."""
    return " ".join(f"{thing!r} {thing}" for thing in things)
