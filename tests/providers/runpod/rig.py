"""The RunPod plugin against the simulator over loopback HTTP, or against a script; and the clocks that go with them."""

from __future__ import annotations

import asyncio
import random
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from flashtui.domain.job import GpuSpec, JobSpec
from flashtui.domain.secret import Secret
from flashtui.net.exchange import Http
from flashtui.net.pace import Pacer
from flashtui.net.secret import Redactor
from flashtui.net.transport import build_client
from flashtui.providers.base import Context
from flashtui.providers.runpod import plugin
from flashtui.settings import Settings
from tests.fakes import Answer, FakeClock, ScriptedHttp
from tests.sim.runpod_sim import QUIET, Sim, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from flashtui.domain.clock import Clock
    from flashtui.providers.base import Plugin, PriceSource, Provider

KEY = "rpa_DEMOKEY"
READ_ONLY = "rpa_DEMOREADONLY"
OTHER_ACCOUNT = "rpa_DEMOOTHER"
GRAPHQL = "POST /graphql"
CATALOG = "GET /v2/catalog/gpus"
ENDPOINTS = "GET /v2/serverless"
PODS = "GET /v2/pods"
CREATE = "POST /v2/serverless"
SCRIPTED = {
    "FLASHTUI_RUNPOD_GRAPHQL_URL": "http://127.0.0.1:9/graphql",
    "FLASHTUI_RUNPOD_REST_URL": "http://127.0.0.1:9/v2",
    "FLASHTUI_RUNPOD_JOBS_URL": "http://127.0.0.1:9/jobs",
}


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


@dataclass(frozen=True)
class Rig:
    """A plugin and what is around it."""

    plugin: Plugin
    context: Context
    redactor: Redactor

    @property
    def provider(self) -> Provider:
        return self.plugin.provider

    @property
    def prices(self) -> PriceSource:
        assert self.plugin.prices is not None
        return self.plugin.prices


@dataclass(frozen=True)
class SimRig(Rig):
    """With the simulator behind it."""

    sim: Sim


def context(
    env: dict[str, str],
    http: Http,
    clock: Clock,
    home: Path,
    *,
    keys: tuple[str, ...] = (KEY,),
    confirm_within_s: float = 120.0,
    hf_token: str | None = None,
) -> Context:
    """What the plugin is handed."""
    settings = Settings.load({"FLASHTUI_HOME": str(home), **env})
    secrets = tuple(Secret(key) for key in keys)
    token = None if hf_token is None else Secret(hf_token)
    return Context(
        settings, secrets, token, http, clock, random.Random(5), confirm_within_s=confirm_within_s
    )


@asynccontextmanager
async def against_sim(
    home: Path,
    scenario: str = QUIET,
    *,
    keys: tuple[str, ...] = (KEY,),
    env: dict[str, str] | None = None,
    confirm_within_s: float = 120.0,
) -> AsyncIterator[SimRig]:
    """The plugin over real sockets; the simulator's clock moves when the plugin sleeps."""
    with running(scenario) as sim:
        clock = SimClock(sim)
        redactor = Redactor()
        client = build_client(loopback=True)
        http = Http(client, clock, random.Random(1), Pacer(clock), redactor)
        exports = {**sim.running.exports(), **(env or {})}
        made = context(exports, http, clock, home, keys=keys, confirm_within_s=confirm_within_s)
        try:
            yield SimRig(plugin(made), made, redactor, sim)
        finally:
            await client.aclose()


def scripted(
    script: ScriptedHttp,
    home: Path,
    *,
    keys: tuple[str, ...] = (KEY,),
    env: dict[str, str] | None = None,
    confirm_within_s: float = 120.0,
    hf_token: str | None = None,
) -> Rig:
    """The plugin over a script of answers, on a virtual clock."""
    redactor = Redactor()
    made = context(
        {**SCRIPTED, **(env or {})},
        script.http(redactor=redactor),
        script.clock,
        home,
        keys=keys,
        confirm_within_s=confirm_within_s,
        hf_token=hf_token,
    )
    return Rig(plugin(made), made, redactor)


def script(**answers: Answer) -> ScriptedHttp:
    """A script with the two price routes answering nothing special."""
    made = ScriptedHttp(FakeClock())
    made.on(GRAPHQL, answers.get("graphql", Answer({"data": {"gpuTypes": [gpu_type()]}})))
    made.on(CATALOG, answers.get("catalog", Answer({"gpus": [catalog_gpu()]})))
    return made


def gpu_type(gpu_id: str = "NVIDIA GeForce RTX 4090", **changes: object) -> dict[str, object]:
    """One of GraphQL's GPU types, in stock."""
    return {
        "id": gpu_id,
        "displayName": "RTX 4090",
        "memoryInGb": 24,
        "secureCloud": True,
        "communityCloud": True,
        "securePrice": 0.74,
        "communityPrice": 0.34,
        "lowestPrice": {"uninterruptablePrice": 0.74, "stockStatus": "High"},
        **changes,
    }


def catalog_gpu(gpu_id: str = "NVIDIA GeForce RTX 4090", **changes: object) -> dict[str, object]:
    """One of the REST catalogue's GPU types, in stock."""
    return {
        "id": gpu_id,
        "name": "RTX 4090",
        "pool": "ADA_24",
        "manufacturer": "NVIDIA",
        "memory": 24,
        "secure": True,
        "community": True,
        "price": {"secure": 0.74, "community": 0.34, "serverless": 1.116},
        "maxCount": {"secure": 9, "community": 8},
        "availability": "HIGH",
        "dataCenters": [
            {"id": "EU-RO-1", "name": "EU-RO-1", "availability": "HIGH"},
            {"id": "US-IL-1", "name": "US-IL-1", "availability": "NONE"},
        ],
        **changes,
    }


def spec(run_id: str, *, gpu: str = "RTX 4090", max_wall_seconds: int = 86_400) -> JobSpec:
    """A job for one class."""
    return JobSpec(run_id=run_id, gpu=GpuSpec(type=gpu, max_wall_seconds=max_wall_seconds))
