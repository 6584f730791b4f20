"""The one core of the simulator: every provider's state behind `World.handle(Request) -> Response`.

The same object answers in process (for tests that need no socket) and behind the loopback server. State is a
function of time: nothing runs in the background, every request first brings the state up to the present.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from typing import TYPE_CHECKING, Protocol

from flashtui.sim import admin, surfaces
from flashtui.sim import scenario as scenarios
from flashtui.sim.fault_replies import login_page
from flashtui.sim.faults import Faults
from flashtui.sim.ledger import Ledger
from flashtui.sim.strict import Strict

if TYPE_CHECKING:
    from flashtui.sim.http import Request, Response
    from flashtui.sim.scenario import Scenario
    from flashtui.sim.simtime import SimTime
    from flashtui.sim.work import Work

SURFACES = ("vast", "runpod", "jobs", "hub")
_ID = "{id}"
_MOST_ROUTES = 500


class Surface(Protocol):
    """One provider's API: a listener of its own, one dispatch."""

    name: str

    def handle(self, request: Request) -> Response:
        """Answer a request; an unknown route is an ordinary answer and a strictness record."""
        ...

    def advance(self, now: float) -> None:
        """Bring all state up to `now`; called under the world's lock before everything else."""
        ...

    def prices(self, at: float) -> list[dict[str, object]]:
        """What each product costs at a moment, for `/_sim/prices`; empty where nothing is sold."""
        ...

    def state(self) -> list[dict[str, object]]:
        """The resources as the provider sees them now, for `/_sim/state`."""
        ...


class World:
    """All providers of one scenario, one seed and one clock.

    Args:
        work: runs what rented machines would run as local processes; None for machines that only seem to run.
    """

    def __init__(
        self, scenario: Scenario, seed: int, time: SimTime, *, work: Work | None = None
    ) -> None:
        self.time = time
        self.work = work
        self.lock = threading.RLock()
        self._urls = {name: f"http://{name}.sim" for name in SURFACES}
        self._build(scenario, seed)

    def _build(self, scenario: Scenario, seed: int) -> None:
        self.scenario = scenario
        self.seed = seed
        self.ledger = Ledger()
        self.strict = Strict()
        self.faults = Faults(self.time.now, scenario.faults)
        self.requests: Counter[str] = Counter()
        self.surfaces: dict[str, Surface] = surfaces.build(self)

    @property
    def start(self) -> float:
        """Epoch seconds at which this world began."""
        return self.time.start

    def rng(self, *names: object) -> random.Random:
        """A random source that depends on the seed and the names alone."""
        return random.Random("/".join(str(part) for part in (self.seed, *names)))

    def url(self, surface: str) -> str:
        """Base address of a surface."""
        return self._urls[surface]

    def mounted(self, urls: dict[str, str]) -> None:
        """Tell the world where its surfaces can be reached."""
        self._urls.update(urls)
        if self.work is not None:
            clock = f"{self.url('hub')}/_sim/time"
            self.work.network.update(HF_ENDPOINT=self.url("hub"), FLASHTUI_CLOCK_URL=clock)

    def handle(self, request: Request) -> Response:
        """Answer one request; safe from any thread."""
        with self.lock:
            if request.path.startswith("/_sim/"):
                return admin.handle(self, request)
            self.advance()
            self._count(request)
            return self.faults.around(request, lambda: self._carried_out(request))

    def held(self, response: Response) -> None:
        """Look again at a request that waits; the answer is put into the response once there is one."""
        with self.lock:
            self.advance()
            found = response.hold() if response.hold is not None else None
            if found is not None:
                response.hold = None
                response.status, response.body = found.status, found.body
                response.headers.update(found.headers)

    def advance(self) -> float:
        """Bring every surface up to the present and return that moment."""
        now = self.time.now()
        for surface in self.surfaces.values():
            surface.advance(now)
        return now

    def reset(self, *, scenario: str | None = None, seed: int | None = None) -> None:
        """Begin again at the start, with another scenario or seed if given.

        Raises:
            ValueError: no such scenario.
        """
        chosen = self.scenario if scenario is None else scenarios.load(scenario)
        self.time.restart()
        if self.work is not None:
            self.work.kill_all()
        self._build(chosen, self.seed if seed is None else seed)

    def seed_runs(self) -> list[dict[str, object]]:
        """Items shaped like `flashtui.runs/1` for the runs that exist at the start.

        What a resource in the ledger has cost until the start is filled in.
        """
        items = [scenarios.run_at(run, self.start) for run in self.scenario.runs]
        for item in items:
            self._fill_costs(item)
        return items

    def _fill_costs(self, item: dict[str, object]) -> None:
        resources = item.get("resources")
        for resource in resources if isinstance(resources, list) else []:
            provider, name = str(resource["provider"]), str(resource["id"])
            resource.setdefault("confirmed_gone_at", None)
            if self.ledger.has(provider, name):
                resource["cost_usd"] = round(
                    float(self.ledger.billed(provider, name, self.start)), 6
                )
                item["cost_usd"] = resource["cost_usd"]
                item["may_bill"] = True
        item.setdefault("may_bill", False)

    def _count(self, request: Request) -> None:
        """Count a request by its route, with ids taken out; the number of names stays bounded."""
        parts = [_ID if _looks_like_an_id(part) else part for part in request.path.split("/")]
        name = f"{request.surface} {request.method} {'/'.join(parts)}"
        if name in self.requests or len(self.requests) < _MOST_ROUTES:
            self.requests[name] += 1

    def _carried_out(self, request: Request) -> Response:
        if request.path == "/login":
            return login_page()
        return self.surfaces[request.surface].handle(request)


def _looks_like_an_id(part: str) -> bool:
    return len(part) > 2 and any(letter.isdigit() for letter in part)
