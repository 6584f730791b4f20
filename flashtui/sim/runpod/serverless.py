"""Serverless endpoints in time: queue, workers, and what the ledger bills for them.

Everything that happens between two looks at an endpoint is derived by walking through its events in
order, so a step of one second and a step of an hour lead to the same state. Sources: docs
serverless/workers/overview (states), serverless/endpoints/endpoint-configurations (scaling, idle
timeout, execution timeout), serverless/pricing (billed from worker start to full stop, rounded up to
the second), serverless/endpoints/operation-reference (retention).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtui.sim.runpod import job_queue
from flashtui.sim.runpod.cards import CARD_BY_ID, pool_members
from flashtui.sim.runpod.market import LEVELS, Market
from flashtui.sim.runpod.records import Endpoint, Worker
from flashtui.sim.runpod.trouble import Trouble, WorkerHost

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

    from flashtui.sim.runpod.books import Books

HOURS_PER_MONTH = 730
DISK_USD_PER_GB_MONTH = 0.10
_RETRY_PLACEMENT_S = 30.0
_MAX_GPUS = {"NONE": 0, "LOW": 1, "MEDIUM": 4, "HIGH": 8}


@dataclass(frozen=True, slots=True)
class FleetSettings:
    """How workers behave in a scenario."""

    start_s: tuple[float, float] = (25.0, 70.0)
    bills_start: bool = True
    """The pricing page bills the start, the worker-state table does not."""
    bills_disk: bool = True


class Fleet:
    """Moves endpoints on in time and tells the ledger what they cost.

    Args:
        market: stock and pool prices.
        books: where what is billed is written down.
        settings: of the scenario.
        new_id: makes an id of the given length.
        rng: a seeded generator by name.
    """

    def __init__(
        self,
        market: Market,
        books: Books,
        settings: FleetSettings,
        *,
        new_id: Callable[[int], str],
        rng: Callable[..., random.Random],
    ) -> None:
        self._market = market
        self._books = books
        self._settings = settings
        self._new_id = new_id
        self._rng = rng
        self.host: WorkerHost | None = None
        self.trouble: Trouble = Trouble()
        self.is_halted: Callable[[], bool] = lambda: False

    # -- time ------------------------------------------------------------------------------------

    def open(self, endpoint: Endpoint) -> None:
        """Start the endpoint's clock and its line in the ledger."""
        endpoint.clock = endpoint.created_at
        self._books.open(
            endpoint.endpoint_id,
            kind="endpoint",
            label=endpoint.name,
            gpu=self._gpu_label(endpoint),
            at=endpoint.created_at,
        )
        self.settle(endpoint)

    def advance(self, endpoint: Endpoint, now: float) -> None:
        """Let everything that is due up to now happen, in order."""
        if endpoint.deleted_at is not None:
            return
        while (moment := self._next_event(endpoint)) is not None and moment <= now:
            endpoint.clock = moment
            self.settle(endpoint)
        endpoint.clock = max(endpoint.clock, now)
        if self.is_real(endpoint):
            self._drive(endpoint)
            self.settle(endpoint)

    def settle(self, endpoint: Endpoint) -> None:
        """Apply every rule at the endpoint's own clock."""
        now = endpoint.clock
        job_queue.forget(endpoint, now)
        is_real = self.is_real(endpoint)
        job_queue.finish(endpoint, self.trouble, now, has_real_work=is_real)
        self._assign(endpoint, now)
        self._shrink(endpoint, now)
        self._grow(endpoint, now)
        # A worker that needs no start can begin at once.
        self._assign(endpoint, now)
        self._bill(endpoint, now)

    def delete(self, endpoint: Endpoint, now: float) -> None:
        """End every worker and drop the queue; the ledger closes."""
        for worker in list(endpoint.workers.values()):
            self.stop(endpoint, worker, now)
        endpoint.jobs.clear()
        endpoint.deleted_at = now
        self._bill(endpoint, now)
        self._books.close(endpoint.endpoint_id, now)

    def stop(self, endpoint: Endpoint, worker: Worker, now: float) -> None:
        """End a worker. Its time is rounded up to the next full second."""
        del endpoint.workers[worker.worker_id]
        if self.host is not None:
            self.host.worker_stopped(worker)
        if worker.started_at is None:
            return
        seconds = now - worker.started_at
        missing = math.ceil(round(seconds, 6)) - seconds
        if missing > 1e-6:
            self._books.charge(
                endpoint.endpoint_id,
                "rounding",
                worker.usd_per_hour * missing / 3600,
                now,
            )

    # -- workers ---------------------------------------------------------------------------------

    def sicken(self, endpoint: Endpoint, worker: Worker, now: float) -> None:
        """A worker fails its health check: its job goes back to the queue, it bills no more."""
        job = endpoint.jobs.get(worker.job_id or "")
        if job is not None:
            job_queue.requeue(endpoint, job, now)
        worker.is_unhealthy = True
        worker.log.append((now, "system", "worker is unhealthy"))

    def _assign(self, endpoint: Endpoint, now: float) -> None:
        if self.is_real(endpoint):
            return
        free = [w for w in endpoint.workers.values() if w.status(now) == "IDLE"]
        for worker, job in zip(free, job_queue.queued(endpoint), strict=False):
            job_queue.take(job, worker, now)

    def _shrink(self, endpoint: Endpoint, now: float) -> None:
        for worker in list(endpoint.workers.values()):
            status = worker.status(now)
            if status == "IDLE" and worker.idle_since is None:
                worker.idle_since = worker.ready_at
            surplus = len(endpoint.workers) > endpoint.workers_max
            waiting = status in {"THROTTLED", "INITIALIZING"} and not job_queue.queued(endpoint)
            over_min = len(endpoint.workers) > endpoint.workers_min
            idle_until = (worker.idle_since or 0) + endpoint.idle_timeout_s
            is_awaited = self.is_real(endpoint) and bool(job_queue.queued(endpoint))
            is_idle_too_long = status == "IDLE" and now >= idle_until and not is_awaited
            is_unneeded = over_min and (is_idle_too_long or (waiting and status == "THROTTLED"))
            if self.is_halted() or (surplus and status != "RUNNING") or is_unneeded:
                self._interrupt(endpoint, worker, now)

    def _interrupt(self, endpoint: Endpoint, worker: Worker, now: float) -> None:
        job = endpoint.jobs.get(worker.job_id or "")
        if job is not None:
            job_queue.requeue(endpoint, job, now)
        self.stop(endpoint, worker, now)

    def _grow(self, endpoint: Endpoint, now: float) -> None:
        if self.is_halted():
            return
        for worker in endpoint.workers.values():
            if worker.started_at is None:
                self._place(endpoint, worker, now)
        while len(endpoint.workers) < self._wanted(endpoint, now):
            worker = Worker(
                worker_id=self._new_id(14),
                created_at=now,
                version=endpoint.version,
                image=endpoint.template.image,
                gpu_count=endpoint.gpu_count,
            )
            self._place(endpoint, worker, now)
            if worker.started_at is None and not self._shows_throttled(endpoint):
                break
            endpoint.workers[worker.worker_id] = worker

    def _wanted(self, endpoint: Endpoint, now: float) -> int:
        queue = job_queue.queued(endpoint)
        have = len(endpoint.workers)
        wanted = max(endpoint.workers_min, have)
        if queue and endpoint.scaler == "REQUEST_COUNT":
            busy = sum(1 for worker in endpoint.workers.values() if worker.job_id)
            wanted = max(wanted, math.ceil((len(queue) + busy) / endpoint.scaler_value))
        elif queue:
            is_starting = any(
                w.status(now) in {"THROTTLED", "INITIALIZING", "IDLE"}
                for w in endpoint.workers.values()
            )
            is_late = now >= queue[0].created_at + endpoint.scaler_value
            wanted = max(wanted, 1 if have == 0 else have + (is_late and not is_starting))
        return min(wanted, endpoint.workers_max)

    def _shows_throttled(self, endpoint: Endpoint) -> bool:
        """A starved endpoint shows either throttled workers or none at all; both were seen."""
        return self._rng("runpod", "starved", endpoint.endpoint_id).random() < 0.5

    def _place(self, endpoint: Endpoint, worker: Worker, now: float) -> None:
        if self.trouble.is_starved(endpoint):
            return
        found = self.find_machine(endpoint, now)
        if found is None:
            return
        gpu_id, place_id = found
        low, high = self._settings.start_s
        worker.started_at = now
        worker.gpu_id = self.trouble.substitute(endpoint) or gpu_id
        worker.place_id = place_id
        start_s = self._rng("runpod", "start", worker.worker_id).uniform(low, high)
        worker.ready_at = math.inf if self.trouble.is_stuck(endpoint) else now + start_s
        worker.usd_per_hour = self.price(endpoint, gpu_id) * endpoint.gpu_count
        worker.log.append((now, "system", f"create container {worker.image}"))
        worker.log.append((worker.ready_at, "system", "start container"))

    def find_machine(self, endpoint: Endpoint, now: float) -> tuple[str, str] | None:
        """A (GPU type, data centre) with enough free cards, the first pool first; None if full."""
        tick = self._market.tick(now)
        for pool in endpoint.pools:
            options = self._options(endpoint, pool, tick)
            rank, gpu_id, place_id = max(options, key=lambda row: row[0], default=(0, "", ""))
            if _MAX_GPUS[LEVELS[rank]] >= endpoint.gpu_count:
                return gpu_id, place_id
        return None

    def _options(self, endpoint: Endpoint, pool: str, tick: int) -> Iterator[tuple[int, str, str]]:
        for card in pool_members(pool):
            if card.gpu_id in endpoint.excluded:
                continue
            for place in self._market.places(card):
                if endpoint.locations and not _matches(place.place_id, endpoint.locations):
                    continue
                level = self._market.stock(card, place.place_id, "SERVERLESS", tick)
                yield LEVELS.index(level), card.gpu_id, place.place_id

    def price(self, endpoint: Endpoint, gpu_id: str) -> float:
        """Dollars per GPU-hour of a worker: the pool's price when the endpoint was made."""
        if endpoint.usd_per_hour is not None:
            return endpoint.usd_per_hour
        card = CARD_BY_ID.get(gpu_id)
        pool = (card.pool if card else None) or endpoint.pools[0]
        return self._market.pool_price(pool, self._market.tick(endpoint.priced_at))

    def is_real(self, endpoint: Endpoint) -> bool:
        """Whether the endpoint's workers are real processes."""
        return self.host is not None and self.host.runs(endpoint)

    def _drive(self, endpoint: Endpoint) -> None:
        """Real work only: start what is up; a worker whose process ended is gone, its job failed."""
        if self.host is None:
            return
        now = endpoint.clock
        for worker in list(endpoint.workers.values()):
            if worker.ready_at is None or now < worker.ready_at:
                continue
            self.host.worker_ready(endpoint, worker)
            code = self.host.exit_code(worker)
            if code is None:
                continue
            worker.log.append((now, "system", f"container exited with code {code}"))
            job = endpoint.jobs.get(worker.job_id or "")
            if job is not None:
                job.error = f"worker exited with exit code {code}"
                job_queue.end(endpoint, job, "FAILED", now)
            self.stop(endpoint, worker, now)

    # -- events and money ------------------------------------------------------------------------

    def _next_event(self, endpoint: Endpoint) -> float | None:
        moments: list[float] = []
        for job in endpoint.jobs.values():
            moments.append(job_queue.forgotten_at(job))
            if job.status == "IN_PROGRESS":
                moments.append(job_queue.ends_at(job, has_real_work=self.is_real(endpoint)))
            elif job.status == "IN_QUEUE":
                moments.append(job.created_at + endpoint.scaler_value)
        is_waiting = bool(job_queue.queued(endpoint)) or endpoint.workers_min > 0
        for worker in endpoint.workers.values():
            if worker.ready_at is not None:
                moments.append(worker.ready_at)
            if worker.idle_since is not None:
                moments.append(worker.idle_since + endpoint.idle_timeout_s)
            is_waiting = is_waiting or worker.started_at is None
        if is_waiting:
            moments.append((endpoint.clock // _RETRY_PLACEMENT_S + 1) * _RETRY_PLACEMENT_S)
        due = [moment for moment in moments if moment > endpoint.clock and moment != math.inf]
        return min(due, default=None)

    def _bill(self, endpoint: Endpoint, now: float) -> None:
        rates = {"start": 0.0, "execution": 0.0, "idle": 0.0, "disk": 0.0}
        disk = endpoint.template.disk_gb * DISK_USD_PER_GB_MONTH / HOURS_PER_MONTH
        parts = {"INITIALIZING": "start", "RUNNING": "execution", "IDLE": "idle"}
        for worker in endpoint.workers.values():
            part = parts.get(worker.status(now))
            if part is None or (part == "start" and not self._settings.bills_start):
                continue
            rates[part] += worker.usd_per_hour
            rates["disk"] += disk if self._settings.bills_disk else 0.0
        for part, exact in rates.items():
            rate = round(exact, 9)
            if rate != endpoint.rates.get(part, 0.0):
                self._books.set_rate(endpoint.endpoint_id, part, rate, now)
            endpoint.rates[part] = rate

    @staticmethod
    def _gpu_label(endpoint: Endpoint) -> str:
        for pool in endpoint.pools:
            for card in pool_members(pool):
                if card.gpu_id not in endpoint.excluded:
                    return card.gpu_id
        return endpoint.pools[0] if endpoint.pools else "cpu"


def _matches(place_id: str, locations: tuple[str, ...]) -> bool:
    """GraphQL's `locations` takes data centres and country codes alike."""
    wanted = {location.upper() for location in locations}
    return place_id in wanted or bool(wanted & set(place_id.split("-")))
