"""The one simulated RunPod account: everything both of its surfaces (control plane, jobs) share."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from flashtui.sim.runpod import seeding
from flashtui.sim.runpod.books import Books
from flashtui.sim.runpod.cards import CARDS, Card
from flashtui.sim.runpod.events import Events
from flashtui.sim.runpod.market import Market
from flashtui.sim.runpod.money import Money
from flashtui.sim.runpod.plans import Plans
from flashtui.sim.runpod.pods import PodPark, PodWish
from flashtui.sim.runpod.problem import ProblemError
from flashtui.sim.runpod.quirks import CATCH_ALL, NO_CREDIT, OrderedTrouble, Quirks, quota_text
from flashtui.sim.runpod.real_work import RealWork
from flashtui.sim.runpod.records import Template
from flashtui.sim.runpod.serverless import HOURS_PER_MONTH, Fleet, FleetSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashtui.sim.runpod.records import Endpoint, Job, Pod, Volume
    from flashtui.sim.world import World

FULL_KEY = "rpa_DEMOKEY"
READ_ONLY_KEY = "rpa_DEMOREADONLY"
OTHER_ACCOUNT_KEY = "rpa_DEMOOTHER"
"""A valid key of somebody else: it sees an empty account, and 404 for every id of ours."""

OWNER_OF_KEY = {FULL_KEY: "user_demo", READ_ONLY_KEY: "user_demo", OTHER_ACCOUNT_KEY: "user_other"}

TEMPLATE_HELD_S = 120.0
"""How long a template stays undeletable after its endpoint is gone."""
_VOLUME_USD = (0.07, 0.05)
_ID_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"


class RunpodState:
    """All endpoints, jobs, pods and templates, the market, and the money.

    Args:
        world: hands out the clock, the ledger, seeded randomness and the scenario. The scenario's
            `[runpod]` table is read here: `balance`, `volatility`, `sells_out`, `worker_quota`,
            `pods_boot_s`, `[runpod.serverless]` (`start_s`, `run_s`, `sync_run_s`, `bills_start`,
            `bills_disk`), `[[runpod.plans]]`, and the lists that `seeding` describes.
    """

    def __init__(self, world: World) -> None:
        table: Mapping[str, Any] = world.scenario.table("runpod")
        serverless: Mapping[str, Any] = table.get("serverless", {})
        self.world = world
        self.start = world.time.start
        self._clock = self.start
        self._counter = itertools.count(1)
        self._quota = table.get("worker_quota")
        self.quirks = Quirks(world)
        self.market = Market(
            world.seed,
            volatility=float(table.get("volatility", 1.0)),
            sells_out=bool(table.get("sells_out", True)),
        )
        self.market.blocked = self.quirks.blocked
        self.books = Books(world.ledger)
        self.plans = Plans(
            table.get("plans", ()),
            run_s=_span(serverless.get("run_s", (300.0, 1200.0))),
            sync_run_s=_span(serverless.get("sync_run_s", (0.5, 2.0))),
            rng=world.rng,
        )
        self.fleet = Fleet(
            self.market,
            self.books,
            FleetSettings(
                start_s=_span(serverless.get("start_s", (25.0, 70.0))),
                bills_start=bool(serverless.get("bills_start", True)),
                bills_disk=bool(serverless.get("bills_disk", True)),
            ),
            new_id=self.new_id,
            rng=world.rng,
        )
        self.fleet.trouble = OrderedTrouble(self.plans, self.quirks)
        self.fleet.is_halted = lambda: self.money.is_out
        self.park = PodPark(
            self.market,
            self.books,
            boot_s=_span(table.get("pods_boot_s", (40.0, 120.0))),
            new_id=self.new_id,
            rng=world.rng,
        )
        self.money = Money(world.ledger, float(table.get("balance", 231.40178211)))
        self.events = Events(self)
        self.endpoints: dict[str, Endpoint] = {}
        self.deleted: dict[str, Endpoint] = {}
        self.pods: dict[str, Pod] = {}
        self.templates: dict[str, Template] = {}
        self.volumes: dict[str, Volume] = {}
        self.registries: dict[str, str] = {}
        self.ssh_keys: tuple[str, ...] = ()
        self.real_work = None if world.work is None else RealWork(world, world.work)
        self.fleet.host = self.park.work = self.real_work
        seeding.fill(self, table)
        self.money.begin(self.start)

    # -- ids -------------------------------------------------------------------------------------

    def new_id(self, length: int) -> str:
        """A fresh id in the provider's alphabet; the n-th one depends only on the seed."""
        draw = self.world.rng("runpod", "id", next(self._counter))
        return "".join(draw.choices(_ID_LETTERS, k=length))

    def new_uuid(self) -> str:
        """A job id without its suffix."""
        draw = self.world.rng("runpod", "uuid", next(self._counter))
        text = f"{draw.getrandbits(128):032x}"
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"

    # -- time ------------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """The moment the state has been brought up to."""
        return self._clock

    def advance(self, now: float) -> None:
        """Bring everything up to now, stopping at each moment at which something befalls it."""
        while self._clock < now:
            until = min(
                now,
                self.money.next_look(self._clock),
                self._next_removal(),
            )
            self._move(max(until, self._clock + 1e-6))
        self.events.strike(self._clock)
        self._move(self._clock)

    def _move(self, now: float) -> None:
        self._clock = now
        self.books.seen(now)
        for endpoint in self.endpoints.values():
            self.fleet.advance(endpoint, now)
        if self.money.runs_out(now):
            self._stop_for_lack_of_money(now)
        for endpoint in [e for e in self.endpoints.values() if now >= (e.removed_at or now + 1)]:
            self._remove(endpoint)
        for pod in list(self.pods.values()):
            self.park.advance(pod, now)
            if pod.removed_at is not None and now >= pod.removed_at and pod.ended_at is None:
                self.park.terminate(pod, now)

    def _next_removal(self) -> float:
        waiting = [
            *(endpoint.removed_at for endpoint in self.endpoints.values()),
            *(pod.removed_at for pod in self.pods.values()),
        ]
        due = (moment for moment in waiting if moment is not None and moment > self._clock)
        return min(due, default=float("inf"))

    def _stop_for_lack_of_money(self, now: float) -> None:
        """At zero pods stop: those with a network volume are kept, the others end.

        What happens to serverless is not documented; here its workers stop and jobs wait.
        """
        for pod in self.pods.values():
            if pod.status != "RUNNING":
                continue
            if pod.volume_id is not None:
                self.park.stop(pod, now, "Stopped for lack of funds")
            else:
                self.park.terminate(pod, now)
        for endpoint in self.endpoints.values():
            self.fleet.settle(endpoint)

    # -- looking things up -----------------------------------------------------------------------

    def cards(self) -> tuple[Card, ...]:
        """Every GPU type the lists show now."""
        return (*CARDS, *self.quirks.new_cards())

    def listed_endpoints(self, owner: str, route: str) -> list[Endpoint]:
        """What a listing shows: normally the live endpoints, oldest first."""
        everything = [*self.endpoints.values(), *self.deleted.values()]
        at = self._clock - (self.quirks.stale_age(route) or 0.0)
        rows = [
            endpoint
            for endpoint in everything
            if endpoint.owner == owner
            and endpoint.created_at <= at
            and (endpoint.shown_until is None or at < endpoint.shown_until)
        ]
        return self.quirks.without_missing(rows, [row.endpoint_id for row in rows], route)

    def listed_pods(self, owner: str, route: str) -> list[Pod]:
        """What a listing shows: pods that exist, running or stopped."""
        at = self._clock - (self.quirks.stale_age(route) or 0.0)
        rows = [
            pod
            for pod in self.pods.values()
            if pod.owner == owner
            and pod.created_at <= at
            and (pod.shown_until is None or at < pod.shown_until)
        ]
        return self.quirks.without_missing(rows, [row.pod_id for row in rows], route)

    def endpoint(self, endpoint_id: str, owner: str) -> Endpoint | None:
        """One live endpoint, None for a deleted one or somebody else's."""
        found = self.endpoints.get(endpoint_id)
        return found if found is not None and found.owner == owner else None

    def pod(self, pod_id: str, owner: str) -> Pod | None:
        """One pod that still exists."""
        found = self.pods.get(pod_id)
        if found is None or found.owner != owner or found.ended_at is not None:
            return None
        return found

    def template(self, template_id: str, owner: str) -> Template | None:
        """One of the caller's templates, or a public one."""
        found = self.templates.get(template_id)
        return found if found is not None and (found.owner == owner or found.is_public) else None

    def template_named(self, name: str, owner: str) -> Template | None:
        """The caller's template of that name; names are unique per account."""
        rows = self.templates.values()
        return next((t for t in rows if t.owner == owner and t.name == name), None)

    def template_is_held(self, template: Template) -> str | None:
        """Why a template cannot be deleted now, None where it can."""
        is_bound = template.bound_to is not None and template.bound_to in self.endpoints
        is_fresh = template.freed_at is not None and (
            self._clock < template.freed_at + TEMPLATE_HELD_S
        )
        is_used = any(
            pod.template_id == template.template_id and pod.ended_at is None
            for pod in self.pods.values()
        )
        if is_bound or is_fresh or is_used:
            return "Template is in use by an endpoint or pod."
        return None

    def worker_quota(self) -> int:
        """How many workers all endpoints together may ask for."""
        return self.money.worker_quota(self._clock) if self._quota is None else int(self._quota)

    # -- changing things -------------------------------------------------------------------------

    def check_quota(self, owner: str, more: int) -> None:
        """Each endpoint reserves its maximum even while idle.

        Raises:
            ProblemError: these workers would exceed the account's quota.
        """
        taken = sum(e.workers_max for e in self.endpoints.values() if e.owner == owner)
        quota = self.worker_quota()
        if more > 0 and taken + more > quota:
            raise ProblemError(400, quota_text(quota))

    def refuse_if_ordered(self, route: str) -> None:
        """Turn a create down when a fault says so.

        Raises:
            ProblemError: with what the provider says.
        """
        refused = self.quirks.refusal(route)
        if refused is not None:
            raise ProblemError(refused.status, refused.detail)

    def add_endpoint(self, endpoint: Endpoint, route: str) -> None:
        """Make an endpoint exist and begin its ledger line.

        Raises:
            ProblemError: by order, although it was carried out.
        """
        if self.quirks.only_pretends(route):
            return
        if any(e.name == endpoint.name for e in self.endpoints.values()):
            self.world.strict.record("runpod", "repeated_create", f"endpoint {endpoint.name}")
        self.endpoints[endpoint.endpoint_id] = endpoint
        self.fleet.open(endpoint)
        self.fleet.advance(endpoint, self._clock)
        if self.quirks.fails_after_create(route):
            raise ProblemError(500, CATCH_ALL)

    def delete_endpoint(self, endpoint: Endpoint, route: str) -> None:
        """End an endpoint with its workers and jobs, at once or, when ordered, later."""
        if endpoint.removed_at is not None or self.quirks.only_pretends(route):
            return
        lingers = self.quirks.linger(route)
        if lingers is not None and lingers[1]:
            endpoint.removed_at = self._clock + lingers[0]
            return
        endpoint.shown_until = self._clock + (0.0 if lingers is None else lingers[0])
        self._remove(endpoint)

    def _remove(self, endpoint: Endpoint) -> None:
        self.fleet.delete(endpoint, self._clock)
        endpoint.shown_until = max(self._clock, endpoint.shown_until or 0.0)
        self.deleted[endpoint.endpoint_id] = self.endpoints.pop(endpoint.endpoint_id)
        for template in self.templates.values():
            if template.bound_to == endpoint.endpoint_id:
                template.bound_to = None
                template.freed_at = self._clock

    def submit(self, endpoint: Endpoint, job: Job) -> None:
        """Put a job on an endpoint's queue."""
        endpoint.jobs[job.job_id] = job
        self.fleet.settle(endpoint)

    def rent(self, wish: PodWish, owner: str) -> Pod:
        """Rent a pod.

        Raises:
            ProblemError: not an hour's worth of credit left.
            NoCapacityError: no machine is free.
        """
        if self.money.balance(self._clock) < 1 and self.park.can_place(wish, self._clock):
            raise ProblemError(402, NO_CREDIT)
        if any(p.name == wish.name and p.ended_at is None for p in self.pods.values()):
            self.world.strict.record("runpod", "repeated_create", f"pod {wish.name}")
        pod = self.park.rent(wish, owner, self._clock)
        if self.money.balance(self._clock) < pod.usd_per_hour:
            self.park.terminate(pod, self._clock)
            pod.shown_until = self._clock
            raise ProblemError(402, NO_CREDIT)
        if self.quirks.is_stuck(pod.name):
            pod.ready_at = float("inf")
        self.pods[pod.pod_id] = pod
        return pod

    def add_stranger(self, name: str) -> None:
        """A pod that somebody else rents on this account, on the first type that is free."""
        template = Template(self.new_id(10), name, seeding.IMAGE, "user_demo", disk_gb=20)
        wishes = (PodWish(name=name, gpu_id=card.gpu_id, template=template) for card in CARDS)
        wish = next((w for w in wishes if self.park.can_place(w, self._clock)), None)
        if wish is not None:
            pod = self.park.rent(wish, "user_demo", self._clock)
            self.pods[pod.pod_id] = pod

    def terminate(self, pod: Pod, route: str) -> None:
        """End a pod, at once or, when ordered, later."""
        if pod.removed_at is not None or self.quirks.only_pretends(route):
            return
        lingers = self.quirks.linger(route)
        if lingers is not None and lingers[1]:
            pod.removed_at = self._clock + lingers[0]
            return
        self.park.terminate(pod, self._clock)
        pod.shown_until = self._clock + (0.0 if lingers is None else lingers[0])

    def add_volume(self, volume: Volume, now: float) -> None:
        """Make a network volume exist; it costs whether used or not."""
        self.volumes[volume.volume_id] = volume
        self.books.open(volume.volume_id, kind="volume", label=volume.name, gpu="", at=now)
        self.bill_volume(volume, now)

    def bill_volume(self, volume: Volume, now: float) -> None:
        """Set a volume's rate: 0.07 dollars per GB and month up to 1 TB, 0.05 beyond."""
        first, rest = min(volume.size_gb, 1000), max(volume.size_gb - 1000, 0)
        rate = (first * _VOLUME_USD[0] + rest * _VOLUME_USD[1]) / HOURS_PER_MONTH
        self.books.set_rate(volume.volume_id, "storage", rate, now)

    def delete_volume(self, volume: Volume) -> None:
        """End a volume."""
        del self.volumes[volume.volume_id]
        self.books.close(volume.volume_id, self._clock)


def _span(value: Any) -> tuple[float, float]:
    low, high = value
    return float(low), float(high)
