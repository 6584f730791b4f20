"""The Vast plugin over a script or over the simulator, and rows as Vast sends them."""

from __future__ import annotations

import asyncio
import json
import random
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from flashtui.domain.job import JobSpec
from flashtui.domain.run import JobHandle
from flashtui.net.exchange import Http
from flashtui.net.pace import Pacer
from flashtui.net.secret import Redactor, Secret
from flashtui.net.transport import build_client
from flashtui.providers.base import Context
from flashtui.providers.vast import plugin
from flashtui.providers.vast.pricing import VastPrices
from flashtui.settings import Settings
from tests.fakes import T0, Answer, FakeClock, ScriptedHttp
from tests.sim.vast_sim import Sim

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from flashtui.domain.clock import Clock
    from flashtui.domain.run import Inventory
    from flashtui.providers.base import Plugin, Provider
    from flashtui.sim.scenario import Scenario

DATA = Path(__file__).parents[2] / "data"
KEY = "vast-canary-key-0123456789"
SEARCH = "POST /api/v0/bundles/"
LIST = "GET /api/v1/instances/"
USER = "GET /api/v0/users/current/"
OFFER: dict[str, Any] = json.loads((DATA / "vast_offer_example.json").read_text())
INSTANCE: dict[str, Any] = json.loads((DATA / "vast_instance_example.json").read_text())
T0_S = T0.timestamp()
# A month after the tests' present, in place of the examples' own dates.
LATER_S = T0_S + 30 * 86_400


def offer_row(offer_id: int = 27154403, /, **changes: object) -> dict[str, Any]:
    """A usable offer of one RTX 4090 at $0.36 and $0.15 per GB and month, with changes."""
    return {
        **OFFER,
        "id": offer_id,
        "machine_id": offer_id % 100_000,
        "end_date": LATER_S,
        **changes,
    }


def instance_row(instance_id: int = 28450117, /, **changes: object) -> dict[str, Any]:
    """A running instance that began at the tests' present, with changes; its block of costs follows its status."""
    row = {**INSTANCE, "id": instance_id, "start_date": T0_S, "end_date": LATER_S, **changes}
    if "instance" not in changes and row["actual_status"] != "running":
        row["instance"] = {"gpuCostPerHour": 0.0, "diskHour": 0.01, "totalHour": 0.01}
    return row


def offers(*rows: object) -> Answer:
    return Answer({"offers": list(rows)})


def page(*rows: object, token: str | None = None, total: int | None = None) -> Answer:
    return Answer(
        {
            "success": True,
            "instances_found": len(rows),
            "total_instances": len(rows) if total is None else total,
            "next_token": token,
            "instances": list(rows),
        }
    )


def detail(row: object) -> Answer:
    return Answer({"instances": row})


def show(instance_id: int) -> str:
    return f"GET /api/v0/instances/{instance_id}/"


def delete(instance_id: int) -> str:
    return f"DELETE /api/v0/instances/{instance_id}/"


def manage(instance_id: int) -> str:
    return f"PUT /api/v0/instances/{instance_id}/"


def rent(offer_id: int) -> str:
    return f"PUT /api/v0/asks/{offer_id}/"


NO_SUCH_ASK = Answer(
    {
        "success": False,
        "error": "invalid_args",
        "msg": "error 404/3603: no_such_ask Instance type by id 1 is not available.",
    },
    404,
)
BAD_KEY = Answer({"success": False, "error": "auth_error", "msg": "Invalid user key"}, 404)
OK = Answer({"success": True})
GONE = Answer({"success": False, "error": "no_such_instance", "msg": "Instance not found"}, 404)


def created(instance_id: int) -> Answer:
    return Answer({"success": True, "new_contract": instance_id, "instance_api_key": "c0ffee99"})


def handle(instance_id: int = 28450117, /, **changes: object) -> JobHandle:
    data: dict[str, Any] = {
        "instance_id": instance_id,
        "offer_id": 2,
        "machine_id": 38861,
        "label": "flash-100-s0-a0",
        "gpu": "RTX 5090",
        "hourly_usd": 0.6,
        "attempt": 0,
        "started_ts": T0_S,
        "seed": 0,
    }
    return JobHandle("vast", {**data, **changes})


def job(run_id: str = "flash-100", **tables: dict[str, Any]) -> JobSpec:
    """A small SFT job on an RTX 4090 with a repository in the hub."""
    train = {"hf_repo": "acme/runs", **tables.pop("train", {})}
    gpu = {"type": "RTX 4090", **tables.pop("gpu", {})}
    return JobSpec.from_dict(
        {"run_id": run_id, "algorithm": "sft", "train": train, "gpu": gpu, **tables}
    )


@dataclass
class Rig:
    """A plugin and what is around it."""

    plugin: Plugin
    context: Context
    script: ScriptedHttp = field(default_factory=ScriptedHttp)

    @property
    def provider(self) -> Provider:
        return self.plugin.provider

    @property
    def prices(self) -> VastPrices:
        return cast("VastPrices", self.plugin.prices)

    @property
    def clock(self) -> FakeClock:
        return self.script.clock

    async def inventory(self) -> Inventory:
        assert self.plugin.inventory is not None
        return await self.plugin.inventory.inventory()


def scripted(
    home: Path,
    *,
    key: str | None = KEY,
    hf_token: str | None = None,
    within_s: float = 120.0,
    config: str = "",
    start: datetime = T0,
    **env: str,
) -> Rig:
    """The plugin over a script; routes that are not scripted fail the test."""
    script = ScriptedHttp(FakeClock(start))
    (home / "config.toml").write_text(config, encoding="utf-8")
    (home / "config.toml").chmod(0o600)
    environment = {"FLASHTUI_VAST_URL": "http://127.0.0.1:9", "HF_ENDPOINT": "http://127.0.0.1:9"}
    context = _context({**environment, **env}, script.http(), script.clock, home, key, hf_token)
    context = Context(
        context.settings,
        context.keys,
        context.hf_token,
        context.http,
        context.clock,
        context.rng,
        within_s,
    )
    return Rig(plugin(context), context, script)


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
    home: Path, scenario: str | Scenario = "empty", *, key: str | None = "vast-demo-key", **env: str
) -> AsyncIterator[tuple[Rig, Sim]]:
    """The plugin over real sockets."""
    sim = Sim(scenario)
    clock = SimClock(sim)
    client = build_client(loopback=True)
    http = Http(client, clock, random.Random(1), Pacer(clock), Redactor())
    context = _context({**sim.running.exports(), **env}, http, clock, home, key, "hf_DEMO0000")
    try:
        yield Rig(plugin(context), context), sim
    finally:
        await client.aclose()
        sim.close()


def _context(
    env: dict[str, str],
    http: Http,
    clock: Clock,
    home: Path,
    key: str | None,
    hf_token: str | None,
) -> Context:
    settings = Settings.load({"FLASHTUI_HOME": str(home), **env})
    keys = (Secret(key),) if key is not None else ()
    token = Secret(hf_token) if hf_token is not None else None
    return Context(settings, keys, token, http, clock, random.Random(5))
